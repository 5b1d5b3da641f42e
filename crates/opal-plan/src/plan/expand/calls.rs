//! Decorators and functions where commands are.

use std::borrow::Cow;
use std::rc::Rc;

use opal_core::contract::schema_hash;
use opal_core::decorator::{BLOCK_TEXT, Descriptor, SETTINGS, Settings, Site};
use opal_core::inventory::CACHED;
use opal_core::plan::{Arg, Binding, Handle, Node, Note, Part, Step};
use opal_core::target::INSIDE_A_TARGET;

use opal_core::{Code, Diagnostic, Span, Type, Value};

use super::arguments::Given;
use crate::plan::datum::{Datum, Plain};
use crate::plan::demand::{Purpose, Stop};
use crate::plan::graph::{Cell, Op};
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{
    Access, ArgName, ArgValue, BoundArg, Call, CallArg, Callee, FieldName, Function, Program, Slot,
};

impl<'a> Planner<'a> {
    pub(super) fn call(&mut self, call: &'a Call, place: &mut Place) -> Result<Step, Stop> {
        match &call.callee {
            Callee::Decorator { descriptor, subject, args } => {
                self.decorator(descriptor, subject.as_deref(), args, call, place)
            }
            Callee::Function { index, name, args, decorator } => {
                self.function(*index, name, args, *decorator, (call.span, place))
            }
        }
    }

    fn decorator(
        &mut self,
        descriptor: &'static Descriptor,
        subject: Option<&str>,
        args: &[BoundArg],
        call: &'a Call,
        place: &mut Place,
    ) -> Result<Step, Stop> {
        if descriptor.path == CACHED && self.target.is_some() {
            let message = format!("`@{}` inside a block that runs on a target", descriptor.path);
            return Err(self.stop(
                Diagnostic::new(Code::OnlyHere, call.span, message)
                    .help("put the block on the target into `@cached`, or do without it there"),
            ));
        }
        if descriptor.site == Site::Facts && self.target.is_none() {
            let message = format!("`@{}` outside a block that runs on a target", descriptor.path);
            return Err(self
                .stop(Diagnostic::new(Code::NoTarget, call.span, message).help(INSIDE_A_TARGET)));
        }
        let path = place.next(descriptor.path);
        let mut step = self.node(Node::decorator(descriptor.path), path, call.span)?;
        step.note = self.note(call.span).map(Note::from);
        step.schema = descriptor.plugin.map(|_| schema_hash(descriptor));
        if let Some(subject) = subject {
            let subject = Value::String(subject.to_owned().into());
            step.args.push(("subject".into(), Arg::Const(subject)));
        }
        for arg in args {
            let (name, value) = self.bound(descriptor, arg)?;
            step.args.push((name.into(), value));
        }
        if let Some(text) = &call.text {
            self.hold(1 + text.len() / 16, call.span)?;
            let text = Value::String(text.to_string().into());
            step.args.push((BLOCK_TEXT.into(), Arg::Const(text)));
        }
        if let Some(settings) = self.settings_of(descriptor) {
            let arg = self.needed(settings, Purpose::Settings, None, call.span)?;
            step.args.push((SETTINGS.into(), arg));
        }
        self.fill(descriptor, &mut step);
        if let Some(block) = &call.block {
            match descriptor.boundary {
                Some(boundary) => {
                    let directory = call.directory.as_deref();
                    self.on_targets(boundary, (args, directory), block, &mut step)?;
                }
                None => {
                    let mut inner = Place::new(&*step.path);
                    let outer = self.around.clone();
                    if descriptor.settings == Settings::Given {
                        self.surround(descriptor.path, args, call.span);
                    }
                    self.inside(|this| this.block(block, &mut inner, &mut step.block))?;
                    self.around = outer;
                }
            }
        }
        Ok(step)
    }

    /// Sorts the arguments, and adds the defaults of those that were not given.
    pub(super) fn fill(&self, descriptor: &'static Descriptor, step: &mut Step) {
        if self.request.purpose.has_defaults() {
            for (name, value) in descriptor.defaults() {
                if step.arg(name).is_none() {
                    step.args.push((name.into(), Arg::Const(value.clone())));
                }
            }
        } else {
            let (registry, node) = (self.request.registry, &step.node);
            step.args.retain(|(name, arg)| !registry.is_default(node, name, arg));
        }
        step.sort_args();
    }

    pub(super) fn bound(
        &mut self,
        descriptor: &'static Descriptor,
        arg: &BoundArg,
    ) -> Result<(String, Arg), Stop> {
        let (name, purpose) = match &arg.param {
            // What runs is called the same in every step.
            ArgName::Param(param) if descriptor.path == "shell" && param.name == "cmd" => {
                ("command".to_owned(), Purpose::Param(param))
            }
            ArgName::Param(param) => (param.name.to_owned(), Purpose::Param(param)),
            ArgName::Open(name) => {
                let ty = descriptor.open_params.clone().unwrap_or(Type::Any);
                (name.to_string(), Purpose::Typed(Rc::clone(name), ty))
            }
        };
        let value = match &arg.value {
            ArgValue::Shell(pieces) => Arg::Shell(self.pieces(pieces, arg.span)?),
            ArgValue::Expr(expr) if matches!(&arg.param, ArgName::Param(p) if p.shell) => {
                self.computed_command(expr)?
            }
            ArgValue::Expr(expr) => self.argument(expr, purpose)?,
        };
        Ok((name, value))
    }

    fn function(
        &mut self,
        index: usize,
        name: &Rc<str>,
        args: &[CallArg],
        decorator: Option<&'static Descriptor>,
        (span, place): (Span, &mut Place),
    ) -> Result<Step, Stop> {
        let node = decorator.map_or(Node::Call, |descriptor| Node::decorator(descriptor.path));
        let mut step = self.node(node, place.next(name.to_string()), span)?;
        step.note = self.note(span).map(Note::from);
        step.schema = decorator.map(schema_hash);
        if decorator.is_none() {
            let shown = Value::String(name.to_string().into());
            step.args.push(("function".into(), Arg::Const(shown)));
        }
        let program: &'a Program = self.program;
        let Some(function) = program.functions[index].as_deref() else { return Ok(step) };
        step.args.extend(start(function.directory.as_deref()));
        step.sort_args();
        let given = self.given(function, args, &mut step)?;
        self.enter(function, given, true, span)?;
        let mut inner = Place::new(&*step.path);
        self.within(name, |planner| planner.block(&function.body, &mut inner, &mut step.block))?;
        self.frames.pop();
        Ok(step)
    }

    /// The steps of a target that is in an imported project: it is called, so that it begins in the
    /// directory of the project, as the plan says.
    pub(super) fn called(
        &mut self,
        target: &str,
        function: &'a Function,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let (namespace, name) = target.split_once('.').unwrap_or(("", target));
        let path = Place::new(namespace).next(name.to_owned());
        let mut step = self.node(Node::Call, path, Span::at(0))?;
        let shown = Value::String(target.to_owned().into());
        step.args.push(("function".into(), Arg::Const(shown)));
        step.args.extend(start(function.directory.as_deref()));
        step.sort_args();
        let mut inner = Place::new(&*step.path);
        self.body(&function.body, &mut inner, &mut step.block)?;
        out.push(step);
        Ok(())
    }

    /// Opens the frame of a function, with what was given and defaults for the rest. In a call each
    /// argument for the rest is one element; the command line gives all of them as one list.
    pub(super) fn enter(
        &mut self,
        function: &Function,
        given: Vec<Given>,
        is_call: bool,
        span: Span,
    ) -> Result<(), Stop> {
        self.declare_globals(&function.globals);
        let mut slots: Vec<Option<Cell>> = vec![None; function.slots as usize];
        let rest = function.params.iter().position(|param| param.rest);
        let mut more = Vec::new();
        for Given { at, cell, span } in given {
            if Some(at) == rest && is_call {
                more.push(cell);
            } else {
                slots[at] = Some(self.typed(function, at, cell, span));
            }
        }
        if let Some(at) = rest.filter(|at| slots[*at].is_none()) {
            slots[at] = Some(self.graph.add(Op::Array, more, span));
        }
        self.frames.push(slots);
        for (at, param) in function.params.iter().enumerate() {
            if self.frame()[at].is_some() {
                continue;
            }
            let Some(default) = &param.default else {
                let message = format!("`{}` needs `{}`", function.name, param.name);
                return Err(self.stop(
                    Diagnostic::new(Code::MissingArgument, span, message)
                        .help(format!("see `opal {} --help`", function.name)),
                ));
            };
            let value = self.eval(default);
            let value = self.typed(function, at, value, default.span);
            self.set(Slot::Local(at as u32), value);
        }
        Ok(())
    }

    fn typed(&mut self, function: &Function, at: usize, cell: Cell, span: Span) -> Cell {
        let param = &function.params[at];
        if param.ty == Type::Any {
            return cell;
        }
        let wanted = Rc::new((Rc::clone(&param.name), param.ty.clone()));
        self.graph.add(Op::Typed(wanted), vec![cell], span)
    }

    pub(super) fn r#let(
        &mut self,
        slot: Slot,
        name: &Rc<str>,
        source: &'a Call,
        access: &[Access],
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.call(source, place)?;
        let id = Handle::id(&step.path);
        let mut parts = Vec::new();
        for one in access {
            parts.push(self.part(one)?);
        }
        let name: std::sync::Arc<str> = (**name).into();
        let handle = Handle { id: id.clone(), name: name.clone(), access: Vec::new() };
        step.binding = Some(Box::new(Binding { id, name, access: parts }));
        self.set(slot, Cell::Known(Datum::constant(Plain::Handle(Rc::new(handle)))));
        out.push(step);
        Ok(())
    }

    /// A field or an index of what a step will give; the index itself is known now.
    fn part(&mut self, access: &Access) -> Result<Part, Stop> {
        let index = match access {
            Access::Field(FieldName { name, .. }, _) => {
                let number = name.parse().ok().filter(|_| name.bytes().all(|b| b.is_ascii_digit()));
                return Ok(number.map_or_else(|| Part::Field((**name).into()), Part::Index));
            }
            Access::All(_) => return Ok(Part::All),
            Access::Index(index) => index,
        };
        let cell = self.eval(index);
        let value = self.decide(&cell, index.span)?;
        match value.to_value() {
            Some(Value::Int(at)) => Ok(Part::Index(at)),
            Some(Value::String(key)) => Ok(Part::Field(key.as_ref().into())),
            _ => {
                let message = format!("`{}` is not a constant Int or String", value.symbol());
                Err(self.stop(
                    Diagnostic::new(Code::WrongType, index.span, message)
                        .help("index a run-time value by a constant: `[0]`, `[\"key\"]`"),
                ))
            }
        }
    }

    pub(in crate::plan) fn handle_access(&mut self, handle: &Handle, access: &Access) -> Cell {
        let mut handle = handle.clone();
        // Where there is none, its error stops the plan when it is settled.
        if let Ok(part) = self.part(access) {
            handle.access.push(part);
        }
        Cell::Known(Datum::constant(Plain::Handle(Rc::new(handle))))
    }
}

/// Where a call begins, where that is not the place of the call.
pub(super) fn start(directory: Option<&str>) -> Option<(Cow<'static, str>, Arg)> {
    let directory = Value::String(directory?.to_owned().into());
    Some(("directory".into(), Arg::Const(directory)))
}
