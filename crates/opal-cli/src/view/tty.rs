//! The terminal in front of a person: keys one at a time, and a few lines that are drawn again.
//!
//! | what | where |
//! |---|---|
//! | bytes of a terminal as keys | [`keys`] |
//! | one line of text that is typed | [`line`] |
//! | a list that is filtered by typing | [`menu`] |
//!
//! While it is open, the terminal passes on every key, Ctrl+C included; it is as before once this is
//! dropped, however the command ends.

pub(crate) mod keys;
pub(crate) mod line;
pub(crate) mod menu;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use opal_session::stop::Order;
use rustix::event::PollFlags;
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios};

use crate::failure::{Exit, Failure, Stopped};
use crate::signals::Watched;
use crate::view::run::columns_of;
use keys::{Key, Reader};

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

pub(crate) struct Tty {
    keys: OwnedFd,
    screen: File,
    before: Termios,
    watched: Watched,
    reader: Reader,
    typed: VecDeque<Key>,
    /// How many lines are drawn, with the cursor on the last.
    drawn: usize,
    pub(crate) colour: bool,
    /// Whether answers stay on the screen; not where a shell draws its line there.
    pub(crate) keeps_answers: bool,
}

impl Tty {
    /// Standard input and error, or where they lead elsewhere, the terminal of the process. What was typed
    /// before counts.
    pub(crate) fn open(colour: bool) -> Result<Self, Failure> {
        Self::opened(colour, OptionalActions::Drain)
    }

    /// The same, without what was typed before: it cannot be the answer to a question that nobody had seen.
    pub(crate) fn open_afresh(colour: bool) -> Result<Self, Failure> {
        Self::opened(colour, OptionalActions::Flush)
    }

    fn opened(colour: bool, when: OptionalActions) -> Result<Self, Failure> {
        let none = |error: io::Error| {
            let message = format!("no terminal to ask on: {error}");
            Failure::new(Exit::Usage, message, "give all arguments, or call opal in a terminal")
        };
        let own = || File::options().read(true).write(true).open("/dev/tty");
        let keys: OwnedFd = match io::stdin().is_terminal() {
            true => io::stdin().as_fd().try_clone_to_owned().map_err(none)?,
            false => own().map_err(none)?.into(),
        };
        let screen: File = match io::stderr().is_terminal() {
            true => io::stderr().as_fd().try_clone_to_owned().map_err(none)?.into(),
            false => own().map_err(none)?,
        };
        let watched = Watched::early()?;
        let before = rustix::termios::tcgetattr(&keys).map_err(|error| none(error.into()))?;
        let mut raw = before.clone();
        raw.make_raw();
        // Lines end as always: opal writes them itself.
        raw.output_modes = before.output_modes;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        rustix::termios::tcsetattr(&keys, when, &raw).map_err(|error| none(error.into()))?;
        let (reader, typed) = (Reader::default(), VecDeque::new());
        Ok(Self {
            keys,
            screen,
            before,
            watched,
            reader,
            typed,
            drawn: 0,
            colour,
            keeps_answers: true,
        })
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(&self.screen).ok();
        let known = |size: Option<u16>, usual| {
            size.map(usize::from).filter(|size| *size > 0).unwrap_or(usual)
        };
        (known(size.map(|it| it.ws_col), 80), known(size.map(|it| it.ws_row), 24))
    }

    /// The next key. Ctrl+C, Ctrl+D and a signal end it.
    pub(crate) fn key(&mut self) -> Result<Key, Stopped> {
        loop {
            if let Some(key) = self.typed.pop_front() {
                return match key {
                    Key::Interrupt => Err(Stopped::Ended(Exit::Step(130))),
                    key => Ok(key),
                };
            }
            let stop = self.watched.stop();
            // After the beginning of a sequence, a moment without more means the key Escape.
            let pause = self.reader.is_open().then_some(keys::PAUSE);
            let ready = stop.wait(&[(self.keys.as_fd(), PollFlags::IN)], pause, Order::GoOn);
            if let Some(stopped) = self.watched.cut_off("a question was not answered") {
                return Err(stopped);
            }
            if ready.iter().all(PollFlags::is_empty) {
                self.typed.extend(self.reader.pause());
                continue;
            }
            let mut bytes = [0; 256];
            match rustix::io::read(&self.keys, &mut bytes) {
                Ok(0) => return Err(Stopped::Ended(Exit::Step(129))),
                Ok(count) => self.typed.extend(self.reader.feed(&bytes[..count])),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(Stopped::Ended(Exit::Step(129))),
            }
        }
    }

    /// Draws these lines in place of those that were drawn, cut to the screen.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        let (columns, rows) = self.size();
        let mut text = self.erasing();
        let shown = &lines[..lines.len().min(rows.saturating_sub(1).max(1))];
        for (index, line) in shown.iter().enumerate() {
            if index > 0 {
                text.push_str("\r\n");
            }
            text.push_str(&fitted(line, columns.saturating_sub(1)));
        }
        self.drawn = shown.len();
        self.write(&text);
    }

    /// Removes what was drawn, and leaves these lines in its place.
    pub(crate) fn leave(&mut self, lines: &[String]) {
        let mut text = self.erasing() + SHOW_CURSOR;
        self.drawn = 0;
        for line in lines {
            let _ = write!(text, "{line}\r\n");
        }
        self.write(&text);
    }

    /// Leaves an answer, where answers stay.
    pub(crate) fn answered(&mut self, line: String) {
        if self.keeps_answers {
            self.leave(&[line]);
        }
    }

    /// For what has a mark of its own: until something is left.
    pub(crate) fn hide_cursor(&mut self) {
        self.write(HIDE_CURSOR);
    }

    fn erasing(&self) -> String {
        let up = self.drawn.saturating_sub(1);
        let up = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
        format!("\r{up}\x1b[J")
    }

    fn write(&mut self, text: &str) {
        // A screen that is gone shows nothing; its keys end too.
        let _ = self.screen.write_all(text.as_bytes());
    }

    /// A text with a style, where colours are wanted.
    pub(crate) fn dye(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// As much of a line as fits into these columns; styles take none.
fn fitted(line: &str, columns: usize) -> String {
    let (mut out, mut used, mut is_style) = (String::new(), 0, false);
    for c in line.chars() {
        if c == '\x1b' || is_style {
            is_style = c != 'm';
            out.push(c);
            continue;
        }
        used += columns_of(c);
        if used <= columns {
            out.push(c);
        }
    }
    out
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.leave(&[]);
        let _ = rustix::termios::tcsetattr(&self.keys, OptionalActions::Drain, &self.before);
    }
}

impl std::fmt::Debug for Tty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tty").field("drawn", &self.drawn).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_line_is_cut_by_what_is_seen_of_it_and_keeps_its_styles() {
        assert_eq!(fitted("\x1b[1mabc\x1b[0mdef", 4), "\x1b[1mabc\x1b[0md");
        assert_eq!(fitted("漢字", 3), "漢");
        assert_eq!(fitted("abc", 3), "abc");
    }
}
