//! The commands that messages tell people to type.

use std::ffi::OsString;
use std::path::Path;

use opal_core::Value;
use opal_core::on::ON;
use opal_ops::planning::Subject;

use crate::builtins;
use crate::context::Context;
use crate::options::Asked;
use crate::projects::Target;
use crate::tasks::{self, Task, option, path_word, quoted};
use crate::verb::Verb;

/// Takes a run of a task, a script or a configuration up again where it failed. Options of opal are
/// before a task that has options of the same name, and before a script, whose words are all its own.
pub(crate) fn resume(context: &Context<'_>, asked: &Asked, subject: &Subject<'_>) -> String {
    let loaded = subject.loaded;
    let mut words = vec![opal(context, subject)];
    words.extend(options(context, asked));
    if loaded.is_config() {
        words.insert(1, "apply".to_owned());
        words.extend([path_word(&loaded.name), "--resume".to_owned()]);
        return words.join(" ") + &asked.selection_words();
    }
    let Some(task) = task_of(subject) else {
        words.extend(["--resume".to_owned(), path_word(&loaded.name)]);
        words.extend(script_words(subject));
        return words.join(" ");
    };
    let given = task_words(subject, &task);
    if task.is_reserved() && subject.loaded.selection.is_none() {
        words.insert(1, "run".to_owned());
    }
    // After a `--`, and where a task takes all remaining arguments, everything is an argument.
    let takes_all = task.params.iter().any(|param| param.rest);
    if takes_all || task.has_flag("resume") || given.iter().any(|word| word == "--") {
        words.push("--resume".to_owned());
        words.extend(given);
    } else {
        words.extend(given);
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

/// What was typed, completed with arguments that were asked for. Options of opal are before the task.
pub(crate) fn typed(
    context: &Context<'_>,
    subject: &Subject<'_>,
    verb: Verb,
    options: &[OsString],
) -> String {
    let text = |word: &OsString| quoted(&word.to_string_lossy());
    let mut words = vec![opal(context, subject)];
    words.extend(context.typed.before.iter().map(text));
    let is_reserved = || task_of(subject).is_some_and(|task| task.is_reserved());
    if verb != Verb::Run || subject.loaded.selection.is_none() && is_reserved() {
        words.push(verb.name().to_owned());
    }
    words.extend(options.iter().map(text));
    words.push(target(subject));
    words.join(" ")
}

/// Takes the run of a contract up again where it failed.
pub(crate) fn resume_contract(context: &Context<'_>, asked: &Asked, path: &Path) -> String {
    let mut words = vec![context.opal(), "run".to_owned()];
    words.extend(options(context, asked));
    words.extend(option("--plan", &path.display().to_string()));
    words.push("--resume".to_owned());
    words.join(" ")
}

/// What must be said again for the same plan and the same records.
fn options(context: &Context<'_>, asked: &Asked) -> Vec<String> {
    let plan = &asked.plan;
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend(option(name, &value));
    if let Some(root) = plan.root.as_ref().or(context.typed.root.as_ref()) {
        option("--root", root.display().to_string());
    }
    if let Some(identity) = &plan.identity {
        option("--identity", identity.clone());
    }
    if let Some(commit) = &plan.changed_since {
        option("--changed-since", commit.clone());
    }
    if let Some(targets) = &plan.on {
        option(ON, targets.clone());
    }
    if let Some(limit) = &plan.limit {
        option("--limit", limit.clone());
    }
    for file in &plan.env_files {
        option("--env-file", file.display().to_string());
    }
    words
}

/// `--on` of a task, before its name.
fn on(subject: &Subject<'_>) -> String {
    match subject.arguments.get(ON) {
        Some(Value::String(targets)) => format!("{} ", option(ON, targets).join(" ")),
        _ => String::new(),
    }
}

/// Applies what was not in the desired state. A task runs whole.
pub(crate) fn apply(context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) -> String {
    let opal = opal(context, subject);
    let is_reserved = || task_of(subject).is_some_and(|task| task.is_reserved());
    match subject.loaded.is_config() {
        true => format!("{opal} apply {}{}", target(subject), asked.selection_words()),
        false if is_reserved() => format!("{opal} run {}{}", on(subject), target(subject)),
        false => format!("{opal} {}{}", on(subject), target(subject)),
    }
}

/// Shows all that differs. The option is first: what follows a script or a `--` are arguments.
pub(crate) fn verify(context: &Context<'_>, subject: &Subject<'_>) -> String {
    format!("{} verify -v {}{}", opal(context, subject), on(subject), target(subject))
}

/// Makes a contract. A task may have the name of a command of `opal plan`.
pub(crate) fn plan(context: &Context<'_>, subject: &Subject<'_>) -> String {
    let is_kept = task_of(subject).is_some_and(|task| builtins::is_reserved_by_plan(&task.name));
    let end = if is_kept { "-- " } else { "" };
    let on = on(subject);
    format!("{} plan -o FILE {on}{end}{}", opal(context, subject), target(subject))
}

/// The first words: a script and a configuration are named themselves, a task by its source too.
fn opal(context: &Context<'_>, subject: &Subject<'_>) -> String {
    match task_of(subject) {
        Some(_) => context.opal_for(subject.loaded),
        None => context.opal(),
    }
}

/// Names a task, a script or a configuration, with its arguments.
fn target(subject: &Subject<'_>) -> String {
    let loaded = subject.loaded;
    let mut words = Vec::new();
    match task_of(subject) {
        Some(task) => {
            words.extend(task_words(subject, &task));
        }
        None => {
            words.push(path_word(&loaded.name));
            words.extend(script_words(subject));
        }
    }
    words.join(" ")
}

fn task_of(subject: &Subject<'_>) -> Option<Task> {
    tasks::find(subject.loaded, subject.function.as_deref()?)
}

/// A task and its arguments; of several projects with their directory.
fn task_words(subject: &Subject<'_>, task: &Task) -> Vec<String> {
    match Target::word(&subject.loaded.path, &task.name) {
        Some(word) => vec![tasks::quoted(&word)],
        None => tasks::words(task, &subject.arguments),
    }
}

/// The arguments of a script.
fn script_words(subject: &Subject<'_>) -> Vec<String> {
    match subject.arguments.get("args") {
        Some(Value::Array(items)) => items.iter().map(tasks::word).collect(),
        _ => Vec::new(),
    }
}
