//! A value decorator's call: its inputs, its key, its answer.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use opal_core::class::Flags;
use opal_core::context::Context;
use opal_core::contract::schema_hash;
use opal_core::crossing::Crossing;
use opal_core::decorator::{Capability, Cost, Descriptor, Exposure, Param, Presence, Site};
use opal_core::placeholder::scalar_text;
use opal_core::plan::Key;
use opal_core::resolver::{Input, Inputs, SETTINGS, ScriptPart, Trouble, TroubleKind};
use opal_core::{Class, Code, Data, Diagnostic, Secret, Span, Value};

use super::datum::{Datum, Parts, Plain, Taint, inherit, key};
use super::scoped::{ArgName, ArgValue, Expr, Piece, ValueCall};
use super::targeted::Targeted;
use super::{parameters, text};
use opal_core::class::resolved;

/// A call and which operand of its node is for what.
#[derive(Debug)]
pub(crate) struct CallShape {
    pub(crate) call: Rc<ValueCall>,
    pub(crate) args: Vec<ShapedArg>,
    /// The target that it reads; none where it reads opal's machine.
    pub(crate) target: Option<Rc<Targeted>>,
    /// Whether the last operand is what a block around it says.
    has_settings: bool,
}

#[derive(Debug)]
pub(crate) struct ShapedArg {
    pub(crate) param: &'static Param,
    pub(crate) value: ShapedValue,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ShapedValue {
    Operand(usize),
    Script(Vec<ShapedPiece>),
}

#[derive(Debug)]
pub(crate) enum ShapedPiece {
    Text(Rc<str>),
    Data { operand: usize, context: Context, dash: bool },
    Raw(usize),
}

impl CallShape {
    /// The shape of a call and the expressions of its operands, in order.
    pub(crate) fn of(
        call: &Rc<ValueCall>,
        target: Option<Rc<Targeted>>,
        has_settings: bool,
    ) -> (Self, Vec<&Expr>) {
        let mut operands = Vec::new();
        let mut args = Vec::new();
        for arg in &call.args {
            // No value decorator takes further names.
            let ArgName::Param(param) = arg.param else { continue };
            let value = match &arg.value {
                ArgValue::Expr(expr) => {
                    operands.push(expr);
                    ShapedValue::Operand(operands.len() - 1)
                }
                ArgValue::Shell(pieces) => ShapedValue::Script(
                    pieces.iter().map(|piece| shape_piece(piece, &mut operands)).collect(),
                ),
            };
            args.push(ShapedArg { param, value, span: arg.span });
        }
        (Self { call: Rc::clone(call), args, target, has_settings }, operands)
    }

    pub(crate) fn descriptor(&self) -> &'static Descriptor {
        self.call.descriptor
    }

    /// Whether a quick plan leaves it open: what is read on a target always takes time.
    pub(crate) fn is_expensive(&self) -> bool {
        let descriptor = self.descriptor();
        let is_far = self.target.is_some() && descriptor.site == Site::Target;
        descriptor.cost == Cost::Expensive || is_far
    }

    /// The way to the machine that it reads; none where it reads opal's machine.
    pub(crate) fn way(&self) -> Option<&[Crossing]> {
        let target = self.target.as_ref().filter(|_| self.descriptor().site == Site::Target);
        target?.way.as_deref()
    }

    /// What the decorator gets: every argument checked, defaults filled in.
    pub(crate) fn inputs(&self, values: &[&Datum]) -> Result<Inputs, Diagnostic> {
        let subject = self.call.subject.as_deref().map(str::to_owned);
        let target = self.target.as_ref().map(|target| Arc::clone(&target.facts));
        let mut inputs = Inputs { subject, target, ..Inputs::default() };
        for arg in &self.args {
            let input = match &arg.value {
                ShapedValue::Operand(at) => {
                    let datum = values[*at];
                    parameters::check(arg.param, datum, arg.span)?;
                    if arg.param.shell {
                        Input::Script(vec![computed_command(datum, arg.span)?])
                    } else {
                        Input::Data(datum.to_data().unwrap_or(Data::Null))
                    }
                }
                ShapedValue::Script(pieces) => {
                    let parts = pieces.iter().map(|piece| script_part(piece, values, arg.span));
                    Input::Script(parts.collect::<Result<_, _>>()?)
                }
            };
            inputs.args.insert(arg.param.name, input);
        }
        if let Some(data) = self.settings(values).and_then(Datum::to_data) {
            inputs.open.insert(SETTINGS.to_owned(), data);
        }
        for param in self.descriptor().params {
            if let Presence::Default(value) = &param.presence {
                inputs.args.entry(param.name).or_insert_with(|| Input::Data(value.into()));
            }
        }
        Ok(inputs)
    }

    /// `file.read(path="VERSION", public=true)`: what is read, and whether all may see it.
    pub(crate) fn symbol(&self, values: &[&Datum]) -> String {
        // How a word may begin is said at each place; what it is, is not changed by it.
        let names = self.target.as_ref().map(|target| target.shown_names());
        self.written(values, &["dash"], names.as_deref())
    }

    /// `file.read(path="VERSION")`: what is read, whoever may see it. Each is asked once.
    pub(crate) fn question(&self, values: &[&Datum]) -> Key {
        let names = self.target.as_ref().map(|target| target.names.as_str());
        key(self.written(values, &["dash", "public", "secret"], names))
    }

    fn written(&self, values: &[&Datum], without: &[&str], names: Option<&str>) -> String {
        let descriptor = self.descriptor();
        let mut symbol = match (names, &self.call.directory) {
            (Some(names), _) => format!("{names}{}", descriptor.path),
            (None, Some(directory)) => format!("{directory}:{}", descriptor.path),
            (None, None) => descriptor.path.to_owned(),
        };
        if let Some(subject) = &self.call.subject {
            symbol = format!("{symbol}.{subject}");
        }
        let mut args: Vec<(&str, String)> = Vec::new();
        for arg in &self.args {
            let name = arg.param.name;
            let shown = match &arg.value {
                _ if without.contains(&name) => continue,
                ShapedValue::Operand(at) => match (&arg.param.presence, values[*at].to_value()) {
                    (Presence::Default(default), Some(given)) if *default == given => continue,
                    _ => values[*at].symbol(),
                },
                ShapedValue::Script(pieces) => script_symbol(pieces, values),
            };
            args.push((name, shown));
        }
        args.extend(self.settings(values).map(|settings| (SETTINGS, settings.symbol())));
        args.sort();
        if !args.is_empty() {
            let args: Vec<String> =
                args.into_iter().map(|(name, shown)| format!("{name}={shown}")).collect();
            symbol = format!("{symbol}({})", args.join(", "));
        }
        symbol
    }

    /// What a block around it says.
    fn settings<'v>(&self, values: &[&'v Datum]) -> Option<&'v Datum> {
        values.last().copied().filter(|_| self.has_settings)
    }

    /// What was given for a parameter.
    fn operand<'v>(&self, name: &str, values: &[&'v Datum]) -> Option<&'v Datum> {
        self.args.iter().find_map(|arg| match &arg.value {
            ShapedValue::Operand(at) if arg.param.name == name => Some(values[*at]),
            _ => None,
        })
    }

    fn says(&self, name: &str, values: &[&Datum]) -> bool {
        self.operand(name, values).is_some_and(|given| matches!(given.plain, Plain::Bool(true)))
    }

    /// Where the answer comes from: itself, and what its arguments came from.
    ///
    /// Without inputs where they are not known: a quick plan shows nothing of it then.
    pub(crate) fn taint(
        &self,
        symbol: String,
        values: &[&Datum],
        inputs: Option<&Inputs>,
        random: Option<u32>,
    ) -> Rc<Taint> {
        let descriptor = self.descriptor();
        let key = key(symbol);
        let inherited = inherit(values, String::new);
        let mut roots: BTreeSet<_> =
            inherited.iter().flat_map(|t| t.roots.iter().cloned()).collect();
        roots.insert(if random.is_some() { key.clone() } else { self.question(values) });
        Rc::new(Taint {
            key,
            roots: Rc::new(roots),
            class: self.class(values),
            randoms: Rc::new(random.into_iter().collect()),
            dash: self.says("dash", values),
            drawn: descriptor.generator.is_some(),
            draws_dash: descriptor
                .generator
                .zip(inputs)
                .is_some_and(|(generator, inputs)| generator.may_begin_with_dash(inputs)),
            join: None,
            why: if self.way().is_some() { "reads the target" } else { why(descriptor) },
            member: self.target.as_ref().and_then(|target| target.member.clone()),
            target: self.machine(inherited.as_deref()),
            schema: descriptor.plugin.map(|_| schema_hash(descriptor)),
            parts: self.parts(values),
        })
    }

    /// Which parts of the answer are secret, where its schema says so.
    fn parts(&self, values: &[&Datum]) -> Option<Parts> {
        let shape = self.descriptor().result.filter(|shape| !shape.secret)?;
        let is_marked = self.descriptor().exposure == Exposure::Marked;
        let given = inherit(values, String::new).map_or(Class::Plain, |taint| taint.class);
        let is_partly = is_marked && !self.says("secret", values);
        is_partly.then(|| Parts { shape, otherwise: given.max(Class::Plain) })
    }

    /// The machine that it is read on; none where that is opal's, or where it may tell a secret of another.
    fn machine(&self, given: Option<&Taint>) -> Option<Rc<str>> {
        self.way()?;
        let name = self.target.as_ref()?.names.split('/').next()?;
        let is_own = given
            .is_none_or(|given| !given.class.is_secret() || given.target.as_deref() == Some(name));
        is_own.then(|| name.into())
    }

    /// The class of the answer before it is known; what it was given counts too.
    fn class(&self, values: &[&Datum]) -> Class {
        let flags =
            Flags { public: self.says("public", values), secret: self.says("secret", values) };
        let own = Class::of(self.descriptor().exposure, flags, self.call.subject.as_deref(), None);
        let of = |operands: &[&Datum]| inherit(operands, String::new).map(|taint| taint.class);
        let given = match self.operand("default", values) {
            // A default may be the answer, so what holds for it holds for the answer.
            Some(default) if flags.public => of(&[default]),
            None if flags.public => None,
            _ => of(values),
        };
        given.map_or(own, |given| own.max(given))
    }

    /// The taint of an answer that is known now.
    pub(crate) fn answered(&self, taint: &Rc<Taint>, inputs: &Inputs, answer: &Data) -> Rc<Taint> {
        let class = taint.class.max(resolved::class(self.descriptor(), inputs, Some(answer)));
        if class == taint.class {
            return Rc::clone(taint);
        }
        Rc::new(Taint { class, ..(**taint).clone() })
    }

    /// What is wrong with an answer, whatever the decorator thinks of it.
    pub(crate) fn refuse(&self, inputs: &Inputs, answer: &Data) -> Option<Diagnostic> {
        let span = self.call.span;
        if answer.as_text().is_some_and(|text| text.contains('\0')) {
            let path = self.descriptor().path;
            let message = format!("`@{path}` contains a NUL character, which no command accepts");
            return Some(
                Diagnostic::new(Code::NulInText, span, message).help(
                    "read it in the step instead, or convert it with `iconv` if it is UTF-16",
                ),
            );
        }
        let found = resolved::check(self.descriptor(), inputs, answer).err()?;
        Some(Diagnostic { code: Code::ShortSecret, ..trouble(found, span) })
    }
}

/// Why a quick plan leaves it out.
fn why(descriptor: &Descriptor) -> &'static str {
    let needs = |capability| descriptor.capabilities.contains(&capability);
    if descriptor.generator.is_some() {
        "generated when a contract is made or a run begins"
    } else if needs(Capability::Network) {
        "asks the network"
    } else if needs(Capability::Processes) {
        "runs a command"
    } else {
        "takes time"
    }
}

fn shape_piece<'c>(piece: &'c Piece, operands: &mut Vec<&'c Expr>) -> ShapedPiece {
    match piece {
        Piece::Text(text) => ShapedPiece::Text(Rc::clone(text)),
        Piece::Data { expr, context, dash } => {
            operands.push(expr);
            ShapedPiece::Data { operand: operands.len() - 1, context: *context, dash: *dash }
        }
        Piece::Raw(expr) => {
            operands.push(expr);
            ShapedPiece::Raw(operands.len() - 1)
        }
    }
}

fn script_part(
    piece: &ShapedPiece,
    values: &[&Datum],
    span: Span,
) -> Result<ScriptPart, Diagnostic> {
    Ok(match piece {
        ShapedPiece::Text(text) => ScriptPart::Text(text.to_string()),
        ShapedPiece::Data { operand, context, dash } => {
            let datum = values[*operand];
            text::check(datum, *context, *dash, span)?;
            let place = text::judged(datum, *context);
            ScriptPart::Data(datum.to_data().unwrap_or(Data::Null), place)
        }
        ShapedPiece::Raw(at) => ScriptPart::Raw(raw_text(values[*at], span)?),
    })
}

/// A command that was put together: only constants of the source may become code.
fn computed_command(datum: &Datum, span: Span) -> Result<ScriptPart, Diagnostic> {
    if datum.is_tainted() || datum.is_given() {
        let message = format!("`{}` would become code: it is a whole command", datum.symbol());
        return Err(Diagnostic::new(Code::ReevaluatedText, span, message)
            .help("write the value into the command itself: `\"… @var.NAME …\"`")
            .help("to paste it unprotected, write `@raw(…)`"));
    }
    Ok(ScriptPart::Raw(raw_text(datum, span)?))
}

fn raw_text(datum: &Datum, span: Span) -> Result<Secret, Diagnostic> {
    match datum.to_data() {
        Some(data @ Data::Text(_)) => Ok(Secret::new(&**scalar_text(&data))),
        _ => Err(super::graph::diagnostic(
            super::operate::scalar(datum).err().unwrap_or_else(|| {
                super::operate::OpError::new(
                    Code::WrongType,
                    format!("{} is not the text of a command", datum.type_of().with_article()),
                    "convert it with `str(…)`",
                )
            }),
            span,
        )),
    }
}

/// A command as part of a key: data is in it by its key.
fn script_symbol(pieces: &[ShapedPiece], values: &[&Datum]) -> String {
    let command: String = pieces
        .iter()
        .map(|piece| match piece {
            ShapedPiece::Text(text) => {
                let quoted = Value::String(text.to_string().into()).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
            ShapedPiece::Data { operand, .. } => format!("@({})", values[*operand].symbol()),
            ShapedPiece::Raw(at) => format!("@raw({})", values[*at].symbol()),
        })
        .collect();
    format!("\"{command}\"")
}

/// Why a decorator gave no value, at the place of its call.
pub(crate) fn trouble(trouble: Trouble, span: Span) -> Diagnostic {
    let code = match trouble.kind {
        TroubleKind::Missing => Code::ValueMissing,
        TroubleKind::Unreachable => Code::ValueUnreachable,
        TroubleKind::TooLarge => Code::ValueTooLarge,
        TroubleKind::Invalid => Code::WrongType,
        _ => Code::ValueFailed,
    };
    let mut diagnostic = Diagnostic::new(code, span, trouble.message);
    for help in trouble.help {
        diagnostic = diagnostic.help(help);
    }
    diagnostic
}
