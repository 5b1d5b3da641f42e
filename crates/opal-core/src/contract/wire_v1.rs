//! Steps as canonical JSON, version 1. Frozen: a change of what is written here is a change of
//! every PlanHash, and so a new major version of the format.
//!
//! The types of [`crate::plan`] may change; this module then translates. What it leaves out is in
//! no hash: `note`, `span`, and the place of data in shell text, which a later lexer may see more
//! clearly. `docs/plan-format.md` is the specification.

pub(super) mod read;

use super::weight;
use std::borrow::Cow;

use super::json::Writer;
use super::json::read::MAX_NESTING;
use crate::crossing::member_key;
use crate::gather;
use crate::plan::{
    Arg, Binding, Deferred, Handle, Key, Part, Piece, Plan, PlanValue, Redirect, RedirectTarget,
    Step,
};
use crate::value::Value;

/// STEPS as it is in the file, unpacked.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) bytes: Vec<u8>,
    /// Steps on all levels.
    pub(super) count: usize,
    pub(super) weight: usize,
    /// Why this cannot be in a file.
    pub(super) problem: Option<String>,
}

pub(super) fn steps(plan: &Plan) -> Steps {
    let mut writer = StepWriter::new(plan, Form::Whole);
    for step in &plan.steps {
        let start = writer.json.out.len();
        writer.json.out.extend([0; 4]);
        writer.step(step);
        let length = writer.json.out.len() - start - 4;
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        writer.json.out[start..start + 4].copy_from_slice(&length);
        super::file::pad(&mut writer.json.out);
    }
    let StepWriter { json, count, weight, problem, .. } = writer;
    Steps { bytes: json.out, count, weight, problem }
}

/// A step without its block and without what follows from where it is: its path and the ids of
/// handles. Steps are aligned by it.
pub(super) fn shape(plan: &Plan, step: &Step) -> Vec<u8> {
    let mut writer = StepWriter::new(plan, Form::Shape);
    writer.step(step);
    writer.json.out
}

/// A step without its block.
pub(super) fn head(plan: &Plan, step: &Step) -> Vec<u8> {
    let mut writer = StepWriter::new(plan, Form::Head);
    writer.step(step);
    writer.json.out
}

/// Steps with their blocks, and without what follows from where they are: the same steps in another
/// function have the same bytes.
pub(super) fn block(plan: &Plan, steps: &[Step]) -> Vec<u8> {
    let mut writer = StepWriter::new(plan, Form::Block);
    writer.open(b'[');
    for step in steps {
        writer.json.item();
        writer.step(step);
    }
    writer.close(b']');
    writer.json.out
}

/// A constant as it is written everywhere; what it needs in memory is returned.
pub(super) fn value(json: &mut Writer, value: &Value) -> (usize, Option<String>) {
    let mut writer = StepWriter {
        json: std::mem::take(json),
        form: Form::Whole,
        values: None,
        members: Vec::new(),
        deferred: &[],
        count: 0,
        weight: 0,
        level: 0,
        depth: 0,
        problem: None,
    };
    writer.value(value);
    *json = writer.json;
    (writer.weight, writer.problem)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    Head,
    Shape,
    Block,
}

impl Form {
    /// Whether it says where a step is.
    fn is_placed(self) -> bool {
        matches!(self, Self::Whole | Self::Head)
    }
}

struct StepWriter<'p> {
    json: Writer,
    form: Form,
    values: Option<&'p std::collections::BTreeMap<Key, PlanValue>>,
    /// A target of a fleet around, and of a variant of it: values of each are known by it.
    members: Vec<String>,
    deferred: &'p [Deferred],
    count: usize,
    weight: usize,
    level: usize,
    depth: usize,
    problem: Option<String>,
}

impl<'p> StepWriter<'p> {
    fn new(plan: &'p Plan, form: Form) -> Self {
        Self {
            json: Writer::default(),
            form,
            values: Some(&plan.values),
            members: Vec::new(),
            deferred: &plan.deferred,
            count: 0,
            weight: 0,
            level: 0,
            depth: 0,
            problem: None,
        }
    }

    fn trouble(&mut self, reason: impl Into<String>) {
        self.problem.get_or_insert_with(|| reason.into());
    }

    fn open(&mut self, bracket: u8) {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            self.trouble(format!("an argument has more than {MAX_NESTING} levels of nesting"));
        }
        self.json.open(bracket);
    }

    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        self.json.close(bracket);
    }

    fn text(&mut self, text: &str) {
        self.weight += text.len();
        self.json.string(text);
    }

    fn step(&mut self, step: &Step) {
        let depth = std::mem::take(&mut self.depth);
        self.level += 1;
        if self.level > MAX_NESTING {
            self.trouble(format!("steps are nested more than {MAX_NESTING} levels deep"));
        }
        self.count += 1;
        self.weight += weight::STEP;
        self.open(b'{');
        if !step.args.is_empty() {
            self.json.plain_key("args");
            self.args(&step.args);
        }
        // What a redirection leads to is part of the head.
        let with_block = matches!(self.form, Form::Whole | Form::Block) || self.level > 1;
        let around = self.members.len();
        let narrows = around == 0 || step.is_for_some_targets();
        self.members.extend(step.first_target().filter(|_| narrows).map(str::to_owned));
        if !step.block.is_empty() && with_block {
            self.json.plain_key("block");
            self.open(b'[');
            for inner in &step.block {
                self.json.item();
                self.step(inner);
            }
            self.close(b']');
        }
        self.members.truncate(around);
        self.json.plain_key("decorator");
        self.text(step.node.name());
        if let Some(binding) = &step.binding {
            self.json.plain_key("let");
            self.binding(binding);
        }
        if self.form.is_placed() {
            self.json.plain_key("path");
            self.text(&step.path);
        }
        if !step.redirects.is_empty() {
            self.json.plain_key("redirects");
            self.open(b'[');
            for redirect in &step.redirects {
                self.json.item();
                self.redirect(redirect);
            }
            self.close(b']');
        }
        if let Some(schema) = &step.schema {
            self.json.plain_key("schema");
            self.json.string(&schema.hex());
        }
        self.close(b'}');
        self.level -= 1;
        self.depth = depth;
    }

    fn args(&mut self, args: &[(Cow<'static, str>, Arg)]) {
        let mut sorted: Vec<&(Cow<'static, str>, Arg)> = Vec::new();
        let is_sorted = args.is_sorted_by(|(a, _), (b, _)| a < b);
        if !is_sorted {
            sorted.extend(args);
            gather::sort_by(&mut sorted, |(a, _), (b, _)| a.cmp(b));
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                self.trouble(format!("`{}` is given twice", pair[0].0));
            }
        }
        self.open(b'{');
        for index in 0..args.len() {
            let (name, arg) = if is_sorted { &args[index] } else { sorted[index] };
            self.weight += weight::ARG + name.len();
            self.json.key(name);
            self.arg(arg);
        }
        self.close(b'}');
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Const(constant) => self.value(constant),
            Arg::Value(key) => self.reference(key),
            Arg::Deferred(index) => {
                self.trouble(super::limits::QUICK);
                // A quick plan that decided everything has the hash of the contract to come.
                let key = self.deferred.get(*index as usize).map_or("", |deferred| &deferred.key);
                self.tagged("value", |writer| writer.text(key));
            }
            Arg::Handle(handle) => self.handle(handle),
            Arg::Text(pieces) => self.tagged("text", |writer| writer.pieces(pieces)),
            Arg::Shell(pieces) => self.tagged("shell", |writer| writer.pieces(pieces)),
            Arg::Array(items) => self.array(items, Self::arg),
            Arg::Map(fields) => self.map(fields, Self::arg),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.json.null(),
            Value::Bool(value) => self.json.bool(*value),
            Value::Int(value) => self.json.int(*value),
            Value::Float(value) => {
                if !value.is_finite() {
                    self.trouble("a Float is not a number, so it cannot be a constant");
                }
                self.tagged("float", |writer| writer.json.string(&format!("{value:?}")));
            }
            Value::String(text) => self.text(text),
            Value::Duration(value) => {
                self.tagged("duration", |writer| writer.json.string(&value.to_string()));
            }
            Value::Array(items) => self.array(items, Self::value),
            Value::Map(fields) => self.map(fields, Self::value),
        }
    }

    fn tagged(&mut self, tag: &'static str, inner: impl FnOnce(&mut Self)) {
        self.open(b'{');
        self.json.plain_key(tag);
        inner(self);
        self.close(b'}');
    }

    fn array<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.open(b'[');
        for item in items {
            self.weight += weight::ITEM;
            self.json.item();
            each(self, item);
        }
        self.close(b']');
    }

    fn map<T>(
        &mut self,
        fields: &std::collections::BTreeMap<String, T>,
        each: impl Fn(&mut Self, &T),
    ) {
        self.weight += weight::MAP;
        self.tagged("map", |writer| {
            writer.open(b'{');
            for (name, field) in fields {
                writer.weight += 2 * weight::ITEM + name.len();
                writer.json.key(name);
                each(writer, field);
            }
            writer.close(b'}');
        });
    }

    fn reference(&mut self, key: &Key) {
        let of_member = self.members.last().map(|member| member_key(member, key));
        let known = |key: &Key| self.values.and_then(|values| values.get(key));
        let known = of_member.as_ref().and_then(known).or_else(|| known(key));
        if known.is_none() {
            self.trouble(format!("`{key}` is used but missing from the values"));
        }
        self.open(b'{');
        if let Some(schema) = known.and_then(|value| value.schema) {
            self.json.plain_key("schema");
            self.json.string(&schema.hex());
        }
        self.json.plain_key("value");
        self.json.string(key);
        self.close(b'}');
    }

    fn handle(&mut self, handle: &Handle) {
        self.open(b'{');
        self.access(&handle.access);
        if self.form.is_placed() {
            self.json.plain_key("let");
            self.text(&handle.id);
        }
        self.json.plain_key("name");
        self.text(&handle.name);
        self.close(b'}');
    }

    fn binding(&mut self, binding: &Binding) {
        self.weight += weight::ARG;
        self.open(b'{');
        self.access(&binding.access);
        if self.form.is_placed() {
            self.json.plain_key("id");
            self.text(&binding.id);
        }
        self.json.plain_key("name");
        self.text(&binding.name);
        self.close(b'}');
    }

    fn access(&mut self, access: &[Part]) {
        if access.is_empty() {
            return;
        }
        self.json.plain_key("access");
        self.array(access, |writer, part| match part {
            Part::Field(name) => writer.text(name),
            Part::Index(index) => writer.json.int(*index),
            Part::All => writer.json.null(),
        });
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        self.array(pieces, |writer, piece| match piece {
            Piece::Text(text) => writer.text(text),
            Piece::Data { arg, place: _ } => writer.tagged("data", |writer| writer.arg(arg)),
            Piece::Raw(arg) => writer.tagged("raw", |writer| writer.arg(arg)),
        });
    }

    fn redirect(&mut self, redirect: &Redirect) {
        self.weight += weight::ARG;
        self.open(b'{');
        self.json.plain_key("operator");
        self.text(&redirect.operator.to_string());
        match &redirect.target {
            RedirectTarget::Shell(pieces) => {
                self.json.plain_key("shell");
                self.pieces(pieces);
            }
            RedirectTarget::Step(step) => {
                self.json.plain_key("step");
                self.step(step);
            }
        }
        self.close(b'}');
    }
}
