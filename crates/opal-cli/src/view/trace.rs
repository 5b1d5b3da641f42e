//! `--debug` and `--telemetry`: what each stage has seen, on standard error.

use std::fmt::Write as _;

use opal_core::action::ObjectNews;
use opal_core::plan::{Plan, Step};
use opal_core::view::{step_text, visible};
use opal_ops::source::Loaded;
use opal_vault::event::{Event, Kind};

use crate::ambient::Ambient;
use crate::options::{Debugged, PlanOptions, Telemetry};
use crate::stages::Stages;
use crate::tasks;
use crate::view::say;

/// What the lexer and the parser made of a source.
pub(crate) fn source(loaded: &Loaded, options: &PlanOptions) {
    let Some(level) = options.debug else { return };
    let (bytes, name) = (loaded.text.len(), visible::line(&loaded.name));
    let Some(parse) = loaded.parse() else {
        let steps = loaded.config().map_or(0, |config| config.steps.len());
        return say(&format!("debug: config: {name}: {bytes} bytes, {steps} steps\n"));
    };
    let tokens = parse.tokens().len();
    let mut text = format!("debug: lexer: {name}: {bytes} bytes, {tokens} tokens\n");
    let functions = tasks::of(loaded);
    let _ = writeln!(
        text,
        "debug: parser: {} functions, {} errors",
        functions.len(),
        loaded.syntax_errors()
    );
    if level == Debugged::Detailed {
        for function in &functions {
            let _ = writeln!(text, "debug: parser: fun {}", visible::line(&function.name));
        }
    }
    say(&text);
}

/// What the planner made of it.
pub(crate) fn plan(plan: &Plan, options: &PlanOptions) {
    let Some(level) = options.debug else { return };
    let mut text = String::new();
    for read in plan.reads.iter().filter(|_| level == Debugged::Detailed) {
        let _ = writeln!(text, "debug: planner: reads {}", visible::line(&read.key));
    }
    steps(plan, &plan.steps, level, &mut text);
    say(&text);
}

fn steps(plan: &Plan, all: &[Step], level: Debugged, text: &mut String) {
    for step in all {
        let _ = write!(text, "debug: planner: {}", visible::line(&step.path));
        if level == Debugged::Detailed {
            let _ = write!(text, ": {}", visible::line(&step_text(plan, step, None)));
        }
        text.push('\n');
        steps(plan, &step.block, level, text);
    }
}

/// What the executor does.
pub(crate) fn event(event: &Event<'_>, level: Debugged) {
    let line = match &event.kind {
        Kind::Started(started) => {
            let mut line = format!("starts {}", started.path);
            if level == Debugged::Detailed {
                let _ = write!(line, " (number {}, attempt {})", started.number, started.attempt);
                let _ = write!(line, ": {}", started.text.text());
            }
            line
        }
        Kind::Finished(finished) => {
            let mut line = format!("ends {}: {}", finished.path, finished.end.name());
            if level == Debugged::Detailed {
                let _ = write!(line, ", exit code {}, {:?}", finished.code, finished.took);
            }
            line
        }
        Kind::Skipped { path, .. } => format!("skips {path}"),
        Kind::Retrying { path, attempt, of, .. } => {
            format!("tries {path} again, after attempt {attempt} of {of}")
        }
        Kind::Branches { path, count, most } => {
            format!("starts {count} branches of {path}, {most} at a time")
        }
        Kind::TargetEnded { path, row } => {
            format!("ends {path} on {}: {}", row.name, row.end.name())
        }
        Kind::Targets { path, rows } => format!("ends {path}: {} targets", rows.len()),
        Kind::Verified { path, status, .. } => format!("verifies {path}: {}", status.name()),
        Kind::Undone { path, .. } => format!("finds {path} undone"),
        Kind::Opened { path, .. } => format!("has something to close after {path}"),
        Kind::Closed { path, .. } => format!("has closed it after {path}"),
        Kind::Object { path, news: ObjectNews::Intended(deed), .. } => {
            format!("is about to {deed} the object of {path}")
        }
        Kind::Object { path, .. } => format!("knows the object of {path}"),
        Kind::Caught { .. } | Kind::Fleet { .. } | Kind::Log { .. } | Kind::CleaningUp { .. } => {
            return;
        }
    };
    say(&format!("debug: executor: {}\n", visible::line(&line)));
}

/// Counts and times, at the end.
pub(crate) fn telemetry(stages: &Stages, loaded: &Loaded, plan: &Plan, options: &PlanOptions) {
    let Some(level) = options.telemetry else { return };
    let mut rows = vec![("source", format!("{} bytes", loaded.text.len()))];
    if let Some(parse) = loaded.parse() {
        rows.push(("tokens", parse.tokens().len().to_string()));
    }
    rows.extend([
        ("steps", crate::view::plan::count(&plan.steps).to_string()),
        ("values", plan.values.len().to_string()),
        ("reads", plan.reads.len().to_string()),
    ]);
    if let Some(peak) = Ambient::peak_memory() {
        rows.push(("peak memory", format!("{peak} kB")));
    }
    if level == Telemetry::Timing {
        rows.extend(stages.took().into_iter().map(|(name, took)| (name, format!("{took:.2?}"))));
    }
    let rows = rows.into_iter().map(|(name, value)| format!("{name:<12} {value:>12}\n"));
    say(&rows.collect::<String>());
}
