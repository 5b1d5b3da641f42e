//! The file: variables, conditions, rules.

use std::collections::{BTreeMap, BTreeSet};

use super::expand::{Context, is_name, value};
use super::functions;
use super::lines::{Line, find_outside, lines, without_comment};
use crate::form::{Cond, Expr, Leftover};
use crate::limits::{MAX_PASTED, MAX_TASKS, MAX_WEIGHT};

/// A rule as it is written.
#[derive(Debug, Default)]
pub(super) struct Rule {
    pub(super) line: usize,
    /// The head and the recipe, for a comment.
    pub(super) source: String,
    pub(super) targets: Expr0,
    pub(super) needs: Expr0,
    pub(super) docs: Vec<String>,
    pub(super) conditions: Vec<Cond>,
    pub(super) recipe: Vec<(Vec<Cond>, String)>,
    /// Variables of its targets: name, value, exported.
    pub(super) variables: Vec<(String, Expr, bool)>,
}

/// A text before its variables are known.
pub(super) type Expr0 = String;

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) variables: BTreeMap<String, Expr>,
    /// In the order of the file.
    pub(super) order: Vec<String>,
    /// The texts of variables, for `$(call …)`.
    pub(super) texts: BTreeMap<String, String>,
    pub(super) rules: Vec<Rule>,
    pub(super) phony: String,
    pub(super) exported: BTreeSet<String>,
    pub(super) exports_all: bool,
    pub(super) one_shell: bool,
    pub(super) leftovers: Vec<Leftover>,
    open: Vec<Open>,
    docs: Vec<String>,
}

/// An `if` that waits for its `endif`.
#[derive(Debug)]
struct Open {
    /// The branches before, and this one.
    before: Vec<Cond>,
    now: Option<Cond>,
}

impl Reader {
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Self::default();
        let all = lines(text);
        let mut index = 0;
        while index < all.len() {
            index = reader.line(&all, index);
        }
        reader
    }

    pub(super) fn context<'c>(&'c self, automatic: &'c BTreeMap<char, String>) -> Context<'c> {
        let pasted = std::rc::Rc::new(std::cell::Cell::new(MAX_PASTED));
        Context { automatic, texts: &self.texts, depth: 0, pasted }
    }

    pub(super) fn value(&self, text: &str) -> Expr {
        value(text, &self.context(&BTreeMap::new()))
    }

    /// Reads a line, and gives the number of the next.
    fn line(&mut self, all: &[Line], index: usize) -> usize {
        let Line { number, text, is_recipe } = &all[index];
        if *is_recipe && self.recipe(text) {
            return index + 1;
        }
        let (code, comment) = without_comment(text);
        let code = code.trim();
        if code.is_empty() {
            match comment {
                Some(comment) if !comment.is_empty() => self.docs.push(comment.to_owned()),
                _ => self.docs.clear(),
            }
            return index + 1;
        }
        let (word, rest) = code
            .split_once([' ', '\t', '('])
            .map_or((code, ""), |(word, _)| (word, code[word.len()..].trim()));
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                let condition = self.condition(word, rest);
                self.open.push(Open { before: Vec::new(), now: Some(condition) });
            }
            "else" => self.otherwise(rest),
            "endif" => {
                self.open.pop();
            }
            "include" | "-include" | "sinclude" => {
                self.leave(*number, code, "included files are not converted")
            }
            "define" => return self.define(all, index, rest),
            "export" | "unexport" | "override" => self.exported(word, rest),
            "vpath" | "undefine" => {}
            _ => self.statement(*number, code, comment, text),
        }
        index + 1
    }

    fn leave(&mut self, line: usize, source: &str, why: &str) {
        let name: String = source.chars().take(60).collect();
        let (source, why) = (source.to_owned(), why.to_owned());
        self.leftovers.push(Leftover { line, name, source, why });
    }

    /// Whether a line that begins with a tab belongs to a rule.
    fn recipe(&mut self, text: &str) -> bool {
        let conditions = self.conditions();
        let Some(rule) = self.rules.last_mut() else { return false };
        rule.source.push_str("\n\t");
        rule.source.push_str(text);
        let outside = rule.conditions.len().min(conditions.len());
        rule.recipe.push((conditions[outside..].to_vec(), text.to_owned()));
        true
    }

    fn conditions(&self) -> Vec<Cond> {
        let mut all = Vec::new();
        for open in &self.open {
            let others = open.before.iter().map(|it| Cond::Not(Box::new(it.clone())));
            all.extend(others.chain(open.now.clone()));
        }
        all
    }

    fn condition(&self, word: &str, rest: &str) -> Cond {
        let name = |name: &str| Expr::Name(name.trim().to_owned());
        match word {
            "ifdef" => return Cond::NotEqual(name(rest), Expr::text("")),
            "ifndef" => return Cond::Equal(name(rest), Expr::text("")),
            _ => {}
        }
        let inner = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let args = match inner {
            Some(inner) => functions::arguments(inner),
            None => rest
                .split(['"', '\''])
                .filter(|it| !it.trim().is_empty())
                .map(str::to_owned)
                .collect(),
        };
        let side =
            |index: usize| self.value(args.get(index).map(|it| it.trim()).unwrap_or_default());
        match word {
            "ifeq" => Cond::Equal(side(0), side(1)),
            _ => Cond::NotEqual(side(0), side(1)),
        }
    }

    fn otherwise(&mut self, rest: &str) {
        let (word, condition) = rest
            .split_once([' ', '('])
            .map_or((rest, ""), |(word, _)| (word, rest[word.len()..].trim()));
        let now = word.starts_with("if").then(|| self.condition(word, condition));
        if let Some(open) = self.open.last_mut() {
            open.before.extend(open.now.take());
            open.now = now;
        }
    }

    fn define(&mut self, all: &[Line], index: usize, rest: &str) -> usize {
        let name = rest.split_whitespace().next().unwrap_or_default().to_owned();
        let end = all[index + 1..].iter().position(|line| line.text.trim() == "endef");
        let end = end.map_or(all.len(), |end| index + 1 + end);
        let text: Vec<&str> = all[index + 1..end].iter().map(|it| it.text.as_str()).collect();
        let text = text.join("\n");
        self.set(&name, self.value(&text));
        self.texts.insert(name, text);
        end + 1
    }

    /// `export`, `export NAME`, `export NAME = value`.
    fn exported(&mut self, word: &str, rest: &str) {
        if word == "export" && rest.is_empty() {
            self.exports_all = true;
            return;
        }
        let name = match assignment(rest) {
            Some((name, operator, value)) => {
                self.assign(name, operator, value);
                name
            }
            None => rest,
        };
        if word == "export" {
            self.exported.extend(name.split_whitespace().map(str::to_owned));
        }
    }

    fn statement(&mut self, number: usize, code: &str, comment: Option<&str>, text: &str) {
        if let Some((name, operator, value)) = assignment(code) {
            self.assign(name, operator, value);
            self.docs.clear();
            return;
        }
        let Some(colon) = find_outside(code, |it| it.starts_with(':')) else {
            let is_call = code.starts_with("$(");
            self.leave(
                number,
                code,
                if is_call {
                    "it is evaluated when make starts"
                } else {
                    "not a line of a Makefile"
                },
            );
            return;
        };
        let targets = code[..colon].trim();
        let rest = code[colon..].trim_start_matches(':').trim();
        if let Some(special) = targets
            .strip_prefix('.')
            .filter(|it| it.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        {
            match special {
                "PHONY" => self.phony.push_str(&format!(" {rest}")),
                "ONESHELL" => self.one_shell = true,
                _ => {}
            }
            return;
        }
        let (is_exported, variable) =
            rest.strip_prefix("export ").map_or((false, rest), |it| (true, it));
        if let Some((name, _, text)) = assignment(variable) {
            let value = self.value(text);
            self.push(Rule {
                line: number,
                targets: targets.to_owned(),
                variables: vec![(name.to_owned(), value, is_exported)],
                ..Rule::default()
            });
            return;
        }
        let (needs, command) = match find_outside(rest, |it| it.starts_with(';')) {
            Some(at) => (&rest[..at], Some(rest[at + 1..].trim())),
            None => (rest, None),
        };
        let mut docs = std::mem::take(&mut self.docs);
        docs.extend(comment.filter(|it| !it.is_empty()).map(str::to_owned));
        let conditions = self.conditions();
        let recipe = command.map(|it| (Vec::new(), it.to_owned())).into_iter().collect();
        self.push(Rule {
            line: number,
            source: text.trim_end().to_owned(),
            targets: targets.to_owned(),
            needs: needs.trim().to_owned(),
            docs,
            conditions,
            recipe,
            ..Rule::default()
        });
    }

    fn push(&mut self, rule: Rule) {
        if self.rules.len() <= MAX_TASKS {
            self.rules.push(rule);
        }
    }

    fn assign(&mut self, name: &str, operator: &str, text: &str) {
        if !is_name(name) {
            return;
        }
        let text = text.trim();
        let old = self.variables.get(name).cloned();
        let value = match operator {
            "!=" => Expr::Output(super::expand::pieces(text, &self.context(&BTreeMap::new()))),
            _ => self.value(text),
        };
        let value = match &old {
            Some(old) if value.mentions(name) * old.weight() > MAX_WEIGHT => {
                Expr::Unsupported(format!("the variable `{name}`, which is too long,"))
            }
            _ => value.with_names(&|other| {
                (other == name).then(|| old.clone().unwrap_or_else(|| outside(name)))
            }),
        };
        let value = match (operator, old) {
            ("?=", Some(old)) => old,
            ("?=", None) => environment(name, value),
            ("+=", Some(Expr::Text(old))) if old.is_empty() => value,
            ("+=", Some(old)) => Expr::concat(vec![old, Expr::text(" "), value]),
            _ => value,
        };
        if operator != "+=" && operator != "?=" {
            self.texts.insert(name.to_owned(), text.to_owned());
        }
        self.set(name, value);
    }

    /// Under a condition the old value stays where the condition does not hold.
    fn set(&mut self, name: &str, value: Expr) {
        let old = self.variables.get(name).cloned().unwrap_or_else(|| Expr::text(""));
        let conditions = self.conditions();
        let known: Vec<Option<bool>> = conditions.iter().map(folded).collect();
        let open = conditions.into_iter().zip(&known).filter(|(_, known)| known.is_none());
        let open: Vec<Cond> = open.map(|(condition, _)| condition).collect();
        let value = match known.contains(&Some(false)) {
            true => old,
            false => chosen(&open, value, old),
        };
        let value = match value.weight() > MAX_WEIGHT {
            true => Expr::Unsupported(format!("the variable `{name}`, which is too long,")),
            false => value,
        };
        if self.variables.insert(name.to_owned(), value).is_none() {
            self.order.push(name.to_owned());
        }
    }
}

/// The value where all conditions hold, and the old one elsewhere. Branches of one `if` meet in one
/// choice.
fn chosen(conditions: &[Cond], value: Expr, old: Expr) -> Expr {
    let Some((first, rest)) = conditions.split_first() else { return value };
    match old {
        Expr::Choice(condition, then, otherwise) if *condition == *first => {
            Expr::Choice(condition, Box::new(chosen(rest, value, *then)), otherwise)
        }
        Expr::Choice(condition, then, otherwise) if Cond::Not(condition.clone()) == *first => {
            Expr::Choice(condition, then, Box::new(chosen(rest, value, *otherwise)))
        }
        old if rest.is_empty() => Expr::choice(first.clone(), value, old),
        old => Expr::choice(Cond::All(conditions.to_vec()), value, old),
    }
}

/// Whether a condition holds, where that is known: opal does not run on Windows.
pub(super) fn folded(condition: &Cond) -> Option<bool> {
    let text = |it: &Expr| match it {
        Expr::Text(text) => Some(text.clone()),
        Expr::Name(name) if name == "OS" => Some(String::new()),
        _ => None,
    };
    match condition {
        Cond::Equal(left, right) => Some(text(left)? == text(right)?),
        Cond::NotEqual(left, right) => Some(text(left)? != text(right)?),
        Cond::Not(inner) => folded(inner).map(|it| !it),
        _ => None,
    }
}

/// A variable that the file does not define.
pub(super) fn outside(name: &str) -> Expr {
    let default = match name {
        "CC" => "cc",
        "CXX" => "g++",
        "AR" => "ar",
        "AS" => "as",
        "RM" => "rm -f",
        "SHELL" => "/bin/sh",
        _ => "",
    };
    environment(name, Expr::text(default))
}

fn environment(name: &str, default: Expr) -> Expr {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => Expr::Env(name.to_owned(), Some(Box::new(default))),
        false => default,
    }
}

/// `NAME = value` with one of make's operators.
fn assignment(code: &str) -> Option<(&str, &str, &str)> {
    let at = find_outside(code, |it| it.starts_with('='))?;
    let operators = [":::=", "::=", ":=", "?=", "+=", "!="];
    let before = &code[..at + 1];
    let operator = operators.into_iter().find(|it| before.ends_with(it)).unwrap_or("=");
    let name = before[..before.len() - operator.len()].trim();
    let is_one = !name.is_empty() && !name.contains([' ', '\t', ':']);
    is_one.then_some((name, operator, &code[at + 1..]))
}
