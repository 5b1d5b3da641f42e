//! Steps, arguments and shell text in words. What is here is never read back.

mod block_text;
mod constructs;
mod functions;
mod key;
mod targets;
mod wrapped;

pub(super) use constructs::is_undecided;
pub(super) use key::reference;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::ink::{Ink, Style};
use super::shell_places::Around;
use super::{PlanView, Visible, quote};
use crate::context::Context;
use crate::crossing::member_key;
use crate::decorator::{BLOCK_TEXT, SETTINGS};
use crate::plan::{Arg, Binding, Handle, Key, Part, Piece, Plan, PlanValue, RedirectTarget, Step};
use crate::registry::Registry;
use crate::value::Value;

#[derive(Debug)]
pub(super) struct Words<'a> {
    plan: &'a Plan,
    /// For a reader of this one plan: heads as they were written. Texts to be compared have what
    /// steered a construct instead, where something did.
    for_reader: bool,
    /// Whether public values are in clear.
    is_clear: bool,
    /// What a run shows of values that are not public.
    visible: Option<&'a Visible<'a>>,
    /// Whether a step may have more than one line.
    has_lines: bool,
    /// Whether every line of a text and every name of a target is there, however many there are.
    is_whole: bool,
    notes: Notes,
    /// Arguments that have their default by this are not shown.
    defaults: Option<&'a Registry>,
}

/// Which values have a number.
#[derive(Debug)]
enum Notes {
    None,
    /// What a quick plan left open: its place in the plan's own row.
    Deferred,
    /// What a quick plan would have left open, numbered as the text comes to it.
    Resolved {
        wanted: BTreeSet<Key>,
        numbers: BTreeMap<Key, usize>,
        row: Vec<Key>,
    },
}

impl<'a> Words<'a> {
    /// Without numbers, with a placeholder for every value, and the same for a plan and its file.
    pub(super) fn exact(plan: &'a Plan) -> Self {
        Self {
            plan,
            for_reader: false,
            is_clear: false,
            visible: None,
            has_lines: false,
            is_whole: false,
            notes: Notes::None,
            defaults: None,
        }
    }

    /// The same with public values in clear.
    pub(super) fn compared(plan: &'a Plan) -> Self {
        Self { is_clear: true, ..Self::exact(plan) }
    }

    /// Without the arguments that `registry` knows as the default.
    pub(super) fn without_defaults(self, registry: Option<&'a Registry>) -> Self {
        Self { defaults: registry, ..self }
    }

    /// With the numbers of notes, public values in clear, and heads as they were written.
    pub(super) fn annotated(view: &PlanView<'a>) -> Self {
        let plan = view.plan;
        let comes_from_expensive =
            |value: &PlanValue| value.roots.iter().any(|root| view.expensive.contains(root));
        let wanted = plan
            .values
            .iter()
            .filter(|(key, value)| view.expensive.contains(*key) || comes_from_expensive(value));
        let wanted: BTreeSet<Key> = wanted.map(|(key, _)| key.clone()).collect();
        let notes = match wanted.is_empty() {
            true => Notes::Deferred,
            false => Notes::Resolved { wanted, numbers: BTreeMap::new(), row: Vec::new() },
        };
        let defaults = view.registry.filter(|_| !view.with_defaults);
        let compared = Self { is_whole: view.is_whole, ..Self::compared(plan) };
        Self { for_reader: true, has_lines: true, notes, defaults, ..compared }
    }

    /// The arguments of a step that are shown.
    fn shown<'s>(&self, step: &'s Step) -> Vec<&'s (Cow<'static, str>, Arg)> {
        let is_default = |name: &str, arg: &Arg| {
            self.defaults.is_some_and(|known| known.is_default(&step.node, name, arg))
        };
        let is_shown =
            |name: &str, arg: &Arg| !is_default(name, arg) && !self.is_said_after(step, name);
        step.args.iter().filter(|(name, arg)| is_shown(name, arg)).collect()
    }

    /// The values that got a number, in its order.
    pub(super) fn resolved(&self) -> &[Key] {
        match &self.notes {
            Notes::Resolved { row, .. } => row,
            Notes::None | Notes::Deferred => &[],
        }
    }

    /// A step without its block.
    pub(super) fn step(&mut self, step: &Step, ink: &mut Ink) {
        if let Some(binding) = &step.binding {
            ink.styled(Style::Bold, &format!("let.{}", binding.name));
            ink.write(&format!(" ({}) = ", handle_text(&binding.id)));
        }
        match step.command() {
            Some(command) if step.binding.is_none() && self.shown(step).len() == 1 => {
                self.shell(command, ink);
            }
            _ if step.is_construct() => self.construct(step, ink),
            _ if step.node.is_function() || step.is_expansion() => self.function(step, ink),
            _ => {
                self.call(step, ink);
                self.targets(step, ink);
            }
        }
        for redirect in &step.redirects {
            ink.write(&format!(" {} ", redirect.operator));
            match &redirect.target {
                RedirectTarget::Step(step) => self.step(step, ink),
                RedirectTarget::Shell(pieces) => self.shell(pieces, ink),
            }
        }
    }

    /// `@retry(attempts=3, delay=2s)`.
    fn call(&mut self, step: &Step, ink: &mut Ink) {
        ink.styled(Style::Bold, step.node.name());
        let mut args = self.shown(step);
        args.retain(|(name, _)| name != BLOCK_TEXT && name != SETTINGS);
        // The command of `@shell`, and the program of a text, are what everyone writes first.
        let first = match step.arg(BLOCK_TEXT) {
            Some(_) => Some("program"),
            None => step.command().map(|_| "command"),
        };
        let command = first.and_then(|first| args.iter().position(|(name, _)| name == first));
        if let Some(index) = command {
            args[..=index].rotate_right(1);
        }
        let is_long = self.has_lines
            && args.len() > 1
            && self.is_long(args.iter().map(|(name, arg)| (&**name, arg)));
        if !args.is_empty() {
            ink.write("(");
            for (index, (name, arg)) in args.into_iter().enumerate() {
                ink.write(match (index, is_long) {
                    (0, false) => "",
                    (0, true) => "\n  ",
                    (_, false) => ", ",
                    (_, true) => ",\n  ",
                });
                if !(index == 0 && command.is_some()) {
                    ink.write(&format!("{name}="));
                }
                if is_long { self.long_arg(arg, ink) } else { self.arg(arg, ink) }
            }
            ink.write(if is_long { "\n)" } else { ")" });
        }
        if let Some(Arg::Const(Value::String(text))) = step.arg(BLOCK_TEXT) {
            self.block_text(text, ink);
        }
        ink.write(
            &step
                .binding
                .as_deref()
                .map_or_else(String::new, |Binding { access, .. }| access_text(access)),
        );
    }

    /// An argument as the language writes it.
    pub(super) fn arg(&mut self, arg: &Arg, ink: &mut Ink) {
        match arg {
            Arg::Const(value) => ink.write(&value.to_string()),
            Arg::Value(key) => {
                self.value(key, &|value| value.to_string(), ink);
            }
            Arg::Deferred(index) => self.deferred(*index, ink),
            Arg::Handle(handle) => self.captured(handle, &|value| value.to_string(), ink),
            Arg::Text(pieces) | Arg::Shell(pieces) => {
                ink.write("\"");
                for piece in pieces {
                    self.string_piece(piece, ink);
                }
                ink.write("\"");
            }
            Arg::Array(items) => {
                ink.write("[");
                for (index, item) in items.iter().enumerate() {
                    ink.write(if index == 0 { "" } else { ", " });
                    self.arg(item, ink);
                }
                ink.write("]");
            }
            Arg::Map(fields) => {
                ink.write("{");
                for (index, (name, item)) in fields.iter().enumerate() {
                    ink.write(if index == 0 { "" } else { ", " });
                    ink.write(&format!("{}: ", string(name)));
                    self.arg(item, ink);
                }
                ink.write("}");
            }
        }
    }

    /// A part of a string between quotes.
    fn string_piece(&mut self, piece: &Piece, ink: &mut Ink) {
        let inner = |value: &Value| match value {
            Value::String(text) => inside(text),
            other => other.to_string(),
        };
        match piece {
            Piece::Text(text) => ink.write(&inside(text)),
            Piece::Raw(arg) => self.raw(arg, ink),
            Piece::Data { arg: Arg::Const(value), .. } => ink.write(&inner(value)),
            Piece::Data { arg: Arg::Value(key), .. } => self.value(key, &inner, ink),
            Piece::Data { arg: Arg::Handle(handle), .. } => self.captured(handle, &inner, ink),
            Piece::Data { arg: Arg::Text(pieces) | Arg::Shell(pieces), .. } => {
                for piece in pieces {
                    self.string_piece(piece, ink);
                }
            }
            Piece::Data { arg, .. } => self.arg(arg, ink),
        }
    }

    /// Text of the shell, with constants in clear.
    pub(super) fn shell(&mut self, pieces: &[Piece], ink: &mut Ink) {
        let mut around = Around::default();
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => {
                    let data = matches!(pieces.get(index + 1), Some(Piece::Data { .. }));
                    ink.write(&if data { quote::before_data(text) } else { (&**text).into() });
                    around.read(text);
                }
                Piece::Data { arg, place: _ } => {
                    let next = pieces.get(index + 1).and_then(first);
                    self.data(arg, around.place(next), ink);
                    around.pass();
                }
                Piece::Raw(arg) => {
                    self.raw(arg, ink);
                    around.pass();
                }
            }
        }
    }

    /// Data at its place in text of the shell.
    fn data(&mut self, arg: &Arg, place: Context, ink: &mut Ink) {
        match arg {
            Arg::Const(value) => ink.write(&quote::constant(value, place)),
            Arg::Value(key) => self.value(key, &|value| quote::constant(value, place), ink),
            Arg::Handle(handle) => {
                self.captured(handle, &|value| quote::constant(value, place), ink);
            }
            Arg::Text(pieces) | Arg::Shell(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => ink.write(&quote::text(text, place)),
                        Piece::Data { arg, .. } => self.data(arg, place, ink),
                        Piece::Raw(arg) => self.raw(arg, ink),
                    }
                }
            }
            Arg::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    ink.write(if index == 0 { "" } else { " " });
                    self.data(item, place, ink);
                }
            }
            other => self.arg(other, ink),
        }
    }

    /// Text that was pasted: the reader should see that nothing quotes it.
    fn raw(&mut self, arg: &Arg, ink: &mut Ink) {
        ink.styled(Style::Bold, "@raw(");
        self.arg(arg, ink);
        ink.styled(Style::Bold, ")");
    }

    fn value(&mut self, key: &Key, clear: &dyn Fn(&Value) -> String, ink: &mut Ink) {
        // Of a member of a fleet it is the value there.
        let own = self.visible.and_then(|visible| visible.member);
        let own = own.map(|member| member_key(member, key));
        let key = own.as_ref().filter(|own| self.plan.values.contains_key(*own)).unwrap_or(key);
        let number = self.notes.number(key);
        ink.write(&number.map_or_else(String::new, superscript));
        match self.plan.values.get(key) {
            Some(PlanValue { public: Some(value), .. }) if self.is_clear => {
                ink.styled(Style::Value, &clear(value));
            }
            Some(_)
                if let Some(value) = self.visible.and_then(|visible| visible.values.get(key)) =>
            {
                ink.styled(Style::Value, &clear(value));
            }
            Some(value) => ink.styled(Style::Value, &value.placeholder.to_string()),
            None => ink.styled(Style::Value, &reference(key)),
        }
    }

    /// What an earlier step gave, or its handle.
    fn captured(&self, handle: &Handle, clear: &dyn Fn(&Value) -> String, ink: &mut Ink) {
        let text = handle_use_text(handle);
        let value = self.visible.and_then(|visible| visible.captured.get(&text));
        ink.styled(Style::Value, &value.map_or(text, clear));
    }

    fn deferred(&self, index: u32, ink: &mut Ink) {
        if matches!(self.notes, Notes::Deferred) {
            ink.write(&superscript(index as usize + 1));
        }
        let key = self.plan.deferred.get(index as usize).map_or("", |deferred| &deferred.key);
        ink.styled(Style::Open, &reference(key));
    }
}

impl Notes {
    fn number(&mut self, key: &Key) -> Option<usize> {
        let Self::Resolved { wanted, numbers, row } = self else { return None };
        if !wanted.contains(key) {
            return None;
        }
        Some(*numbers.entry(key.clone()).or_insert_with(|| {
            row.push(key.clone());
            row.len()
        }))
    }
}

/// What a piece begins with; data and pasted text count as a part of a word.
fn first(piece: &Piece) -> Option<char> {
    match piece {
        Piece::Text(text) => text.chars().next(),
        Piece::Data { .. } | Piece::Raw(_) => Some('_'),
    }
}

/// `🔒 opal:h:ID`.
pub(super) fn handle_text(id: &str) -> String {
    format!("🔒 opal:h:{id}")
}

/// `🔒 opal:h:ID(let.probe.stderr)`.
pub(super) fn handle_use_text(handle: &Handle) -> String {
    format!("{}(let.{}{})", handle_text(&handle.id), handle.name, access_text(&handle.access))
}

/// `.items[0].*`.
pub(super) fn access_text(access: &[Part]) -> String {
    let parts = access.iter().map(|part| match part {
        Part::Field(name) => format!(".{name}"),
        Part::Index(index) => format!("[{index}]"),
        Part::All => ".*".to_owned(),
    });
    parts.collect()
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// A string as the language writes it.
fn string(text: &str) -> String {
    Value::String(text.to_owned().into()).to_string()
}

/// The same without the quotes around it.
fn inside(text: &str) -> String {
    let mut written = string(text);
    written.pop();
    written.remove(0);
    written
}
