//! Values in the environment of steps: `@environ(NAME=…)`, `env={…}`. They are data for programs. Where
//! the text of a step evaluates such a variable, the value would become code.

use std::rc::Rc;

use opal_core::context::Context;
use opal_core::decorator::Descriptor;
use opal_core::plan::{Arg, Piece, RedirectTarget, Step};
use opal_core::script::{Part, Refusal, admit, admit_type, prove_environment};
use opal_core::shell::Language;
use opal_core::{Code, Data, Diagnostic, Span, Type, Value};

use crate::plan::datum::{Datum, Open, Plain};
use crate::plan::planner::Planner;

/// Adds an error for every step that would run such a value.
pub(super) fn judge(planner: &mut Planner<'_>, steps: &[Step]) {
    if !planner.demands.iter().any(|demand| demand.purpose.is_environment()) {
        return;
    }
    let mut judge = Judge { planner, variables: Vec::new(), errors: Vec::new() };
    judge.steps(steps);
    let errors = judge.errors;
    planner.errors.extend(errors.into_iter().map(Rc::new));
}

/// A variable of the environment, where the steps are that have it.
struct Variable {
    name: String,
    /// The value, unless it is written in the source.
    datum: Option<Datum>,
    span: Span,
}

struct Judge<'p, 'a> {
    planner: &'p Planner<'a>,
    /// The innermost last.
    variables: Vec<Variable>,
    errors: Vec<Diagnostic>,
}

impl Judge<'_, '_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            let outer = self.variables.len();
            self.set(step);
            if self.variables.iter().any(|variable| variable.datum.is_some()) {
                self.texts(step);
            }
            self.steps(&step.block);
            for redirect in &step.redirects {
                if let RedirectTarget::Step(target) = &redirect.target {
                    self.steps(std::slice::from_ref(target));
                }
            }
            self.variables.truncate(outer);
        }
    }

    /// What a step sets for itself and for its block.
    fn set(&mut self, step: &Step) {
        let registry = self.planner.request.registry;
        let Some(descriptor) = step.node.path().and_then(|path| registry.get(path)) else { return };
        for (name, arg) in &step.args {
            match kind(descriptor, name) {
                Some(Kind::One) => {
                    let (datum, span) = self.value(arg);
                    self.variables.push(Variable { name: name.to_string(), datum, span });
                }
                Some(Kind::Map) => self.set_all(arg),
                None => {}
            }
        }
    }

    fn set_all(&mut self, arg: &Arg) {
        if let Arg::Const(Value::Map(items)) = arg {
            let constant =
                |name: &String| Variable { name: name.clone(), datum: None, span: Span::at(0) };
            self.variables.extend(items.keys().map(constant));
        }
        let (Some(datum), span) = self.value(arg) else { return };
        let Plain::Map(fields) = &datum.plain else { return };
        for (name, item) in &fields.items {
            let taint = item.taint.clone().or_else(|| datum.taint.clone());
            let item = Datum::new(item.plain.clone(), taint).within(item).within(&datum);
            let datum = Some(item).filter(is_value);
            self.variables.push(Variable { name: name.to_string(), datum, span });
        }
    }

    /// The value that an argument asks for, unless it is written in the source or the step may not run.
    fn value(&self, arg: &Arg) -> (Option<Datum>, Span) {
        let Arg::Deferred(index) = arg else { return (None, Span::at(0)) };
        let demand = &self.planner.demands[*index as usize];
        let datum = self.planner.graph.outcome(&demand.cell).ok();
        (datum.filter(|datum| !demand.perhaps && is_value(datum)), demand.span)
    }

    fn texts(&mut self, step: &Step) {
        let is_shell = match step.arg("shell") {
            Some(Arg::Const(Value::String(name))) => {
                !matches!(Language::of(name), Language::Other { .. })
            }
            _ => true,
        };
        for (_, arg) in step.args.iter().filter(|_| is_shell) {
            if let Arg::Shell(pieces) = arg {
                self.text(pieces, step.span);
            }
        }
        for redirect in &step.redirects {
            if let RedirectTarget::Shell(pieces) = &redirect.target {
                self.text(pieces, step.span);
            }
        }
    }

    fn text(&mut self, pieces: &[Piece], span: Span) {
        let is_last = |at: usize, name: &str| {
            self.variables[at + 1..].iter().all(|variable| variable.name != name)
        };
        let values: Vec<(&Variable, &Datum)> = self
            .variables
            .iter()
            .enumerate()
            .filter(|(at, variable)| is_last(*at, &variable.name))
            .filter_map(|(_, variable)| Some((variable, variable.datum.as_ref()?)))
            .collect();
        let names: Vec<&str> = values.iter().map(|(variable, _)| variable.name.as_str()).collect();
        let parts: Vec<Part<'_>> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Data { place, .. } => Part::Value(*place),
                Piece::Raw(_) => Part::Pasted,
            })
            .collect();
        let places = prove_environment(&names, &parts);
        for ((variable, datum), place) in values.into_iter().zip(places) {
            let Some(Err(refusal)) = place.map(|place| admitted(datum, place)) else { continue };
            self.errors.push(refused(&refusal, variable, span));
        }
    }
}

/// What an argument of a decorator sets.
enum Kind {
    One,
    Map,
}

fn kind(descriptor: &Descriptor, name: &str) -> Option<Kind> {
    let param = descriptor.params.iter().find(|param| param.name == name);
    match param {
        Some(param) => param.environment.then_some(Kind::Map),
        None => descriptor.sets_variables().then_some(Kind::One),
    }
}

fn is_value(datum: &Datum) -> bool {
    datum.is_tainted() || datum.is_given() || datum.is_runtime()
}

fn admitted(datum: &Datum, place: Context) -> Result<(), Refusal> {
    let place = place.dash(true);
    let is_late = datum.is_runtime() || matches!(datum.plain, Plain::Open(Open::Late));
    let result = match datum.to_data() {
        // Nobody judges it again when it is known.
        _ if is_late => admit_type(place.strictest(), &Type::Any),
        // A number is harmless in a sum, and all that an environment holds is text.
        Some(Data::Text(text)) => match text.expose().parse::<i64>() {
            Ok(number) => admit(place, &Data::Int(number)).map(drop),
            Err(_) => admit(place, &Data::Text(text)).map(drop),
        },
        Some(data) => admit(place, &data).map(drop),
        None => admit_type(place, &Type::Any),
    };
    let becomes_code = |refusal: &Refusal| {
        matches!(refusal.code(), Code::ReevaluatedText | Code::ArithmeticNotInt)
    };
    result.or_else(|refusal| if becomes_code(&refusal) { Err(refusal) } else { Ok(()) })
}

fn refused(refusal: &Refusal, variable: &Variable, span: Span) -> Diagnostic {
    let name = &variable.name;
    let error = Diagnostic::new(refusal.code(), span, refusal.message(&format!("${name}")))
        .also(variable.span, format!("`{name}` has its value from here"));
    refusal.help("@var.NAME").into_iter().fold(error, Diagnostic::help)
}
