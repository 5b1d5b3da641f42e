//! Asking git about the repository around a directory.

use std::path::Path;

use opal_core::git;
use opal_core::resolver::{Probe as _, Run};
use opal_session::world::{OsWorld, Surroundings};

use crate::ambient::Ambient;

/// What git answers, without blanks around it; none where it does not.
pub(crate) fn answer(folder: &Path, words: &[&str]) -> Option<String> {
    Some(ask(folder, words)?.trim().to_owned())
}

/// The same as it is. Paths among the words are names, not patterns.
pub(crate) fn ask(folder: &Path, words: &[&str]) -> Option<String> {
    ask_with(folder, &[&["--literal-pathspecs"], words].concat())
}

/// The same, with options of git first.
pub(crate) fn ask_with(folder: &Path, words: &[&str]) -> Option<String> {
    let world = OsWorld::new(Surroundings {
        environment: Ambient::environment().into(),
        start: folder.to_owned(),
        home: None,
        ..Surroundings::default()
    });
    let command = git::command(words);
    let run = Run::ProgramWithout { words: &command, variables: &git::FOREIGN };
    let output = world.run(&run).ok()?;
    Some(output.expose().to_owned())
}
