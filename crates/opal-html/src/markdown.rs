//! Markdown, for the summary of a job: failures first, then a row for each step.

use opal_vault::targets::TargetRow;

use crate::report::{Case, Outcome, Report, target_step};
use crate::text::{head, last_lines, lines, markdown};
use opal_core::duration::rounded as time;

/// Lines of output with each failure.
const LAST_LINES: usize = 50;

/// The whole document, of at most so many bytes: cut at a line, never inside a block.
#[must_use]
pub fn document(report: &Report, most: usize) -> String {
    const CUT: &str = "\n… cut: see the whole output with `opal runs show --logs`\n";
    let mut out = String::new();
    for block in blocks(report) {
        if out.len() + block.len() + CUT.len() > most {
            if out.len() + CUT.len() <= most {
                out.push_str(CUT);
            }
            return out;
        }
        out.push_str(&block);
    }
    out
}

/// Parts that are shown whole or not at all.
fn blocks(report: &Report) -> Vec<String> {
    let sign = if report.is_good { "✅" } else { "❌" };
    let (name, status) = (markdown(&report.name), markdown(&report.status));
    let mut blocks = vec![format!(
        "### {sign} <code>{name}</code>: {status}\n\n{}\n",
        markdown(&report.summary)
    )];
    if let Some(trouble) = &report.trouble {
        blocks.push(format!("\n{}\n", markdown(trouble)));
    }
    blocks.extend(report.cases.iter().filter(|case| case.is_bad()).map(failure));
    for fleet in &report.fleets {
        blocks
            .push("\n| target | status | step | code | time |\n|---|---|---|---|---|\n".to_owned());
        blocks.extend(fleet.rows.iter().map(target));
    }
    if !report.cases.is_empty() {
        blocks.push("\n| | step | result | took |\n|---|---|---|---|\n".to_owned());
    }
    blocks.extend(report.cases.iter().map(row));
    blocks.push("\n".to_owned());
    let facts = report.facts.iter();
    blocks.extend(facts.map(|(name, text)| format!("- {name}: {}\n", markdown(text))));
    blocks.push("\n".to_owned());
    blocks
}

fn failure(case: &Case) -> String {
    let mut text = format!("\n<details><summary>❌ <code>{}</code>", markdown(&head(&case.name())));
    if let Some(message) = &case.message {
        text.push_str(&format!(": {}", markdown(message)));
    }
    text.push_str("</summary>\n\n");
    if let Some((file, line)) = &case.place {
        text.push_str(&format!("<code>{}</code>, line {line}\n\n", markdown(file)));
    }
    if let Some(details) = case.details() {
        text.push_str(&fenced("diff", &lines(details)));
    }
    let printed = last_lines(&case.printed, LAST_LINES);
    if !printed.is_empty() {
        text.push_str(&fenced("text", &printed.join("\n")));
    }
    text.push_str("</details>\n");
    text
}

/// Between more backticks than the text has in a row.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n\n", text.trim_end_matches('\n'))
}

fn target(row: &TargetRow) -> String {
    let step = target_step(row).map(|step| format!("<code>{}</code>", markdown(&head(&step))));
    let code = row.code.map(|code| code.to_string()).unwrap_or_default();
    let (name, status) = (markdown(&row.name), row.end.name());
    let took = row.took.map(time).unwrap_or_default();
    format!("| {name} | {status} | {} | {code} | {took} |\n", step.unwrap_or_default())
}

fn row(case: &Case) -> String {
    let sign = match case.outcome {
        Outcome::Passed => "✅",
        Outcome::Failed | Outcome::Error => "❌",
        Outcome::Skipped => "⏭️",
    };
    let took = if case.spans.is_empty() { String::new() } else { time(case.took()) };
    let text = markdown(&head(&case.name()));
    format!("| {sign} | <code>{text}</code> | {} | {took} |\n", case.status)
}
