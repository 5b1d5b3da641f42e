//! One task of a Taskfile.

use std::collections::{BTreeMap, BTreeSet};

use opal_config::document::{Node, NodeKind};

use super::files::files;
use super::globals::{Shared, environment_value};
use super::nodes::{self, entries, flag, get, list, pieces, text, texts};
use super::outside::{CLI_ARGS, outside, without_itself};
use super::status;
use crate::commands::runs;
use crate::form::{Argument, Call, Cond, DECIDES, Expr, Param, Piece, Step, Task};

/// A task whose parameters are not decided yet.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) task: Task,
    pub(super) aliases: Vec<String>,
    /// Variables that an include sets for its tasks.
    pub(super) inherited: Vec<(String, Expr)>,
    required: Vec<String>,
}

impl Draft {
    pub(super) fn new(name: &str, line: usize, source: String, node: &Node, file: &Shared) -> Self {
        let environment = file.environment.clone();
        let task = Task { name: name.to_owned(), line, source, environment, ..Task::default() };
        let (aliases, inherited, required) = (Vec::new(), Vec::new(), Vec::new());
        let mut draft = Self { task, aliases, inherited, required };
        if name.contains('*') {
            draft.task.omitted = Some("a name with `*`; write a task with a parameter".to_owned());
        }
        if let Err(path) = &file.dotenv {
            draft.task.differs(format!(
                "`dotenv` files are not loaded, because of {path}; use `--env-file`"
            ));
        }
        match &node.kind {
            NodeKind::Scalar { .. } | NodeKind::List(_) => draft.commands(node, false),
            NodeKind::Map(_) => draft.fields(node, file),
        }
        draft
    }

    fn fields(&mut self, node: &Node, file: &Shared) {
        let task = &mut self.task;
        for key in ["desc", "summary"] {
            if let Some(docs) = get(node, key).and_then(text).filter(|it| !it.is_empty()) {
                task.docs.push(docs.trim().to_owned());
                break;
            }
        }
        let directory = get(node, "dir").and_then(text).filter(|it| !it.is_empty());
        // `./web/` is `web`, and `.` is where the file is.
        let directory = directory.map(|it| match it {
            "/" => it,
            it => it.trim_start_matches("./").trim_end_matches('/'),
        });
        let directory = directory.filter(|it| !matches!(*it, "" | "."));
        task.directory = directory.map(|it| Expr::of_pieces(pieces(it)));
        task.creates_directory = true;
        for (name, value) in nodes::variables(node, "vars") {
            let outer = file.variables.iter().find(|it| it.name == name).map(|it| &it.value);
            // `X: '{{.X | default "y"}}'` is a parameter.
            if let Expr::Choice(_, then, otherwise) = &value
                && **then == Expr::Name(name.clone())
            {
                let default = (**otherwise).clone();
                task.params.push(Param { name, default: Some(default), ..Param::default() });
                continue;
            }
            task.locals.push((name.clone(), without_itself(&name, value, outer)));
        }
        let own = nodes::variables(node, "env").into_iter().filter(|(name, _)| name != "PATH");
        for (name, value) in own {
            task.environment.retain(|(it, _)| *it != name);
            let value = environment_value(&name, value);
            task.environment.push((name, value));
        }
        task.is_private = flag(node, "internal");
        task.runs_once =
            get(node, "run").and_then(text).map_or(file.runs_once, |it| it != "always");
        if get(node, "dotenv").is_some() {
            task.differs("`dotenv` files are not loaded; use `--env-file`");
        }
        if let Some(prompt) = get(node, "prompt") {
            let texts: Vec<_> = list(prompt).into_iter().filter_map(text).collect();
            task.confirm = Some(Expr::of_pieces(pieces(&texts.join(" "))));
        }
        if get(node, "if").is_some() {
            task.omitted = Some("it has an `if`".to_owned());
        }
        self.aliases = texts(get(node, "aliases"));
        self.requires(node);
        self.dependencies(node);
        self.preconditions(node);
        let may_fail = flag(node, "ignore_error");
        let before = self.task.body.len();
        for key in ["cmds", "cmd"] {
            if let Some(commands) = get(node, key) {
                self.commands(commands, may_fail);
            }
        }
        status::apply(&mut self.task, node, before);
        let systems = texts(get(node, "platforms"));
        self.platforms(&systems);
        self.cache(node);
    }

    /// `sources` and `generates`, where `@cached` can compare them.
    fn cache(&mut self, node: &Node) {
        if get(node, "sources").is_none() && get(node, "generates").is_none() {
            return;
        }
        self.task.cached = files(&self.task, node);
        self.task.differs(match self.task.cached {
            Some(_) => {
                format!("{DECIDES}also after a change of its commands or of what it generates, which it must make")
            }
            None => "`sources` and `generates` are omitted, so the task always runs".to_owned(),
        });
    }

    fn requires(&mut self, node: &Node) {
        let Some(vars) = get(node, "requires").and_then(|it| get(it, "vars")) else { return };
        for var in list(vars) {
            let name = text(var).or_else(|| get(var, "name").and_then(text));
            self.required.extend(name.map(str::to_owned));
            if get(var, "enum").is_some() {
                self.task.differs(format!("`{}` accepts any value", name.unwrap_or_default()));
            }
        }
    }

    fn dependencies(&mut self, node: &Node) {
        let Some(deps) = get(node, "deps") else { return };
        let deps = list(deps);
        if deps.len() > 1 {
            self.task.differs("its dependencies run one after the other");
        }
        for dep in deps {
            if get(dep, "for").is_some() {
                self.task.omitted = Some("a loop over dependencies".to_owned());
            }
            match call(dep) {
                Some(call) => self.task.needs.push(call),
                None => self.task.omitted = Some("a dependency that is not understood".to_owned()),
            }
        }
    }

    /// A command that must succeed, with a message.
    fn preconditions(&mut self, node: &Node) {
        let Some(conditions) = get(node, "preconditions") else { return };
        for condition in list(conditions) {
            let command = text(condition).or_else(|| get(condition, "sh").and_then(text));
            let Some(command) = command else { continue };
            let message = get(condition, "msg")
                .and_then(text)
                .map_or_else(|| format!("precondition not met: {command}"), str::to_owned);
            let command = pieces(command.trim_end());
            // What a template computes may be empty, and nothing always succeeds.
            let is_text =
                matches!(command.first(), Some(Piece::Text(text)) if !text.trim().is_empty());
            let mut line = vec![Piece::Text(if is_text { "( " } else { "( :; " }.to_owned())];
            line.extend(command);
            line.push(Piece::Text(" ) || { printf '%s\\n' ".to_owned()));
            line.push(Piece::Value(Expr::Quoted(Box::new(Expr::of_pieces(pieces(
                message.trim(),
            ))))));
            line.push(Piece::Text(" >&2; false; }".to_owned()));
            self.task.body.push(Step::Line { pieces: line, may_fail: false });
        }
    }

    fn platforms(&mut self, systems: &[String]) {
        if systems.is_empty() {
            return;
        }
        match platform(systems) {
            Ok(None) => {}
            Ok(Some(condition)) => {
                let then = std::mem::take(&mut self.task.body);
                self.task.body.push(Step::If { condition, then, otherwise: Vec::new() });
            }
            Err(why) => self.task.omitted = Some(why),
        }
    }

    fn commands(&mut self, node: &Node, may_fail: bool) {
        for command in list(node) {
            if let Err(why) = self.command(command, may_fail) {
                self.task.omitted.get_or_insert(why);
            }
        }
    }

    fn command(&mut self, node: &Node, may_fail: bool) -> Result<(), String> {
        if let Some(text) = text(node) {
            self.line(text, may_fail);
            return Ok(());
        }
        if let Some(deferred) = get(node, "defer") {
            let step = match text(deferred) {
                Some(text) => Step::Line { pieces: pieces(text.trim_end()), may_fail: true },
                None => {
                    let call = call(deferred).ok_or("a `defer` that is not understood")?;
                    Step::Call { call, may_fail: true }
                }
            };
            // The last one that is deferred runs first.
            self.task.finally.insert(0, step);
            return Ok(());
        }
        if get(node, "if").is_some() {
            return Err("a command with an `if`".to_owned());
        }
        let may_fail = may_fail || flag(node, "ignore_error");
        let before = self.task.body.len();
        if let Some(command) = get(node, "cmd").and_then(text) {
            self.line(command, may_fail);
        } else if let Some(call) = call(node) {
            self.task.body.push(Step::Call { call, may_fail });
        } else {
            return Err("a command that is not understood".to_owned());
        }
        let steps = self.task.body.split_off(before);
        let steps = match get(node, "for") {
            Some(over) => repeat(over, steps)?,
            None => steps,
        };
        let systems = texts(get(node, "platforms"));
        match if systems.is_empty() { Ok(None) } else { platform(&systems) } {
            Ok(None) => self.task.body.extend(steps),
            Ok(Some(condition)) => {
                self.task.body.push(Step::If { condition, then: steps, otherwise: Vec::new() });
            }
            Err(_) => self.task.differs("a command for another system is omitted"),
        }
        Ok(())
    }

    fn line(&mut self, command: &str, may_fail: bool) {
        let pieces = pieces(command.trim_end());
        let is_empty =
            pieces.iter().all(|it| matches!(it, Piece::Text(text) if text.trim().is_empty()));
        if is_empty {
            return;
        }
        let words = command.split_whitespace().collect::<Vec<_>>();
        if matches!(words.as_slice(), ["task", flags @ ..]
            if flags.iter().any(|it| matches!(*it, "-l" | "--list" | "-a" | "--list-all"))
                && flags.iter().all(|it| it.starts_with('-')))
        {
            self.task.differs("it lists the tasks of opal");
            let pieces = vec![Piece::Text("opal list".to_owned())];
            self.task.body.push(Step::Line { pieces, may_fail });
            return;
        }
        if runs(&pieces, "task") {
            self.task.differs("it still calls `task`");
        }
        self.task.body.push(Step::Line { pieces, may_fail });
    }

    /// The parameters: what is required, what others pass, what the file does not define.
    pub(super) fn params(
        &self,
        given: &BTreeSet<&str>,
        defined: &BTreeMap<String, Expr>,
    ) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        let mut add = |name: &str, default: Option<Expr>| {
            if !params.iter().any(|it| it.name == name) {
                params.push(Param { name: name.to_owned(), default, ..Param::default() });
            }
        };
        let declared = |name: &str| self.task.params.iter().find(|it| it.name == name);
        for name in &self.required {
            let default = declared(name).and_then(|it| it.default.clone());
            let default = default.or_else(|| defined.get(name).cloned());
            add(name, default.filter(|it| !it.needs_statements()));
        }
        for param in &self.task.params {
            add(&param.name, param.default.clone());
        }
        let is_local = |name: &str| self.task.locals.iter().any(|(local, _)| local == name);
        for name in given.iter().filter(|it| !is_local(it)) {
            add(name, Some(defined.get(*name).cloned().unwrap_or_else(|| outside(name))));
        }
        let items = items(&self.task.body);
        self.task.visit(&mut |value| {
            if let Expr::Name(name) = value {
                let is_known = is_local(name)
                    || defined.contains_key(name)
                    || items.contains(name.as_str())
                    || name.contains(' ');
                if !is_known && name != CLI_ARGS {
                    add(name, Some(outside(name)));
                }
            }
        });
        params.sort_by_key(|it| it.default.is_some());
        params
    }

    /// Has the commands of its own variables run where the task does. Task reads the directory before
    /// it knows any variables of the files.
    pub(super) fn place_commands(&mut self) {
        let Some(directory) = &self.task.directory else { return };
        let directory = directory.with_names(&|name| (!name.contains(' ')).then(|| Expr::text("")));
        if matches!(&directory, Expr::Text(path) if matches!(path.as_str(), "" | "." | "./")) {
            return;
        }
        self.task.locals.iter_mut().for_each(|(_, it)| *it = it.run_in(&directory));
    }

    /// The variables of all files, with those that its include sets.
    pub(super) fn with_inherited(
        &self,
        defined: &BTreeMap<String, Expr>,
    ) -> BTreeMap<String, Expr> {
        let mut all = defined.clone();
        all.extend(self.inherited.iter().cloned());
        all
    }
}

/// The variables of loops.
fn items(steps: &[Step]) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    for step in steps {
        match step {
            Step::For { item, body, .. } => {
                all.insert(item.as_str());
                all.extend(items(body));
            }
            Step::If { then, otherwise, .. } => {
                all.extend(items(then));
                all.extend(items(otherwise));
            }
            _ => {}
        }
    }
    all
}

/// A name, or `task: NAME` with `vars`.
fn call(node: &Node) -> Option<Call> {
    let name = text(node).or_else(|| get(node, "task").and_then(text))?;
    let args = nodes::variables(node, "vars").into_iter();
    let args = args.map(|(name, value)| Argument { name: Some(name), value });
    Some(Call { task: name.trim_start_matches(':').to_owned(), args: args.collect() })
}

/// The systems of `platforms`: none where all are meant.
fn platform(systems: &[String]) -> Result<Option<Cond>, String> {
    let names: BTreeSet<&str> = systems.iter().filter_map(|it| it.split('/').next()).collect();
    let known = [("linux", "linux"), ("darwin", "macos")];
    let known: Vec<_> = known.into_iter().filter(|(name, _)| names.contains(name)).collect();
    match known.as_slice() {
        [] => Err("it is for a system that opal does not run on".to_owned()),
        [(_, name)] => Ok(Some(Cond::Equal(Expr::Fact("os.name"), Expr::text(*name)))),
        _ => Ok(None),
    }
}

/// `for: [a, b]` is written out; `for: { var: X }` is a loop.
fn repeat(over: &Node, steps: Vec<Step>) -> Result<Vec<Step>, String> {
    if let NodeKind::List(items) = &over.kind {
        let items: Option<Vec<&str>> = items.iter().map(|it| it.word()).collect();
        let items = items.ok_or("a loop over something that is not a list of texts")?;
        let mut all = Vec::new();
        for item in items {
            let item = Expr::of_pieces(pieces(item));
            all.extend(steps.iter().map(|step| with_item(step, &item)));
        }
        return Ok(all);
    }
    let Some(var) = get(over, "var").and_then(text) else {
        return Err("a loop over files or a matrix".to_owned());
    };
    let item = get(over, "as").and_then(text).unwrap_or("ITEM").to_owned();
    let separator = get(over, "split").and_then(text).unwrap_or(" ").to_owned();
    if entries(over).is_empty() || separator.is_empty() {
        return Err("a loop that is not understood".to_owned());
    }
    let over = Expr::Apply("trim", vec![Expr::Name(var.to_owned())]);
    Ok(vec![Step::For { item, over, separator, body: steps }])
}

fn with_item(step: &Step, item: &Expr) -> Step {
    let mut step = step.with_names(&|name| (name == "ITEM").then(|| item.clone()));
    if let (Step::Call { call, .. }, Expr::Text(item)) = (&mut step, item) {
        call.task = call.task.replace("{{.ITEM}}", item).replace("{{ .ITEM }}", item);
    }
    step
}
