//! Recipes as tasks.

use super::body::{self, piece_text, shebang};
use super::calls;
use super::expr::{Fault, pieces};
use super::file::{Header, Justfile, Recipe, RecipeParam};
use super::settings::{Attribute, Settings};
use crate::form::{
    Argument, Call, Cond, Expr, HERE, INVOCATION, Leftover, Piece, Sheet, Step, Task, Variable,
};

pub(super) fn sheet(file: Justfile) -> Sheet {
    let Justfile { settings, mut variables, exported, aliases, recipes, leftovers, .. } = file;
    if mentions_here(&variables, &recipes) {
        variables.insert(0, Variable::here());
    }
    let environment: Vec<String> = variables
        .iter()
        .map(|it| it.name.clone())
        .filter(|it| it != HERE && (settings.export || exported.contains(it)))
        .collect();
    let signatures = calls::signatures(&recipes, &aliases);
    let mut tasks: Vec<Task> = Vec::new();
    for recipe in &recipes {
        let lowering = Lowering { recipe, settings: &settings, environment: &environment };
        let task = lowering.task(&signatures);
        match tasks.iter().position(|it| it.name == task.name) {
            Some(index) => {
                let before = std::mem::take(&mut tasks[index]);
                tasks[index] = merged(before, task);
            }
            None => tasks.push(task),
        }
    }
    let imports = settings.dotenv.file().and_then(Result::ok).into_iter().collect();
    let environment = environment.into_iter().map(|it| (it.clone(), Expr::Name(it))).collect();
    let mut sheet = Sheet { variables, tasks, leftovers, environment, imports };
    for (line, name, target) in aliases {
        alias(&mut sheet, line, name, &target);
    }
    sheet
}

fn mentions_here(variables: &[Variable], recipes: &[Recipe]) -> bool {
    // The text decides, before anything is lowered: a variable too many is harmless.
    let words = ["justfile", "source_dir", "module_dir"];
    let of_recipe = |it: &Recipe| words.iter().any(|word| it.source.contains(word));
    let mut found = recipes.iter().any(of_recipe);
    for variable in variables {
        variable.value.visit(&mut |it| found |= *it == Expr::here());
    }
    found
}

/// Variants of a recipe for different systems; or a recipe that replaces another one.
fn merged(before: Task, after: Task) -> Task {
    let is_variant = |task: &Task| matches!(task.body.as_slice(), [Step::If { .. }]);
    if after.omitted.is_some() && before.omitted.is_none() {
        let mut before = before;
        before.source = format!("{}\n\n{}", before.source, after.source);
        before.differs("the variant for Windows is omitted");
        return before;
    }
    if before.omitted.is_some() || !is_variant(&before) || !is_variant(&after) {
        let mut after = after;
        if before.omitted.is_some() {
            after.differs("the variant for Windows is omitted");
        }
        return after;
    }
    let source = format!("{}\n\n{}", before.source, after.source);
    let mut task = Task { source, ..before };
    task.why.extend(after.why);
    task.needs.extend(after.needs);
    if let ([Step::If { otherwise, .. }], [variant @ Step::If { .. }]) =
        (task.body.as_mut_slice(), after.body.as_slice())
    {
        *otherwise = vec![variant.clone()];
    }
    task
}

fn alias(sheet: &mut Sheet, line: usize, name: String, target: &str) {
    let source = format!("alias {name} := {target}");
    if let Some(task) = sheet.tasks.iter().find(|it| it.name == target) {
        let alias = task.alias(name, line, source);
        sheet.tasks.push(alias);
        return;
    }
    let why = "it names no recipe of this file".to_owned();
    sheet.leftovers.push(Leftover { line, name, source, why });
}

struct Lowering<'a> {
    recipe: &'a Recipe,
    settings: &'a Settings,
    environment: &'a [String],
}

impl Lowering<'_> {
    fn task(&self, signatures: &calls::Signatures) -> Task {
        let recipe = self.recipe;
        let mut task = Task {
            name: recipe.name.clone(),
            line: recipe.line,
            file: recipe.file.clone(),
            source: recipe.source.clone(),
            docs: recipe.docs.clone(),
            directory: self.settings.directory.clone(),
            ..Task::default()
        };
        let header = match &recipe.header {
            Ok(header) => header,
            Err(why) => {
                task.omitted = Some(why.clone());
                return task;
            }
        };
        for name in self.environment {
            task.environment.push((name.clone(), Expr::Name(name.clone())));
        }
        self.params(header, &mut task);
        task.needs = header.before.iter().map(call).collect();
        let (script, systems) = self.attributes(&mut task);
        if let Some(Err(path)) = self.settings.dotenv.file() {
            task.differs(format!("{path} is not loaded; use `--env-file`"));
        }
        if self.settings.dotenv.wins {
            task.differs("the environment wins over `.env`");
        }
        if let Err(why) = self.body(header, script, signatures, &mut task) {
            task.omitted.get_or_insert(why);
        }
        task.body
            .extend(header.after.iter().map(|it| Step::Call { call: call(it), may_fail: false }));
        if let Some(condition) = systems {
            let message = format!("`{}` is not available on this system", task.name);
            let otherwise = vec![Step::Fail(Expr::Text(message))];
            let then = std::mem::take(&mut task.body);
            task.body = vec![Step::If { condition, then, otherwise }];
        }
        task
    }

    fn params(&self, header: &Header, task: &mut Task) {
        for RecipeParam { param, is_required_rest, is_exported } in &header.params {
            if *is_required_rest && param.default.is_none() {
                task.differs(format!("`{}` may be empty", param.name));
            }
            if *is_exported || self.settings.export {
                task.environment.push((param.name.clone(), Expr::Name(param.name.clone())));
            }
            task.params.push(param.clone());
        }
    }

    /// The interpreter of a script, and the systems that the recipe is for.
    fn attributes(&self, task: &mut Task) -> (Option<String>, Option<Cond>) {
        let mut script = self.settings.scripts.then(|| interpreter(&self.settings.interpreter));
        let mut systems = Vec::new();
        for Attribute { name, args } in &self.recipe.attributes {
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
                "no-cd" => task.directory = Some(Expr::Fact(INVOCATION)),
                "working-directory" => task.directory = first,
                "script" => {
                    let words = args.iter().filter_map(|(_, it)| match it {
                        Expr::Text(text) => Some(text.as_str()),
                        _ => None,
                    });
                    let words: Vec<_> = words.collect();
                    script = Some(match words.is_empty() {
                        true => interpreter(&self.settings.interpreter),
                        false => words.join(" "),
                    });
                }
                "env" => {
                    if let [(_, Expr::Text(name)), (_, value)] = args.as_slice() {
                        task.environment.push((name.clone(), value.clone()));
                    }
                }
                "unix" => systems.extend(["linux", "macos"]),
                "linux" | "macos" | "freebsd" | "openbsd" | "netbsd" | "android" => {
                    systems.push(if name == "linux" {
                        "linux"
                    } else if name == "macos" {
                        "macos"
                    } else {
                        ""
                    });
                }
                "windows" => systems.push("windows"),
                "parallel" => task.differs("its dependencies run one after the other"),
                "arg" => task.differs("options of `[arg]` are parameters: `--NAME=VALUE`"),
                _ => {}
            }
        }
        (script, self.systems(&systems, task))
    }

    fn systems(&self, systems: &[&'static str], task: &mut Task) -> Option<Cond> {
        let is_unix = systems.contains(&"linux") && systems.contains(&"macos");
        if systems.is_empty() || is_unix {
            return None;
        }
        let known: Vec<_> =
            ["linux", "macos"].into_iter().filter(|it| systems.contains(it)).collect();
        if known.is_empty() {
            task.omitted = Some("it is for a system that opal does not run on".to_owned());
            return None;
        }
        Some(Cond::Equal(Expr::Fact("os.name"), Expr::text(known[0])))
    }

    fn body(
        &self,
        header: &Header,
        script: Option<String>,
        signatures: &calls::Signatures,
        task: &mut Task,
    ) -> Result<(), Fault> {
        let recipe = self.recipe;
        let name = Some(recipe.name.as_str());
        let positional = self.settings.positional
            || recipe.attributes.iter().any(|it| it.name == "positional-arguments");
        let args = |text: &str| -> Vec<Expr> {
            let is_read = positional && has_positional(text);
            let params = header.params.iter().filter(|_| is_read);
            params.map(|it| Expr::Name(it.param.name.clone())).collect()
        };
        let program = shebang(&recipe.body).map(interpreter_of).or(script);
        if let Some(program) = program {
            let lines =
                if shebang(&recipe.body).is_some() { &recipe.body[1..] } else { &recipe.body };
            let text = pieces(&lines.join("\n"), name)?;
            let args = args(&piece_text(&text));
            if calls::mentions_just(&text) {
                task.differs("it still calls `just`");
            }
            task.body.push(Step::Script { program, text, args });
            return Ok(());
        }
        for (_, line) in body::logical(&recipe.body) {
            let (line, may_fail) = without_sigils(&line);
            if line.trim().is_empty() {
                continue;
            }
            if let Some(comment) = line.trim_start().strip_prefix('#') {
                task.body.push(Step::Comment(comment.trim().to_owned()));
                continue;
            }
            let pieces = pieces(line, name)?;
            let args = args(&piece_text(&pieces));
            self.line(pieces, may_fail, args, signatures, task);
        }
        Ok(())
    }

    fn line(
        &self,
        pieces: Vec<Piece>,
        may_fail: bool,
        args: Vec<Expr>,
        signatures: &calls::Signatures,
        task: &mut Task,
    ) {
        if let Some(calls) = calls::calls(&pieces, signatures) {
            task.body.extend(calls.into_iter().map(|call| Step::Call { call, may_fail }));
            return;
        }
        if calls::is_list(&pieces) {
            task.differs("it lists the tasks of opal");
            let pieces = vec![Piece::Text("opal list".to_owned())];
            task.body.push(Step::Line { pieces, may_fail });
            return;
        }
        if calls::mentions_just(&pieces) {
            task.differs("it still calls `just`");
        }
        match other_shell(&self.settings.shell) {
            Some(program) => {
                task.body.push(Step::Script { program, text: pieces, args });
            }
            None if !args.is_empty() => {
                let program = "bash".to_owned();
                task.body.push(Step::Script { program, text: pieces, args });
            }
            None => task.body.push(Step::Line { pieces, may_fail }),
        }
    }
}

fn call((task, args): &(String, Vec<Expr>)) -> Call {
    let args = args.iter().map(|value| Argument { name: None, value: value.clone() });
    Call { task: task.clone(), args: args.collect() }
}

/// `$1`, `$@`, `$*`, `$#`.
fn has_positional(text: &str) -> bool {
    let mut after = text.split('$').skip(1);
    after.any(|it| {
        it.trim_start_matches('{').starts_with(|c: char| c.is_ascii_digit() || "@*#".contains(c))
    })
}

/// `@` keeps just from printing the line, `-` ignores a failure.
fn without_sigils(line: &str) -> (&str, bool) {
    let mut line = line;
    let mut may_fail = false;
    loop {
        if let Some(rest) = line.strip_prefix('@') {
            line = rest;
        } else if let Some(rest) = line.strip_prefix('-') {
            (line, may_fail) = (rest, true);
        } else {
            return (line.trim_start(), may_fail);
        }
    }
}

fn interpreter(words: &[String]) -> String {
    if words.is_empty() { "sh -eu".to_owned() } else { words.join(" ") }
}

/// The program of a `#!` line.
fn interpreter_of(line: &str) -> String {
    let line = line.trim();
    let line = line.strip_prefix("/usr/bin/env").map_or(line, str::trim_start);
    let line = line.strip_prefix("-S").map_or(line, str::trim_start);
    line.to_owned()
}

/// The program of a shell that opal does not use for its steps.
fn other_shell(shell: &[String]) -> Option<String> {
    let (first, rest) = shell.split_first()?;
    if matches!(first.rsplit('/').next(), Some("bash" | "sh" | "dash" | "ash")) {
        return None;
    }
    let rest = rest.iter().map(String::as_str).filter(|it| {
        let is_flags = it.starts_with('-') && !it.starts_with("--");
        !(is_flags && it.ends_with('c') || it.eq_ignore_ascii_case("-command"))
    });
    Some(std::iter::once(first.as_str()).chain(rest).collect::<Vec<_>>().join(" "))
}
