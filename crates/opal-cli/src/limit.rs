//! `--limit`: the targets that failed in an earlier run, and a pattern that leaves nothing.

use std::collections::BTreeSet;

use opal_core::view::visible;
use opal_plan::plan::Limited;
use opal_vault::record::reader::{self, Found, Run, State};
use opal_vault::root::Root;

use crate::context::Context;
use crate::failure::record::{root_failure, unreadable};
use crate::failure::{Exit, Failure};
use crate::options::Asked;

/// The targets that failed in the last run, or in one that is named after a `:`.
const FAILED: &str = "@failed";

/// Targets that are named.
const MAX_NAMES: usize = 20;

/// What was asked, with the targets that failed in earlier runs of `task` for every `@failed`.
pub(crate) fn with_failed(
    context: &Context<'_>,
    asked: &Asked,
    task: &str,
) -> Result<Option<Asked>, Failure> {
    let Some(pattern) = asked.plan.limit.as_ref().filter(|it| it.contains(FAILED)) else {
        return Ok(None);
    };
    let root = context.needed_root(asked.plan.root.as_ref())?;
    let mut asked = asked.clone();
    asked.plan.limit = Some(expanded(pattern, |run| failed_in(&root, run, task))?);
    Ok(Some(asked))
}

/// Puts the names of targets in place of each `@failed` and `@failed:RUN`: a regular expression, so that
/// `!` and `&` before it mean all of them.
fn expanded(
    pattern: &str,
    failed: impl Fn(Option<&str>) -> Result<BTreeSet<String>, Failure>,
) -> Result<String, Failure> {
    let mut expanded = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(FAILED) {
        expanded.push_str(&rest[..at]);
        rest = &rest[at + FAILED.len()..];
        let is_end = |c: char| matches!(c, ':' | ',') || c.is_whitespace();
        // What begins with a mark is the next pattern.
        let named = rest.strip_prefix(':').filter(|it| !it.starts_with(['!', '&', '@']));
        let run = named.map(|named| &named[..named.find(is_end).unwrap_or(named.len())]);
        if let Some(run) = run {
            rest = &rest[1 + run.len()..];
        }
        expanded.push_str(&only(failed(run)?.into_iter()));
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// A pattern for these targets and no others.
pub(crate) fn only(names: impl Iterator<Item = String>) -> String {
    // A colon, as addresses have it, would end the pattern.
    let names = names.map(|it| it.replace('.', "\\.").replace(':', "."));
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [one] if one.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_') => {
            one.clone()
        }
        names => format!("~({})$", names.join("|")),
    }
}

fn failed_in(root: &Root, name: Option<&str>, task: &str) -> Result<BTreeSet<String>, Failure> {
    let runs = reader::list(root).map_err(root_failure)?;
    let run = match name {
        Some(name) => {
            let found = reader::find(&runs, name).map_err(|_| unknown(name))?;
            Run::load(found).map_err(unreadable)?
        }
        None => last(&runs, task).ok_or_else(|| {
            Failure::new(
                Exit::NoFile,
                format!("`--limit {FAILED}`: no earlier run of `{task}` has a fleet"),
                "run it without `--limit` first, or name a run: `--limit @failed:RUN`",
            )
        })?,
    };
    let tables = reader::tables(&run.folder).map_err(unreadable)?;
    let rows = tables.iter().flat_map(|table| &table.rows);
    let failed = rows.filter(|row| row.end.is_failure()).map(|row| row.name.to_string());
    let failed: BTreeSet<String> = failed.collect();
    if failed.is_empty() {
        return Err(Failure::usage(
            format!("`--limit {FAILED}`: no target failed in `{}`", run.id),
            format!("see its targets with `opal runs show {}`", run.id),
        ));
    }
    Ok(failed)
}

fn last(runs: &[Found], task: &str) -> Option<Run> {
    let all = runs.iter().filter_map(|found| Run::load(found).ok());
    let mut ended = all.filter(|run| run.state != State::Running && run.target() == task);
    ended.find(|run| reader::tables(&run.folder).is_ok_and(|tables| !tables.is_empty()))
}

fn unknown(name: &str) -> Failure {
    let message = format!("`--limit {FAILED}:{name}`: unknown run `{name}`");
    Failure::new(Exit::NoFile, message, "list the runs with `opal runs list`")
}

/// A limit that leaves no target is probably a typo.
pub(crate) fn leaves_some(limit: Option<&str>, limited: &Limited) -> Result<(), Failure> {
    let Some(limit) = limit.filter(|_| limited.left.is_empty()) else { return Ok(()) };
    let pattern = visible::line(limit);
    if limited.all.is_empty() {
        return Err(Failure::usage(
            format!("`--limit {pattern}`: the plan has no fleet to narrow"),
            "omit `--limit`",
        ));
    }
    let named = limited.all.iter().take(MAX_NAMES).map(|name| visible::line(name));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match limited.all.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Failure::usage(
        format!("`--limit {pattern}` leaves no target"),
        format!("the targets are: {named}{more}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_after_a_colon_and_what_has_a_mark_is_the_next_pattern() {
        for (pattern, expected) in [
            ("@failed", "last"),
            ("@failed:run-1", "run-1"),
            ("@failed:run-1:!web3", "run-1:!web3"),
            ("@failed:!web3", "last:!web3"),
            ("web,!@failed:ab12,x", "web,!ab12,x"),
            ("@failed:@failed:two", "last:~(a\\.b|c)$"),
        ] {
            let failed = |run: Option<&str>| {
                let names = match run {
                    Some("two") => vec!["a.b", "c"],
                    run => vec![run.unwrap_or("last")],
                };
                Ok(names.into_iter().map(str::to_owned).collect())
            };
            let found = expanded(pattern, failed).unwrap_or_else(|_| panic!("{pattern}"));
            assert_eq!(found, expected);
        }
    }
}
