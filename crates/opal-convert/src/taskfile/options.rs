//! `set` and `shopt`: options of the shell, of a file, a task or a command.

use opal_config::document::Node;

use super::nodes::{get, list, texts};
use crate::dialect::{Runner, Shell};
use crate::form::Task;

/// Task always stops at a failure.
const ALWAYS: [&str; 2] = ["e", "errexit"];
/// Options of a file that are kept for all its tasks.
const KEPT: [&str; 3] = ["nounset", "pipefail", "u"];

/// Whether all tasks of a file have the option.
pub(super) fn has(root: &Node, names: &[&str]) -> bool {
    texts(get(root, "set")).iter().any(|it| names.contains(&it.as_str()))
}

/// What runs the commands of a file.
pub(super) fn runner(root: &Node) -> Runner {
    Runner { stops: true, checks: has(root, &["nounset", "u"]), ..Shell::Task.into() }
}

/// Reports the options of a task that its steps do not have.
pub(super) fn report(task: &mut Task, root: &Node, node: &Node) {
    let of_file: Vec<String> = texts(get(root, "set"));
    let other = |it: &String| !KEPT.contains(&it.as_str());
    let mut missing: Vec<String> = of_file.iter().filter(|it| other(it)).cloned().collect();
    let commands = get(node, "cmds").map(list).unwrap_or_default();
    for part in std::iter::once(node).chain(commands) {
        missing.extend(texts(get(part, "set")).into_iter().filter(|it| !of_file.contains(it)));
        missing.extend(texts(get(part, "shopt")));
    }
    missing.extend(texts(get(root, "shopt")));
    missing.retain(|it| !ALWAYS.contains(&it.as_str()));
    for option in missing {
        task.differs(format!("the option `{option}` of its shell is not set"));
    }
}
