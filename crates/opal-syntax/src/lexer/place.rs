//! References in shell text, and the places they stand in.

use opal_core::{Code, Span};

use super::command::{Command, NONE};
use super::frames::{Frame, FrameKind};
use super::shell::{Scan, Stop};
use super::{At, Lexer, is_name_byte};
use crate::context::{Context, Place};
use crate::kind::SyntaxKind::AtWord;

impl Lexer<'_> {
    /// An `@` where commands stand.
    pub(super) fn command_at(&mut self) -> Option<Scan> {
        let command = self.top().command;
        let operand = command.at_command && command.word == NONE && !command.redirect;
        if operand
            && let At::Path { kind: Some(kind), .. } = self.at(self.pos, true)
            && kind.action
        {
            if self.frames.len() == 1 {
                self.flush_text();
                return Some(Scan::Stop(Stop::Decorator));
            }
            self.nested_decorator();
        }
        self.begin_word();
        self.shell_at();
        None
    }

    fn nested_decorator(&mut self) {
        let open = self.top().open;
        let At::Path { end, .. } = self.at(self.pos, true) else { return };
        let span = Span::new(self.pos as u32, end as u32);
        let path = self.slice(span).to_owned();
        let message = format!("`{path}` cannot run inside the shell's brackets");
        let error = self.error(Code::MisplacedDecorator, span, message);
        *error = error.clone().also(Span::new(open, open + 1), "the shell runs what is in here");
        error.help.push(format!("give `{path}` a line or an operand of its own"));
    }

    /// An `@` inside text: a reference, or a character like any other.
    pub(super) fn shell_at(&mut self) {
        let at = self.pos;
        match self.at(at, true) {
            At::Literal => self.pos += 1,
            At::Word { end } => {
                self.flush_text();
                self.pos = end;
                self.emit(AtWord);
            }
            At::Path { end, .. } => {
                let context = self.context(at);
                self.flush_text();
                match self.text_reference(end) {
                    Ok(()) => {
                        let context = self.context_behind(context);
                        self.contexts.push(context);
                    }
                    Err(open) => {
                        self.contexts.push(context);
                        self.give_up(FrameKind::Arguments, open);
                    }
                }
            }
        }
    }

    /// What the text behind a reference says about its place.
    fn context_behind(&mut self, context: Context) -> Context {
        let whole = context.is_word_start()
            && context.place() == Place::Word
            && matches!(
                self.byte(0),
                0 | b' '
                    | b'\t'
                    | b'\r'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b')'
                    | b'<'
                    | b'>'
                    | b'}'
                    | b'`'
            );
        context.whole_word(whole)
    }

    /// Whether the position is in `[[ … ]]`, in or outside of quotes.
    fn in_test(&self) -> bool {
        match self.frames.as_slice() {
            [.., outer, top] => {
                top.kind == FrameKind::Test
                    || (top.kind == FrameKind::Quote && outer.kind == FrameKind::Test)
            }
            _ => false,
        }
    }

    /// The place of a reference at `at`.
    fn context(&self, at: usize) -> Context {
        let Some(top) = self.frames.last() else { return Context::new(Place::Word) };
        let index = top.commands as usize;
        let commands = &self.frames[index];
        let (command, word) = (&commands.command, commands.command.word);
        let inside = self.frames.len() - 1 - index;
        let place = self.place(top, command, at);
        let bare = inside == 0 && word == at as u32;
        let quoted = top.kind == FrameKind::Quote
            && inside == 1
            && top.open == word
            && at as u32 == word + 1;
        let own = !top.heredoc;
        let is_plain =
            matches!(place, Place::Word | Place::Quoted) && !command.assigns && !command.redirect;
        let inline = own && word != NONE && command.evaluates_inside(&self.src[word as usize..at]);
        Context::new(place)
            .substitution(top.substitution)
            .reevaluated(top.evaluated || inline || (own && command.reevaluates))
            .split(!command.assigns && self.is_split(index, at))
            .starts_word((bare || quoted) && !command.redirect)
            .after_dashes(own && command.dashes)
            .command(own && command.at_command && !command.patterns && is_plain)
    }

    fn place(&self, top: &Frame, command: &Command, at: usize) -> Place {
        let word = command.word;
        match top.kind {
            _ if top.arithmetic || (self.has_old_sum && self.in_old_sum(at)) => Place::Arithmetic,
            FrameKind::Expansion => self.expansion_place(top, at),
            FrameKind::Test | FrameKind::Quote if self.in_test() => {
                self.test_place(top.kind == FrameKind::Quote, at)
            }
            FrameKind::Heredoc => Place::Heredoc,
            FrameKind::Brace => Place::Word,
            FrameKind::Quote if top.heredoc => Place::Quoted,
            _ if word == NONE => Place::Word,
            _ if command.may_assign() && self.in_subscript(word, at) => Place::Subscript,
            kind => {
                let option = self.src[word as usize] == b'-';
                match command.place(option) {
                    place @ (Place::Arithmetic | Place::Subscript) => place,
                    _ if kind == FrameKind::Quote => Place::Quoted,
                    place => place,
                }
            }
        }
    }

    /// `$[ … ]`, which bash still computes.
    fn in_old_sum(&self, at: usize) -> bool {
        // Nobody writes longer ones, and a long line must not be read again and again.
        const LONGEST: usize = 128;
        let before = &self.src[at.saturating_sub(LONGEST)..at];
        let open = memchr::memmem::rfind(before, b"$[");
        open.is_some_and(|open| !before[open..].iter().any(|byte| matches!(byte, b']' | b'\n')))
    }

    /// `${NAME:@…}` is computed, `${NAME:-@…}` is not.
    fn expansion_place(&self, top: &Frame, at: usize) -> Place {
        let inner = top.open + 1;
        if self.in_subscript(inner, at) {
            return Place::Subscript;
        }
        let before = &self.src[(inner as usize).min(at)..at];
        let name = before.iter().take_while(|byte| is_name_byte(**byte)).count();
        match &before[name..] {
            [b':', b'-' | b'=' | b'?' | b'+', ..] => Place::Expansion,
            [b':', ..] => Place::Arithmetic,
            _ => Place::Expansion,
        }
    }

    /// What stands in a `${NAME/…/@…}` that is in no quotes, in the frames after `commands`: whatever
    /// quotes are within, the shell splits what comes of it into words, and looks for files of such
    /// names.
    fn is_split(&self, commands: usize, at: usize) -> bool {
        let inner = self.frames[commands + 1..].iter();
        let mut bare =
            inner.take_while(|it| matches!(it.kind, FrameKind::Expansion | FrameKind::Brace));
        bare.any(|it| it.kind == FrameKind::Expansion && self.in_replacement(it, at))
    }

    fn in_replacement(&self, expansion: &Frame, at: usize) -> bool {
        // Nobody writes longer ones, and a long line must not be read again and again.
        const LONGEST: usize = 4096;
        let before = &self.src[(expansion.open as usize + 1).min(at)..at];
        let Some(pattern) = memchr::memchr(b'/', &before[..before.len().min(LONGEST)]) else {
            return false;
        };
        let name = &before[..pattern];
        let is_name = |byte: &u8| is_name_byte(*byte) || b"[]@*$!".contains(byte);
        let pattern = before[pattern + 1..].strip_prefix(b"/").unwrap_or(&before[pattern + 1..]);
        let mut slashes = memchr::memchr_iter(b'/', pattern).take(LONGEST);
        name.iter().all(is_name) && slashes.any(|at| !pattern[..at].ends_with(b"\\"))
    }

    /// In `[[ … ]]` bash computes the subscript behind `-v`; for what it compares, see `test`.
    fn test_place(&self, quoted: bool, at: usize) -> Place {
        let before = self.src[..at - usize::from(quoted)].trim_ascii_end();
        if before.ends_with(b" -v") {
            Place::Subscript
        } else if quoted {
            Place::Quoted
        } else {
            Place::Word
        }
    }

    /// Whether `NAME[` stands between `from` and `at` without its `]`.
    fn in_subscript(&self, from: u32, at: usize) -> bool {
        // No name of an array is longer, and a word of a megabyte must not be read again and again.
        const LONGEST: usize = 256;
        if from == NONE || from as usize >= at || at - from as usize > LONGEST {
            return false;
        }
        let before = &self.src[from as usize..at];
        let name = before.iter().take_while(|byte| is_name_byte(**byte)).count();
        name > 0 && before.get(name) == Some(&b'[') && !before[name..].contains(&b']')
    }
}
