//! How often tasks and their steps fail, how long they take, and since when it is so.

use opal_vault::root::Root;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::{Error, update};

/// A row for each run of all tasks, or of one, in the order of their start. A run that was refused has run
/// nothing, and one that goes on has no end.
const TASKS: &str = include_str!("tasks.sql");

/// A line for each step of a task, on all targets together; attempts count.
const STEPS: &str = "
WITH started AS (
  SELECT steps.path, steps.result, steps.attempt, steps.took_ms,
    row_number() OVER (PARTITION BY steps.path ORDER BY steps.took_ms) AS place,
    count(*) OVER (PARTITION BY steps.path) AS total,
    first_value(steps.text) OVER (PARTITION BY steps.path ORDER BY steps.run DESC) AS newest
  FROM steps JOIN runs ON runs.id = steps.run
  WHERE runs.task = ?1 AND steps.block IS NULL AND steps.took_ms IS NOT NULL
)
SELECT path, max(total), sum(result IN ('failed', 'timed_out')), sum(attempt > 1),
  max(took_ms) FILTER (WHERE place = (total + 1) / 2),
  max(took_ms) FILTER (WHERE place = (total * 95 + 99) / 100),
  max(took_ms),
  max(newest)
FROM started GROUP BY path ORDER BY sum(took_ms) DESC, path LIMIT 1000";

/// `{"tasks": […]}`, and `steps` of one task.
pub(super) fn of(root: &Root, task: Option<&str>) -> Result<Value, Error> {
    let connection = update::open(root)?;
    let mut document = json!({"tasks": tasks(&connection, task)?});
    if let Some(task) = task {
        document["steps"] = steps(&connection, task)?.into();
    }
    Ok(document)
}

/// A line for each task: what changes most comes first.
fn tasks(connection: &Connection, task: Option<&str>) -> Result<Vec<Value>, Error> {
    let mut found = connection.prepare(TASKS)?;
    let mut rows = found.query(params![task])?;
    let mut all: Vec<Task> = Vec::new();
    while let Some(row) = rows.next()? {
        let name = text(row, 0)?;
        if all.last().is_none_or(|last| last.name.as_deref() != name) {
            all.push(Task { name: name.map(str::to_owned), ..Task::default() });
        }
        if let Some(last) = all.last_mut() {
            last.add(row)?;
        }
    }
    all.sort_by(|a, b| (b.turns, b.failed, &a.name).cmp(&(a.turns, a.failed, &b.name)));
    Ok(all.into_iter().map(Task::document).collect())
}

/// The text of a column, where it has one.
fn text<'r>(row: &'r Row<'_>, at: usize) -> Result<Option<&'r str>, Error> {
    row.get_ref(at)?.as_str_or_null().map_err(|error| rusqlite::Error::from(error).into())
}

/// What the runs of a task have come to, one after the other.
#[derive(Default)]
struct Task {
    name: Option<String>,
    failed: i64,
    /// How often a success followed a failure or the other way round: what always fails is not flaky.
    turns: i64,
    /// How long each took, where that is known.
    took: Vec<Option<f64>>,
    slowest: Option<(f64, String)>,
    latest: Option<String>,
    is_bad: Option<bool>,
    /// When the first one started, and when the last one that turned.
    first: Option<String>,
    turned: Option<String>,
}

impl Task {
    fn add(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let (id, status, started) = (text(row, 1)?, text(row, 2)?, text(row, 3)?);
        let is_bad = !matches!(status, Some("executed" | "drifted"));
        self.failed += i64::from(is_bad);
        if self.is_bad.is_some_and(|before| before != is_bad) {
            self.turns += 1;
            if started > self.turned.as_deref() {
                self.turned = started.map(str::to_owned);
            }
        }
        self.is_bad = Some(is_bad);
        if self.latest.as_deref() != status {
            self.latest = status.map(str::to_owned);
        }
        if started.is_some() && self.first.as_deref().is_none_or(|first| started < Some(first)) {
            self.first = started.map(str::to_owned);
        }
        let took: Option<f64> = row.get(4)?;
        if let Some(took) = took.filter(|took| self.slowest.as_ref().is_none_or(|it| *took >= it.0))
        {
            self.slowest = Some((took, id.unwrap_or_default().to_owned()));
        }
        self.took.push(took);
        Ok(())
    }

    fn document(mut self) -> Value {
        // Those without a time come first.
        self.took.sort_by(|a, b| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        let total = self.took.len();
        let place = |place: usize| self.took.get(place.saturating_sub(1)).copied().flatten();
        let (slowest_ms, slowest) = self.slowest.unzip();
        json!({
            "task": self.name,
            "runs": total,
            "failed": self.failed,
            "turns": self.turns,
            "p50_ms": place(total.div_ceil(2)),
            "p95_ms": place((total * 95).div_ceil(100)),
            "slowest": slowest,
            "slowest_ms": slowest_ms,
            "status": self.latest,
            "since": self.turned.or(self.first),
        })
    }
}

fn steps(connection: &Connection, task: &str) -> Result<Vec<Value>, Error> {
    let read = |row: &Row<'_>| {
        Ok(json!({
            "path": row.get::<_, Option<String>>(0)?,
            "started": row.get::<_, i64>(1)?,
            "failed": row.get::<_, i64>(2)?,
            "retried": row.get::<_, i64>(3)?,
            "p50_ms": row.get::<_, Option<f64>>(4)?,
            "p95_ms": row.get::<_, Option<f64>>(5)?,
            "slowest_ms": row.get::<_, Option<f64>>(6)?,
            "text": row.get::<_, Option<String>>(7)?,
        }))
    };
    let mut found = connection.prepare(STEPS)?;
    let found = found.query_map(params![task], read)?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}
