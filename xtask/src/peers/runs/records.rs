//! Records as opal writes them, made without running anything.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Tasks that the runs are of, by turns.
const TASKS: usize = 10;

/// Steps of each run.
const STEPS: usize = 5;

/// The new runs are of a later year.
pub(super) const FIRST_NEW: &str = "run-2027";

/// The first of the new ones.
const NEW_FROM: usize = 99_000;

/// Makes those that are missing.
pub(super) fn make(root: &Path, numbers: Range<usize>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", root.display());
    // What is made in one go is there as a whole or not at all.
    let marker = root.join(format!("made-{}-{}", numbers.start, numbers.end));
    if numbers.end <= NEW_FROM && marker.exists() {
        return Ok(());
    }
    for number in numbers {
        record(root, number).map_err(failed)?;
    }
    fs::write(marker, "").map_err(failed)
}

/// Removes the new ones of an earlier measurement.
pub(super) fn remove_new(root: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be read: {error}", root.display());
    for task in 0..TASKS {
        let folder = root.join(format!("logs/run/task-{task}"));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(FIRST_NEW) {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// One run in thirteen fails.
fn record(root: &Path, number: usize) -> std::io::Result<()> {
    let task = format!("task-{}", number % TASKS);
    let year = if number < NEW_FROM { 2026 } else { 2027 };
    let (day, second) = (number % 28 + 1, number % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let id = format!("run-{year}11{day:02}T{hour:02}{minute:02}{second:02}Z-{number:08x}");
    let time =
        |plus: usize| format!("{year}-11-{day:02}T{hour:02}:{minute:02}:{second:02}.{plus:06}Z");
    let folder = root.join("logs/run").join(&task).join(&id);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let (is_good, took) = (!number.is_multiple_of(13), 500 + number % 997);
    let mut events = format!(
        "{{\"arguments\":{{}},\"at\":\"{}\",\"commit\":\"4bf92f3577b34da6a3ce929d0e0e4736f067aa0b\",\
         \"directory\":\"/srv/shop\",\"host\":\"ci-7\",\"id\":\"{id}\",\"kind\":\"run_started\",\
         \"opal\":\"0.1.0\",\"pid\":4711,\"target\":\"{task}\",\"user\":\"ann\",\"version\":1}}\n",
        time(0)
    );
    for step in 1..=STEPS {
        let is_last = step == STEPS;
        let (end, code) = if is_last && !is_good { ("failed", 1) } else { ("done", 0) };
        let path = format!("{task}.shell[{}]", step - 1);
        let _ = write!(
            events,
            "{{\"at\":\"{at}\",\"attempt\":1,\"decorator\":\"@shell\",\"kind\":\"step_started\",\
             \"number\":{step},\"path\":\"{path}\",\"text\":\"make part-{step}\"}}\n\
             {{\"kind\":\"output\",\"number\":{step},\"stream\":\"stdout\",\
             \"text\":\"part {step} of {number} is ready\\n\"}}\n\
             {{\"at\":\"{at}\",\"attempt\":1,\"code\":{code},\"decorator\":\"@shell\",\"end\":\"{end}\",\
             \"kind\":\"step_finished\",\"number\":{step},\"path\":\"{path}\",\"took_ms\":{took}.125}}\n",
            at = time(step * 100),
        );
    }
    let (status, code) = if is_good { ("executed", 0) } else { ("failed", 1) };
    let failed = match is_good {
        true => String::new(),
        false => format!("\"failed\":{{\"code\":1,\"path\":\"{task}.shell[{}]\"}},", STEPS - 1),
    };
    let summary = format!(
        "{{\"arguments\":{{}},\"code\":{code},\"commit\":\"4bf92f3577b34da6a3ce929d0e0e4736f067aa0b\",\
         \"counts\":{{\"caught\":0,\"done\":{},\"failed\":{code},\"retries\":0,\"satisfied\":0,\"skipped\":0,\
         \"stopped\":0}},\"directory\":\"/srv/shop\",{failed}\"finished_at\":\"{}\",\"host\":\"ci-7\",\
         \"id\":\"{id}\",\"opal\":\"0.1.0\",\"pid\":4711,\"started_at\":\"{}\",\"status\":\"{status}\",\
         \"target\":\"{task}\",\"took_ms\":{took}.5,\"user\":\"ann\",\"version\":1}}\n",
        STEPS - code,
        time(900_000),
        time(0)
    );
    fs::write(folder.join("events.jsonl"), events)?;
    fs::write(folder.join("summary.json"), summary)
}
