//! What was typed: opal's own options, then a word, then the rest.
//!
//! Options of opal stand before the word. What follows belongs to the task or the built-in that the
//! word names, and only that one's options are looked at: a file of a thousand tasks costs nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::ambient::Colour;
use crate::failure::Failure;
use crate::project::is_config;
use crate::{builtins, options};

#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) file: Option<PathBuf>,
    /// `-g`: the tasks of the user, for every directory.
    pub(crate) global: bool,
    /// `-C`, each seen from the one before.
    pub(crate) directories: Vec<PathBuf>,
    /// The runtime root.
    pub(crate) root: Option<PathBuf>,
    pub(crate) colour: Colour,
    pub(crate) help: bool,
    pub(crate) version: bool,
    /// `-l`, `--list`: the tasks, as people type it for other runners.
    pub(crate) list: bool,
    /// Options of plans and runs, with their values.
    pub(crate) before: Vec<OsString>,
    /// The first word that is no option.
    pub(crate) word: Option<String>,
    pub(crate) rest: Vec<OsString>,
    /// Whether it was called by the name of `hyops`.
    pub(crate) is_hyops: bool,
    /// Where a round of `opal watch` says which files count; none where it is not a round.
    pub(crate) round: Option<PathBuf>,
}

impl Typed {
    /// `--root` behind the word, where a command or a task has it.
    pub(crate) fn root_behind(&self) -> Option<PathBuf> {
        let words = self.before.iter().chain(&self.rest).take_while(|word| *word != "--");
        let words: Vec<&OsString> = words.collect();
        let at = words.iter().position(|word| *word == "--root");
        let apart = at.and_then(|at| words.get(at + 1)).map(PathBuf::from);
        let joined = |word: &&OsString| word.to_str()?.strip_prefix("--root=").map(PathBuf::from);
        apart.or_else(|| words.iter().find_map(joined))
    }

    /// Of the second binary, whose commands are all those of `opal module`.
    pub(crate) fn hyops(words: &[OsString]) -> Self {
        let (word, rest) = (Some("module".to_owned()), words.to_vec());
        Self { word, rest, is_hyops: true, ..Self::default() }
    }

    /// Whether JSON is asked for, of opal or of a built-in command; a task's arguments are its own.
    pub(crate) fn wants_json(&self) -> bool {
        let is_own = |word: &str| builtins::is_reserved(word) || is_config(Path::new(word));
        let builtin = self.word.as_deref().is_some_and(is_own);
        asks_for_json(&self.before) || builtin && asks_for_json(&self.rest)
    }
}

/// Whether JSON is asked for, before a `--`.
pub(crate) fn asks_for_json(words: &[OsString]) -> bool {
    let words = words.iter().take_while(|word| *word != "--");
    let words: Vec<&str> = words.filter_map(|word| word.to_str()).collect();
    words.iter().any(|word| matches!(*word, "--json" | "--format=json"))
        || words.windows(2).any(|pair| pair == ["--format", "json"])
}

pub(crate) fn parse(arguments: &[OsString]) -> Result<Typed, Failure> {
    read(arguments).map_err(|failure| failure.in_json(asks_for_json(arguments)))
}

fn read(arguments: &[OsString]) -> Result<Typed, Failure> {
    let mut typed = Typed::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().ok_or_else(|| {
            Failure::usage("an argument is not UTF-8", "give names and paths in UTF-8")
        })?;
        let (name, attached) = split(text);
        let mut value = || match attached {
            Some(value) => Ok(OsStr::new(value).to_owned()),
            None => arguments.next().cloned().ok_or_else(|| {
                Failure::usage(format!("`{name}` needs a value"), "see `opal --help`")
            }),
        };
        match name {
            "-f" | "--file" => typed.file = Some(PathBuf::from(value()?)),
            "-g" | "--global" => typed.global = true,
            "-C" => typed.directories.push(PathBuf::from(value()?)),
            "--root" => typed.root = Some(PathBuf::from(value()?)),
            "--color" | "--colour" => typed.colour = colour(&value()?)?,
            "-h" | "--help" => typed.help = true,
            "-V" | "--version" => typed.version = true,
            "-l" | "--list" => typed.list = true,
            "-" | "--" => return Err(unknown(text)),
            _ if options::known(name).is_some() => {
                typed.before.push(argument.clone());
                if options::known(name) == Some(true) && attached.is_none() {
                    typed.before.push(value()?);
                }
            }
            _ if text.starts_with('-') => return Err(unknown(text)),
            _ => {
                typed.word = Some(text.to_owned());
                typed.rest = arguments.cloned().collect();
                break;
            }
        }
    }
    if typed.global && typed.file.is_some() {
        return Err(Failure::usage("`-f` and `-g` name two source files", "omit one of them"));
    }
    Ok(typed)
}

/// `--file=x`, `-fx`, `-Cx`, `-j4` and `-ox` in two parts.
fn split(text: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
        return (name, Some(value));
    }
    match text.split_at_checked(2) {
        Some((name @ ("-f" | "-C" | "-j" | "-o"), value)) if !value.is_empty() => {
            (name, Some(value))
        }
        _ => (text, None),
    }
}

fn colour(value: &OsStr) -> Result<Colour, Failure> {
    match value.to_str() {
        Some("auto") => Ok(Colour::Auto),
        Some("always") => Ok(Colour::Always),
        Some("never") => Ok(Colour::Never),
        _ => Err(Failure::usage(
            format!("invalid value `{}` for `--color`", value.display()),
            "expected one of: auto, always, never",
        )),
    }
}

fn unknown(text: &str) -> Failure {
    let known =
        ["--file", "--global", "--color", "--help", "--version", "--list"].map(str::to_owned);
    let known: Vec<String> = known.into_iter().chain(options::names()).collect();
    let help = match opal_core::suggest::nearest(text, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "options of a task or a command follow its name; see `opal --help`".into(),
    };
    Failure::usage(format!("unknown option `{text}`"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Typed {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).unwrap()
    }

    #[test]
    fn options_behind_the_word_belong_to_the_word() {
        let typed = typed(&["-f", "x.opl", "deploy", "-f", "y"]);
        assert_eq!(typed.file, Some(PathBuf::from("x.opl")));
        assert_eq!(typed.word.as_deref(), Some("deploy"));
        assert_eq!(typed.rest, ["-f", "y"]);
    }

    #[test]
    fn values_may_be_attached() {
        assert_eq!(typed(&["-fx.opl"]).file, Some(PathBuf::from("x.opl")));
        assert_eq!(typed(&["-ox.plan", "deploy"]).before, ["-ox.plan"]);
        assert_eq!(typed(&["-ox.plan", "deploy"]).word.as_deref(), Some("deploy"));
        assert_eq!(typed(&["--file=x.opl"]).file, Some(PathBuf::from("x.opl")));
        assert_eq!(typed(&["-Ca", "-C", "b"]).directories, [PathBuf::from("a"), "b".into()]);
        assert_eq!(typed(&["--color=never"]).colour, Colour::Never);
    }
}
