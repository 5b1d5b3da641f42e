//! The formats, and what a conversion needs to know.

use opal_core::Registry;

use crate::files::Files;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Just,
    Task,
    Make,
    Package,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::Just, Self::Task, Self::Make, Self::Package];

    /// As `--from` writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Just => "justfile",
            Self::Task => "taskfile",
            Self::Make => "makefile",
            Self::Package => "package-json",
        }
    }

    /// The program that runs such files.
    pub(crate) const fn tool(self) -> &'static str {
        match self {
            Self::Just => "just",
            Self::Task => "task",
            Self::Make => "make",
            Self::Package => "npm run",
        }
    }

    /// What the file is called in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Just => "justfile",
            Self::Task => "Taskfile",
            Self::Make => "Makefile",
            Self::Package => "package.json",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// By the name of a file, without its directory.
    #[must_use]
    pub fn of_file(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "justfile" | ".justfile" => Some(Self::Just),
            "taskfile.yml" | "taskfile.yaml" | "taskfile.dist.yml" | "taskfile.dist.yaml" => {
                Some(Self::Task)
            }
            "makefile" | "gnumakefile" => Some(Self::Make),
            "package.json" => Some(Self::Package),
            _ if lower.ends_with(".just") => Some(Self::Just),
            _ if lower.ends_with(".mk") => Some(Self::Make),
            _ => None,
        }
    }
}

/// What a conversion depends on besides the file.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    pub registry: &'o Registry,
    /// The name of the file, without its directory.
    pub name: &'o str,
    /// The name of the file that the result is written to.
    pub output: &'o str,
    /// The names where `opal NAME` means opal, and never a function.
    pub reserved: &'o [&'o str],
    /// The names of lock files beside the file.
    pub siblings: &'o [&'o str],
    /// The files that the file names.
    pub files: Files<'o>,
    /// Whether scripts of a `package.json` are translated, instead of calling its package manager.
    pub inline: bool,
}
