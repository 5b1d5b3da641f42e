//! Which program runs what: the shell for scripts, the search path for programs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use opal_core::Secret;
use opal_core::resolver::{Answer, Ask, Run, ScriptPart, Trouble};

use super::View;
use super::children::{self, Feed, Work};
use crate::error::{CommandEnd, CommandError, CommandName, PathError, SessionError};
use opal_core::shell::syntax::MAX_MESSAGE_BYTES;
use opal_core::shell::{self, Language, Shell};
use opal_files::program;

#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    path: PathBuf,
    shell: Shell,
}

static NO_VARIABLES: BTreeMap<String, Secret> = BTreeMap::new();

/// What a command runs in, besides what holds for the view.
struct Around<'a> {
    directory: &'a Path,
    environment: &'a BTreeMap<String, Secret>,
    /// Variables that it does not get.
    without: &'a [&'a str],
}

impl<'a> Around<'a> {
    fn new(
        directory: &'a Path,
        environment: &'a BTreeMap<String, Secret>,
        run: Option<&Run<'a>>,
    ) -> Self {
        let without = match run {
            Some(Run::ProgramWithout { variables, .. }) => variables,
            _ => &[][..],
        };
        Self { directory, environment, without }
    }
}

pub(super) fn run(view: &View<'_>, run: &Run<'_>) -> Result<Secret, Trouble> {
    let around = Around::new(view.directory, &NO_VARIABLES, Some(run));
    match run {
        Run::Script(parts) => script(view, &around, parts, children::output),
        Run::Program(words) | Run::ProgramWithout { words, .. } => {
            program(view, &around, words, children::output)
        }
    }
}

pub(super) fn ask(view: &View<'_>, ask: &Ask<'_>) -> Result<Answer, Trouble> {
    let directory = match ask.directory {
        Some(directory) => view.inside(directory)?,
        None => view.directory.to_owned(),
    };
    if !directory.is_dir() {
        return Err(PathError::NoDirectory { path: directory }.into());
    }
    let around = Around::new(&directory, ask.environment, Some(&ask.run));
    let answer = |view: &View<'_>, work: Work<'_>| children::answer(view, work, ask.drops_excess);
    match (&ask.run, ask.interpreter) {
        (Run::Script(parts), Some(name)) => interpreted(view, &around, name, parts, answer),
        (Run::Script(parts), None) => script(view, &around, parts, answer),
        (Run::Program(words) | Run::ProgramWithout { words, .. }, _) => {
            program(view, &around, words, answer)
        }
    }
}

/// Has the shell read a text without executing any of it: what it says against it. With `-p` bash
/// takes neither start-up files nor functions from the environment.
pub(super) fn syntax(view: &View<'_>, text: &str) -> Result<Option<String>, Trouble> {
    // What is missing at its end is known by the words that bash has for it in this language.
    let environment = BTreeMap::from([("LC_ALL".to_owned(), Secret::new("C"))]);
    let around = Around::new(Path::new("/"), &environment, None);
    let Some(Interpreter { path, shell }) = shell(view, &around) else { return Ok(None) };
    let arguments: &[&str] = match shell {
        Shell::Bash => &["-n", "-p"],
        Shell::Sh => &["-n"],
    };
    let work = Work {
        program: &path,
        arguments,
        feed: Feed::Source(text.to_owned()),
        name: CommandName::Parser,
        directory: around.directory,
        environment: around.environment,
        without: around.without,
    };
    let answer = children::answer(view, work, true)?;
    let said = answer.stderr.expose();
    let kept = said.floor_char_boundary(MAX_MESSAGE_BYTES);
    let is_wrong = answer.code != 0 || shell::syntax::is_incomplete(said);
    Ok(is_wrong.then(|| said[..kept].to_owned()))
}

fn script<T>(
    view: &View<'_>,
    around: &Around<'_>,
    parts: &[ScriptPart],
    end: impl FnOnce(&View<'_>, Work<'_>) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let Interpreter { path, shell } = shell(view, around).ok_or(SessionError::NoShell)?;
    let compiled = shell::compile(parts)?.for_shell(shell)?;
    let command = compiled.command(shell);
    let work = Work {
        program: &path,
        arguments: &["-c", &command],
        feed: compiled.feed().into(),
        name: CommandName::Script,
        directory: around.directory,
        environment: around.environment,
        without: around.without,
    };
    end(view, work)
}

/// By another program than the shell.
fn interpreted(
    view: &View<'_>,
    around: &Around<'_>,
    name: &str,
    parts: &[ScriptPart],
    end: impl FnOnce(&View<'_>, Work<'_>) -> Result<Answer, Trouble>,
) -> Result<Answer, Trouble> {
    let program = find(view, around, name).ok_or_else(|| absent(name))?;
    let language = Language::of(name);
    let (text, feed) = match language {
        Language::Shell(shell) => {
            let compiled = shell::compile(parts)?.for_shell(shell)?;
            (Secret::new(compiled.command(shell)), compiled.feed().into())
        }
        Language::Other { .. } => (shell::constant(parts)?, Feed::Nothing),
    };
    let work = Work {
        program: &program,
        arguments: &[language.flag(), text.expose()],
        feed,
        name: CommandName::Script,
        directory: around.directory,
        environment: around.environment,
        without: around.without,
    };
    end(view, work)
}

fn program<T>(
    view: &View<'_>,
    around: &Around<'_>,
    words: &[&str],
    end: impl FnOnce(&View<'_>, Work<'_>) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let [name, arguments @ ..] = words else {
        return Err(CommandError { name: CommandName::Script, why: CommandEnd::NoName }.into());
    };
    let program = find(view, around, name).ok_or_else(|| absent(name))?;
    let work = Work {
        program: &program,
        arguments,
        feed: Feed::Nothing,
        name: CommandName::Program((*name).to_owned()),
        directory: around.directory,
        environment: around.environment,
        without: around.without,
    };
    end(view, work)
}

fn absent(name: &str) -> Trouble {
    let name = CommandName::Program(name.to_owned());
    CommandError { name, why: CommandEnd::NotInstalled }.into()
}

/// Looked for once, unless the search path is another one here.
fn shell(view: &View<'_>, around: &Around<'_>) -> Option<Interpreter> {
    let find = || {
        [("bash", Shell::Bash), ("sh", Shell::Sh)]
            .into_iter()
            .find_map(|(name, shell)| Some(Interpreter { path: find(view, around, name)?, shell }))
    };
    if view.environment.contains_key("PATH") || around.environment.contains_key("PATH") {
        return find();
    }
    view.world.shell.get_or_init(find).clone()
}

/// With a path at hand the system can start a program without copying this process first.
fn find(view: &View<'_>, around: &Around<'_>, name: &str) -> Option<PathBuf> {
    let own = around.environment.get("PATH").map(|path| OsStr::new(path.expose()));
    let found = program::find(own.or_else(|| view.variable("PATH")), around.directory, name)?;
    Some(around.directory.join(found))
}
