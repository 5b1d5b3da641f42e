//! `.field`, `[index]`, `.*`.

use opal_core::{Code, suggest};

use super::{OpError, operate};
use crate::plan::datum::{Datum, Fields, Plain, inherit};
use crate::plan::scoped::FieldName;
use crate::unit::no_field;

pub(crate) fn field(base: &Datum, field: &FieldName) -> Result<Datum, OpError> {
    let name = &*field.name;
    let own = |plain: &Plain| -> Result<Datum, OpError> {
        let plain = match plain {
            Plain::Map(fields) if fields.items.contains_key(name) => {
                return Ok(fields.items[name].clone());
            }
            Plain::Text(text) if name == "length" => Plain::Int(text.characters() as i64),
            Plain::Array(list) if name == "length" => Plain::Int(list.items.len() as i64),
            Plain::Map(fields) if name == "length" => Plain::Int(fields.items.len() as i64),
            Plain::Array(list) => return element(&list.items, name.parse().ok(), base, name),
            Plain::Map(fields) => return Err(no_key(base, name, fields)),
            _ => {
                let message = format!("{} has no field `{name}`", base.type_of().with_article());
                let help = no_field(name, field.of.as_deref());
                return Err(OpError::new(Code::UnknownField, message, help));
            }
        };
        Ok(Datum::constant(plain))
    };
    let symbol = || match &base.plain {
        // `.0` and `[0]` are one element, under one name.
        Plain::Array(_) if name != "length" => format!("{}[{name}]", base.symbol()),
        _ => format!("{}.{name}", base.symbol()),
    };
    let found = part(base, symbol, own)?;
    Ok(match &base.plain {
        Plain::Map(fields) if fields.items.contains_key(name) => found.part_of(base, Some(name)),
        Plain::Array(_) if name != "length" => found.part_of(base, None),
        _ => found,
    })
}

pub(crate) fn index(base: &Datum, at: &Datum) -> Result<Datum, OpError> {
    let own = |plain: &Plain| match (plain, &at.plain) {
        (Plain::Array(list), Plain::Int(index)) => {
            element(&list.items, Some(*index), base, &at.symbol())
        }
        (Plain::Map(fields), Plain::Text(key)) => match fields.items.get(key.expose()) {
            Some(item) => Ok(item.clone()),
            None if at.is_tainted() => Err(no_key(base, &at.symbol(), fields)),
            None => Err(no_key(base, key.expose(), fields)),
        },
        _ => {
            let (base, at) = (base.type_of(), at.type_of());
            let message =
                format!("{} is not indexed by {}", base.with_article(), at.with_article());
            let help = "index an Array by an Int, from 0, and a Map by a String";
            Err(OpError::new(Code::WrongType, message, help))
        }
    };
    let symbol = || format!("{}[{}]", base.symbol(), at.symbol());
    if at.open().is_some() {
        return operate(&[base, at], symbol, || Ok(Plain::Null));
    }
    let found = part(base, symbol, own)?;
    let found = match &at.plain {
        Plain::Text(key) => found.part_of(base, Some(key.expose())),
        _ => found.part_of(base, None),
    };
    if !at.is_tainted() {
        return Ok(found);
    }
    // Which element it is came from the world as well.
    operate(&[&found, at], symbol, || Ok(found.plain.clone()))
}

/// `.*`: all items, as they are.
pub(crate) fn all(base: &Datum) -> Result<Datum, OpError> {
    match &base.plain {
        Plain::Array(_) | Plain::Open(_) | Plain::Handle(_) => Ok(base.clone()),
        Plain::Map(fields) => {
            let items = Datum::array(fields.items.values().cloned().collect())?;
            let taint = base
                .taint
                .as_ref()
                .and_then(|_| inherit(&[base], || format!("{}.*", base.symbol())));
            Ok(Datum::new(items, taint).within(base))
        }
        _ => {
            let message = format!("{} has no elements", base.type_of().with_article());
            Err(OpError::new(Code::UnknownField, message, "use the value itself"))
        }
    }
}

/// The elements of a list from the world, each known by its place.
pub(super) fn elements(base: &Datum) -> Result<Vec<Datum>, OpError> {
    let Plain::Array(list) = &base.plain else { return Ok(Vec::new()) };
    let element = |(at, item): (usize, &Datum)| {
        let symbol = || format!("{}[{at}]", base.symbol());
        let item = operate(&[base], symbol, || Ok(item.plain.clone()))?;
        Ok(item.part_of(base, None))
    };
    list.items.iter().enumerate().map(element).collect()
}

/// A part of a value: known by its place in what was read, or by itself where it is alone.
fn part(
    base: &Datum,
    symbol: impl FnOnce() -> String,
    own: impl FnOnce(&Plain) -> Result<Datum, OpError>,
) -> Result<Datum, OpError> {
    if let Plain::Handle(_) | Plain::Joined(_) = base.plain {
        return operate(&[base], symbol, || Ok(Plain::Null));
    }
    match (&base.plain, &base.taint) {
        (Plain::Open(_), _) => operate(&[base], symbol, || Ok(Plain::Null)),
        (plain, Some(_)) => {
            let found = own(plain)?;
            operate(&[base], symbol, || Ok(found.plain))
        }
        (plain, None) => Ok(own(plain)?.within(base)),
    }
}

fn element(items: &[Datum], at: Option<i64>, base: &Datum, shown: &str) -> Result<Datum, OpError> {
    let found = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| items.get(at));
    found.cloned().ok_or_else(|| {
        let message = format!("`{}` has no element `{shown}`", base.symbol());
        let help = match items.len() {
            0 => "it is empty".to_owned(),
            1 => "it has one element, `[0]`".to_owned(),
            count => format!("it has {count} elements, from `[0]` to `[{}]`", count - 1),
        };
        OpError::new(Code::NoSuchElement, message, help)
    })
}

/// What exists is said only of maps that are not from the world: their keys may be secret too.
fn no_key(base: &Datum, name: &str, fields: &Fields) -> OpError {
    let keys = fields.items.keys().map(AsRef::as_ref);
    let help = match suggest::nearest(name, keys.clone()) {
        _ if base.taint.is_some() => {
            "use a key that it has: `[\"KEY\"]`; print it once to see its keys".to_owned()
        }
        Some(near) => format!("did you mean `{near}`?"),
        None => opal_core::parameter::expected(keys),
    };
    OpError::new(Code::NoSuchElement, format!("unknown key `{name}`"), help)
}
