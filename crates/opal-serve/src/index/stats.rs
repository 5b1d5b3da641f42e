//! How often tasks and their steps fail, how long they take, and since when it is so.

use opal_vault::root::Root;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::{Error, update};

/// A line for each task, or for one. A run that was refused has run nothing, and one that goes on has no end.
///
/// `turns` counts how often a success followed a failure or the other way round: what always fails is not flaky.
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

fn tasks(connection: &Connection, task: Option<&str>) -> Result<Vec<Value>, Error> {
    let read = |row: &Row<'_>| {
        Ok(json!({
            "task": row.get::<_, Option<String>>(0)?,
            "runs": row.get::<_, i64>(1)?,
            "failed": row.get::<_, i64>(2)?,
            "turns": row.get::<_, i64>(3)?,
            "p50_ms": row.get::<_, Option<f64>>(4)?,
            "p95_ms": row.get::<_, Option<f64>>(5)?,
            "slowest": row.get::<_, Option<String>>(6)?,
            "slowest_ms": row.get::<_, Option<f64>>(7)?,
            "status": row.get::<_, Option<String>>(8)?,
            "since": row.get::<_, Option<String>>(9)?,
        }))
    };
    let mut found = connection.prepare(TASKS)?;
    let found = found.query_map(params![task], read)?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
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
