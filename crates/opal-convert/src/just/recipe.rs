//! Recipes as tasks.

use super::attributes;
use super::body::{self, piece_text, shebang};
use super::calls;
use super::expr::{Fault, pieces};
use super::file::{Alias, Header, Justfile, Recipe, RecipeParam};
use super::places::places;
use super::settings::Settings;
use crate::commands::{is_shell, names, runs};
use crate::form::{Argument, Call, Expr, HERE, Leftover, MAIN, Piece, Sheet, Step, Task, Variable};

/// The recipes of a file, by its path.
pub(super) fn sheet(file: Justfile, path: &str) -> Sheet {
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
    let is_tool = |it: &&Variable| it.value == Expr::text("just");
    let tool: Vec<String> = variables.iter().filter(is_tool).map(|it| it.name.clone()).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for recipe in &recipes {
        let lowering =
            Lowering { recipe, settings: &settings, environment: &environment, tool: &tool };
        let source = recipe.file.as_deref().unwrap_or(path);
        let task = lowering.task(&signatures).with_names(&places(source, path));
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
    let has_pipefail = settings.shell.iter().any(|it| it.contains("pipefail"));
    let mut sheet = Sheet {
        variables,
        tasks,
        leftovers,
        environment,
        imports,
        has_pipefail,
        ..Sheet::default()
    };
    for it in aliases {
        alias(&mut sheet, it);
    }
    sheet.run_in_bash(&settings.runner());
    sheet
}

fn mentions_here(variables: &[Variable], recipes: &[Recipe]) -> bool {
    // The text decides, before anything is lowered: a variable too many is harmless.
    let words = ["justfile", "source_", "module_"];
    let of_recipe = |it: &Recipe| words.iter().any(|word| it.source.contains(word));
    let mut found = recipes.iter().any(of_recipe);
    for variable in variables {
        variable.value.visit(&mut |it| {
            found |= matches!(it, Expr::Name(name) if name == HERE || name == MAIN)
        });
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

fn alias(sheet: &mut Sheet, alias: Alias) {
    let Alias { line, name, target, is_private } = alias;
    let source = format!("alias {name} := {target}");
    if let Some(task) = sheet.tasks.iter().find(|it| it.name == target) {
        let alias = Task { is_private, ..task.alias(name, line, source) };
        sheet.tasks.push(alias);
        return;
    }
    let why = "it names no recipe of this file".to_owned();
    sheet.leftovers.push(Leftover { line, name, source, why, ..Leftover::default() });
}

struct Lowering<'a> {
    recipe: &'a Recipe,
    settings: &'a Settings,
    environment: &'a [String],
    /// Variables whose value is just itself.
    tool: &'a [String],
}

impl Lowering<'_> {
    fn task(&self, signatures: &calls::Signatures) -> Task {
        let recipe = self.recipe;
        let mut task = Task {
            name: recipe.name.clone(),
            is_private: recipe.name.starts_with('_'),
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
        let (script, systems) = attributes::apply(recipe, self.settings, &mut task);
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
            let text = self.with_tool(pieces(&lines.join("\n"), name)?);
            let args = args(&piece_text(&text));
            if is_shell(&program) && runs(&text, "just") || names(&text, "just") {
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
            let pieces = self.with_tool(pieces(line, name)?);
            let args = args(&piece_text(&pieces));
            self.line(pieces, may_fail, args, signatures, task);
        }
        Ok(())
    }

    /// With just itself in the place of variables that name it.
    fn with_tool(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let one = |piece: Piece| match piece {
            Piece::Value(Expr::Name(name)) if self.tool.contains(&name) => {
                Piece::Value(Expr::text("just"))
            }
            piece => piece,
        };
        pieces.into_iter().map(one).collect()
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
        if runs(&pieces, "just") {
            task.differs("it still calls `just`");
        }
        match self.settings.other_shell() {
            Some(program) => {
                task.differs(format!("`{program}` gets each line as a file"));
                task.body.push(Step::Script { program, text: pieces, args });
            }
            None if !args.is_empty() => {
                let program = self.settings.runner().program();
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

/// The program of a `#!` line.
fn interpreter_of(line: &str) -> String {
    let line = line.trim();
    let line = line.strip_prefix("/usr/bin/env").map_or(line, str::trim_start);
    let line = line.strip_prefix("-S").map_or(line, str::trim_start);
    line.to_owned()
}
