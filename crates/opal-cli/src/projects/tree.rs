//! The source of a task that runs in all projects of a tree.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use opal_core::message::counted;
use opal_ops::source::imports::Wanted;
use opal_ops::source::{Loaded, Selection, seen_from};

use super::changes::Changes;
use super::tracked::{Tracked, below};
use super::{folder_of, project_folder};
use crate::decorators::Decorators;
use crate::failure::{Exit, Failure};
use crate::project::{Chosen, DEFAULT_FILE};
use crate::source::{self, NotLoaded};
use crate::tasks::{self, Task};

/// The source of `task` in the projects of `tree`, with the files that it uses. Those that have not
/// changed since a commit are omitted. `opal` begins the commands of messages.
pub(crate) fn load(
    tree: &Path,
    task: &str,
    since: Option<&str>,
    registry: &Decorators,
    opal: &str,
) -> Result<Loaded, Failure> {
    if task.starts_with('_') || task.contains('.') {
        return Err(Failure::usage(
            format!("`{task}` cannot be selected in several projects"),
            "name a task of the projects themselves that does not begin with `_`",
        ));
    }
    let Tracked { top, base, projects, mut omitted } = below(tree)?;
    let changes = since.map(|reference| Changes::since(reference, &top)).transpose()?;
    let mut selected = Vec::new();
    for project in projects {
        let Some((mut loaded, found)) = of_project(tree, &project, task, registry, opal)? else {
            continue;
        };
        if let Some(changes) = &changes
            && !changes.concern(&mut loaded, registry)?
        {
            let why = format!("nothing has changed since {}", &changes.commit[..12]);
            omitted.push((project, why));
            continue;
        }
        takes_nothing(&found, &project)?;
        selected.push(project);
    }
    if selected.is_empty() && changes.is_none() {
        return Err(nothing(tree, task, &omitted));
    }
    omitted.sort();
    let text = text(&selected, task);
    let shown = tree.display().to_string();
    let commit = changes.map(|changes| changes.commit);
    let seen = |project: &String| seen_from(&top, &base.join(project)).display().to_string();
    let projects = selected.iter().map(seen).collect();
    let omitted = omitted.iter().map(|(project, why)| (seen(project), why.clone())).collect();
    let selection = Selection { commit, projects, omitted };
    let mut loaded = Loaded::tree(tree.to_owned(), shown, text, selection, registry);
    source::import(&mut loaded, Wanted::Target(Some(task)), registry)?;
    Ok(loaded)
}

/// A project and its task; none where it has none.
fn of_project(
    tree: &Path,
    project: &str,
    task: &str,
    registry: &Decorators,
    opal: &str,
) -> Result<Option<(Loaded, Task)>, Failure> {
    let path = project_folder(tree, project).join(DEFAULT_FILE);
    let loaded =
        source::read_with(&Chosen::named(path), registry).map_err(NotLoaded::into_failure)?;
    match tasks::find(&loaded, task) {
        Some(found) => Ok(Some((loaded, found))),
        None if loaded.syntax_errors() > 0 => {
            let (name, errors) = (&loaded.name, counted(loaded.syntax_errors(), "syntax error"));
            Err(Failure::new(
                Exit::Source,
                format!("`{name}` has {errors}, so it is unknown whether it has a task `{task}`"),
                format!("see `{opal} check {}`", tasks::path_word(name)),
            ))
        }
        None => Ok(None),
    }
}

fn takes_nothing(task: &Task, project: &str) -> Result<(), Failure> {
    let is_needed = |param: &&tasks::TaskParam| param.default.is_none() && !param.rest;
    let Some(param) = task.params.iter().find(is_needed) else { return Ok(()) };
    let (task, name) = (&task.name, &param.name);
    Err(Failure::usage(
        format!("`{task}` of `{project}` needs the argument `{name}`, and a selection passes none"),
        "give the parameter a default, or run the project by itself: `opal DIR:TASK`",
    ))
}

fn nothing(tree: &Path, task: &str, omitted: &[(String, String)]) -> Failure {
    let folder = folder_of(tree).display();
    let message = format!("no project below `{folder}` has a task `{task}`");
    let help = "a project is a directory with a `commands.opl` that git tracks";
    let failure = Failure::usage(message, help);
    omitted.iter().take(5).fold(failure, |failure, (project, why)| {
        failure.help(format!("`{project}` is omitted: {why}"))
    })
}

/// A branch for each project. A failure in one does not stop the others.
fn text(projects: &[String], task: &str) -> String {
    let mut taken = BTreeSet::new();
    let names: Vec<String> = projects.iter().map(|project| name(project, &mut taken)).collect();
    let mut text = String::new();
    for (project, name) in projects.iter().zip(&names) {
        let _ = writeln!(text, "import {} as {name}", literal(project));
    }
    if projects.is_empty() {
        return format!("fun {task}() {{\n}}\n");
    }
    let _ = writeln!(text, "fun {task}() {{\n    @parallel(on_failure=\"wait\") {{");
    for name in &names {
        let _ = writeln!(text, "        @cmd.{name}.{task}()");
    }
    text.push_str("    }\n}\n");
    text
}

/// A path as a string of the language.
fn literal(path: &str) -> String {
    let mut text = "\"".to_owned();
    for c in path.chars() {
        if matches!(c, '"' | '\\' | '@') {
            text.push('\\');
        }
        text.push(c);
    }
    text + "\""
}

/// A name of the language for a project, which no other has.
fn name(project: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut name: String = project.chars().map(plain).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "p_");
    }
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        number += 1;
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_project_has_a_name_of_its_own() {
        let mut taken = BTreeSet::new();
        let names: Vec<String> = ["web", "team/web", "team_web", "3d", "@a/b.c", "ä"]
            .iter()
            .map(|project| name(project, &mut taken))
            .collect();
        assert_eq!(names, ["web", "team_web", "team_web_2", "p_3d", "p__a_b_c", "p__"]);
    }

    #[test]
    fn paths_are_literals() {
        let projects = ["a".to_owned(), r#"b"\@c"#.to_owned()];
        let made = text(&projects, "t");
        assert!(made.contains(r#"import "b\"\\\@c" as b___c"#), "{made}");
    }
}
