//! What the words of a command make of the words to come.
//!
//! Text is evaluated again by `eval`, by `sh -c`, by `ssh HOST`, by `su -c`, by `trap` and by
//! `watch`, also behind `sudo`, `env`, `xargs` and their like; and bash computes what `let` is
//! given, and the subscripts in names that `read`, `unset` and `declare` are given. A value there
//! would become code, so the places of references say it.

use super::command::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    Nothing,
    /// `export`: `NAME=…` are assignments.
    Exports,
    /// `declare` and its like: assignments, or names whose subscripts are computed.
    Declares,
    /// `declare -i`: what is assigned is computed too.
    Integers,
    /// `read`, `unset`: names.
    Names,
    /// `let`: all is computed.
    Sums,
    /// `sudo`, `env`, `xargs`: a command follows the options.
    Prefix(Prefix),
    /// A shell: `-c` may follow, or it reads commands from its input.
    Shell,
    /// A shell with `-s`: it reads commands from its input, whatever follows.
    ShellInput,
    /// `su`: `-c` may follow, anywhere.
    CommandOption,
    /// `ssh`: options, then a host, then text.
    Host,
    /// Behind ssh's host: text, or commands on the input.
    Remote,
    /// `trap`, or `sh -c`: the next plain word is evaluated.
    NextWord,
    /// `eval`, or text behind ssh's host: all that follows is evaluated.
    Everything,
    /// `watch`: options, then text.
    Repeats,
}

/// A command that runs another, and its options that take a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Sudo,
    Env,
    Xargs,
    /// `timeout`: one plain word comes before the command.
    Timeout,
    /// `ionice`, `stdbuf`.
    Tuned,
    Sshpass,
    Plain,
}

impl Prefix {
    fn takes_word(self, option: u8) -> bool {
        let options: &[u8] = match self {
            Self::Sudo => b"ughpCTrtUDR",
            Self::Env => b"uC",
            Self::Xargs => b"InPLdsaE",
            Self::Timeout => b"ks",
            Self::Tuned => b"cnpPioe",
            Self::Sshpass => b"pfdP",
            // nice -n, exec -a
            Self::Plain => b"na",
        };
        options.contains(&option)
    }
}

impl Watch {
    /// What the command called `word` makes of its words.
    pub(super) fn of(word: &[u8]) -> Self {
        let name = name(word);
        // Nearly every command is none of these, and the first letter tells.
        if !matches!(
            name.first(),
            Some(b'a'..=b'f' | b'i' | b'k' | b'l' | b'n' | b'p' | b'r'..=b'u' | b'w'..=b'z' | b'$')
        ) {
            return Self::Nothing;
        }
        match name {
            b"eval" | b"alias" => Self::Everything,
            b"trap" => Self::NextWord,
            b"ssh" => Self::Host,
            b"su" | b"runuser" | b"flock" | b"script" => Self::CommandOption,
            b"watch" | b"parallel" => Self::Repeats,
            b"let" => Self::Sums,
            b"read" | b"unset" => Self::Names,
            b"export" => Self::Exports,
            b"declare" | b"local" | b"readonly" | b"typeset" => Self::Declares,
            b"sudo" | b"doas" => Self::Prefix(Prefix::Sudo),
            b"env" => Self::Prefix(Prefix::Env),
            b"xargs" => Self::Prefix(Prefix::Xargs),
            b"timeout" => Self::Prefix(Prefix::Timeout),
            b"ionice" | b"stdbuf" => Self::Prefix(Prefix::Tuned),
            b"sshpass" => Self::Prefix(Prefix::Sshpass),
            b"nohup" | b"exec" | b"command" | b"builtin" | b"nice" | b"setsid" | b"chronic" => {
                Self::Prefix(Prefix::Plain)
            }
            _ if is_shell(name) => Self::Shell,
            _ => Self::Nothing,
        }
    }

    pub(super) fn reevaluates(self) -> bool {
        matches!(self, Self::Everything | Self::NextWord | Self::Remote | Self::Repeats)
    }

    pub(super) fn declares(self) -> bool {
        matches!(self, Self::Exports | Self::Declares | Self::Integers)
    }

    /// Whether what stands on the command's input is evaluated.
    pub(super) fn runs_input(self) -> bool {
        matches!(self, Self::Shell | Self::ShellInput | Self::Remote)
    }
}

impl Command {
    /// Takes a word that is not the command's name.
    pub(super) fn watched_word(&mut self, word: &[u8]) {
        if std::mem::take(&mut self.skip) {
            return;
        }
        let option = word.len() > 1 && matches!(word[0], b'-' | b'+');
        let single = option && word[0] == b'-' && word[1] != b'-';
        match self.watch {
            // `docker exec app sh -c "…"`
            Watch::Nothing if is_shell(name(word)) => self.watch = Watch::Shell,
            Watch::Shell => self.shell_word(word, option, single),
            Watch::CommandOption if single && word[1..].contains(&b'c') || word == b"--command" => {
                self.watch = Watch::NextWord;
            }
            Watch::NextWord if option => {}
            Watch::NextWord => self.watch = Watch::Nothing,
            Watch::Host if single => self.skip = word.len() == 2 && SSH_OPTIONS.contains(&word[1]),
            Watch::Host if !option => self.watch = Watch::Remote,
            // `ssh HOST bash -s` still reads its input; `ssh HOST 'cat > f'` does not run it.
            Watch::Remote if !option && !is_shell(name(word)) && word != b"sudo" => {
                self.watch = Watch::Everything;
            }
            Watch::Repeats if !option => self.watch = Watch::Everything,
            Watch::Repeats => self.skip = word == b"-n" || word == b"--interval",
            // GNU parallel quotes what stands behind `:::`.
            Watch::Everything if word.starts_with(b":::") => self.watch = Watch::Nothing,
            Watch::Declares if single && word.contains(&b'i') => self.watch = Watch::Integers,
            Watch::Names if single => {
                self.skip = word.last().is_some_and(|last| b"adinNptu".contains(last));
            }
            Watch::Prefix(prefix) => self.prefix_word(prefix, word, option, single),
            _ => {}
        }
    }

    fn shell_word(&mut self, word: &[u8], option: bool, single: bool) {
        if single && word.contains(&b'c') {
            self.watch = Watch::NextWord;
        } else if single && word.contains(&b's') {
            self.watch = Watch::ShellInput;
        } else if option {
            self.skip = single && matches!(word.last(), Some(b'o' | b'O'))
                || matches!(word, b"--rcfile" | b"--init-file" | b"+o" | b"+O");
        } else {
            self.watch = Watch::Nothing;
        }
    }

    fn prefix_word(&mut self, prefix: Prefix, word: &[u8], option: bool, single: bool) {
        if option {
            self.skip = single && word.len() == 2 && prefix.takes_word(word[1]);
        } else if prefix == Prefix::Timeout {
            self.watch = Watch::Prefix(Prefix::Plain);
        } else if !(prefix == Prefix::Env || prefix == Prefix::Sudo) || !word.contains(&b'=') {
            self.watch = Watch::of(word);
        }
    }

    /// Whether the word whose beginning is `word` holds its own text to evaluate: `--command=…`.
    pub(super) fn evaluates_inside(&self, word: &[u8]) -> bool {
        self.watch == Watch::CommandOption && word.starts_with(b"--command=")
    }
}

/// The name that a word calls: without its folder, and without quotes around it.
fn name(word: &[u8]) -> &[u8] {
    // No name that matters is longer, and a word of a megabyte must not be searched for its folder.
    const LONGEST: usize = 16;
    let bare = match word {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] | [b'\\', inner @ ..] => inner,
        _ => word,
    };
    let tail = &bare[bare.len().saturating_sub(LONGEST)..];
    match tail.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => &tail[slash + 1..],
        None if tail.len() < bare.len() => b"",
        None => bare,
    }
}

fn is_shell(name: &[u8]) -> bool {
    matches!(
        name,
        b"sh" | b"bash" | b"dash" | b"zsh" | b"ksh" | b"ash" | b"fish" | b"$SHELL" | b"${SHELL}"
    )
}

/// Options of ssh that take a word.
const SSH_OPTIONS: &[u8] = b"BbcDEeFIiJLlmOopQRSWw";
