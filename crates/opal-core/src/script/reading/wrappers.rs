//! Programs that run another command.

use super::super::cases::{At, Case, Role};
use super::super::names::may_be_interpreted;
use super::super::programs::{Called, ReadBy, Shape, find};
use super::super::words::Word;
use super::given::Given;
use super::options::Taken;
use super::{MAX_DEPTH, Reader};

/// Words after which a command begins.
const STARTS: [&[u8]; 8] =
    [b"--", b"exec", b"-exec", b"-execdir", b"-ok", b"-okdir", b"-x", b"--exec"];

/// Options of find that a command follows.
const FOUND: [&[u8]; 4] = [b"-exec", b"-execdir", b"-ok", b"-okdir"];

impl Reader<'_, '_> {
    pub(super) fn wraps(&mut self, called: Called, rest: &[usize], operands: u8) {
        let (mut at, mut left) = (0, operands);
        let (mut is_for_shell, mut is_open) = (false, false);
        let mut given = Given::Added;
        while at < rest.len() {
            let start = at;
            let index = rest[at];
            self.expose(index, called.reader);
            let word = &self.words[index];
            if called.sets() && word.text.contains(&b'=') && !word.is_option() {
                self.assignment(index);
                at += 1;
                continue;
            }
            if matches!(word.text.as_ref(), b"-" | b"--") && word.whole {
                at += 1;
                continue;
            }
            is_for_shell |=
                called.sets() && called.name != "env" && starts_shell(called, &word.text);
            match self.take(called, rest, &mut at) {
                Taken::Valued(name, index) => {
                    self.valued(called, name, index);
                    if let Some(option) = replaces(called, name) {
                        given = Given::by_option(&self.words[index], option);
                    }
                    // `env -S "bash -c" WORD`: the text and the words after it are one command.
                    if let Some(case) = called.option(name).filter(|it| it.role == Role::Code) {
                        self.text_of_option(case, index, &rest[at.min(rest.len())..]);
                    }
                }
                Taken::Flags(index) => {
                    // A long option that the table does not name may be given the next word.
                    let text = self.words[index].text.as_ref();
                    if called.name == "xargs" && (text == b"-i" || is_replace(text)) {
                        given = Given::by_option(&self.words[index], text);
                    }
                    is_open = text.starts_with(b"--") && !text.contains(&b'=');
                    continue;
                }
                Taken::Chosen(index) => self.chosen(called, index),
                Taken::Operand(_) if left > 0 => left -= 1,
                Taken::Operand(index) => {
                    if called.sets() {
                        self.setting(index);
                    }
                    let command = &rest[start..];
                    if let Some(case) = called.case(At::From(0)).filter(|_| is_for_shell) {
                        command.iter().for_each(|index| self.mark(*index, case));
                    }
                    let input = self.reading.input;
                    self.command(command);
                    self.reading.input = self.reading.input.or(input);
                    if called.name == "xargs" {
                        self.reading.input =
                            self.given(called, command, &given).or(self.reading.input);
                    }
                    // A list may be empty, or an option: then the command comes after it.
                    if self.words[index].is_reference || is_open && self.words[index].whole {
                        self.depth += 1;
                        match self.depth > MAX_DEPTH {
                            true => self.unknown(command),
                            false => self.wraps(called, &command[1..], 0),
                        }
                    }
                    return;
                }
            }
            is_open = false;
        }
        // It has started no command.
        let starts_shell = !matches!(called.name, "sudo" | "doas" | "xargs") || is_for_shell;
        if let Some(case) = called.case(At::Input).filter(|_| starts_shell) {
            self.reading.input = Some(case);
        }
    }

    /// An option gives the program a text, and these words follow.
    fn text_of_option(&mut self, case: &'static Case, text: usize, rest: &[usize]) {
        rest.iter().for_each(|index| self.mark(*index, case));
        self.text(&[text], &[], true);
        self.reading.input = self.reading.input.or(self.read_by_text(text));
    }

    /// `env @var.k=@var.v`, `env LD_@var.x=y`: a value may name a variable that is interpreted.
    fn setting(&mut self, index: usize) {
        let word = &self.words[index];
        let name = std::str::from_utf8(&word.text).unwrap_or_default();
        let is_name = !name.is_empty() && may_be_interpreted(name);
        if !word.whole && (is_name || word.text.is_empty() && word.sets) {
            self.mark(index, Case::INTERPRETED);
        }
    }

    /// A program that the table does not name may start one that it names: `docker exec app sh -c
    /// "…"`.
    pub(super) fn unlisted(&mut self, rest: &[usize]) {
        self.among(rest, false);
    }

    /// The same for `docker` and its relatives, which `run` starts a command too.
    pub(super) fn among(&mut self, rest: &[usize], is_container: bool) {
        let (mut has_started, mut has_options) = (false, false);
        for (at, index) in rest.iter().enumerate() {
            let word = &self.words[*index];
            let after = &rest[at + 1..];
            if let Some((shell, runs)) = entrypoint(word, after.first().map(|it| &self.words[*it]))
            {
                return self.entry(shell, runs, after);
            }
            if word.is_reference {
                self.expose(*index, ReadBy::UNLISTED);
            }
            // `docker exec app "$SHELL" -c TEXT`
            let is_unknown = !word.whole && !word.has_references && word.text.is_empty();
            let is_text = |next: &usize| {
                let text = self.words[*next].text.as_ref();
                text.starts_with(b"-") && !text.starts_with(b"--") && text.ends_with(b"c")
            };
            if is_unknown && has_started && after.first().is_some_and(is_text) {
                return self.unknown(after);
            }
            // What a value begins with may follow such a word.
            let starts = has_started
                || at > 0 && self.is_start(rest[at - 1])
                || at == 0 && word.whole && word.has_references;
            let text = word.text.as_ref();
            has_started |= word.whole && (text == b"exec" || is_container && text == b"run");
            let Some(called) = word.name().and_then(find) else { continue };
            match (called.program.shape, called.name) {
                (Shape::Shell, _) => {
                    // `start-stop-daemon --exec bash -- -c TEXT`
                    let after = match after.split_first() {
                        Some((next, rest)) if self.words[*next].text.as_ref() == b"--" => rest,
                        _ => after,
                    };
                    return self.shell(called, after);
                }
                (_, "su" | "runuser" | "script" | "flock") if !has_options => {
                    // It can be a word like any other: what it reads counts only where it is run.
                    has_options = true;
                    let input = self.reading.input;
                    self.options(called, after, true);
                    self.reading.input = self.reading.input.filter(|_| starts).or(input);
                }
                (Shape::Remote | Shape::Wraps(_), _) | (_, "watch" | "parallel") if starts => {
                    return self.called(called, after);
                }
                (_, "env") => return self.called(called, after),
                _ => {}
            }
        }
    }

    /// `docker run --entrypoint sh IMAGE -c "…"`: which of the words is the image is not known.
    /// `runs` where a text for the shell comes next: `--entrypoint "sh -c"`.
    fn entry(&mut self, shell: Called, runs: bool, rest: &[usize]) {
        if let Some(case) = shell.option(b"c").filter(|_| runs) {
            return rest.iter().for_each(|index| self.mark(*index, case));
        }
        let mut runs_text = false;
        for (at, index) in rest.iter().enumerate() {
            self.expose(*index, shell.reader);
            let text = self.words[*index].text.as_ref();
            if text.starts_with(b"-") && !text.starts_with(b"--") && text.contains(&b'c') {
                runs_text = true;
                self.shell(shell, &rest[at..]);
            }
        }
        if !runs_text {
            self.reading.input = shell.case(At::Input);
        }
    }

    /// The commands of `find`, and what the paths are for them.
    pub(super) fn found(&mut self, called: Called, rest: &[usize]) {
        let is = |reader: &Self, index: usize, texts: &[&[u8]]| {
            let word = &reader.words[index];
            word.whole && texts.contains(&word.text.as_ref())
        };
        let (mut run, mut at) = (None, 0);
        while at < rest.len() {
            at += 1;
            if !is(self, rest[at - 1], &FOUND) {
                continue;
            }
            let length = rest[at..].iter().position(|index| is(self, *index, &[b";", b"+"]));
            let command = &rest[at..length.map_or(rest.len(), |length| at + length)];
            at += command.len();
            let input = self.reading.input;
            self.command(command);
            self.reading.input = self.reading.input.or(input);
            let given = self.given(called, command, &Given::Replaced(b"{}".to_vec()));
            run = run.or(given.filter(|case| case.role != Role::Warn));
        }
        let is_path = |index: &&usize| !self.words[**index].text.starts_with(b"-");
        let paths: Vec<usize> = rest.iter().take_while(is_path).copied().collect();
        if let Some(case) = run {
            paths.iter().for_each(|index| self.mark(*index, case));
        }
    }

    fn is_start(&self, index: usize) -> bool {
        let word = &self.words[index];
        word.whole && STARTS.contains(&word.text.as_ref())
    }
}

/// The option of xargs that names what is replaced.
fn replaces(called: Called, name: &[u8]) -> Option<&'static [u8]> {
    match name {
        _ if called.name != "xargs" => None,
        b"I" => Some(b"-I"),
        b"J" => Some(b"-J"),
        name if is_replace(name) => Some(b"--replace="),
        _ => None,
    }
}

/// `--replace`, perhaps abbreviated.
fn is_replace(name: &[u8]) -> bool {
    name.len() > 3 && b"--replace".starts_with(name)
}

/// The shell that `--entrypoint` of docker or `--command` of flatpak names, in this word or in the next.
fn entrypoint(word: &Word<'_>, next: Option<&Word<'_>>) -> Option<(Called, bool)> {
    let text = word.text.as_ref();
    let (text, takes_next) = match text.strip_prefix(b"--entrypoint") {
        Some(text) => (text, true),
        None => (text.strip_prefix(b"--command")?, false),
    };
    let named = match text.strip_prefix(b"=") {
        Some(path) if word.whole => path,
        None if takes_next && text.is_empty() && word.whole => {
            next?.whole.then_some(&next?.text)?
        }
        _ => return None,
    };
    // `["sh", "-c"]`, `sh -c`: its first word names the shell.
    let named = named.strip_prefix(b"[").unwrap_or(named);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || b"\",".contains(byte);
    let mut words = named.split(is_blank).filter(|word| !word.is_empty());
    let name = words.next()?.rsplit(|byte| *byte == b'/').next()?;
    let runs = words.any(|word| word.starts_with(b"-") && word.contains(&b'c'));
    find(name).filter(|called| called.program.shape == Shape::Shell).map(|shell| (shell, runs))
}

/// `sudo -i` and `sudo -s` put the words of the command together for a shell.
fn starts_shell(called: Called, text: &[u8]) -> bool {
    if text.starts_with(b"--") {
        return text.len() > 3 && (b"--login".starts_with(text) || b"--shell".starts_with(text));
    }
    let is_flag = |letter: &&u8| !called.program.valued.as_bytes().contains(letter);
    text.starts_with(b"-")
        && text[1..].iter().take_while(is_flag).any(|it| matches!(it, b'i' | b's'))
}
