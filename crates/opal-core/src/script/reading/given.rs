//! Words that another program puts into a command: xargs what it reads, find the paths of files.

use std::borrow::Cow;

use super::super::cases::{At, Case, Role};
use super::super::programs::{Called, ReadBy, Shape, find};
use super::super::words::Word;
use super::{Mark, Reader, Reading};

/// Where the words are put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// At the end of the command.
    Added,
    /// In place of this text, wherever it is.
    Replaced(Vec<u8>),
    /// In place of a text in braces, which have no quotes: most often `{}`.
    Braces,
    /// Only the shell or a value knows.
    Unknown,
}

/// Each such program in another reads its command twice; nobody puts more of them into each other.
const DEEPEST: u32 = 8;

/// The most operands of a program before its command, the command's name, and a word of it.
const ADDED: usize = 4;

/// Programs that read their words by the first of them.
const BY_FIRST: [&str; 24] = [
    "adb",
    "aws",
    "az",
    "colima",
    "devbox",
    "docker",
    "docker-machine",
    "doppler",
    "fly",
    "flyctl",
    "gcloud",
    "gh",
    "git",
    "heroku",
    "minikube",
    "multipass",
    "nerdctl",
    "npm",
    "pnpm",
    "podman",
    "sops",
    "tsh",
    "vagrant",
    "yarn",
];

/// The first words after which one of these programs may run what it is given.
const RUNNING: [&[u8]; 15] = [
    b"console",
    b"create",
    b"exec",
    b"exec-env",
    b"exec-file",
    b"execute-command",
    b"filter-branch",
    b"foreach",
    b"run",
    b"run:detached",
    b"send-command",
    b"shell",
    b"ssh",
    b"submodule",
    b"x",
];

impl Given {
    /// What `-I` of xargs says, in this word or at its end.
    pub(super) fn by_option(word: &Word<'_>, option: &[u8]) -> Self {
        let text = word.text.as_ref();
        // A long option may be abbreviated.
        let equals = text.iter().position(|byte| *byte == b'=' && text.starts_with(b"--"));
        let text = match equals {
            Some(at) => &text[at + 1..],
            None if b"--replace".starts_with(text) && text.len() > 3 => b"",
            None => text.strip_prefix(option).unwrap_or(text),
        };
        match text {
            _ if word.has_references => Self::Unknown,
            b"" if word.whole => Self::Replaced(b"{}".to_vec()),
            b"" => Self::Braces,
            _ if word.whole => Self::Replaced(text.to_vec()),
            _ => Self::Unknown,
        }
    }

    /// Where the first of the words is put in a text.
    fn place(&self, text: &[u8]) -> Option<usize> {
        let is_open = |at: &usize| {
            let next = text.get(at + 1).copied().unwrap_or(b' ');
            let is_shell = *at > 0 && text[at - 1] == b'$' || next.is_ascii_whitespace();
            text[*at] == b'{' && !is_shell
        };
        match self {
            Self::Added => None,
            Self::Replaced(name) => text.windows(name.len()).position(|part| part == name),
            Self::Braces => (0..text.len()).find(is_open),
            Self::Unknown => Some(0),
        }
    }

    /// The word with what is put into it, if it is.
    fn put_into<'t>(&self, word: &Word<'t>) -> Option<Word<'t>> {
        let mut word = word.clone();
        if word.whole {
            let place = self.place(&word.text)?;
            let is_all = match self {
                Self::Replaced(name) => word.text.len() == name.len(),
                Self::Braces => word.text.as_ref() == b"{}",
                _ => true,
            };
            if is_all {
                return Some(unknown());
            }
            word.text = Cow::Owned(word.text[..place].to_vec());
        } else if *self == Self::Added {
            return None;
        }
        // What follows the text of a word is not known, so it may be in there.
        (word.whole, word.has_references, word.ending) = (false, true, None);
        Some(word)
    }
}

/// A word of which nothing is known.
fn unknown<'t>() -> Word<'t> {
    Word { text: Cow::Borrowed(b""), ..Word::unknown() }
}

impl Reader<'_, '_> {
    /// What the command does with words that are put into it.
    pub(super) fn given(
        &self,
        splitting: Called,
        command: &[usize],
        given: &Given,
    ) -> Option<&'static Case> {
        if self.depth > DEEPEST {
            return Some(Case::PRINTED);
        }
        let mut words = Vec::with_capacity(command.len() + ADDED);
        let mut is_given = Vec::with_capacity(command.len() + ADDED);
        for word in command.iter().map(|index| &self.words[*index]) {
            let with = given.put_into(word);
            is_given.push(with.is_some());
            words.push(with.unwrap_or_else(|| word.clone()));
        }
        if *given == Given::Added {
            words.extend((0..ADDED).map(|_| unknown()));
            is_given.resize(words.len(), true);
        }
        let mut reading = Reading::default();
        let rest: Vec<usize> = (0..words.len()).collect();
        let mut reader =
            Reader { words: &words, reading: &mut reading, depth: self.depth.saturating_add(1) };
        reader.command(&rest);
        let is_run = |mark: &Mark| match mark {
            Mark::Case(case) => case.role == Role::Code,
            Mark::Program => true,
            Mark::ReadBy(reader) => reader.called().is_some_and(|it| self.may_run(it, command)),
            _ => false,
        };
        let marks = || reading.marks.iter().filter(|(word, _)| is_given[*word]);
        let is_command = *given == Given::Added && self.starts_command(command)
            // A value names the program that reads them.
            || is_given.contains(&true) && reading.marks.iter().any(|(_, it)| *it == Mark::Program);
        if is_command || marks().any(|(_, mark)| is_run(mark)) {
            return Some(Case::PRINTED);
        }
        // Options that run a command, and words that are not known to be none.
        let is_option = |case: &'static Case| {
            case.role == Role::Warn && matches!(case.at, At::Option(_) | At::After(_))
        };
        let takes_options = |reader: &ReadBy| {
            let called = reader.called();
            called.is_some_and(|it| it.cases().any(is_option) && self.reaches(it, command))
        };
        marks().find_map(|(_, mark)| match mark {
            Mark::Case(case) if case.role == Role::Warn => Some(*case),
            Mark::ReadBy(reader) if takes_options(reader) => splitting.case(At::Input),
            _ => None,
        })
    }

    /// Whether options that git takes after these words can run a command.
    fn reaches(&self, called: Called, command: &[usize]) -> bool {
        const TRANSFERS: [&[u8]; 8] = [
            b"archive",
            b"clone",
            b"difftool",
            b"fetch",
            b"grep",
            b"ls-remote",
            b"pull",
            b"rebase",
        ];
        let words = command.iter().map(|index| self.words[*index].text.as_ref());
        called.name != "git" || words.into_iter().any(|word| TRANSFERS.contains(&word))
    }

    /// Whether a program may run a word in which it sees an option or a command. Commands of
    /// the shell itself, which take a name, do not count.
    fn may_run(&self, called: Called, command: &[usize]) -> bool {
        let runs = matches!(called.program.shape, Shape::Wraps(_) | Shape::Shell | Shape::Remote)
            || called.cases().any(|case| case.role == Role::Code);
        // Several programs may read their words in the same way, so its name is that in the command.
        let mut words = command.iter().map(|index| &self.words[*index]);
        let named = words.by_ref().find_map(|word| {
            let found = word.name().and_then(find);
            found.filter(|it| it.reader == called.reader)
        });
        if !runs || !named.is_some_and(|it| BY_FIRST.contains(&it.name)) {
            return runs;
        }
        if called.is_container() && has_started(words.clone()) {
            return false;
        }
        let has_first = words.clone().any(|word| word.whole && !word.is_option());
        !has_first || words.any(|word| !word.whole || RUNNING.contains(&word.text.as_ref()))
    }

    /// `docker exec app`, `kubectl exec pod --`: what follows is a command.
    fn starts_command(&self, command: &[usize]) -> bool {
        let is = |index: &usize, text: &[u8]| {
            self.words[*index].whole && self.words[*index].text.as_ref() == text
        };
        let Some(exec) = command.iter().skip(1).position(|index| is(index, b"exec")) else {
            return false;
        };
        let after = &command[exec + 2..];
        match after.iter().position(|index| is(index, b"--")) {
            Some(end) => end + 1 == after.len(),
            None => after.iter().filter(|index| !self.words[**index].is_option()).count() <= 1,
        }
    }
}

/// `docker exec -it app rm`: what follows belongs to the command in the container. An option that
/// may be given a word leaves open which one is the container.
fn has_started<'w>(mut words: impl Iterator<Item = &'w Word<'w>>) -> bool {
    const FLAGS: [&[u8]; 8] =
        [b"-i", b"-t", b"-it", b"-d", b"--rm", b"--tty", b"--interactive", b"--detach"];
    let starts = |word: &Word<'_>| matches!(word.text.as_ref(), b"exec" | b"run");
    if !words.any(starts) {
        return false;
    }
    let is_flag = |word: &&Word<'_>| {
        let text = word.text.as_ref();
        word.whole && (FLAGS.contains(&text) || text.starts_with(b"--") && text.contains(&b'='))
    };
    let mut words = words.skip_while(is_flag);
    words.next().is_some_and(|word| !word.is_option()) && words.next().is_some()
}
