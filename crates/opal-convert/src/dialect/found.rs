//! What is different in a text.

use std::collections::BTreeSet;

use super::Shell;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) edits: Vec<Edit>,
    /// It works in bash, and not in the other shell.
    pub(super) bash: Vec<Note>,
    /// It works in both, and is not the same.
    pub(super) sh: Vec<Note>,
    /// A command follows one that may fail.
    pub(super) is_list: bool,
    /// The same inside `$(…)`, where bash ignores `-e`.
    pub(super) has_inner_list: bool,
    /// The variables that it reads, and those that it sets.
    pub(super) reads: BTreeSet<String>,
    pub(super) sets: BTreeSet<String>,
}

/// Variables that are always set.
const SET: [&str; 12] = [
    "HOME", "IFS", "LOGNAME", "OLDPWD", "OPTIND", "PATH", "PPID", "PWD", "SHELL", "TERM", "UID",
    "USER",
];

/// What is used, and what the other shell does with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) what: String,
    pub(super) elsewhere: &'static str,
}

/// Text in the place of `len` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) text: &'static str,
}

/// What most things do where they are not known.
pub(super) const MISSING: &str = "does not have it";

impl Found {
    pub(super) fn insert(&mut self, at: usize, text: &'static str) {
        self.edits.push(Edit { at, len: 0, text });
    }

    pub(super) fn bash(&mut self, what: impl Into<String>, elsewhere: &'static str) {
        self.bash.push(Note { what: what.into(), elsewhere });
    }

    pub(super) fn sh(&mut self, what: impl Into<String>, elsewhere: &'static str) {
        self.sh.push(Note { what: what.into(), elsewhere });
    }

    /// Whether it reads a variable that is perhaps not set; `known` are some that are.
    pub(super) fn reads_unknown(&self, known: &[String]) -> bool {
        let is_set = |it: &String| {
            self.sets.contains(it) || known.contains(it) || SET.contains(&it.as_str())
        };
        !self.reads.iter().all(is_set)
    }

    /// The text with all edits.
    pub(super) fn applied(&self, text: &str) -> String {
        let mut edits: Vec<&Edit> = self.edits.iter().collect();
        edits.sort_by_key(|it| it.at);
        let mut out = String::new();
        let mut from = 0;
        for edit in edits.into_iter().filter(|it| text.is_char_boundary(it.at)) {
            if edit.at < from {
                continue;
            }
            out.push_str(&text[from..edit.at]);
            out.push_str(edit.text);
            from = edit.at + edit.len;
        }
        out.push_str(&text[from..]);
        out
    }

    /// What the report says; `also_sh` where the text stays although `sh` should run it.
    pub(super) fn notes(&self, shell: &Shell, also_sh: bool) -> Vec<String> {
        let more = self.sh.iter().filter(|_| also_sh);
        let mut notes: Vec<String> = Vec::new();
        for Note { what, elsewhere } in self.bash.iter().chain(more) {
            let note = match shell {
                Shell::Task => format!("it uses {what} of bash; the shell of Task {elsewhere}"),
                _ => format!("it uses {what} of bash; a plain sh {elsewhere}"),
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
