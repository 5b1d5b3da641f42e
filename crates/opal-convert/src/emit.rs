//! The form as source text.
//!
//! | what | where |
//! |---|---|
//! | the file, functions | here |
//! | steps of a function | `steps`, scripts in `script` |
//! | expressions, names | `scope`, of the file: `globals` |
//! | shell text with values | `text`, `shape`, `bare`, `part` |
//! | what earlier attempts have shown | `lessons` |
//! | whether a text is the one step that it should be | `step_text` |
//!
//! An `@` that begins a reference is written as [`AT`] until the text is complete. So the places of
//! all references are known, and the proof compares them with those that the parser finds.

mod bare;
mod globals;
mod lessons;
mod part;
mod scope;
mod script;
mod shape;
mod step_text;
mod steps;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use opal_core::Registry;

use crate::comment::{comment, escaped};
use crate::form::{Call, Sheet, Task, Variable};
use crate::format::Format;
use globals::Globals;
use lessons::{AT, Why};
pub(crate) use lessons::{Escape, Lessons, StepId};
use part::literal;
use scope::Scope;
use steps::Steps;

/// What a part of the text is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Variable(String),
    Task(usize),
    Step(StepId),
}

#[derive(Debug, Default)]
pub(crate) struct Emitted {
    pub(crate) text: String,
    /// The places of all references.
    pub(crate) references: BTreeSet<usize>,
    pub(crate) regions: Vec<(Range<usize>, Owner)>,
    /// How many files of variables are imported.
    pub(crate) imports: usize,
    /// The functions, and how many statements each has.
    pub(crate) functions: Vec<(String, usize)>,
    /// What is different, by task.
    pub(crate) why: BTreeMap<usize, Vec<Why>>,
    /// Tasks that could not be written.
    pub(crate) failed: BTreeMap<usize, Why>,
    pub(crate) renamed: BTreeMap<usize, String>,
    /// Variables that could not be written.
    pub(crate) undeclared: BTreeMap<String, Why>,
}

impl Emitted {
    pub(crate) fn owner(&self, place: usize) -> Option<&Owner> {
        // In order of their starts; a step is inside a task, so the last that starts before is inner.
        let end = self.regions.partition_point(|(range, _)| range.start <= place);
        let mut around = self.regions[..end].iter().rev().take(2);
        around.find(|(range, _)| range.contains(&place)).map(|(_, owner)| owner).or_else(|| {
            let mut tasks = self.regions[..end].iter().rev();
            let is_task = |owner: &Owner| matches!(owner, Owner::Task(_));
            let task = tasks.find(|(_, owner)| is_task(owner));
            task.filter(|(range, _)| range.contains(&place)).map(|(_, owner)| owner)
        })
    }
}

pub(crate) fn emit(
    sheet: &Sheet,
    format: Format,
    lessons: &Lessons,
    registry: &Registry,
) -> Emitted {
    let globals = Globals::new(sheet, &lessons.broken);
    let mut out = Emitted {
        text: format!("# Converted from a {} by `opal convert`.\n\n", format.title()),
        ..Emitted::default()
    };
    imports(sheet, &mut out);
    variables(sheet, &globals, &mut out);
    for leftover in &sheet.leftovers {
        let why = format!("Not converted: {}.\n{}", leftover.why, leftover.source);
        out.text.push_str(&comment(&why, ""));
        out.text.push('\n');
    }
    let called = called(sheet);
    let mut group = None;
    for (index, task) in grouped(&sheet.tasks) {
        if group != task.group.as_deref() {
            group = task.group.as_deref();
            let heading = format!("# {}", group.unwrap_or_default());
            out.text.push_str(&comment(&heading, ""));
            out.text.push('\n');
        }
        let name = globals.tasks.get(task.name.as_str()).cloned().unwrap_or_default();
        if name != task.name {
            out.renamed.insert(index, name.clone());
        }
        let refused = lessons.omitted.get(&index).or(task.omitted.as_ref()).cloned();
        let written = match refused {
            Some(why) => Err(why),
            None => function(index, task, &name, &globals, lessons, registry),
        };
        match written {
            Ok(function) => function.append_to(index, name, &mut out),
            Err(why) => {
                omitted(task, &name, &why, called.contains(task.name.as_str()), &mut out);
                out.failed.insert(index, why);
            }
        }
    }
    finish(&mut out);
    out
}

/// The tasks, those without a group first, then group by group: a heading is for all that follows it.
fn grouped(tasks: &[Task]) -> Vec<(usize, &Task)> {
    let mut groups: Vec<&str> = Vec::new();
    for group in tasks.iter().filter_map(|it| it.group.as_deref()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let place =
        |task: &Task| task.group.as_deref().map(|it| groups.iter().position(|group| *group == it));
    let mut all: Vec<(usize, &Task)> = tasks.iter().enumerate().collect();
    all.sort_by_key(|(_, task)| place(task));
    all
}

/// The places of references are those of the marks.
fn finish(out: &mut Emitted) {
    out.references = out.text.match_indices(AT).map(|(place, _)| place).collect();
    out.text = out.text.replace(AT, "@");
}

/// The names of tasks that others run.
fn called(sheet: &Sheet) -> BTreeSet<&str> {
    let mut called = BTreeSet::new();
    let mut add = |call: &Call| {
        // The borrow is of the sheet, which outlives the visit.
        if let Some(task) = sheet.tasks.iter().find(|it| it.name == call.task) {
            called.insert(task.name.as_str());
        }
    };
    sheet.tasks.iter().for_each(|task| task.calls(&mut add));
    called
}

/// Files of variables.
fn imports(sheet: &Sheet, out: &mut Emitted) {
    for file in &sheet.imports {
        let mark = if file.optional { "?" } else { "" };
        out.text.push_str(&format!("import{mark} {}\n", literal(&file.path)));
        out.imports += 1;
    }
    if out.imports > 0 {
        out.text.push('\n');
    }
}

/// Top-level variables, each after those that it uses.
fn variables(sheet: &Sheet, globals: &Globals<'_>, out: &mut Emitted) {
    let mut any = false;
    for variable in sheet.ordered().into_iter().filter(|it| !globals.is_local(&it.name)) {
        any |= declare(variable, globals, out);
    }
    if any {
        out.text.push('\n');
    }
}

fn declare(variable: &Variable, globals: &Globals<'_>, out: &mut Emitted) -> bool {
    let mut scope = Scope::top(globals);
    let Ok((name, is_list)) = scope.name(&variable.name) else { return false };
    let value = match is_list {
        true => scope.list(&variable.value),
        false => scope.expr(&variable.value),
    };
    let value = match value {
        Ok(value) => value,
        Err(why) => {
            out.undeclared.insert(variable.name.clone(), why);
            return false;
        }
    };
    let docs: Vec<_> = variable.docs.iter().map(|it| comment(it, "")).collect();
    out.text.push_str(&docs.concat());
    let start = out.text.len();
    out.text.push_str(&format!("var {name} = {value}\n"));
    out.regions.push((start..out.text.len(), Owner::Variable(variable.name.clone())));
    true
}

/// The original as a comment; where others call it, a function that fails.
fn omitted(task: &Task, name: &str, why: &str, is_called: bool, out: &mut Emitted) {
    let text = format!("`{}` is not converted: {why}.\n{}", escaped(&task.name), task.source);
    out.text.push_str(&comment(&text, ""));
    if is_called {
        let message = literal(&format!("`{name}` was not converted; see the comment above it"));
        out.text
            .push_str(&format!("\nfun {name}(_arguments...) {{\n    {AT}fail({message})\n}}\n"));
        out.functions.push((name.to_owned(), 1));
    }
    out.text.push('\n');
}

/// A function, complete.
struct Function {
    head: String,
    body: Steps,
    why: Vec<Why>,
}

impl Function {
    fn append_to(self, index: usize, name: String, out: &mut Emitted) {
        let start = out.text.len();
        out.text.push_str(&self.head);
        let base = out.text.len();
        out.text.push_str(&self.body.text);
        out.text.push_str("}\n\n");
        out.regions.push((start..out.text.len(), Owner::Task(index)));
        for (range, id) in self.body.regions {
            out.regions.push((base + range.start..base + range.end, Owner::Step(id)));
        }
        out.functions.push((name, self.body.statements));
        out.why.insert(index, self.why);
    }
}

fn function(
    index: usize,
    task: &Task,
    name: &str,
    globals: &Globals<'_>,
    lessons: &Lessons,
    registry: &Registry,
) -> Result<Function, Why> {
    let mut scope = Scope::function(globals, task);
    let mut params = Vec::new();
    for param in &task.params {
        let written = scope.param_name(&param.name).unwrap_or_default().to_owned();
        params.push(match (&param.default, param.rest) {
            (_, true) => format!("{written}..."),
            (None, false) => format!("{written}: String"),
            (Some(default), false) if default.needs_statements() => {
                return Err(format!("the default of `{}` is computed by a condition", param.name));
            }
            (Some(default), false) => {
                format!("{written}: String = {}", scope.default(default)?)
            }
        });
        if param.rest
            && let Some(default) = &param.default
        {
            scope.default_of_rest(&param.name, default)?;
        }
    }
    for param in &task.params {
        if let Some(pattern) = &param.pattern {
            scope.must_match(&param.name, pattern)?;
        }
    }
    let body = Steps::of_task(index, task, &mut scope, lessons, registry)?;
    let docs: Vec<_> = task.docs.iter().map(|it| comment(it, "")).collect();
    let head = format!("{}fun {name}({}) {{\n", docs.concat(), params.join(", "));
    Ok(Function { head, body, why: scope.why })
}
