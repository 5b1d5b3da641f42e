//! The words of one simple command, matched with the table.

mod before;
mod declarations;
mod given;
mod options;
mod settings;
mod shell_calls;
mod shells;
mod source;
mod wrappers;

use super::cases::{Case, Role};
use super::names::{interpreted, is_run_by_program};
use super::programs::{Called, ReadBy, Shape, find, may_begin};
use super::words::{Kind, Word};

/// What a command makes of the references in one of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Case(&'static Case),
    /// Only where the word holds `<( … )`: what that prints is run.
    Process(&'static Case),
    /// The value names the program, so it is checked by its name.
    Program,
    /// The value is what `declare` assigns.
    Declared,
    /// The word is one in which this program may see more than data.
    ReadBy(ReadBy),
    /// The word is what an option is given.
    Single,
}

/// A text that a command runs: `bash -c 'deploy "$1"' _ VALUE`.
#[derive(Debug)]
pub struct Text {
    /// The words that make it up.
    pub words: Vec<usize>,
    /// The words that it is given, from `$1` on.
    pub given: Vec<usize>,
    /// Variables of the step may be known there.
    pub is_here: bool,
}

/// What a command makes of all its words.
#[derive(Debug, Default)]
pub struct Reading {
    /// Words by their index.
    pub marks: Vec<(usize, Mark)>,
    /// What is on its input is evaluated.
    pub input: Option<&'static Case>,
    /// It prints its words or its input as they are.
    pub prints: bool,
    /// It gives its words or its input to variables that it is given.
    pub stores: bool,
    /// Texts in quotes that it runs.
    pub texts: Vec<Text>,
    /// Variables that get the attribute of an integer, a name reference or an array; `*` for all
    /// of them, where only the shell knows which.
    pub attributed: Vec<Vec<u8>>,
    /// The words of the command, without assignments before it and redirections.
    rest: Vec<usize>,
}

/// Reads a command, in which at least one word holds a reference. What was read before is forgotten;
/// its memory is used again.
pub fn read(words: &[Word<'_>], reading: &mut Reading) {
    reading.marks.clear();
    reading.attributed.clear();
    reading.texts.clear();
    (reading.input, reading.prints, reading.stores) = (None, false, false);
    let mut rest = std::mem::take(&mut reading.rest);
    rest.clear();
    let plain = |index: &usize| matches!(words[*index].kind, Kind::Plain | Kind::Assignment);
    rest.extend(
        (0..words.len()).filter(plain).skip_while(|at| words[*at].kind == Kind::Assignment),
    );
    let mut reader = Reader { words, reading, depth: 0 };
    for (index, word) in words.iter().enumerate() {
        if word.kind == Kind::Assignment {
            reader.assignment(index);
        }
    }
    reader.command(&rest);
    reader.reading.rest = rest;
}

/// Reads words that are values: of this program, or of none, where the first names it. Those of the
/// source are words that have no reference. None of the marks is about `<( … )`.
pub(super) fn read_values(
    words: &[Word<'_>],
    reader: Option<ReadBy>,
) -> Vec<(usize, &'static Case)> {
    let mut reading = Reading::default();
    let rest: Vec<usize> = (0..words.len()).collect();
    let mut within = Reader { words, reading: &mut reading, depth: 0 };
    match reader.map(ReadBy::called) {
        None => within.command(&rest),
        Some(None) => within.unlisted(&rest),
        Some(Some(called)) => match called.program.shape {
            // Some of its operands may be before the values.
            Shape::Wraps(operands) => {
                (0..=operands).for_each(|operands| within.wraps(called, &rest, operands));
            }
            _ => within.called(called, &rest),
        },
    }
    let case = |(word, mark): (usize, Mark)| match mark {
        Mark::Case(case) => Some((word, case)),
        _ => None,
    };
    reading.marks.into_iter().filter_map(case).collect()
}

/// `./bin/export`, `$DIR/test`: a file of that name, and not the shell's own command. Some systems have
/// files in their folders of programs that give their words to a shell's command.
fn is_in_folder(word: &Word<'_>) -> bool {
    let text = word.text.as_ref();
    let folder = text.iter().rposition(|byte| *byte == b'/').map(|at| &text[..at]);
    match folder {
        Some(folder) => !matches!(folder, b"/bin" | b"/usr/bin"),
        None => !word.whole,
    }
}

struct Reader<'w, 't> {
    words: &'w [Word<'t>],
    reading: &'w mut Reading,
    /// How many programs have started the one that is read.
    depth: u32,
}

/// Nobody lets more programs start each other, and each takes some stack.
const MAX_DEPTH: u32 = 32;

/// Programs that print their words, beside those of [`Shape::Prints`].
const PRINTERS: [&str; 9] =
    ["basename", "dirname", "expr", "gsed", "readlink", "realpath", "sed", "seq", "yes"];

impl Reader<'_, '_> {
    fn mark(&mut self, word: usize, case: &'static Case) {
        if self.words[word].has_references {
            self.reading.marks.push((word, Mark::Case(case)));
        }
    }

    /// Says which program may see an option, a setting or a command in a word that is not known from
    /// its beginning.
    fn expose(&mut self, word: usize, reader: ReadBy) {
        let it = &self.words[word];
        if it.has_references && !it.whole && it.text.is_empty() {
            self.reading.marks.push((word, Mark::ReadBy(reader)));
        }
    }

    /// Keeps a text that is run, if it is known and expands something.
    fn text(&mut self, words: &[usize], given: &[usize], is_here: bool) {
        let words = words.to_vec();
        let is_known = words.iter().all(|index| self.words[*index].whole);
        if is_known && words.iter().any(|index| self.words[*index].text.contains(&b'$')) {
            self.reading.texts.push(Text { words, given: given.to_vec(), is_here });
        }
    }

    fn assignment(&mut self, index: usize) {
        let text = self.words[index].text.as_ref();
        let end = text.iter().position(|byte| matches!(byte, b'=' | b'+' | b'['));
        let name = std::str::from_utf8(&text[..end.unwrap_or(text.len())]);
        let name = name.unwrap_or_default();
        if interpreted(name).is_some() {
            self.mark(index, Case::INTERPRETED);
        } else if is_run_by_program(name) {
            self.mark(index, Case::RUN_BY_PROGRAM);
        }
    }

    /// `-u USER`, before a command.
    fn has_user(&self, rest: &[usize]) -> bool {
        let words = rest.iter().map(|index| &self.words[*index]).take_while(|it| it.is_option());
        words.into_iter().any(|it| it.text.starts_with(b"-u") || it.text.starts_with(b"--user"))
    }

    fn has_references_in(&self, words: &[usize]) -> bool {
        words.iter().any(|index| self.words[*index].has_references)
            || self.words.iter().any(|word| word.kind == Kind::Input)
    }

    fn unknown(&mut self, words: &[usize]) {
        words.iter().for_each(|index| self.mark(*index, Case::UNKNOWN));
        self.reading.input = Some(Case::UNKNOWN);
    }

    /// `rest` begins with the name of a command.
    fn command(&mut self, rest: &[usize]) {
        let Some((&first, rest)) = rest.split_first() else { return };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.unknown(rest);
        }
        let word = &self.words[first];
        // `/proc/$$/exe`: the shell itself.
        if word.text.starts_with(b"/proc/")
            && let Some(shell) = find(b"bash")
        {
            return self.called(shell, rest);
        }
        if let Some(name) = word.name() {
            self.reading.prints |= PRINTERS.iter().any(|known| known.as_bytes() == name);
            match find(name) {
                Some(called) if called.is_builtin() && is_in_folder(word) => {
                    return self.unlisted(rest);
                }
                Some(called) => return self.called(called, rest),
                None => return self.unlisted(rest),
            }
        }
        let prefix = word.text.as_ref();
        let slash = prefix.iter().rposition(|byte| *byte == b'/');
        let prefix = &prefix[slash.map_or(0, |at| at + 1)..];
        if !may_begin(prefix) {
            return self.unlisted(rest);
        }
        if !self.has_references_in(rest) && word.is_reference {
            return;
        }
        if word.is_reference && prefix.is_empty() {
            self.reading.marks.push((first, Mark::Program));
            return self.unlisted(rest);
        }
        let case = if word.has_references { Case::ASSEMBLED } else { Case::UNKNOWN };
        if self.has_references_in(rest) || !word.is_simple {
            self.mark(first, case);
        }
        for index in rest {
            self.mark(*index, case);
        }
        self.reading.input = Some(case);
    }

    fn called(&mut self, called: Called, rest: &[usize]) {
        let is_reader = matches!(called.name, "read" | "mapfile" | "readarray" | "getopts");
        let option = |index: &usize| self.words[*index].text.starts_with(b"-v");
        self.reading.stores = is_reader || called.name == "printf" && rest.iter().any(option);
        if called.name == "eval" {
            self.text(rest, &[], true);
        }
        if called.name == "trap" {
            let text = rest.iter().find(|index| self.words[**index].text.as_ref() != b"--");
            self.text(text.map(std::slice::from_ref).unwrap_or_default(), &[], true);
        }
        // Only the command of `-C` runs what `mapfile` reads.
        let has_callback = |index: &usize| {
            self.words[*index].text.starts_with(b"-") && self.words[*index].text.contains(&b'C')
        };
        let is_plain =
            matches!(called.name, "mapfile" | "readarray") && !rest.iter().any(has_callback);
        match called.program.shape {
            Shape::Strict if self.starts_itself(called, rest) => {
                self.wraps(called, rest, 0);
            }
            Shape::Strict => {
                self.options(called, rest, false);
                if is_plain {
                    self.reading.input = None;
                }
                if called.cases().any(|case| case.role == Role::Warn) {
                    self.unlisted(rest);
                }
            }
            Shape::Prints => {
                self.options(called, rest, false);
                self.reading.prints = true;
            }
            // `runuser -u USER COMMAND` starts no shell.
            Shape::Loose if called.name == "runuser" && self.has_user(rest) => {
                self.wraps(called, rest, 0);
            }
            Shape::Loose => {
                self.options(called, rest, true);
                if called.name == "find" {
                    self.found(called, rest);
                }
                // `find . -exec sh -c "…" \;`
                self.among(rest, called.is_container());
            }
            Shape::Declares => self.declares(called, rest),
            Shape::Shell if matches!(called.name, "powershell" | "pwsh") => {
                self.powershell(called, rest);
            }
            Shape::Shell => self.shell(called, rest),
            Shape::Remote => self.remote(called, rest),
            Shape::Wraps(operands) => self.wraps(called, rest, operands),
        }
        self.shell_calls(called, rest);
    }
}
