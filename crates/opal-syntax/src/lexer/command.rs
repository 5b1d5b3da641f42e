//! The simple command being read: is the next word a command, a target, or text that another shell
//! evaluates once more?
//!
//! Only what the place of a reference needs is kept, a few bytes that are updated at the end of each
//! word. Text is evaluated again by `eval`, by `sh -c`, by `ssh HOST`, by `su -c`, by `trap` and by
//! `watch`, also behind `sudo`, `env`, `xargs` and their like.

/// "No word is being read."
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// Where the word being read began, or [`NONE`].
    pub(super) word: u32,
    /// The next word is the command's name.
    pub(super) at_command: bool,
    /// The last thing was `&&`, `||` or `|`: the next line belongs to this one.
    pub(super) continues: bool,
    /// The next word is the target of a redirection.
    pub(super) redirect: bool,
    /// The word being read is `NAME=…`.
    pub(super) assigns: bool,
    /// The word being read is evaluated once more.
    pub(super) reevaluates: bool,
    /// A word `--` has been read.
    pub(super) dashes: bool,
    /// The next word belongs to an option of a prefix command.
    skip: bool,
    watch: Watch,
}

/// What the words read so far make of the words to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Nothing,
    /// `export` and its like: `NAME=…` are assignments.
    Declares,
    /// `sudo`, `env`, `xargs`: a command follows the options.
    Prefix(Prefix),
    /// A shell: `-c` may follow.
    Shell,
    /// `su`: `-c` may follow, anywhere.
    Su,
    /// `ssh`: options, then a host, then text.
    Host,
    /// `trap`, or `sh -c`: the next plain word is evaluated.
    NextWord,
    /// `eval`, or behind ssh's host: all that follows is evaluated.
    Everything,
    /// `watch`: options, then text.
    WatchOptions,
}

/// A command that runs another, and its options that take a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Sudo,
    Env,
    Xargs,
    /// `timeout`: one plain word comes before the command.
    Timeout,
    Plain,
}

impl Prefix {
    fn takes_word(self, option: u8) -> bool {
        let options: &[u8] = match self {
            Self::Sudo => b"ughpCTrtUDR",
            Self::Env => b"uCS",
            Self::Xargs => b"InPLdsaE",
            Self::Timeout => b"ks",
            Self::Plain => b"nau",
        };
        options.contains(&option)
    }
}

/// What the end of a word means for the brackets around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Plain,
    /// `case`, `for`, `if`, …: something opens.
    Opens(super::frames::FrameKind),
    /// `esac`, `done`, `fi`: something closes.
    Closes(super::frames::FrameKind),
}

impl Command {
    pub(super) const NEW: Self = Self {
        word: NONE,
        at_command: true,
        continues: false,
        redirect: false,
        assigns: false,
        reevaluates: false,
        dashes: false,
        skip: false,
        watch: Watch::Nothing,
    };

    /// Between two commands: after `;`, `&&`, a line feed.
    pub(super) fn next_command(&mut self, continues: bool) {
        *self = Self { continues, ..Self::NEW };
    }

    pub(super) fn begin_word(&mut self, at: usize) {
        self.word = at as u32;
        self.continues = false;
        self.reevaluates =
            !self.redirect && matches!(self.watch, Watch::Everything | Watch::NextWord);
    }

    /// Whether `NAME=` at the start of this word is an assignment.
    pub(super) fn may_assign(&self) -> bool {
        self.at_command || self.watch == Watch::Declares
    }

    /// Takes the word that has just ended.
    pub(super) fn end_word(&mut self, word: &[u8]) -> Word {
        self.word = NONE;
        self.reevaluates = false;
        let assigns = std::mem::take(&mut self.assigns);
        if std::mem::take(&mut self.redirect) || (assigns && self.may_assign()) {
            return Word::Plain;
        }
        if self.at_command {
            return self.command_word(word);
        }
        if word == b"--" {
            self.dashes = true;
        }
        match self.watch {
            Watch::Nothing if is_shell(word) => self.watch = Watch::Shell,
            Watch::Nothing | Watch::Declares | Watch::Everything => {}
            _ => self.watched_word(word),
        }
        Word::Plain
    }

    fn command_word(&mut self, word: &[u8]) -> Word {
        use super::frames::FrameKind;
        match word {
            b"if" => return Word::Opens(FrameKind::If),
            b"case" => return Word::Opens(FrameKind::Case),
            b"for" | b"while" | b"until" | b"select" => return Word::Opens(FrameKind::Loop),
            b"fi" => return Word::Closes(FrameKind::If),
            b"done" => return Word::Closes(FrameKind::Loop),
            b"esac" => return Word::Closes(FrameKind::Case),
            b"then" | b"else" | b"elif" | b"do" | b"!" | b"{" | b"time" => return Word::Plain,
            _ => {}
        }
        self.at_command = false;
        self.watch = watch_of(word);
        Word::Plain
    }

    fn watched_word(&mut self, word: &[u8]) {
        if std::mem::take(&mut self.skip) {
            return;
        }
        let option = word.len() > 1 && (word[0] == b'-' || word[0] == b'+');
        let single = option && word[0] == b'-' && word[1] != b'-';
        match self.watch {
            Watch::Shell => self.shell_word(word, option, single),
            Watch::Su if single && word.contains(&b'c') || word == b"--command" => {
                self.watch = Watch::NextWord;
            }
            Watch::NextWord if option => {}
            Watch::NextWord => self.watch = Watch::Nothing,
            Watch::Host if single => self.skip = word.len() == 2 && SSH_OPTIONS.contains(&word[1]),
            Watch::Host | Watch::WatchOptions if !option => self.watch = Watch::Everything,
            Watch::WatchOptions => self.skip = word == b"-n",
            Watch::Prefix(prefix) => self.prefix_word(prefix, word, option, single),
            _ => {}
        }
    }

    fn shell_word(&mut self, word: &[u8], option: bool, single: bool) {
        if single && word.contains(&b'c') {
            self.watch = Watch::NextWord;
        } else if option {
            self.skip = single && matches!(word.last(), Some(b'o' | b'O'));
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
            self.watch = watch_of(word);
        }
    }
}

fn watch_of(word: &[u8]) -> Watch {
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    match name {
        b"eval" => Watch::Everything,
        b"trap" => Watch::NextWord,
        b"ssh" => Watch::Host,
        b"su" | b"runuser" => Watch::Su,
        b"watch" => Watch::WatchOptions,
        b"export" | b"declare" | b"local" | b"readonly" | b"typeset" => Watch::Declares,
        b"sudo" | b"doas" => Watch::Prefix(Prefix::Sudo),
        b"env" => Watch::Prefix(Prefix::Env),
        b"xargs" => Watch::Prefix(Prefix::Xargs),
        b"timeout" => Watch::Prefix(Prefix::Timeout),
        b"nohup" | b"exec" | b"command" | b"builtin" | b"nice" | b"setsid" | b"stdbuf"
        | b"ionice" => Watch::Prefix(Prefix::Plain),
        _ if is_shell(word) => Watch::Shell,
        _ => Watch::Nothing,
    }
}

/// `sh`, `/bin/bash` and their like, wherever they stand: `docker exec app sh -c "…"`.
fn is_shell(word: &[u8]) -> bool {
    if !word.ends_with(b"sh") {
        return false;
    }
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    matches!(name, b"sh" | b"bash" | b"dash" | b"zsh" | b"ksh" | b"ash" | b"fish")
}

/// Options of ssh that take a word.
const SSH_OPTIONS: &[u8] = b"BbcDEeFIiJLlmOopQRSWw";
