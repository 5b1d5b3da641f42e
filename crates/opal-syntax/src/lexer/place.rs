//! References in shell text, and the places they stand in.

use opal_core::{Code, Span};

use super::command::NONE;
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
                self.text_reference(end);
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
                self.contexts.push(context.whole_word(whole));
            }
        }
    }

    /// The place of a reference at `at`.
    fn context(&self, at: usize) -> Context {
        let Some(top) = self.frames.last() else { return Context::new(Place::Word) };
        let index = top.commands as usize;
        let commands = &self.frames[index];
        let (command, word) = (&commands.command, commands.command.word);
        let place = match top.kind {
            _ if top.arithmetic => Place::Arithmetic,
            FrameKind::Expansion => self.expansion_place(top, at),
            FrameKind::Quote => Place::Quoted,
            FrameKind::Heredoc => Place::Heredoc,
            FrameKind::Brace => Place::Word,
            _ if command.redirect => Place::Redirection,
            _ if command.may_assign() && self.in_subscript(word, at) => Place::Subscript,
            _ if command.assigns => Place::Assignment,
            _ => Place::Word,
        };
        let inside = self.frames.len() - 1 - index;
        let bare = inside == 0 && word == at as u32;
        let quoted = top.kind == FrameKind::Quote
            && inside == 1
            && top.open == word
            && at as u32 == word + 1;
        let own = !top.heredoc;
        Context::new(place)
            .substitution(top.substitution)
            .reevaluated(own && command.reevaluates)
            .starts_word(bare || quoted)
            .after_dashes(own && command.dashes)
            .command(own && command.at_command && !command.assigns && !command.redirect)
    }

    fn expansion_place(&self, top: &Frame, at: usize) -> Place {
        if self.in_subscript(top.open + 1, at) { Place::Subscript } else { Place::Expansion }
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
