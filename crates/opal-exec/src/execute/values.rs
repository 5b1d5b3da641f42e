//! Arguments of a plan to values: from those beside the plan, and from what earlier steps gave.

use std::collections::BTreeMap;
use std::ops::Bound;

use opal_core::context::{Context, Place};
use opal_core::crossing::member_key;
use opal_core::placeholder::scalar_text;
use opal_core::plan::{Arg, Handle, Key, Piece, RedirectTarget, Step};
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_core::script::{Refusal, admit, admit_list};
use opal_core::wiped::Wiped;
use opal_core::{Data, Secret};

use super::lets::{Lets, written};
use opal_core::gather::Gather as _;
use opal_core::shell::refused;
use opal_core::shell::stand_in;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub(super) known: &'a BTreeMap<Key, Data>,
    /// None before anything has run: then every run-time value is a stand-in.
    pub(super) lets: Option<&'a Lets>,
    /// The member of a fleet that they are for.
    pub(super) member: Option<&'a str>,
}

impl<'a> Values<'a> {
    /// As long as nothing has run.
    pub(crate) fn before(known: &'a BTreeMap<Key, Data>) -> Self {
        Self { known, lets: None, member: None }
    }

    /// The same for a member of a fleet.
    pub(crate) fn of(self, member: Option<&'a str>) -> Self {
        Self { member, ..self }
    }

    /// The same in the block of a step. Of a fleet, the first target is as good as any.
    pub(super) fn inside(self, step: &'a Step) -> Self {
        let narrows = self.member.is_none() || step.is_for_some_targets();
        // One that could not be reached for its values has none.
        let first = step.targets().find(|name| self.has_values_of(name)).or(step.first_target());
        self.of(first.filter(|_| narrows).or(self.member))
    }

    fn has_values_of(&self, member: &str) -> bool {
        let begin = format!("{member}/");
        let from = (Bound::Included(begin.as_str()), Bound::Unbounded);
        self.known.range::<str, _>(from).next().is_some_and(|(key, _)| key.starts_with(&begin))
    }

    fn known(&self, key: &Key) -> Option<&'a Data> {
        let of_member = self.member.and_then(|it| self.known.get(&member_key(it, key)));
        of_member.or_else(|| self.known.get(key))
    }

    pub(super) fn data(&self, arg: &Arg) -> Result<Data, Trouble> {
        self.at(arg, Context::new(Place::Quoted))
    }

    fn at(&self, arg: &Arg, place: Context) -> Result<Data, Trouble> {
        Ok(match arg {
            Arg::Const(value) => Data::from(value),
            Arg::Value(key) => self.known(key).cloned().ok_or_else(|| {
                let message = format!("missing value for `{key}`");
                Trouble::new(TroubleKind::Missing, message, "plan again")
            })?,
            Arg::Handle(handle) => match self.lets {
                Some(lets) => lets.get(handle)?,
                None => stand_in(place),
            },
            Arg::Text(pieces) => Data::Text(self.text(pieces)?),
            Arg::Array(items) => {
                Data::Array(items.iter().map(|item| self.data(item)).collect::<Result<_, _>>()?)
            }
            Arg::Map(fields) => {
                let fields = fields.iter().map(|(key, arg)| Ok((key.clone(), self.data(arg)?)));
                Data::Map(fields.collect::<Result<Vec<_>, Trouble>>()?.into_iter().gathered())
            }
            // Where it matters, whoever asks has seen that the step is left open.
            Arg::Deferred(_) if self.lets.is_none() => stand_in(place),
            Arg::Deferred(_) | Arg::Shell(_) => {
                return Err(Trouble::new(
                    TroubleKind::Invalid,
                    "the plan leaves a value unresolved that is needed here",
                    "plan again with `--resolve`",
                ));
            }
        })
    }

    /// Text that is not a command.
    fn text(&self, pieces: &[Piece]) -> Result<Secret, Trouble> {
        let mut text = Wiped::new(String::new());
        for piece in pieces {
            match piece {
                Piece::Text(constant) => text.push_str(constant),
                Piece::Data { arg, .. } | Piece::Raw(arg) => {
                    text.push_str(&self.scalar(arg)?);
                }
            }
        }
        Ok(Secret::new(text.as_str()))
    }

    /// The values that the arguments and redirections of a step are made of.
    pub(super) fn texts(&self, step: &Step) -> Vec<Secret> {
        let mut texts = Vec::new();
        step.args.iter().for_each(|(_, arg)| self.collect(arg, &mut texts));
        for redirect in &step.redirects {
            match &redirect.target {
                RedirectTarget::Shell(pieces) => self.collect_pieces(pieces, &mut texts),
                RedirectTarget::Step(target) => {
                    target.args.iter().for_each(|(_, arg)| self.collect(arg, &mut texts));
                }
            }
        }
        texts
    }

    fn collect(&self, arg: &Arg, texts: &mut Vec<Secret>) {
        match arg {
            Arg::Const(_) | Arg::Deferred(_) => {}
            // What cannot be read is in no message.
            Arg::Value(_) | Arg::Handle(_) => {
                self.data(arg).iter().for_each(|it| leaves(it, texts))
            }
            Arg::Text(pieces) | Arg::Shell(pieces) => self.collect_pieces(pieces, texts),
            Arg::Array(items) => items.iter().for_each(|item| self.collect(item, texts)),
            Arg::Map(fields) => fields.values().for_each(|item| self.collect(item, texts)),
        }
    }

    fn collect_pieces(&self, pieces: &[Piece], texts: &mut Vec<Secret>) {
        for piece in pieces {
            if let Piece::Data { arg, .. } | Piece::Raw(arg) = piece {
                self.collect(arg, texts);
            }
        }
    }

    fn scalar(&self, arg: &Arg) -> Result<Wiped<String>, Trouble> {
        let data = self.data(arg)?;
        if let Some(handle) = handle(arg) {
            in_text(&data, handle)?;
        }
        Ok(scalar_text(&data))
    }

    /// Text of the shell, with the values in it as data.
    pub(super) fn script(&self, pieces: &[Piece]) -> Result<Vec<ScriptPart>, Trouble> {
        let part = |piece: &Piece| {
            Ok(match piece {
                Piece::Text(text) => ScriptPart::Text(text.to_string()),
                Piece::Data { arg, place } => {
                    let data = self.at(arg, *place)?;
                    let place = self.judged(arg, &data, *place)?;
                    ScriptPart::Data(data, place)
                }
                Piece::Raw(arg) => ScriptPart::Raw(Secret::new(self.scalar(arg)?.as_str())),
            })
        };
        pieces.iter().map(part).collect()
    }

    /// The place of a value, once what the planner could not see of it is judged.
    fn judged(&self, arg: &Arg, data: &Data, place: Context) -> Result<Context, Trouble> {
        let is_run = self.lets.is_some();
        match (leading(arg), arg, data) {
            (Some(handle), _, _) if is_run => {
                fits(data, place, handle)?;
                Ok(place)
            }
            (None, Arg::Array(args), Data::Array(items)) if is_run && is_open(arg) => {
                let items: Vec<(Context, Data)> = args
                    .iter()
                    .zip(items)
                    .map(|(arg, item)| (known(arg, place), item.clone()))
                    .collect();
                let name = args.iter().find_map(leading).map(|it| written(&it.name, &it.access));
                let name = name.unwrap_or_else(|| "let".to_owned());
                match admit_list(place, &items) {
                    Ok(_) => Ok(place.constant()),
                    Err(refusal) => Err(refused(&refusal, &name, &format!("@{name}"))),
                }
            }
            (None, Arg::Array(args), _) if args.iter().any(|arg| matches!(arg, Arg::Const(_))) => {
                Ok(place.constant())
            }
            (Some(_), ..) => Ok(place.dash(true)),
            _ => Ok(known(arg, place)),
        }
    }
}

/// What was known to the planner it has judged, by where it came from.
fn known(arg: &Arg, place: Context) -> Context {
    match (leading(arg), arg) {
        (Some(_), _) => place,
        (None, Arg::Const(_)) => place.constant(),
        _ => place.dash(true),
    }
}

fn leaves(data: &Data, texts: &mut Vec<Secret>) {
    match data {
        Data::Text(text) => texts.push(text.clone()),
        Data::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Data::Map(fields) => fields.values().for_each(|item| leaves(item, texts)),
        _ => {}
    }
}

fn handle(arg: &Arg) -> Option<&Handle> {
    match arg {
        Arg::Handle(handle) => Some(handle),
        _ => None,
    }
}

/// The run-time value that the text of an argument begins with.
fn leading(arg: &Arg) -> Option<&Handle> {
    match arg {
        Arg::Text(pieces) => match pieces.first()? {
            Piece::Data { arg, .. } => leading(arg),
            Piece::Text(_) | Piece::Raw(_) => None,
        },
        arg => handle(arg),
    }
}

/// Whether any run-time value is in it.
pub(crate) fn is_open(arg: &Arg) -> bool {
    match arg {
        Arg::Handle(_) => true,
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Data { arg, .. } | Piece::Raw(arg) => is_open(arg),
        }),
        Arg::Array(items) => items.iter().any(is_open),
        Arg::Map(fields) => fields.values().any(is_open),
        Arg::Const(_) | Arg::Value(_) | Arg::Deferred(_) => false,
    }
}

/// The rule for a value in shell text, for one that the planner could not see.
fn fits(data: &Data, place: Context, handle: &Handle) -> Result<(), Trouble> {
    let name = written(&handle.name, &handle.access);
    let whole = written(&handle.name, &[]);
    match admit(place, data) {
        Ok(_) => Ok(()),
        Err(Refusal::Null | Refusal::Collection(_) | Refusal::Nul) => in_text(data, handle),
        Err(Refusal::LeadingDash) => {
            let mut trouble = refused(&Refusal::LeadingDash, &name, &format!("@{name}"));
            trouble.help[0] = format!("put `--` before it: `rm -- @{name}`").into();
            trouble.help[1] = format!(
                "if it is meant to be an option, write `@{whole}(dash=true){}`",
                &name[whole.len()..]
            )
            .into();
            Err(trouble)
        }
        Err(refusal) => Err(refused(&refusal, &name, &format!("@{name}"))),
    }
}

fn in_text(data: &Data, handle: &Handle) -> Result<(), Trouble> {
    let name = || written(&handle.name, &handle.access);
    let (message, help) = match data {
        Data::Null => (
            format!("FieldAccessError: `{}` is null, which has no text", name()),
            "the command printed `null` there, not a value",
        ),
        Data::Array(_) | Data::Map(_) => {
            let kind = data.type_of().with_article();
            let message = format!("`{}` is {kind}, which has no single form inside text", name());
            (message, "name one of its parts: `.FIELD`, `[0]`")
        }
        Data::Text(text) if text.expose().contains('\0') => (
            format!("`{}` contains a NUL character, which no command accepts", name()),
            "remove it, or pass the data in a file",
        ),
        _ => return Ok(()),
    };
    Err(Trouble::new(TroubleKind::Invalid, message, help))
}
