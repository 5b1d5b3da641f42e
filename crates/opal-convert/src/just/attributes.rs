//! Attributes of a recipe.

use super::file::Recipe;
use super::settings::{Attribute, Settings};
use crate::form::{Cond, Expr, INVOCATION, Task};

/// The interpreter of a script, and the systems that the recipe is for.
pub(super) fn apply(
    recipe: &Recipe,
    settings: &Settings,
    task: &mut Task,
) -> (Option<String>, Option<Cond>) {
    let mut script = settings.scripts.then(|| interpreter(&settings.interpreter));
    let mut systems = Vec::new();
    for Attribute { name, args } in &recipe.attributes {
        let first = args.first().map(|(_, value)| value.clone());
        match name.as_str() {
            "doc" => {
                if let Some(Expr::Text(text)) = first {
                    task.docs = vec![text];
                }
            }
            "confirm" => {
                let question = format!("Run recipe `{}`?", task.name);
                task.confirm = Some(first.unwrap_or(Expr::Text(question)));
            }
            "group" => {
                // A function is listed under one heading.
                let is_title = |it: &&str| !it.trim().is_empty() && !it.contains(['\n', '\r']);
                let title = first.as_ref().and_then(text).filter(is_title);
                task.group = task.group.take().or_else(|| title.map(|it| it.trim().to_owned()));
            }
            "private" => task.is_private = true,
            "no-cd" => task.directory = Some(Expr::Fact(INVOCATION)),
            "working-directory" => task.directory = first,
            "script" => {
                let words: Vec<_> = args.iter().filter_map(|(_, it)| text(it)).collect();
                script = Some(match words.is_empty() {
                    true => interpreter(&settings.interpreter),
                    false => words.join(" "),
                });
            }
            "env" => {
                if let [(_, Expr::Text(name)), (_, value)] = args.as_slice() {
                    task.environment.push((name.clone(), value.clone()));
                }
            }
            "unix" => systems.extend(["linux", "macos"]),
            "linux" | "macos" | "windows" => systems.push(name.as_str()),
            "freebsd" | "openbsd" | "netbsd" | "dragonfly" | "android" => systems.push(""),
            "parallel" => task.differs("its dependencies run one after the other"),
            "arg" => argument(args, task),
            _ => {}
        }
    }
    (script, of_systems(&systems, task))
}

fn text(value: &Expr) -> Option<&str> {
    match value {
        Expr::Text(text) => Some(text),
        _ => None,
    }
}

/// `[arg('name', pattern='…', help='…', long, short='x', value='…')]`.
fn argument(args: &[(Option<String>, Expr)], task: &mut Task) {
    let Some((None, Expr::Text(name))) = args.first() else { return };
    let named = |key: &str| args.iter().find(|(it, _)| it.as_deref() == Some(key));
    let value = |key: &str| named(key).and_then(|(_, it)| text(it));
    if let Some(pattern) = named("pattern").map(|(_, it)| text(it)) {
        let is_written = |it: &&str| !it.contains(['"', '\n']);
        let has_needs = !task.needs.is_empty();
        let param = task.params.iter_mut().find(|it| it.name == *name && !it.rest);
        match (pattern.filter(is_written), param) {
            (Some(pattern), Some(param)) => {
                param.pattern = Some(pattern.to_owned());
                if has_needs {
                    task.differs(format!("`{name}` is checked after its dependencies have run"));
                }
            }
            _ => task.differs(format!("the pattern of `{name}` is not checked")),
        }
    }
    if let Some(long) = value("long").filter(|it| !it.is_empty() && it != name) {
        task.differs(format!("`--{long}` is `--{name}`"));
    }
    if let Some(short) = value("short") {
        task.differs(format!("`-{short}` is `--{name}`"));
    }
    if let Some(flag) = value("value") {
        task.differs(format!("`--{name}` needs its value: `--{name}={flag}`"));
    }
    if let Some(help) = value("help").filter(|it| !it.is_empty()) {
        task.docs.push(format!("{name}: {help}"));
    }
}

fn of_systems(systems: &[&str], task: &mut Task) -> Option<Cond> {
    let is_unix = systems.contains(&"linux") && systems.contains(&"macos");
    if systems.is_empty() || is_unix {
        return None;
    }
    let Some(known) = ["linux", "macos"].into_iter().find(|it| systems.contains(it)) else {
        task.omitted = Some("it is for a system that opal does not run on".to_owned());
        return None;
    };
    Some(Cond::Equal(Expr::Fact("os.name"), Expr::text(known)))
}

fn interpreter(words: &[String]) -> String {
    if words.is_empty() { "sh -eu".to_owned() } else { words.join(" ") }
}
