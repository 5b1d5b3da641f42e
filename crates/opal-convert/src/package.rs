//! Scripts of a `package.json`.

use serde_json::Value;

use crate::dialect::Shell;
use crate::form::{Call, Expr, Param, Piece, Sheet, Step, Task};
use crate::format::Options;
use crate::limits::MAX_TASKS;
use crate::outcome::Unreadable;

/// The rest parameter of every script.
const ARGS: &str = "args";

pub(crate) fn read(text: &str, options: Options<'_>) -> Result<Sheet, Unreadable> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| Unreadable::new(error.line(), "invalid JSON"))?;
    let Some(scripts) =
        document.get("scripts").and_then(Value::as_object).filter(|it| !it.is_empty())
    else {
        return Err(Unreadable::new(1, "the file has no `scripts`"));
    };
    if scripts.len() > MAX_TASKS {
        return Err(Unreadable::new(1, &format!("the file has more than {MAX_TASKS} tasks")));
    }
    let manager = manager(&document, options);
    let mut sheet = Sheet::default();
    for (name, command) in scripts {
        let Some(command) = command.as_str() else { continue };
        let line = line_of(text, name);
        let source = format!("{name}: {command}");
        let params = vec![Param { name: ARGS.to_owned(), rest: true, ..Param::default() }];
        let mut task = Task { name: name.clone(), line, source, params, ..Task::default() };
        match options.inline {
            true => inline(&mut task, command, manager, scripts),
            false => task.body.push(call_of(manager, name)),
        }
        sheet.tasks.push(task);
    }
    sheet.tasks.sort_by_key(|it| it.line);
    sheet.run_in_bash(&Shell::Sh.into());
    Ok(sheet)
}

/// `packageManager` of the file, else the one whose lock file is beside it.
fn manager(document: &Value, options: Options<'_>) -> &'static str {
    let named = document.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let named = named.split('@').next().unwrap_or_default();
    if let Some(known) = ["npm", "pnpm", "yarn", "bun"].into_iter().find(|it| *it == named) {
        return known;
    }
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    let found = locks.into_iter().find(|(file, _)| options.siblings.contains(file));
    found.map_or("npm", |(_, manager)| manager)
}

/// `npm run NAME -- args`.
fn call_of(manager: &str, name: &str) -> Step {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    let mut pieces = vec![Piece::Text(format!("{manager} run "))];
    match name.chars().all(is_safe) && !name.starts_with('-') {
        true => pieces.push(Piece::Text(name.to_owned())),
        false => pieces.push(Piece::Value(Expr::Quoted(Box::new(Expr::text(name))))),
    }
    pieces.push(Piece::Text(if manager == "npm" { " -- " } else { " " }.to_owned()));
    pieces.push(Piece::Value(Expr::Name(ARGS.to_owned())));
    Step::Line { pieces, may_fail: false }
}

/// The command itself, with the programs of the project on the path.
fn inline(task: &mut Task, command: &str, manager: &str, scripts: &serde_json::Map<String, Value>) {
    let hook = |when: &str| {
        let name = format!("{when}{}", task.name);
        let call = Call { task: name.clone(), args: Vec::new() };
        scripts.contains_key(&name).then_some(Step::Call { call, may_fail: false })
    };
    let (before, after) = (hook("pre"), hook("post"));
    task.body.extend(before);
    match calls(command, manager, scripts) {
        Some(calls) => {
            task.params.clear();
            task.body.extend(calls);
        }
        None => {
            if command.contains("npm_") {
                task.differs("variables that the package manager sets are not set");
            }
            let path = "export PATH=\"$PWD/node_modules/.bin:$PATH\"; ";
            let text = Piece::Text(format!("{path}{} ", command.trim_end()));
            let pieces = vec![text, Piece::Value(Expr::Name(ARGS.to_owned()))];
            task.body.push(Step::Line { pieces, may_fail: false });
        }
    }
    task.body.extend(after);
}

/// `npm run a && npm run b`.
fn calls(
    command: &str,
    manager: &str,
    scripts: &serde_json::Map<String, Value>,
) -> Option<Vec<Step>> {
    let mut calls = Vec::new();
    for part in command.split("&&") {
        let words: Vec<&str> = part.split_whitespace().collect();
        let name = match words.as_slice() {
            ["npm" | "pnpm" | "yarn" | "bun", "run", name] => *name,
            ["pnpm" | "yarn", name] if *manager == *words[0] && *name != "install" => *name,
            _ => return None,
        };
        scripts.get(name)?;
        let call = Call { task: name.to_owned(), args: Vec::new() };
        calls.push(Step::Call { call, may_fail: false });
    }
    Some(calls)
}

fn line_of(text: &str, name: &str) -> usize {
    let key = Value::String(name.to_owned()).to_string();
    let start = text.find("\"scripts\"").unwrap_or(0);
    let at = text[start..].find(&key).map_or(start, |at| start + at);
    1 + text[..at].matches('\n').count()
}
