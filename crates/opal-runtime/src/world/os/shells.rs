//! Which program runs what: the shell for scripts, the search path for programs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use opal_core::Secret;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};

use super::OsWorld;
use super::children::{self, Work};
use crate::script::{self, Shell};

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[derive(Debug)]
pub(super) struct Interpreter {
    path: PathBuf,
    shell: Shell,
}

pub(super) fn script(world: &OsWorld, parts: &[ScriptPart]) -> Result<Secret, Trouble> {
    let compiled = script::compile(parts)?;
    let interpreter = world.shell.get_or_init(|| interpreter(world)).as_ref().ok_or_else(|| {
        Trouble::new(
            TroubleKind::Missing,
            "there is no shell to run the command: neither `bash` nor `sh` is in `PATH`",
            "install one of them, or correct `PATH`",
        )
    })?;
    let command = compiled.command(interpreter.shell);
    let work = Work {
        program: &interpreter.path,
        arguments: &["-c", &command],
        feed: compiled.feed(),
        name: "the command",
    };
    children::output(world, work)
}

pub(super) fn program(world: &OsWorld, words: &[&str]) -> Result<Secret, Trouble> {
    let [name, arguments @ ..] = words else {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            "a program without a name cannot be run",
            "name the program in the first place",
        ));
    };
    let program = find(world, name).ok_or_else(|| {
        Trouble::new(
            TroubleKind::Missing,
            format!("the program `{name}` is not installed, or not in `PATH`"),
            format!("install `{name}`, or add its directory to `PATH`"),
        )
    })?;
    let name = format!("`{name}`");
    children::output(world, Work { program: &program, arguments, feed: None, name: &name })
}

fn interpreter(world: &OsWorld) -> Option<Interpreter> {
    [("bash", Shell::Bash), ("sh", Shell::Sh)]
        .into_iter()
        .find_map(|(name, shell)| Some(Interpreter { path: find(world, name)?, shell }))
}

/// With a path at hand the system can start a program without copying this process first.
fn find(world: &OsWorld, name: &str) -> Option<PathBuf> {
    let start = &world.surroundings.start;
    let path = world.variable("PATH").unwrap_or(OsStr::new(USUAL_PATH));
    let places: Vec<PathBuf> = if name.contains('/') {
        vec![start.join(name)]
    } else {
        std::env::split_paths(path).map(|directory| start.join(directory).join(name)).collect()
    };
    places.into_iter().find(|place| {
        fs::metadata(place).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}
