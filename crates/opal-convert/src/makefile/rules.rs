//! Rules as tasks.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::constants::{Constants, text};
use super::reader::{Reader, Rule};
use super::shell_flags::{EXTENDED, has_extended_glob, runner, shell_flags, stops};
use super::values::{folded, outside};
use super::{canned, checks, expand};
use crate::commands::runs;
use crate::form::{
    Cached, Call, Cond, DECIDES, Expr, HERE, MAIN, Piece, Sheet, Step, Task, Variable,
};
use crate::quotes::{Place, Quotes};

/// The rules of a file. `names` is the same file where variables have their defaults: what is called
/// as make calls it where nothing is set.
pub(super) fn sheet(mut file: Reader<'_>, names: &Reader<'_>) -> Sheet {
    let constants = Constants::new(names);
    let mut rules = Vec::new();
    let mut patterns = Vec::new();
    for rule in std::mem::take(&mut file.rules) {
        match constants.words(&names.value(&rule.targets)) {
            Some(targets) if targets.iter().any(|it| it.contains('%')) => {
                patterns.extend(targets);
                file.leftovers.push(rule.leftover("rules with `%` stay in the Makefile"));
            }
            Some(targets) if targets.iter().any(|it| it.contains(['*', '?', '['])) => {
                let why = "the names of its targets are only known when make lists files";
                file.leftovers.push(rule.leftover(why));
            }
            Some(targets) => rules.extend(targets.into_iter().map(|it| (it, rule.clone()))),
            None => {
                let by = constants.unknown(&names.value(&rule.targets), names);
                let why = format!("the names of its targets are only known when {by}");
                file.leftovers.push(rule.leftover(&why));
            }
        }
    }
    let phony: BTreeSet<String> =
        constants.words(&names.value(&file.phony)).unwrap_or_default().into_iter().collect();
    let targets: BTreeSet<String> = rules.iter().map(|(target, _)| target.clone()).collect();
    let inputs = RefCell::default();
    let maker = Maker {
        file: &file,
        defaults: names,
        constants: &constants,
        phony,
        names: targets,
        patterns,
        inputs,
    };
    let mut tasks: Vec<Task> = Vec::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (target, rule) in &rules {
        let index = *by_name.entry(target.clone()).or_insert_with(|| {
            let (line, file) = (rule.line, rule.file.clone());
            tasks.push(Task { name: target.clone(), line, file, ..Task::default() });
            tasks.len() - 1
        });
        maker.add(rule, &mut tasks[index]);
    }
    for task in &mut tasks {
        maker.finish(task);
    }
    let checks = checks::add(&file.checks, &mut tasks);
    let variables = variables(&file, &tasks);
    let has_pipefail = shell_flags(&constants).contains("pipefail");
    let runner = runner(&file, &constants);
    let leftovers = file.leftovers;
    let mut sheet = Sheet { variables, tasks, leftovers, checks, has_pipefail, ..Sheet::default() };
    sheet.run_in_bash(&runner);
    sheet
}

/// Variables, those that only the environment can define included.
fn variables(file: &Reader<'_>, tasks: &[Task]) -> Vec<Variable> {
    let mut all = vec![Variable::here()];
    let mut undefined: Vec<String> = Vec::new();
    let mut reads_here = false;
    let mut look = |value: &Expr| {
        if let Expr::Name(name) = value {
            let is_here = name == HERE || name == MAIN;
            reads_here |= is_here;
            let is_known = is_here || file.variables.contains_key(name) || undefined.contains(name);
            if !is_known {
                undefined.push(name.clone());
            }
        }
    };
    let used = canned::used(file, tasks);
    let is_written = |name: &String| !file.canned.contains(name) || used.contains(name);
    let written = file.variables.iter().filter(|(name, _)| is_written(name));
    written.for_each(|(_, value)| value.visit(&mut look));
    tasks.iter().for_each(|it| it.visit(&mut look));
    for name in file.order.iter().filter(|name| is_written(name)) {
        if let Some(value) = file.variables.get(name) {
            all.push(Variable { name: name.clone(), value: value.clone(), docs: Vec::new() });
        }
    }
    for name in undefined {
        let value = outside(&name);
        all.push(Variable { name, value, docs: Vec::new() });
    }
    if !reads_here {
        all.remove(0);
    }
    all
}

struct Maker<'f> {
    file: &'f Reader<'f>,
    defaults: &'f Reader<'f>,
    constants: &'f Constants,
    phony: BTreeSet<String>,
    names: BTreeSet<String>,
    patterns: Vec<String>,
    /// The ordinary prerequisites of each target.
    inputs: RefCell<BTreeMap<String, Vec<String>>>,
}

impl Maker<'_> {
    /// Adds what a rule says about a target.
    fn add(&self, rule: &Rule, task: &mut Task) {
        for (name, value, is_exported) in &rule.variables {
            task.locals.push((name.clone(), value.clone()));
            if *is_exported {
                task.environment.push((name.clone(), Expr::Name(name.clone())));
            }
        }
        if !rule.variables.is_empty() {
            return;
        }
        if !task.source.is_empty() {
            task.source.push('\n');
        }
        task.source.push_str(&rule.source);
        if task.docs.is_empty() {
            task.docs.clone_from(&rule.docs);
        }
        let (ordinary, later) = self.conditional(rule, task);
        let (ordinary, later) = (ordinary.as_str(), later.as_str());
        let inputs = self.needs(ordinary, task);
        self.inputs.borrow_mut().entry(task.name.clone()).or_default().extend(inputs.clone());
        self.needs(later, task);
        let mut automatic = BTreeMap::from([('@', task.name.clone())]);
        automatic.insert('<', inputs.first().cloned().unwrap_or_default());
        for list in ['^', '+', '?'] {
            automatic.insert(list, inputs.join(" "));
        }
        let mut body = self.body(rule, &automatic, task);
        for condition in rule.conditions.iter().rev() {
            body = under(condition, body, std::mem::take(&mut task.body));
        }
        task.body.extend(body);
    }

    fn is_file(&self, task: &Task) -> bool {
        !self.phony.contains(&task.name) && task.name.contains(['/', '.'])
    }

    /// Whether make looks for a file of this name: it has recipes, and depends on files.
    fn may_be_file(&self, task: &Task) -> bool {
        let inputs = self.inputs.borrow();
        let mut inputs = inputs.get(&task.name).into_iter().flatten();
        let is_file = |it: &String| it.contains(['/', '.']) && !self.phony.contains(it);
        !self.phony.contains(&task.name)
            && !task.name.contains(['/', '.'])
            && !task.body.is_empty()
            && inputs.any(is_file)
    }

    /// The dependencies of a rule before and after its `|`. Only make knows them where a condition
    /// decides about them.
    fn conditional(&self, rule: &Rule, task: &mut Task) -> (String, String) {
        let decided: Vec<Option<bool>> = rule.conditions.iter().map(folded).collect();
        let (ordinary, later) = rule.needs.split_once('|').unwrap_or((&rule.needs, ""));
        if decided.contains(&Some(false)) {
            return (String::new(), String::new());
        }
        if decided.contains(&None) && !rule.needs.trim().is_empty() {
            task.omitted.get_or_insert_with(|| COMPUTED.to_owned());
        }
        (ordinary.to_owned(), later.to_owned())
    }

    /// The dependencies among the tasks of the file; all words are the inputs.
    fn needs(&self, text: &str, task: &mut Task) -> Vec<String> {
        let Some(words) = self.constants.words(&self.defaults.value(text)) else {
            task.omitted.get_or_insert_with(|| COMPUTED.to_owned());
            return Vec::new();
        };
        for word in &words {
            if self.names.contains(word) {
                if !task.needs.iter().any(|it| it.task == *word) {
                    task.needs.push(Call { task: word.clone(), args: Vec::new() });
                }
            } else if !word.contains(['/', '.']) && !self.is_file(task)
                || self.patterns.iter().any(|pattern| fits(word, pattern))
            {
                // A rule of another file, or a file that only make looks for.
                task.omitted.get_or_insert_with(|| COMPUTED.to_owned());
            }
        }
        words
    }

    fn body(&self, rule: &Rule, automatic: &BTreeMap<char, String>, task: &mut Task) -> Vec<Step> {
        let mut body: Vec<Step> = Vec::new();
        let is_extended = shell_flags(self.constants).contains("extglob");
        if is_extended && rule.recipe.iter().any(|(_, line)| has_extended_glob(line)) {
            task.omitted.get_or_insert_with(|| EXTENDED.to_owned());
        }
        if self.file.one_shell && rule.recipe.len() > 1 {
            let lines: Vec<&str> = rule
                .recipe
                .iter()
                .map(|(_, line)| line.trim_start_matches(['@', '-', '+']))
                .collect();
            let text = lines.join("\n");
            let before = stops(shell_flags(self.constants), &text).unwrap_or_default();
            let pieces = expand::pieces(&format!("{before}{text}"), &self.file.context(automatic));
            return vec![Step::Line { pieces, may_fail: false }];
        }
        for (conditions, line) in canned::recipe(rule, &self.file.context(automatic)) {
            let text = line.trim_start_matches(['@', '-', '+']);
            let line = match stops(shell_flags(self.constants), text) {
                Some(before) => format!("{}{before}{text}", &line[..line.len() - text.len()]),
                None => line,
            };
            let mut steps = self.line(&line, automatic, task);
            for condition in conditions.iter().rev() {
                steps = under(condition, steps, Vec::new());
            }
            body.extend(steps);
        }
        body
    }

    fn line(&self, line: &str, automatic: &BTreeMap<char, String>, task: &mut Task) -> Vec<Step> {
        let mut may_fail = false;
        let mut line = line.trim_start();
        while let Some(rest) = line.strip_prefix(['@', '-', '+']) {
            may_fail |= line.starts_with('-');
            line = rest.trim_start();
        }
        if line.trim().is_empty() {
            return Vec::new();
        }
        if let Some(comment) = line.strip_prefix('#') {
            return vec![Step::Comment(comment.trim().to_owned())];
        }
        if line.contains("MAKEFILE_LIST")
            || line.contains("make -qp")
            || line.contains("make -pRrq")
        {
            task.differs("it lists the tasks of opal");
            let pieces = vec![Piece::Text("opal list".to_owned())];
            return vec![Step::Line { pieces, may_fail }];
        }
        let pieces = expand::pieces(line, &self.file.context(automatic));
        let pieces = self.without_prefix(pieces, &mut may_fail);
        let pieces = with_commands(pieces);
        if let [Piece::Value(Expr::Fail(message))] = pieces.as_slice() {
            return vec![Step::Fail((**message).clone())];
        }
        if pieces.iter().all(|it| *it == Piece::Value(Expr::text(""))) {
            return Vec::new();
        }
        if let [Piece::Text(text)] = pieces.as_slice()
            && let Some(names) = text.strip_prefix("make ")
            && names.split_whitespace().all(|name| self.names.contains(name))
        {
            let calls = names
                .split_whitespace()
                .map(|name| Call { task: name.to_owned(), args: Vec::new() });
            return calls.map(|call| Step::Call { call, may_fail }).collect();
        }
        if runs(&pieces, "make") {
            task.differs("it still calls `make`");
        }
        vec![Step::Line { pieces, may_fail }]
    }

    /// Without a variable such as `$(Q)`, whose value is one of make's own marks.
    fn without_prefix(&self, mut pieces: Vec<Piece>, may_fail: &mut bool) -> Vec<Piece> {
        let Some(Piece::Value(first)) = pieces.first() else { return pieces };
        let Some(text) = text(first, &self.constants.known) else { return pieces };
        if text.is_empty() || text.chars().all(|c| "@-+ ".contains(c)) {
            *may_fail |= text.contains('-');
            pieces.remove(0);
            if let Some(Piece::Text(rest)) = pieces.first_mut() {
                *rest = rest.trim_start_matches(['@', ' ']).to_owned();
            }
        }
        pieces
    }

    /// What a file is made of, where `@cached` can compare it: no name of a task among them.
    fn files(&self, task: &Task) -> Option<Cached> {
        let inputs = self.inputs.borrow().get(&task.name).cloned()?;
        let is_file = |word: &String| {
            let is_task = self.phony.contains(word)
                || self.names.contains(word) && !word.contains(['/', '.']);
            !is_task && !word.contains(['*', '?', '[', ']', '{', '}'])
        };
        let is_clear = inputs.iter().chain([&task.name]).all(is_file);
        if is_clear { Cached::new(inputs, vec![task.name.clone()]) } else { None }
    }

    fn finish(&self, task: &mut Task) {
        let exported = self
            .file
            .order
            .iter()
            .filter(|it| self.file.exports_all || self.file.exported.contains(*it));
        let exported: Vec<_> = exported.map(|it| (it.clone(), Expr::Name(it.clone()))).collect();
        task.environment.splice(0..0, exported);
        let mut unsupported = None;
        task.visit(&mut |it| {
            if let Expr::Unsupported(why) = it {
                unsupported.get_or_insert_with(|| why.clone());
            }
        });
        let is_file = self.is_file(task);
        let why = task.omitted.take();
        // make knows how to build files; the task stays a call of it.
        if why.is_some() || is_file && unsupported.is_some() {
            let text = format!("make {}", task.name);
            task.body = vec![Step::Line { pieces: vec![Piece::Text(text)], may_fail: false }];
            task.needs.clear();
            task.locals.clear();
            task.environment.clear();
            let knows = match why.as_deref() {
                Some(EXTENDED) => "which gives `extglob` of `.SHELLFLAGS` to its shell",
                _ => "which knows the files that it depends on",
            };
            task.differs(format!("it still calls `make`, {knows}"));
        } else if self.may_be_file(task) {
            task.differs("it always runs, also if the file is up to date");
        } else if is_file {
            task.cached = self.files(task);
            task.differs(match task.cached {
                Some(_) => format!("{DECIDES}content counts, and times do not"),
                None => "it always runs, also if the file is up to date".to_owned(),
            });
        }
    }
}

/// `$(shell …)` in the text of a command is `$(…)`: the shell splits its words, too.
fn with_commands(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut quotes = Quotes::default();
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        let is_read = quotes.place() == Place::Bare;
        match piece {
            Piece::Value(Expr::Output(command)) if is_read => {
                all.push(Piece::Text("$(".to_owned()));
                all.extend(command);
                all.push(Piece::Text(")".to_owned()));
                quotes.value();
                continue;
            }
            Piece::Value(_) => quotes.value(),
            Piece::Text(ref text) => quotes.text(text),
        }
        all.push(piece);
    }
    all
}

const COMPUTED: &str = "its dependencies are computed";

/// Steps under a condition; constant conditions are decided here.
pub(super) fn under(condition: &Cond, then: Vec<Step>, otherwise: Vec<Step>) -> Vec<Step> {
    match folded(condition) {
        Some(true) => then,
        Some(false) => otherwise,
        None => vec![Step::If { condition: condition.clone(), then, otherwise }],
    }
}

fn fits(word: &str, pattern: &str) -> bool {
    match pattern.split_once('%') {
        // `%` alone fits every word, and is a habit to swallow arguments.
        Some(("", "")) | None => false,
        Some((before, after)) => {
            word.len() > before.len() + after.len()
                && word.starts_with(before)
                && word.ends_with(after)
        }
    }
}
