//! The file: variables, conditions, rules.

use std::collections::{BTreeMap, BTreeSet};

use super::canned::{self, Define};
use super::expand::{Context, is_name, value};
use super::functions;
use super::lines::{Line, find_outside, lines, without_comment};
use super::values::{assignment, chosen, environment, folded, is_check, outside};
use crate::files::Folder;
use crate::form::{Cond, Expr, Leftover};
use crate::limits::{MAX_PASTED, MAX_TASKS, MAX_WEIGHT};

/// A rule as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    pub(super) line: usize,
    /// The file that it is in, where that is another one.
    pub(super) file: Option<String>,
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

impl Rule {
    /// The rule is not in the result.
    pub(super) fn leftover(&self, why: &str) -> Leftover {
        let (name, source) = (self.targets.clone(), self.source.clone());
        Leftover { line: self.line, file: self.file.clone(), name, source, why: why.to_owned() }
    }
}

/// A text before its variables are known.
pub(super) type Expr0 = String;

/// What make evaluates when it starts, and may stop it.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) line: usize,
    pub(super) file: Option<String>,
    pub(super) source: String,
    pub(super) conditions: Vec<Cond>,
    pub(super) value: Expr,
}

#[derive(Default)]
pub(super) struct Reader<'f> {
    pub(super) variables: BTreeMap<String, Expr>,
    /// In the order of the file.
    pub(super) order: Vec<String>,
    /// The texts of variables, for `$(call …)`.
    pub(super) texts: BTreeMap<String, String>,
    /// Those that are texts of `define`.
    pub(super) canned: BTreeSet<String>,
    pub(super) rules: Vec<Rule>,
    pub(super) phony: String,
    pub(super) exported: BTreeSet<String>,
    pub(super) exports_all: bool,
    pub(super) one_shell: bool,
    pub(super) leftovers: Vec<Leftover>,
    pub(super) checks: Vec<Check>,
    open: Vec<Open>,
    docs: Vec<String>,
    /// Lines that begin with a tab belong to the last rule.
    is_in_rule: bool,
    /// Variables whose values are known from an earlier reading.
    known: BTreeMap<String, String>,
    files: Option<Folder<'f>>,
    /// The included file that is read.
    file: Option<String>,
}

/// An `if` that waits for its `endif`.
#[derive(Debug)]
struct Open {
    /// The branches before, and this one.
    before: Vec<Cond>,
    now: Option<Cond>,
}

impl<'f> Reader<'f> {
    pub(super) fn read(text: &str, known: BTreeMap<String, String>, files: Folder<'f>) -> Self {
        let mut reader = Self { known, files: Some(files), ..Self::default() };
        reader.lines(text);
        reader
    }

    fn lines(&mut self, text: &str) {
        let all = lines(text);
        let mut index = 0;
        while index < all.len() {
            index = self.line(&all, index);
        }
    }

    /// `include a.mk b.mk`: they are read as if they were here.
    fn include(&mut self, line: usize, code: &str, paths: &str, is_optional: bool) {
        let value = self.value(paths);
        let Some(paths) = functions::known(&value, &self.context(&BTreeMap::new())) else {
            return self.leave(line, code, "its path is computed");
        };
        let Some(files) = self.files else { return };
        for path in paths.split_whitespace() {
            match files.open("", &[path.to_owned()]) {
                Ok(Some(opened)) => {
                    let file = self.file.replace(opened.path);
                    self.files = Some(files.below());
                    self.lines(&opened.text);
                    (self.files, self.file) = (Some(files), file);
                }
                Ok(None) if is_optional => {}
                Ok(None) => self.leave(line, code, "the file is not there"),
                Err(why) => self.leave(line, code, &why),
            }
        }
    }

    pub(super) fn context<'c>(&'c self, automatic: &'c BTreeMap<char, String>) -> Context<'c> {
        let pasted = std::rc::Rc::new(std::cell::Cell::new(MAX_PASTED));
        let Self { texts, canned, known, one_shell, .. } = self;
        Context { automatic, texts, canned, known, one_shell: *one_shell, depth: 0, pasted }
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
        self.is_in_rule &= matches!(word, "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif");
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
                self.include(*number, code, rest, word != "include");
            }
            "define" => return self.defined(canned::define(all, index, rest)),
            "export" | "unexport" | "override" => self.exported(word, rest),
            "vpath" | "undefine" => {}
            _ => self.statement(*number, code, comment, text),
        }
        index + 1
    }

    fn leave(&mut self, line: usize, source: &str, why: &str) {
        let name: String = source.chars().take(60).collect();
        let (source, why, file) = (source.to_owned(), why.to_owned(), self.file.clone());
        self.leftovers.push(Leftover { line, file, name, source, why });
    }

    /// A text of `define`. It is pasted into recipes only where it is certain to be the one that counts.
    fn defined(&mut self, Define { name, is_late, text, next }: Define) -> usize {
        self.set(&name, self.value(&text));
        let decided: Vec<Option<bool>> = self.conditions().iter().map(folded).collect();
        if !decided.contains(&Some(false)) {
            self.texts.remove(&name);
            self.canned.remove(&name);
            if is_late && !decided.contains(&None) {
                self.texts.insert(name.clone(), text);
                self.canned.insert(name);
            }
        }
        next
    }

    /// Whether a line that begins with a tab belongs to a rule.
    fn recipe(&mut self, text: &str) -> bool {
        let conditions = self.conditions();
        let Some(rule) = self.rules.last_mut().filter(|_| self.is_in_rule) else { return false };
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
            return self.evaluated(number, code);
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
                file: self.file.clone(),
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
            file: self.file.clone(),
            source: text.trim_end().to_owned(),
            targets: targets.to_owned(),
            needs: needs.trim().to_owned(),
            docs,
            conditions,
            recipe,
            ..Rule::default()
        });
    }

    /// A line that make evaluates when it starts: one that may stop it is a check of every task, and
    /// messages do nothing.
    fn evaluated(&mut self, line: usize, code: &str) {
        if !code.starts_with(['$']) {
            return self.leave(line, code, "not a line of a Makefile");
        }
        let value = self.value(code);
        if !is_check(&value) {
            return self.leave(line, code, "it is evaluated when make starts");
        }
        if value.needs_statements() {
            let (conditions, file, source) =
                (self.conditions(), self.file.clone(), code.to_owned());
            self.checks.push(Check { line, file, source, conditions, value });
        }
    }

    fn push(&mut self, rule: Rule) {
        self.is_in_rule = true;
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
        self.canned.remove(name);
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
