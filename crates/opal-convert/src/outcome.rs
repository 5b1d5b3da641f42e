//! What became of each task.

/// How a task was converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// It starts the same programs with the same arguments in the same directories.
    Exact,
    /// It does the same work, with differences that are listed.
    Adapted,
    /// It is in the result only as a comment.
    Omitted,
}

impl Grade {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Adapted => "adapted",
            Self::Omitted => "omitted",
        }
    }
}

/// A task of the file, or a part of it that belongs to no task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub line: usize,
    /// The file that the line is in, where that is another one.
    pub file: Option<String>,
    /// A task; otherwise a part of the file that belongs to none.
    pub is_task: bool,
    /// As the file writes it.
    pub name: String,
    /// As the result writes it, where that is different.
    pub renamed: Option<String>,
    pub grade: Grade,
    /// What is different, or why it was omitted. May quote the file.
    pub why: Vec<String>,
}

/// A program, and what became of each task.
#[derive(Clone, Debug)]
pub struct Conversion {
    pub source: String,
    pub outcomes: Vec<Outcome>,
}

impl Conversion {
    /// Why a task was omitted; none where it was not.
    pub(crate) fn why_omitted(&self, name: &str) -> Option<String> {
        let is_it = |it: &&Outcome| it.name == name && it.grade == Grade::Omitted;
        self.outcomes.iter().find(is_it).map(|it| it.why.join("; "))
    }

    #[must_use]
    pub fn count(&self, grade: Grade) -> usize {
        self.outcomes.iter().filter(|it| it.grade == grade).count()
    }
}

/// A file that is not in the format that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub line: usize,
    pub message: String,
}

impl Unreadable {
    pub(crate) fn new(line: usize, message: &str) -> Self {
        Self { line, message: message.to_owned() }
    }
}
