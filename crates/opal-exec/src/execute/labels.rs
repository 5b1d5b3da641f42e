//! The names of parallel branches, for the lines that they print at the same time.

use std::collections::BTreeMap;

use opal_core::Value;
use opal_core::plan::{Arg, Node, Piece, Plan, Step};
use opal_core::resource;
use opal_vault::event::Branch;

use super::job::Job;

/// Characters of a name.
const MAX_NAME: usize = 20;

/// A branch, and the step that it is the body of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane<'p> {
    /// An iteration, a block, the body of an `if`, or the only step.
    pub(super) of: &'p Step,
    pub(super) steps: &'p [Step],
}

/// A name for each branch; no two are the same. Inside of another branch both are named:
/// `web/tests`.
pub(super) fn labels(job: &Job<'_>, lanes: &[Lane<'_>], around: Option<Branch>) -> Vec<Branch> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for lane in lanes {
        let name = name(job.plan, lane.of).unwrap_or_else(|| "branch".to_owned());
        let name = shortened(&name);
        let count = used.entry(name.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { name } else { format!("{name} {count}") };
        let name = match &around {
            Some(around) => format!("{}/{name}", around.name.text()),
            None => name,
        };
        names.push(job.vault.scrub(&name).into_owned());
    }
    let columns = names.iter().map(|name| name.text().chars().count()).max().unwrap_or(0);
    let first = around.map_or(0, |around| around.index);
    let named = names.into_iter().zip(first..);
    named.map(|(name, index)| Branch { name, index, columns }).collect()
}

/// By what people call it: its id, the function that it calls, the value of its loop, or the first
/// words of its command.
fn name(plan: &Plan, step: &Step) -> Option<String> {
    let id = resource::name(plan, step);
    if id != &*step.path {
        return Some(id.to_owned());
    }
    let named = match step.node {
        Node::Iteration => constant(step, "key").or_else(|| constant(step, "value")),
        Node::Call | Node::Dependency => constant(step, "function"),
        _ => step.command().and_then(words),
    };
    let inside = || step.block.iter().find_map(|inner| name(plan, inner));
    let own = || step.node.path().map(str::to_owned);
    named.filter(|name| !name.trim().is_empty()).or_else(inside).or_else(own)
}

fn constant(step: &Step, arg: &str) -> Option<String> {
    match step.arg(arg)? {
        Arg::Const(Value::String(text)) => Some(text.to_string()),
        Arg::Const(value @ (Value::Int(_) | Value::Bool(_) | Value::Float(_))) => {
            Some(value.to_string())
        }
        _ => None,
    }
}

/// `npm run dev` of `npm run dev --port 8080 | tee log`: the plain words at the beginning. The
/// directory of the program is left out.
fn words(command: &[Piece]) -> Option<String> {
    let Some(Piece::Text(text)) = command.first() else { return None };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_plain = |word: &&str| {
        let starts =
            word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_'));
        starts && word.chars().all(|c| c.is_alphanumeric() || "._-/:@+,".contains(c))
    };
    // A word that goes on in a value is not whole.
    let is_whole = command.len() == 1 || text.ends_with(char::is_whitespace);
    let count = line.split_whitespace().count();
    let all = line.split_whitespace().take(if is_whole { count } else { count.max(1) - 1 });
    let mut name = String::new();
    for word in all.take_while(is_plain) {
        let word = if name.is_empty() { word.rsplit('/').next().unwrap_or(word) } else { word };
        if !name.is_empty() && name.chars().count() + 1 + word.chars().count() > MAX_NAME {
            break;
        }
        name.push_str(if name.is_empty() { "" } else { " " });
        name.push_str(word);
    }
    (!name.is_empty()).then_some(name)
}

/// One line that does nothing to a terminal.
fn shortened(name: &str) -> String {
    let name = opal_core::view::visible::line(name.trim());
    match name.char_indices().nth(MAX_NAME) {
        Some(_) => name.chars().take(MAX_NAME - 1).chain(['…']).collect(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_by_its_plain_first_words() {
        let text = |text: &str| vec![Piece::Text(text.into())];
        for (command, name) in [
            ("npm run dev", Some("npm run dev")),
            ("npm run dev --port 8080", Some("npm run dev")),
            ("./bin/server", Some("server")),
            ("python3 -m http.server", Some("python3")),
            ("kubectl rollout restart deployment/api", Some("kubectl rollout")),
            ("\n  cargo test && echo ok", Some("cargo test")),
            ("echo 'a b'", Some("echo")),
            ("\"$X\" y", None),
            ("(cd a; make)", None),
        ] {
            assert_eq!(words(&text(command)).as_deref(), name, "{command}");
        }
    }
}
