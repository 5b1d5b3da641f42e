//! Shells, on this machine and on others: what they run, and whether they run their input.

use super::super::cases::{At, Case, Role};
use super::super::programs::{Called, Shape, find};
use super::super::words::{Kind, Spare, Word, dequote};
use super::options::Taken;
use super::{Mark, Reader, Reading};

impl Reader<'_, '_> {
    pub(super) fn shell(&mut self, called: Called, rest: &[usize]) {
        self.shell_words(called, rest);
        if FOREIGN.contains(&called.name) && self.has_foreign_text(rest) {
            let marks = &self.reading.marks;
            let is_free = |it: &usize| !marks.iter().any(|(at, mark)| at == it && is_case(mark));
            let free: Vec<usize> = rest.iter().copied().filter(is_free).collect();
            self.open(called, &free);
        }
    }

    fn shell_words(&mut self, called: Called, rest: &[usize]) {
        let (mut at, mut runs_text, mut reads_input) = (0, false, false);
        let mut operand = None;
        let code = called.option(b"c");
        while at < rest.len() && operand.is_none() {
            let option = rest[at];
            self.expose(option, called.reader);
            let text = self.words[option].text.as_ref();
            let is_end = self.words[option].whole && matches!(text, b"-" | b"--");
            if let Some(named) = cluster(&self.words[option]) {
                let has = |letter| has_letter(&self.words[option], letter);
                (runs_text, reads_input) = (runs_text | has(b'c'), reads_input | has(b's'));
                at += 1 + named;
                continue;
            }
            match self.take(called, rest, &mut at) {
                // Nothing after it is an option.
                Taken::Operand(_) | Taken::Flags(_) if is_end => {
                    operand = rest.get(at).copied();
                    at += 1;
                    break;
                }
                // `bash $OPTIONS …`: only the shell knows whether `-c` is among them.
                Taken::Operand(index)
                    if self.words[index].splits && self.words[index].text.is_empty()
                        || !self.words[index].whole && self.words[index].text.as_ref() == b"-" =>
                {
                    return self.open(called, &rest[at - 1..]);
                }
                Taken::Operand(index) => operand = Some(index),
                Taken::Valued(name, index) => {
                    runs_text |= rest_letters(&self.words[option], name).contains(&b'c');
                    self.valued(called, name, index);
                    self.process(called, index);
                }
                Taken::Chosen(index) => {
                    if let Some(case) = called.option(b"-") {
                        self.mark(index, case);
                    }
                    runs_text = true;
                }
                Taken::Flags(index) if is_unknown(&self.words[index]) => {
                    return self.open(called, &rest[at..]);
                }
                // `bash -$OPTION …`
                Taken::Flags(index) if !self.words[index].whole => {
                    return self.open(called, &rest[at..]);
                }
                Taken::Flags(index) => {
                    let has = |letter| has_letter(&self.words[index], letter);
                    (runs_text, reads_input) = (runs_text | has(b'c'), reads_input | has(b's'));
                    // `-c"…"` in one word is a text for some shells.
                    if let (true, Some(case)) = (runs_text, code) {
                        self.mark(index, case);
                    }
                }
            }
        }
        let operands = rest.get(at..).unwrap_or_default();
        self.exposed_after(called, operand, operands);
        if let (Some(index), true, Some(case)) = (operand, runs_text, code) {
            self.mark(index, case);
            // `bash -c 'cat | sh'`
            self.reading.input = self.read_by_text(index);
            // `$0` comes first, and is known by its number only.
            let (zero, given) = operands.split_first().unzip();
            let zero = zero.map(std::slice::from_ref).unwrap_or_default();
            self.text(&[index], &[given.unwrap_or_default(), zero].concat(), true);
        } else if let Some(index) = operand {
            self.process(called, index);
            let word = &self.words[index];
            reads_input |= !word.whole || is_input(word);
        }
        if !runs_text && (operand.is_none() || reads_input) {
            self.reading.input = called.case(At::Input);
        }
    }

    /// A list may be empty, so that the word after it is the first operand.
    fn exposed_after(&mut self, called: Called, operand: Option<usize>, rest: &[usize]) {
        let mut last = operand;
        for index in rest {
            if !last.is_some_and(|last| self.words[last].is_reference) {
                break;
            }
            self.expose(*index, called.reader);
            last = Some(*index);
        }
    }

    /// Whether an option of a shell whose options and texts are not those of bash gives it a text.
    fn has_foreign_text(&self, rest: &[usize]) -> bool {
        let letters = |word: &Word<'_>| word.text.iter().any(|it| b"cCDf".contains(it));
        rest.iter().map(|index| &self.words[*index]).any(|it| it.is_option() && letters(it))
    }

    /// Words that may follow `-c`, or not.
    fn open(&mut self, called: Called, rest: &[usize]) {
        if let Some(case) = called.option(b"c") {
            rest.iter().for_each(|index| self.mark(*index, case));
        }
        self.reading.input = called.case(At::Input);
    }

    /// Its options are words of any length, in any case, and `-Command` takes all that follow.
    pub(super) fn powershell(&mut self, called: Called, rest: &[usize]) {
        let code = called.option(b"c");
        self.reading.input = called.case(At::Input);
        for (at, index) in rest.iter().enumerate() {
            self.expose(*index, called.reader);
            let word = &self.words[*index];
            let text = word.text.to_ascii_lowercase();
            let is = |name: &[u8], least: usize| text.len() >= least && name.starts_with(&text);
            if word.is_option() && word.whole && is(b"-file", 2) {
                self.reading.input = None;
                return;
            }
            let is_code = is(b"-command", 2)
                || is(b"-encodedcommand", 2)
                || is(b"-commandwithargs", 2)
                || matches!(text.as_slice(), b"-ec" | b"-cwa");
            let is_chosen = text.first() == Some(&b'-') && !word.whole;
            // Without `-File` and `-Command` the first words are the command of `powershell`.
            let is_first = called.name == "powershell" && !word.is_option();
            if let (true, Some(case)) = (is_code || is_chosen || is_first, code) {
                rest[at..].iter().for_each(|index| self.mark(*index, case));
                return;
            }
        }
    }

    fn process(&mut self, called: Called, index: usize) {
        if let Some(case) = called.case(At::Operand(0)) {
            self.reading.marks.push((index, Mark::Process(case)));
        }
    }

    pub(super) fn remote(&mut self, called: Called, rest: &[usize]) {
        let (mut at, mut operands) = (0, Vec::new());
        let code = called.case(At::From(1));
        while at < rest.len() {
            self.expose(rest[at], called.reader);
            let taken = self.take(called, rest, &mut at);
            match taken {
                Taken::Valued(name, index) => self.valued(called, name, index),
                Taken::Flags(_) => {}
                Taken::Chosen(index) => self.chosen(called, index),
                Taken::Operand(index) => {
                    let is_end = self.words[index].text.as_ref() == b"--";
                    if !is_end || operands.len() > 1 {
                        operands.push(index);
                    }
                    if operands.len() > 1 {
                        break;
                    }
                }
            }
        }
        let text = operands.get(1).into_iter().chain(rest.get(at..).unwrap_or_default());
        let text: Vec<usize> = text.copied().collect();
        if let Some(case) = code {
            text.iter().for_each(|index| self.mark(*index, case));
        }
        self.text(&text, &[], false);
        self.reading.input = self.read_there(called, &text);
    }

    /// `ssh HOST bash -s` still runs its input; `ssh HOST 'cat > f'` does not.
    fn read_there(&self, called: Called, words: &[usize]) -> Option<&'static Case> {
        let runs = called.case(At::Input);
        let mut text = Vec::new();
        for word in words.iter().map(|index| &self.words[*index]) {
            text.extend_from_slice(&word.text);
            if !word.whole {
                // Of the rest no more is known than its end.
                let Some(end) = word.ending else { return runs };
                let is_shell = |it: Called| it.program.shape == Shape::Shell;
                if find(end).is_some_and(is_shell) {
                    return runs;
                }
                text.extend_from_slice(end);
            }
            text.push(b' ');
        }
        let commands = commands(&text);
        if commands.iter().all(Vec::is_empty) {
            return runs;
        }
        let inputs = commands.iter().filter_map(|command| self.input_of(command));
        let strict = |case: &'static Case| if case.role == Role::Warn { Some(case) } else { runs };
        inputs.filter_map(strict).max_by_key(|case| case.role != Role::Warn)
    }

    /// The row for what the commands of a text read, if that runs.
    pub(super) fn read_by_text(&self, text: usize) -> Option<&'static Case> {
        let word = &self.words[text];
        let texts = if word.whole { unattached(&word.text) } else { Vec::new() };
        let commands = texts.into_iter().flat_map(commands);
        let inputs = commands.filter_map(|command| self.input_of(&command));
        inputs.max_by_key(|case| case.refuses())
    }

    /// The row for what a command of text reads.
    fn input_of(&self, words: &[Word<'_>]) -> Option<&'static Case> {
        let mut reading = Reading::default();
        let rest: Vec<usize> = (0..words.len()).collect();
        Reader { words, reading: &mut reading, depth: self.depth }.command(&rest);
        reading.input
    }
}

/// What an option is given in the same word, `--command=ls` or `-qcls`: each text that it can be.
fn unattached(text: &[u8]) -> Vec<&[u8]> {
    const LETTERS: usize = 8;
    match text {
        [b'-', b'-', ..] => text.splitn(2, |byte| *byte == b'=').skip(1).collect(),
        [b'-', ..] => (2..text.len().min(LETTERS)).map(|from| &text[from..]).collect(),
        _ => vec![text],
    }
}

/// Shells with a language of their own.
const FOREIGN: [&str; 6] = ["csh", "elvish", "fish", "nu", "tcsh", "xonsh"];

fn is_case(mark: &Mark) -> bool {
    matches!(mark, Mark::Case(_))
}

/// Whether a letter is among those of an option.
fn has_letter(word: &Word<'_>, letter: u8) -> bool {
    !word.text.starts_with(b"--") && word.text.contains(&letter)
}

/// `-euxo`, `-oc`: letters of which each `o` and `O` is given a word after them; how many.
fn cluster(word: &Word<'_>) -> Option<usize> {
    let text = word.text.as_ref();
    let letters = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+"))?;
    let is_cluster =
        word.whole && !letters.is_empty() && letters.iter().all(u8::is_ascii_alphabetic);
    let named = letters.iter().filter(|letter| matches!(letter, b'o' | b'O')).count();
    // Long options can have one dash, too.
    (is_cluster && named > 0 && letters.len() < 8).then_some(named)
}

/// Words after which a command may begin.
const KEYWORDS: [&[u8]; 11] =
    [b"!", b"do", b"elif", b"else", b"if", b"then", b"time", b"until", b"while", b"{", b"}"];

/// The commands of a text: their words, without assignments before them and redirections.
fn commands(text: &[u8]) -> Vec<Vec<Word<'_>>> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    let (mut at, mut is_target) = (0, false);
    while at < text.len() {
        let start = at;
        match text[at] {
            b' ' | b'\t' => at += 1,
            b';' | b'&' | b'|' | b'\n' | b'(' | b')' | b'`' => {
                at += 1;
                is_target = false;
                all.push(std::mem::take(&mut words));
            }
            b'<' | b'>' => {
                at += 1;
                is_target = true;
                // `2>&1`
                at += usize::from(text.get(at) == Some(&b'&'));
            }
            _ => {
                at = word_end(text, at);
                let word = dequote(&text[start..at], None, Kind::Plain, &mut Spare::default());
                let is_number = || text[start..at].iter().all(u8::is_ascii_digit);
                let is_descriptor = matches!(text.get(at), Some(b'<' | b'>')) && is_number();
                let is_first = words.is_empty();
                let is_before = is_first
                    && (KEYWORDS.contains(&word.text.as_ref()) || is_assignment(&word.text));
                if !std::mem::take(&mut is_target) && !is_descriptor && !is_before {
                    words.push(word);
                }
            }
        }
    }
    all.push(words);
    all
}

/// Where the word that begins at `at` ends, with its quotes.
fn word_end(text: &[u8], mut at: usize) -> usize {
    let mut quote = None;
    while let Some(&byte) = text.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`',
                None,
            ) => {
                return at;
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn is_assignment(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let length = name.count();
    length > 0 && text.get(length) == Some(&b'=')
}

/// Whether the file of that name may be the input: `-`, `//dev/stdin`, `fd/0` in `/dev`.
pub(super) fn is_input(word: &Word<'_>) -> bool {
    let text = word.text.as_ref();
    let holds = |part: &[u8]| text.windows(part.len()).any(|it| it == part);
    text == b"-"
        || text.ends_with(b"stdin")
        || [&b"dev/"[..], b"proc/", b"fd/"].into_iter().any(holds)
}

/// Long options of shells that are given nothing.
const FLAGS: [&[u8]; 14] = [
    b"--norc",
    b"--noprofile",
    b"--posix",
    b"--login",
    b"--verbose",
    b"--restricted",
    b"--noediting",
    b"--debugger",
    b"--version",
    b"--help",
    b"--no-config",
    b"--private",
    b"--interactive",
    b"--no-rcs",
];

/// A long option that may be given the next word.
fn is_unknown(word: &Word<'_>) -> bool {
    let text = word.text.as_ref();
    text.starts_with(b"--") && !text.contains(&b'=') && !FLAGS.contains(&text)
}

/// The letters before the one that takes a value.
fn rest_letters<'w>(word: &'w Word<'_>, name: &[u8]) -> &'w [u8] {
    let text = word.text.as_ref();
    if name.starts_with(b"--") || !text.starts_with(b"-") {
        return &[];
    }
    let end = text.iter().position(|byte| *byte == name[0]).unwrap_or(0);
    &text[..end]
}
