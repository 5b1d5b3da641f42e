//! JUnit, as Jenkins, GitLab and other CI systems read it: a case for each leaf step.

use maud::{Markup, PreEscaped, html};
use opal_core::view::time_text;

use crate::report::{Case, Outcome, Report};
use crate::text::{head, last_lines, line};

/// Lines of output with each failure.
const LAST_LINES: usize = 50;

/// The whole document.
#[must_use]
pub fn document(report: &Report) -> String {
    let name = line(&report.name);
    let failures = report.count(Outcome::Failed);
    let errors = report.count(Outcome::Error) + usize::from(report.trouble.is_some());
    let tests = report.cases.len() + usize::from(report.trouble.is_some());
    let skipped = report.count(Outcome::Skipped);
    let seconds = seconds(report.took);
    let at = report.at.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
    let at = i64::try_from(at.as_secs()).ok().and_then(time_text).unwrap_or_default();
    let host = report.host.as_deref().map(line);
    let body = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name="opal" tests=(tests) failures=(failures) errors=(errors) skipped=(skipped) time=(seconds) {
            (PreEscaped("\n"))
            testsuite name=(name) tests=(tests) failures=(failures) errors=(errors) skipped=(skipped)
                time=(seconds) timestamp=(at.trim_end_matches('Z')) hostname=[host] {
                (PreEscaped("\n"))
                properties {
                    @for (key, text) in &report.facts {
                        property name=(key) value=(line(text)) {}
                    }
                }
                (PreEscaped("\n"))
                @for case in &report.cases { (testcase(case)) (PreEscaped("\n")) }
                @if let Some(trouble) = &report.trouble {
                    testcase classname=(name) name="the run" time=(seconds) {
                        error message=(line(trouble)) type="run" {}
                    }
                    (PreEscaped("\n"))
                }
            }
            (PreEscaped("\n"))
        }
        (PreEscaped("\n"))
    };
    body.into_string()
}

fn testcase(case: &Case) -> Markup {
    // Together they are unique: some systems take equal ones for one case.
    let (class, last) = case.path.rsplit_once('.').unwrap_or(("", &case.path));
    let target = case.target.as_ref().map(|target| format!("[{}] ", line(target)));
    let name = format!("{}{}: {}", target.unwrap_or_default(), line(last), head(&case.text));
    let (file, number) = case.place.as_ref().map(|(file, line)| (file, *line)).unzip();
    html! {
        testcase classname=(line(class)) name=(name) time=(seconds(case.took()))
            file=[file.map(|file| line(file))] line=[number] {
            @match case.outcome {
                Outcome::Passed => {}
                Outcome::Failed => failure message=(message(case)) type=(case.status) { (output(case)) },
                Outcome::Error => error message=(message(case)) type=(case.status) { (output(case)) },
                Outcome::Skipped => skipped message=(message(case)) {},
            }
        }
    }
}

fn message(case: &Case) -> String {
    line(case.message.as_deref().unwrap_or(case.status))
}

/// What differs, and the last lines that were printed.
fn output(case: &Case) -> String {
    let details =
        case.details().into_iter().flat_map(|details| details.lines().map(crate::text::lines));
    let printed = last_lines(&case.printed, LAST_LINES);
    details.chain(printed).collect::<Vec<_>>().join("\n")
}

fn seconds(took: std::time::Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}
