//! A run as it goes on, in words. The output of the steps is standard output; these are not.

use opal_vault::record::reader::Run;
use serde_json::Value;

use super::super::diagnostics::visible;
use super::super::ink::Ink;
use super::super::say;
use super::{Paint, failed_at, took};

pub(crate) fn tail_event(event: &Value, ink: Ink) {
    let paint = Paint(ink.colour);
    let text = |name: &str| visible(event[name].as_str().unwrap_or_default());
    let is_block = event["block"] == true;
    let site = event["target"].as_str().filter(|_| event["kind"] != "run_started");
    let site = site.map(|site| format!("{}: ", visible(site))).unwrap_or_default();
    let line = match event["kind"].as_str().unwrap_or_default() {
        "run_started" => format!("{}  {}", paint.bold(&text("id")), text("target")),
        "step_started" if !is_block => format!("{} {}", paint.bold("▸"), text("text")),
        "step_finished" if !is_block && event["end"] != "done" => {
            let message =
                event["message"].as_str().map(|message| format!(": {}", visible(message)));
            let code = &event["code"];
            format!(
                "{} {}, exit {code}{}",
                text("path"),
                paint.end(&text("end")),
                message.unwrap_or_default()
            )
        }
        "step_undone" => {
            format!("{} {}: {}", text("path"), paint.end("failed"), text("message"))
        }
        "step_skipped" => format!("{} {}", text("path"), paint.dim("skipped")),
        "step_retrying" => {
            let pause = took(event["pause_ms"].as_f64());
            let (attempt, of) = (&event["attempt"], &event["of"]);
            format!("{}: attempt {attempt} of {of} failed, next in {pause}", text("path"))
        }
        "log" => format!("{}: {}", text("level"), text("message")),
        "cleaning_up" => format!("Cleaning up: {}", text("why")),
        "target_finished" => {
            let (name, end) = (
                visible(event["row"]["target"].as_str().unwrap_or_default()),
                visible(event["row"]["status"].as_str().unwrap_or_default()),
            );
            format!("{name}: {end}")
        }
        _ => return,
    };
    say(&format!("{site}{line}\n"));
}

pub(crate) fn tail_end(run: &Run, ink: Ink) {
    let length = run.get("took_ms").and_then(Value::as_f64);
    let length = length.map_or(String::new(), |ms| format!(" in {}", took(Some(ms))));
    let place = failed_at(run).map_or(String::new(), |place| format!(" {place}"));
    say(&format!("{}{place}{length}\n", Paint(ink.colour).end(run.state.name())));
}
