//! `status`: commands that decide whether a task has anything to do.

use opal_config::document::Node;

use super::nodes::{get, list, pieces, text};
use crate::form::{Piece, Step, Task};

/// Has the commands from `before` on run only where one of the commands of `status` fails.
pub(super) fn apply(task: &mut Task, node: &Node, before: usize) {
    let Some(status) = get(node, "status") else { return };
    if task.body.len() == before {
        return;
    }
    let has_files = get(node, "sources").is_some() || get(node, "generates").is_some();
    // Both files and commands would have to decide, or a question would come first.
    let is_plain = !has_files && task.confirm.is_none() && task.finally.is_empty();
    match is_plain.then(|| unless(status, &task.body[before..])).flatten() {
        Some(step) => {
            task.body.truncate(before);
            task.body.push(step);
        }
        // The same is said of the files.
        None if has_files => task.differs("`status` is omitted"),
        None => task.differs("`status` is omitted, so the task always runs"),
    }
}

/// `( CHECK ) && ( CHECK ) || ( ( COMMAND ) && ( COMMAND ) )`; none where a command is not one line.
fn unless(status: &Node, steps: &[Step]) -> Option<Step> {
    let mut all = Vec::new();
    for (index, check) in list(status).into_iter().enumerate() {
        let joint = if index == 0 { "" } else { " && " };
        all.push(Piece::Text(format!("{joint}(")));
        all.extend(in_line(pieces(text(check)?.trim()))?);
        all.push(Piece::Text(" ) >/dev/null 2>&1".to_owned()));
    }
    if all.is_empty() {
        return None;
    }
    all.push(Piece::Text(" || (\n        ".to_owned()));
    for (index, step) in steps.iter().enumerate() {
        let Step::Line { pieces, may_fail } = step else { return None };
        let joint = if index == 0 { "" } else { " &&\n        " };
        let open = if *may_fail { "( (" } else { "(" };
        all.push(Piece::Text(format!("{joint}{open}")));
        all.extend(in_line(pieces.clone())?);
        all.push(Piece::Text(if *may_fail { " ) || true )" } else { " )" }.to_owned()));
    }
    all.push(Piece::Text("\n    )".to_owned()));
    Some(Step::Line { pieces: all, may_fail: false })
}

/// A command that can be in parentheses: one line, without a comment, not empty.
fn in_line(mut pieces: Vec<Piece>) -> Option<Vec<Piece>> {
    let is_odd = |it: &Piece| matches!(it, Piece::Text(text) if text.contains(['\n', '#']));
    match pieces.first_mut() {
        Some(Piece::Text(text)) if !text.trim().is_empty() => text.insert(0, ' '),
        _ => return None,
    }
    let ends_in_escape = matches!(pieces.last(), Some(Piece::Text(text)) if text.ends_with('\\'));
    (!ends_in_escape && !pieces.iter().any(is_odd)).then_some(pieces)
}
