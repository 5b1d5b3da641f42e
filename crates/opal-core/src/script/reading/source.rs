//! Where a program has the text from that it runs.

use super::super::cases::{At, Case, Kinds};
use super::super::programs::Called;
use super::shells::is_input;
use super::{Mark, Reader};

/// Options that give the program its text, so that the first operand is a file.
pub(super) const TEXTS: [&[u8]; 6] =
    [b"e", b"f", b"--expression", b"--file", b"--from-file", b"--source"];

/// Where a program has the text from that it runs.
#[derive(Default)]
pub(super) struct Source {
    /// The text is among its words.
    pub(super) has_text: bool,
    /// A shell runs the text, and the commands in it read what the program is given.
    has_command: bool,
    /// `-` is its input.
    pub(super) is_input: bool,
    /// The row for an option that names the input as a file.
    pub(super) of_file: Option<&'static Case>,
    /// The row for what commands in the text read.
    pub(super) of_text: Option<&'static Case>,
}

impl Source {
    /// The row for what the program reads.
    pub(super) fn input(
        &self,
        called: Called,
        operands: u8,
        has_command: bool,
        machine: Option<&'static Case>,
    ) -> Option<&'static Case> {
        // Without a command GNU parallel takes its input for commands.
        let is_read = match called.name {
            "parallel" => operands == 0,
            "su" | "runuser" => !self.has_command,
            _ => true,
        };
        let input = called.case(At::Input).filter(|_| is_read);
        let is_script = |case: &&'static Case| match case.at {
            At::Script(most) => !self.has_text && (operands <= most || self.is_input),
            _ => false,
        };
        let machine = machine.filter(|_| !self.has_text && !has_command);
        input
            .or_else(|| called.rows(Kinds::SCRIPT).find(is_script))
            .or(machine)
            .or(self.of_file)
            .or(self.of_text)
    }
}

impl Reader<'_, '_> {
    /// What an option says about the text that the program runs.
    pub(super) fn note_source(
        &mut self,
        called: Called,
        source: &mut Source,
        name: &[u8],
        value: usize,
    ) {
        let case = called.option(name);
        source.has_text |= TEXTS.contains(&name) || case.is_some();
        if let Some(case) = file_row(called, name) {
            self.reading.marks.push((value, Mark::Process(case)));
            source.of_file = source.of_file.or(Some(case).filter(|_| self.is_input(value)));
        }
        if case.is_some_and(Case::refuses) {
            source.has_command = true;
            self.text(&[value], &[], true);
            source.of_text = source.of_text.or_else(|| self.read_by_text(value));
        }
    }

    /// `make -f -`, `make -f-`
    fn is_input(&self, value: usize) -> bool {
        let text = self.words[value].text.as_ref();
        let is_attached = text.len() > 1 && text.starts_with(b"-");
        if is_attached { text.ends_with(b"-") } else { is_input(&self.words[value]) }
    }
}

/// The row for an option that names a file to run.
fn file_row(called: Called, name: &[u8]) -> Option<&'static Case> {
    called.rows(Kinds::FILE).find(|case| match case.at {
        At::File(names) => names.iter().any(|known| known.as_bytes() == name),
        _ => false,
    })
}
