//! References in shell text, and the places they are in.

use opal_core::script::{Case, interpreted};
use opal_core::{Code, Span};

use super::command::{NONE, Target};
use super::frames::{Frame, FrameKind, Operator};
use super::shell::{Scan, Stop};
use super::{At, Lexer, index, is_name_byte};
use crate::context::{Context, Place};
use crate::kind::SyntaxKind::AtWord;

impl Lexer<'_> {
    /// An `@` where commands are.
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
        *error = error
            .clone()
            .also(Span::new(open, open + 1), "the shell runs the text in these brackets");
        error.help.push(format!("put `{path}` on its own line, or make it an operand of its own"));
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
                        let context = self.context_after(context, at);
                        self.contexts.push(context);
                    }
                    Err(open) => {
                        self.contexts.push(context);
                        self.give_up(FrameKind::Arguments, open);
                    }
                }
                self.note_spot(at);
                self.pass_reference();
            }
        }
    }

    /// What the text after a reference says about its place.
    fn context_after(&mut self, context: Context, at: usize) -> Context {
        let top = self.top();
        let whole = top.kind.holds_commands()
            && top.command.word == at as u32
            && !top.command.redirect
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

    /// A reference may be empty: what follows it may begin the word as well.
    fn pass_reference(&mut self) {
        let seen = self.pos as u32;
        let Some(top) = self.frames.last_mut() else { return };
        if top.kind.holds_commands() {
            top.command.seen = seen;
        } else {
            top.seen = seen;
        }
    }

    /// The place of a reference at `at`, as far as the text before it tells; see `judging`.
    fn context(&mut self, at: usize) -> Context {
        let may_begin = self.may_begin_word(at);
        let Some(top) = self.frames.last() else { return Context::new(Place::Word) };
        let index = top.commands as usize;
        let command = &self.frames[index].command;
        let inside = self.frames.len() - 1 - index;
        let (place, case) = self.place(top, index, at);
        let own = !top.heredoc;
        let is_plain =
            matches!(place, Place::Word | Place::Quoted) && !command.assigns && !command.redirect;
        let quoted = top.kind == FrameKind::Quote && inside == 1 && top.open == command.word;
        let is_bare = inside == 0 || quoted;
        let mut context = Context::new(place)
            .starts_word(own && may_begin && !command.redirect && !command.assigns)
            .after_dashes(own && command.dashes)
            .command(own && command.at_command && !command.patterns && is_plain && is_bare);
        if own && command.redirect {
            context = match command.target {
                Target::Descriptor => context.case(Case::DUPLICATED),
                Target::File => context.device(&self.target_before(command.word, at)),
                Target::Here => context,
            };
        }
        let case = case.or((!command.assigns && self.is_split(index)).then_some(Case::SPLIT));
        case.map_or(context, |case| context.case(case))
    }

    /// The text of a redirection's word before `at`; what may be empty is left out of it.
    fn target_before(&self, word: u32, at: usize) -> Vec<u8> {
        // No network device has a longer beginning.
        const LONGEST: usize = 64;
        let raw = if word == NONE { &[] } else { &self.src[word as usize..at] };
        if raw.len() > LONGEST {
            return raw.to_vec();
        }
        let mut text = Vec::new();
        let mut pos = 0;
        while let Some(&byte) = raw.get(pos) {
            pos += 1;
            match byte {
                b'"' | b'\'' | b'\\' => {}
                b'$' if raw.get(pos) == Some(&b'{') => {
                    let end = memchr::memchr(b'}', &raw[pos..]);
                    pos += end.map_or(1, |end| end + 1);
                }
                b'$' => pos += raw[pos..].iter().take_while(|it| is_name_byte(**it)).count(),
                _ => text.push(byte),
            }
        }
        text
    }

    fn place(&self, top: &Frame, index: usize, at: usize) -> (Place, Option<&'static Case>) {
        let frame = &self.frames[index];
        let (command, word) = (&frame.command, frame.command.word);
        let place = match top.kind {
            _ if top.arithmetic => return (Place::Arithmetic, Some(Case::SUM)),
            FrameKind::Expansion => return self.expansion_place(top),
            FrameKind::Test | FrameKind::Quote if self.in_test() => match top.kind {
                FrameKind::Quote => Place::Quoted,
                _ => Place::Word,
            },
            FrameKind::Heredoc => Place::Heredoc,
            FrameKind::Brace => Place::Word,
            FrameKind::Quote if top.heredoc => Place::Quoted,
            _ if word == NONE => Place::Word,
            _ if command.may_assign() && self.in_subscript(word, at) => {
                return (Place::Subscript, Some(Case::INDEX));
            }
            _ if frame.kind == FrameKind::List && self.in_key(word, at) => {
                return (Place::Subscript, Some(Case::KEY));
            }
            FrameKind::Quote => Place::Quoted,
            _ => command.place(),
        };
        (place, None)
    }

    /// `${NAME:@…}` is computed, `${NAME:-@…}` is not.
    fn expansion_place(&self, top: &Frame) -> (Place, Option<&'static Case>) {
        match top.operator {
            Operator::None => (Place::Subscript, Some(Case::PARAMETER)),
            Operator::Index => (Place::Subscript, Some(Case::INDEX)),
            Operator::Substring => (Place::Arithmetic, Some(Case::SUM)),
            Operator::Assign if self.assigns_interpreted(top) => {
                (Place::Expansion, Some(Case::INTERPRETED))
            }
            _ => (Place::Expansion, None),
        }
    }

    /// `${PATH:=@…}`.
    fn assigns_interpreted(&self, top: &Frame) -> bool {
        let name = &self.src[top.open as usize + 1..];
        let length = name.iter().take_while(|byte| is_name_byte(**byte)).count();
        std::str::from_utf8(&name[..length]).is_ok_and(|name| interpreted(name).is_some())
    }

    /// What is in a `${NAME/…/@…}` or `${NAME:=@…}` that is in no quotes, in the frames after
    /// `commands`: whatever quotes are within, the shell splits what comes of it into words, and
    /// looks for files of such names.
    fn is_split(&self, commands: usize) -> bool {
        let inner = self.frames[commands + 1..].iter();
        let mut bare =
            inner.take_while(|it| matches!(it.kind, FrameKind::Expansion | FrameKind::Brace));
        bare.any(|it| matches!(it.operator, Operator::Replacement | Operator::Assign))
    }

    /// Whether the position is in an index that the word being read has opened.
    pub(super) fn in_open_index(&self) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let command = &frame.command;
        if command.word == NONE || command.redirect || command.patterns {
            return false;
        }
        match frame.kind {
            FrameKind::List => self.in_key(command.word, self.pos),
            _ => command.at_command && self.in_subscript(command.word, self.pos),
        }
    }

    /// Whether `[` is between `from` and `at` without its `]`, in a list.
    pub(super) fn in_key(&self, from: u32, at: usize) -> bool {
        from != NONE && index::is_open(self.src.get(from as usize..at).unwrap_or_default())
    }

    /// Whether `NAME[` is between `from` and `at` without its `]`.
    pub(super) fn in_subscript(&self, from: u32, at: usize) -> bool {
        if from == NONE {
            return false;
        }
        let end = at.min(from as usize + 2 * index::LONGEST_INDEX);
        let before = self.src.get(from as usize..end).unwrap_or_default();
        let name = index::name_length(before);
        name > 0 && index::is_open(&before[name..])
    }
}
