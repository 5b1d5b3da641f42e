//! Where programs are.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use opal_files::{program, regular};

/// How much of a script is read for the interpreter in its first line, as the system does.
const FIRST_LINE: u64 = 256;

/// What a program is called, wherever it is.
pub(super) fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The directories that `$PATH` names.
#[derive(Clone, Debug, Default)]
pub struct Programs(Vec<PathBuf>);

impl Programs {
    #[must_use]
    pub fn new(path: Option<&OsString>) -> Self {
        let folders = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
        Self(folders)
    }

    /// Whether there is no directory to look into.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.0.iter().any(|folder| folder.is_absolute())
    }

    /// The program that a script is for, by its first line, where that is not there.
    #[must_use]
    pub(crate) fn missing_for(&self, script: &Path) -> Option<String> {
        let mut first = Vec::new();
        regular::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut first).ok()?;
        let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let mut words = str::from_utf8(line).ok()?.split_whitespace();
        let program = words.next()?;
        if program.ends_with("/env") {
            let is_setting = |word: &&str| word.starts_with('-') || word.contains('=');
            let named = words.find(|word| !is_setting(word))?;
            return self.find(named).is_none().then(|| named.to_owned());
        }
        let is_gone = program.starts_with('/') && !Path::new(program).exists();
        is_gone.then(|| program.to_owned())
    }

    /// Where the program is, if it is there.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        // A relative directory could belong to anyone.
        let mut places = self.0.iter().filter(|folder| folder.is_absolute());
        places.find_map(|folder| Some(folder.join(name)).filter(|it| program::is_program(it)))
    }
}
