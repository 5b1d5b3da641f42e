//! The tables of fleets: how each target ended.

use opal_core::view::visible;
use opal_vault::targets::{FleetTable, TargetEnd, TargetRow};
use serde_json::{Value, json};

use super::ink::Ink;
use super::run::time;
use super::table::Table;

/// Characters of a step in the table.
const MAX_STEP: usize = 60;

/// Without the last line feed.
pub(super) fn table(rows: &[TargetRow], ink: Ink) -> String {
    let mut table = Table::new(["TARGET", "STATUS", "STEP", "CODE", "TIME"]);
    for row in rows {
        let end = row.end.name();
        let end = match row.end {
            TargetEnd::Ok => ink.good(end),
            TargetEnd::Skipped => ink.faint(end),
            TargetEnd::Stopped => ink.warning(end),
            TargetEnd::Failed | TargetEnd::Unreachable | TargetEnd::Lost => ink.error(end),
        };
        // Of one that was not reached, why.
        let what = row.step.as_ref().or(row.message.as_ref());
        let what = what.map(|text| visible::brief(&text.text(), MAX_STEP));
        let earlier = row.is_earlier.then(|| ink.faint("(in the resumed run)"));
        table.row([
            visible::line(&row.name),
            end,
            what.or(earlier).unwrap_or_default(),
            row.code.map(|code| code.to_string()).unwrap_or_default(),
            row.took.map(time).unwrap_or_default(),
        ]);
    }
    table.finish(|head| ink.faint(head)).trim_end().to_owned()
}

/// Reasons that are written out.
const MAX_REASONS: usize = 10;

/// What the table has no room for: why targets failed, each reason once, and what to do about the first
/// of them. None where the table says it all. Without the last line feed.
pub(super) fn reasons(rows: &[TargetRow], ink: Ink) -> Option<String> {
    let mut reasons: Vec<(String, Vec<&TargetRow>)> = Vec::new();
    for row in rows.iter().filter(|row| row.end.is_failure() && !row.is_earlier) {
        let Some(text) = reason(row) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((text, vec![row])),
        }
    }
    let more = reasons.len().saturating_sub(MAX_REASONS);
    let mut lines = Vec::new();
    for (text, rows) in reasons.iter().take(MAX_REASONS) {
        lines.push(format!("{}: {text}", ink.label(&names(rows))));
        let help = rows.first().map(|row| row.help.as_slice()).unwrap_or_default();
        let help = help.iter().map(|help| indented(&help.text()));
        lines.extend(help.map(|help| format!("  {}: {help}", ink.label("help"))));
    }
    if more > 0 {
        lines.push(format!("… and {more} more: `opal runs show --json` has them"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Why one failed, without its name; none where that is in the table.
fn reason(row: &TargetRow) -> Option<String> {
    let whole = row.message.as_ref()?.text();
    let is_cut = row.step.is_some() || whole.chars().count() > MAX_STEP || whole.contains('\n');
    if !is_cut && row.help.is_empty() {
        return None;
    }
    let name = format!("`{}`: ", row.name);
    Some(indented(whole.strip_prefix(&name).unwrap_or(&whole)))
}

/// Deeper than what begins a line.
fn indented(text: &str) -> String {
    visible::lines(text.trim_end()).replace('\n', "\n    ")
}

/// In the words of the record.
pub(crate) fn json(tables: &[FleetTable]) -> Value {
    let row = |row: &TargetRow| {
        let text = |shown: &Option<opal_vault::Shown<'_>>| {
            shown.as_ref().map(|shown| shown.text().into_owned())
        };
        json!({
            "target": &*row.name,
            "status": row.end.name(),
            "step": text(&row.step),
            "path": row.path,
            "code": row.code,
            "message": text(&row.message),
            "help": row.help.iter().map(|help| help.text().into_owned()).collect::<Vec<_>>(),
            "took_ms": row.took.map(|took| took.as_micros() as f64 / 1000.0),
            "earlier": row.is_earlier,
        })
    };
    let fleet = |table: &FleetTable| json!({"path": table.path, "targets": table.rows.iter().map(row).collect::<Vec<_>>()});
    tables.iter().map(fleet).collect()
}

/// Names that are written out.
const MAX_NAMES: usize = 3;

/// What a resumed run does: `continues web2 and starts web3`; none where there is no fleet.
pub(crate) fn resumption(tables: &[FleetTable]) -> Option<String> {
    let open = || tables.iter().flat_map(|table| &table.rows).filter(|it| it.end != TargetEnd::Ok);
    let (again, new): (Vec<_>, Vec<_>) = open().partition(|row| row.continued_at().is_some());
    let parts = [("continues", again), ("starts", new)];
    let parts = parts.iter().filter(|(_, rows)| !rows.is_empty());
    let parts: Vec<String> = parts.map(|(verb, rows)| format!("{verb} {}", names(rows))).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

fn names(rows: &[&TargetRow]) -> String {
    let names: Vec<String> = rows.iter().map(|row| visible::line(&row.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= MAX_NAMES => {
            format!("{} and {last}", first.join(", "))
        }
        all => format!("{} targets", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumption_names_few_targets_and_counts_many() {
        let row = |name: &str, end, path: Option<&str>| TargetRow {
            end,
            path: path.map(Into::into),
            ..TargetRow::skipped(name.into())
        };
        let table = |rows: Vec<TargetRow>| [FleetTable { path: "a.ssh.hosts[0]".into(), rows }];
        let ok = || row("web1", TargetEnd::Ok, None);
        let failed = |name: &str| row(name, TargetEnd::Failed, Some("a.ssh.hosts[0].shell[0]"));
        let skipped = |name: &str| row(name, TargetEnd::Skipped, None);
        for (rows, said) in [
            (vec![ok()], None),
            (vec![ok(), failed("web2"), skipped("web3")], Some("continues web2 and starts web3")),
            (vec![failed("a"), failed("b"), failed("c")], Some("continues a, b and c")),
            (vec![failed("a"), failed("b"), failed("c"), failed("d")], Some("continues 4 targets")),
            (vec![row("a", TargetEnd::Unreachable, None)], Some("starts a")),
        ] {
            assert_eq!(resumption(&table(rows)).as_deref(), said);
        }
        assert_eq!(resumption(&[]), None);
    }
}
