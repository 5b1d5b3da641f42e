//! `$(error …)` outside rules: a task of its own, which all others need.

use super::reader::Check;
use super::rules::under;
use crate::form::{CHECKS, Call, Expr, Leftover, StartCheck, Step, Task};

pub(super) fn add(checks: &[Check], tasks: &mut Vec<Task>) -> Vec<StartCheck> {
    let Some(first) = checks.first() else { return Vec::new() };
    for task in tasks.iter_mut() {
        task.needs.insert(0, Call { task: CHECKS.to_owned(), args: Vec::new() });
    }
    let (mut body, mut parts) = (Vec::new(), Vec::new());
    for check in checks {
        let mut steps = steps(&check.value);
        for condition in check.conditions.iter().rev() {
            steps = under(condition, steps, Vec::new());
        }
        let (line, file, source) = (check.line, check.file.clone(), check.source.clone());
        let (name, why) = ("a check at the start".to_owned(), String::new());
        let leftover = Leftover { line, file, name, source, why };
        parts.push(StartCheck { leftover, steps: steps.len() });
        body.extend(steps);
    }
    let source: Vec<&str> = checks.iter().map(|it| it.source.as_str()).collect();
    tasks.push(Task {
        name: CHECKS.to_owned(),
        is_private: true,
        line: first.line,
        file: first.file.clone(),
        source: source.join("\n"),
        docs: vec!["What make checks when it starts.".to_owned()],
        body,
        ..Task::default()
    });
    parts
}

fn steps(value: &Expr) -> Vec<Step> {
    match value {
        Expr::Fail(message) => vec![Step::Fail((**message).clone())],
        Expr::Choice(condition, then, otherwise) => under(condition, steps(then), steps(otherwise)),
        _ => Vec::new(),
    }
}
