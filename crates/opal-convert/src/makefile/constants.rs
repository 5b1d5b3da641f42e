//! Variables whose values are known without running anything.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::Reader;
use crate::form::{Expr, HERE, MAIN};

/// The values of variables where nothing outside the file sets them.
pub(super) fn defaults(file: &Reader<'_>) -> BTreeMap<String, String> {
    Constants::new(file).known
}

/// Variables whose values nothing outside the file can change.
pub(super) fn fixed(file: &Reader<'_>) -> BTreeMap<String, String> {
    let mut fixed = Constants::new(file).known;
    let mut open: BTreeSet<&String> = BTreeSet::new();
    // Each round finds one more that depends on the environment, or is the last.
    loop {
        let before = open.len();
        for (name, value) in &file.variables {
            value.visit(&mut |it| match it {
                Expr::Env(..) => drop(open.insert(name)),
                Expr::Name(other) if open.contains(other) => drop(open.insert(name)),
                _ => {}
            });
        }
        if open.len() == before {
            break;
        }
    }
    fixed.retain(|name, _| !open.contains(name));
    fixed
}

/// Variables whose values are known.
pub(super) struct Constants {
    pub(super) known: BTreeMap<String, String>,
}

impl Constants {
    pub(super) fn new(file: &Reader<'_>) -> Self {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        // Each round resolves at least one more, and what grows too long is not a constant.
        for _ in 0..crate::limits::MAX_NESTING {
            let before = known.len();
            for (name, value) in &file.variables {
                if !known.contains_key(name)
                    && let Some(text) = text(value, &known).filter(|it| it.len() <= 64 * 1024)
                {
                    known.insert(name.clone(), text);
                }
            }
            if known.len() == before {
                break;
            }
        }
        Self { known }
    }

    /// What has to be done to know a value, in words: "`$(shell …)` runs".
    pub(super) fn unknown(&self, value: &Expr, file: &Reader<'_>) -> String {
        let mut seen = BTreeSet::new();
        self.cause(value, file, &mut seen).unwrap_or_else(|| "make computes them".to_owned())
    }

    fn cause<'v>(
        &self,
        value: &'v Expr,
        file: &'v Reader<'_>,
        seen: &mut BTreeSet<&'v str>,
    ) -> Option<String> {
        match value {
            Expr::Output(_) => Some("`$(shell …)` runs".to_owned()),
            Expr::Unsupported(what) => Some(format!("make computes {what}")),
            Expr::Env(name, _) => Some(format!("`{name}` is set")),
            Expr::Name(name) if name == HERE || name == MAIN => {
                Some("the directory is known".to_owned())
            }
            Expr::Name(name) if self.known.contains_key(name) => None,
            Expr::Name(name) => match file.variables.get(name) {
                Some(value) if seen.insert(name) => self.cause(value, file, seen),
                Some(_) => None,
                None => Some(format!("`{name}` is set")),
            },
            Expr::Concat(parts) | Expr::Apply(_, parts) => {
                parts.iter().find_map(|part| self.cause(part, file, seen))
            }
            Expr::FirstWord(inner) | Expr::Quoted(inner) => self.cause(inner, file, seen),
            _ => None,
        }
    }

    pub(super) fn words(&self, value: &Expr) -> Option<Vec<String>> {
        let text = text(value, &self.known)?;
        Some(text.split_whitespace().map(str::to_owned).collect())
    }
}

/// The text of a value.
pub(super) fn text(value: &Expr, known: &BTreeMap<String, String>) -> Option<String> {
    match value {
        Expr::Text(text) => Some(text.clone()),
        Expr::Name(name) => known.get(name).cloned(),
        // As make sees it where nothing is set.
        Expr::Env(_, Some(default)) => text(default, known),
        Expr::Concat(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(|part| text(part, known)).collect();
            parts.map(|parts| parts.concat())
        }
        _ => None,
    }
}
