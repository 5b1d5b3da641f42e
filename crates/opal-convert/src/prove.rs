//! The text is parsed and checked as `opal check` does; what does not hold is written in another way,
//! and in the end omitted. So every result passes the check, and has no reference, step or name that
//! the reader did not intend.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::{Diagnostic, Registry};
use opal_plan::unit::{Block, StatementKind, Unit, Work};
use opal_plan::{Words, check, lower};
use opal_syntax::{Style, SyntaxKind};

use crate::emit::{Emitted, Escape, Lessons, Owner, StepId, emit};
use crate::form::{CHECKS, Call, Sheet, Step, Task};
use crate::format::{Format, Options};
use crate::outcome::{Conversion, Grade, Outcome};

/// How many calls of a task are followed.
const MAX_CALLS: usize = 1_000;
/// Attempts; each learns from all errors of the one before.
const MAX_ATTEMPTS: usize = 40;

pub(crate) fn prove(sheet: &Sheet, format: Format, options: Options<'_>) -> Conversion {
    let registry = options.registry;
    let mut lessons = Lessons::default();
    for _ in 0..MAX_ATTEMPTS {
        let emitted = emit(sheet, format, &lessons, registry);
        if !learn(&emitted, &mut lessons, registry) {
            return conversion(sheet, emitted, options);
        }
    }
    let why = "the result is not a correct program".to_owned();
    for index in 0..sheet.tasks.len() {
        lessons.omitted.entry(index).or_insert_with(|| why.clone());
    }
    for variable in &sheet.variables {
        lessons.broken.entry(variable.name.clone()).or_insert_with(|| why.clone());
    }
    conversion(sheet, emit(sheet, format, &lessons, registry), options)
}

/// Finds what is wrong with a text; whether anything is.
fn learn(emitted: &Emitted, lessons: &mut Lessons, registry: &Registry) -> bool {
    let parse = opal_syntax::parse(&emitted.text, &Words(registry));
    let tokens = parse.tokens();
    lessons.taught.clear();
    let mut found = !emitted.undeclared.is_empty();
    for (name, why) in &emitted.undeclared {
        lessons.broken.insert(name.clone(), format!("the variable `{name}`: {why}"));
    }
    for index in 0..tokens.len() {
        let place = tokens.start(index) as usize;
        let is_reference = tokens.kind(index) == SyntaxKind::RefPath;
        if is_reference && !emitted.references.contains(&place) {
            found = true;
            unintended(emitted, place, lessons);
        }
    }
    let starts = (0..tokens.len()).filter(|it| tokens.kind(*it) == SyntaxKind::RefPath);
    let starts: Vec<usize> = starts.map(|it| tokens.start(it) as usize).collect();
    for place in emitted.references.iter().filter(|it| starts.binary_search(it).is_err()) {
        found = true;
        wrong(emitted, *place, "a value in a place that cannot have one", lessons);
    }
    if found {
        return true;
    }
    let checked = check::check_parsed(&parse, &emitted.text, registry);
    for error in checked.diagnostics.iter().filter(|it| it.is_error()) {
        found = true;
        error_found(emitted, error, lessons);
    }
    found || !has_intended_steps(emitted, &lower::unit(&parse, &emitted.text), lessons)
}

/// A reference that nobody intended.
fn unintended(emitted: &Emitted, place: usize, lessons: &mut Lessons) {
    match emitted.owner(place) {
        Some(Owner::Step(id)) if is_taught(*id, lessons) || escape(*id, lessons) => {}
        _ => wrong(emitted, place, "text that would be read as a reference", lessons),
    }
}

fn is_taught(id: StepId, lessons: &mut Lessons) -> bool {
    !lessons.taught.insert(id)
}

/// Escapes more of a step; whether there was more to escape.
fn escape(id: StepId, lessons: &mut Lessons) -> bool {
    let escape = lessons.escaped.entry(id).or_default();
    let before = *escape;
    *escape = match before {
        Escape::None => Escape::Separate,
        Escape::Separate | Escape::All => Escape::All,
    };
    *escape != before
}

fn error_found(emitted: &Emitted, error: &Diagnostic, lessons: &mut Lessons) {
    let place = error.primary.span.start as usize;
    if let Some(Owner::Step(id)) = emitted.owner(place) {
        let is_text =
            emitted.text[place..].starts_with('@') && !emitted.references.contains(&place);
        if is_taught(*id, lessons) {
            return;
        }
        if is_text && escape(*id, lessons) || !is_text && lessons.pasted.insert(*id) {
            return;
        }
    }
    wrong(emitted, place, &error.message, lessons);
}

/// The task, or the variable, is omitted.
fn wrong(emitted: &Emitted, place: usize, why: &str, lessons: &mut Lessons) {
    match emitted.owner(place) {
        Some(Owner::Step((task, _)) | Owner::Task(task)) => {
            lessons.omitted.entry(*task).or_insert_with(|| why.to_owned());
        }
        Some(Owner::Variable(name)) => {
            let why = format!("the variable `{name}`: {why}");
            lessons.broken.entry(name.clone()).or_insert(why);
        }
        None => {}
    }
}

/// Whether the functions are those that were written, with as many statements, and nothing else is
/// in the file but variables.
fn has_intended_steps(emitted: &Emitted, unit: &Unit, lessons: &mut Lessons) -> bool {
    let is_variable =
        |it: &opal_plan::unit::Statement| matches!(it.kind, StatementKind::Var { .. });
    let mut is_right = unit.functions.len() == emitted.functions.len()
        && unit.imports.len() == emitted.imports
        && unit.script.statements.iter().all(is_variable);
    for (function, (name, statements)) in unit.functions.iter().zip(&emitted.functions) {
        if function.name.text != *name || count(&function.body) != *statements {
            is_right = false;
            let why = "its steps cannot be distinguished";
            wrong(emitted, function.name.span.start as usize, why, lessons);
        }
    }
    is_right
}

fn count(block: &Block) -> usize {
    let mut statements = 0;
    for statement in &block.statements {
        statements += 1;
        match &statement.kind {
            StatementKind::If(branches) => {
                statements += branches.iter().map(|it| count(&it.body)).sum::<usize>();
            }
            StatementKind::When { arms, .. } => {
                statements += arms.iter().map(|it| count(&it.body)).sum::<usize>();
            }
            StatementKind::Block(body) | StatementKind::For { body, .. } => {
                statements += count(body)
            }
            StatementKind::Try { body, catch, finally } => {
                let blocks = [Some(body), catch.as_ref(), finally.as_ref()];
                statements += blocks.into_iter().flatten().map(|it| count(it)).sum::<usize>();
            }
            StatementKind::Step(step) => {
                let operands =
                    std::iter::once(&step.first).chain(step.rest.iter().map(|(_, it)| it));
                for operand in operands {
                    if let Work::Call(call) = &operand.work {
                        statements += call.block.as_ref().map_or(0, count);
                    }
                }
            }
            _ => {}
        }
    }
    statements
}

fn conversion(sheet: &Sheet, emitted: Emitted, options: Options<'_>) -> Conversion {
    let text = emitted.text.trim_end().to_owned() + "\n";
    let source =
        opal_syntax::format(&text, &Words(options.registry), Style::default()).unwrap_or(text);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (index, task) in sheet.tasks.iter().enumerate() {
        let renamed = emitted.renamed.get(&index).cloned();
        let mut why = task.why.clone();
        let more = emitted.why.get(&index).cloned().unwrap_or_default();
        why.extend(more.into_iter().filter(|it| !task.why.contains(it)));
        let name = renamed.as_deref().unwrap_or(&task.name);
        if options.reserved.contains(&name) {
            why.push(format!("`{name}` is a command of opal: run it with `opal run {name}`"));
        }
        let (grade, why) = match emitted.failed.get(&index) {
            Some(reason) => (Grade::Omitted, vec![reason.clone()]),
            None if why.is_empty() => (Grade::Exact, why),
            None => (Grade::Adapted, why),
        };
        let name = task.name.clone();
        let (line, file) = (task.line, task.file.clone());
        outcomes.push(Outcome { line, file, is_task: true, name, renamed, grade, why });
    }
    for leftover in &sheet.leftovers {
        outcomes.push(Outcome {
            line: leftover.line,
            file: leftover.file.clone(),
            is_task: false,
            name: leftover.name.clone(),
            renamed: None,
            grade: Grade::Omitted,
            why: vec![leftover.why.clone()],
        });
    }
    // Tasks of other files are after those of the file itself.
    outcomes.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    depend_on_omitted(sheet, &mut outcomes);
    run_first(sheet, &mut outcomes);
    run_once(sheet, &mut outcomes);
    Conversion { source, outcomes }
}

/// A task that runs an omitted one fails there, and so does one that runs such a task.
fn depend_on_omitted(sheet: &Sheet, outcomes: &mut [Outcome]) {
    let omitted: BTreeSet<String> =
        outcomes.iter().filter(|it| it.grade == Grade::Omitted).map(|it| it.name.clone()).collect();
    let mut failing = omitted.clone();
    // Each round finds one more, or is the last.
    for _ in 0..=sheet.tasks.len() {
        let before = failing.len();
        for task in &sheet.tasks {
            task.calls(&mut |call| {
                if failing.contains(&call.task) {
                    failing.insert(task.name.clone());
                }
            });
        }
        if failing.len() == before {
            break;
        }
    }
    for task in &sheet.tasks {
        let mut found = Vec::new();
        task.calls(&mut |call| match &call.task {
            name if omitted.contains(name) => {
                found.push(format!("it runs `{name}`, which is omitted"));
            }
            name if failing.contains(name) => {
                found.push(format!("it runs `{name}`, which runs an omitted task"));
            }
            _ => {}
        });
        adapt(outcomes, task, found);
    }
}

/// Dependencies run before everything else, those of a task that is called later too.
fn run_first(sheet: &Sheet, outcomes: &mut [Outcome]) {
    let mut needy: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..=sheet.tasks.len() {
        let before = needy.len();
        for task in &sheet.tasks {
            // Those checks have run already.
            let mut is_needy = task.needs.iter().any(|it| it.task != CHECKS);
            task.calls(&mut |call| is_needy |= needy.contains(call.task.as_str()));
            if is_needy {
                needy.insert(&task.name);
            }
        }
        if needy.len() == before {
            break;
        }
    }
    for task in &sheet.tasks {
        let mut found = Vec::new();
        let is_comment = |step: &&Step| matches!(step, Step::Comment(_));
        let later = task.body.iter().skip_while(is_comment).skip(1).chain(&task.finally);
        later.for_each(|step| {
            step.calls(&mut |call| {
                if needy.contains(call.task.as_str()) {
                    found.push(format!("what `{}` needs runs before everything else", call.task));
                }
            });
        });
        adapt(outcomes, task, found);
    }
}

/// A dependency of several tasks runs once, also where the other tool runs it again.
fn run_once(sheet: &Sheet, outcomes: &mut [Outcome]) {
    if !sheet.repeats_dependencies {
        return;
    }
    let by_name: BTreeMap<&str, &Task> =
        sheet.tasks.iter().map(|it| (it.name.as_str(), it)).collect();
    for task in &sheet.tasks {
        let mut needed: Vec<&Call> = Vec::new();
        let mut found = Vec::new();
        let mut open = vec![task];
        for _ in 0..MAX_CALLS {
            let Some(next) = open.pop() else { break };
            for call in &next.needs {
                let runs_once = by_name.get(call.task.as_str()).is_none_or(|it| it.runs_once);
                if !runs_once && needed.contains(&call) {
                    found.push(format!("`{}` runs once, and in Task each time", call.task));
                }
                needed.push(call);
            }
            next.calls(&mut |call| open.extend(by_name.get(call.task.as_str()).copied()));
        }
        found.sort();
        found.dedup();
        adapt(outcomes, task, found);
    }
}

/// Adds differences to the outcome of a task that is not omitted.
fn adapt(outcomes: &mut [Outcome], task: &Task, mut why: Vec<String>) {
    let outcome = outcomes.iter_mut().find(|it| it.name == task.name && it.line == task.line);
    if let Some(outcome) = outcome.filter(|it| it.grade != Grade::Omitted && !why.is_empty()) {
        outcome.grade = Grade::Adapted;
        why.dedup();
        outcome.why.extend(why);
    }
}
