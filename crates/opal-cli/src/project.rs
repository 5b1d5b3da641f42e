//! Files: finding the project's, reading sources.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use opal_core::text::MAX_SOURCE_BYTES;
use opal_files::regular;
use opal_files::trusted::{self, Untrusted};
use opal_syntax::source::{self, NoText};

use crate::failure::{Exit, Failure};

/// The file that is looked for when none is named.
pub(crate) const DEFAULT_FILE: &str = "commands.opl";

/// What a project is called and what it depends on, beside its source.
const PROJECT_FILES: [&str; 2] = ["opal.mod", "opal.lock"];

/// A source that could be read as bytes; whether it is text is said by `text`.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// As the user knows it.
    pub(crate) name: String,
    pub(crate) text: Result<String, Box<NoText>>,
}

/// A source, and how it was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) path: PathBuf,
    /// Found in a parent directory, or in the user's configuration.
    pub(crate) is_found: bool,
    /// The tasks of the user: they start where opal was called.
    pub(crate) is_global: bool,
}

impl Chosen {
    /// By its name, or by going to its directory.
    pub(crate) fn named(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_found: false, is_global: false }
    }
}

/// `commands.opl` here or in a parent. One in a parent was not chosen by going there, so it is used
/// only where nobody else can have written it.
pub(crate) fn find() -> Result<Option<Chosen>, Failure> {
    let Ok(here) = std::env::current_dir() else { return Ok(None) };
    // A link that leads nowhere, or something else that cannot be read, is reported and not passed
    // over: further up there may be another file.
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| !it.is_dir());
    let mut all = here.ancestors().map(|folder| folder.join(DEFAULT_FILE));
    let Some(found) = all.find(is_there) else { return Ok(None) };
    // In the working directory, the short name is the one to show.
    if let Ok(short) = found.strip_prefix(&here) {
        return Ok(Some(Chosen::named(short)));
    }
    trusted::check(&found).map_err(|why| untrusted(&found, "in a parent directory", &why))?;
    beside(&found)?;
    Ok(Some(Chosen { is_found: true, ..Chosen::named(found) }))
}

/// The tasks of the user below `home`. Nobody went there either, so the same holds for them.
pub(crate) fn global(home: Option<&Path>) -> Result<Chosen, Failure> {
    let Some(home) = home.filter(|home| !home.as_os_str().is_empty()) else {
        let help = "set `HOME`, or name a file with `-f FILE`";
        return Err(Failure::new(Exit::NoFile, "no home directory for `-g`", help));
    };
    let path = home.join(".config/opal").join(DEFAULT_FILE);
    if path.symlink_metadata().is_err() {
        let message = format!("no `{}`, the file of `-g`", path.display());
        let help = "create it: its tasks can be run in every directory";
        return Err(Failure::new(Exit::NoFile, message, help));
    }
    trusted::check(&path).map_err(|why| untrusted(&path, "the file of `-g`", &why))?;
    beside(&path)?;
    Ok(Chosen { path, is_found: true, is_global: true })
}

/// The files of a project beside a source that nobody chose: the same holds for them.
fn beside(source: &Path) -> Result<(), Failure> {
    for file in PROJECT_FILES.map(|name| source.with_file_name(name)) {
        if file.symlink_metadata().is_err() {
            continue;
        }
        trusted::check(&file).map_err(|why| {
            let message = format!("`{}` is not used: {why}", source.display());
            let help = format!(
                "read both, and if you want to use them, name the source: `-f {}`",
                source.display()
            );
            Failure::new(Exit::NotTrusted, message, help)
        })?;
    }
    Ok(())
}

fn untrusted(found: &Path, what: &str, why: &Untrusted) -> Failure {
    let found = found.display();
    Failure::new(
        Exit::NotTrusted,
        format!("`{found}` is {what}, but is not used: {why}"),
        format!("read it, and if you want to use it, name it: `-f {found}`"),
    )
}

/// Goes to the directories of `-C`, each seen from the one before.
pub(crate) fn enter(directories: &[PathBuf]) -> Result<(), Failure> {
    for directory in directories {
        std::env::set_current_dir(directory).map_err(|error| {
            let message =
                format!("the directory `{}` cannot be used: {error}", directory.display());
            Failure::new(Exit::NoFile, message, "name an existing directory: `-C DIR`")
        })?;
    }
    Ok(())
}

/// Whether it is a declarative configuration.
pub(crate) fn is_config(path: &Path) -> bool {
    let is = |extension: &OsStr| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    };
    path.extension().is_some_and(is)
}

/// Whether it is the file that is found without being named.
pub(crate) fn is_default(path: &Path) -> bool {
    let found = find().ok().flatten().and_then(|found| found.path.canonicalize().ok());
    found.is_some() && found == path.canonicalize().ok()
}

/// What to say where there is no source.
pub(crate) fn none() -> Failure {
    Failure::new(
        Exit::NoFile,
        format!("no `{DEFAULT_FILE}` here or in a parent directory"),
        "write one with `opal init`, or name a file with `-f FILE`",
    )
}

/// Reads a source, `-` from standard input. Never more than the limit of a source.
pub(crate) fn read(path: &Path) -> Result<SourceFile, Failure> {
    if path == Path::new("-") {
        let text = read_bytes(&mut io::stdin().lock())
            .map_err(|error| Failure::unreadable(Path::new("standard input"), &error))?;
        return Ok(SourceFile { name: "<stdin>".into(), text: source::decode(text) });
    }
    let bytes = regular::open_given(path)
        .and_then(|mut file| read_bytes(&mut file))
        .map_err(|error| Failure::unreadable(path, &error))?;
    Ok(SourceFile { name: path.display().to_string(), text: source::decode(bytes) })
}

/// A file of another tool, and the name that messages use. It may contain what a source may not.
pub(crate) fn read_foreign(path: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if path == Path::new("-") {
        let bytes = read_bytes(&mut io::stdin().lock())
            .map_err(|error| Failure::unreadable(Path::new("standard input"), &error))?;
        ("<stdin>".to_owned(), bytes)
    } else {
        let bytes = regular::open_given(path)
            .and_then(|mut file| read_bytes(&mut file))
            .map_err(|error| Failure::unreadable(path, &error))?;
        (path.display().to_string(), bytes)
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("`{name}` is not a text in UTF-8"), "convert a text file")
    })?;
    Ok((name, text))
}

fn read_bytes(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a word names a file rather than a function.
pub(crate) fn is_file(word: &str) -> bool {
    word.ends_with(".opl") || word.contains('/') || is_config(Path::new(word))
}
