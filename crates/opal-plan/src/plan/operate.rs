//! What operators, functions and accesses give. Pure: values in, a value or the reason out.

mod access;
mod compare;
mod functions;

use opal_core::resolver::MAX_VALUE_BYTES;
use opal_core::{Code, Duration};

pub(crate) use access::{all, field, index};
pub(crate) use compare::same;
pub(crate) use functions::builtin;

use super::datum::{Datum, Plain, TooLarge, begin_as, inherit};
use super::scoped::{Expr, ExprKind};
use crate::unit::{BinaryOp, UnaryOp};

/// Why there is no value.
#[derive(Debug)]
pub(crate) struct OpError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl OpError {
    pub(crate) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }
}

/// The words of a diagnostic, for another place.
impl From<opal_core::Diagnostic> for OpError {
    fn from(found: opal_core::Diagnostic) -> Self {
        Self { code: found.code, message: found.message, help: found.help.join("; ") }
    }
}

impl From<TooLarge> for OpError {
    fn from(_: TooLarge) -> Self {
        let message = "this collection would exceed 1,000,000 values, 32 MiB or 64 levels";
        Self::new(Code::ValueTooLarge, message, "build it from fewer values")
    }
}

/// A value from `operands`: unknown where one of them is, tainted by all of them.
fn operate(
    operands: &[&Datum],
    symbol: impl FnOnce() -> String,
    compute: impl FnOnce() -> Result<Plain, OpError>,
) -> Result<Datum, OpError> {
    refuse_handles(operands)?;
    let open = operands.iter().filter_map(|operand| operand.open()).max();
    let plain = match open {
        Some(open) => Plain::Open(open),
        None => compute()?,
    };
    Ok(Datum::new(plain, inherit(operands, symbol)).given_by(operands))
}

fn handle_of(datum: &Datum) -> Option<String> {
    if !datum.is_runtime() {
        return None;
    }
    match &datum.plain {
        Plain::Array(list) | Plain::Joined(list) => list.items.iter().find_map(handle_of),
        Plain::Map(fields) => fields.items.values().find_map(handle_of),
        _ => Some(datum.symbol()),
    }
}

/// A run-time value where the plan is made.
pub(crate) fn refuse_handles(operands: &[&Datum]) -> Result<(), OpError> {
    match operands.iter().find_map(|operand| handle_of(operand)) {
        None => Ok(()),
        Some(handle) => Err(OpError::new(
            Code::LetAtPlanTime,
            format!("`{handle}` is known only after its step has run, but this is computed before"),
            "use it as it is, or inside a string: `\"… @let.NAME …\"`",
        )),
    }
}

pub(crate) fn unary(op: UnaryOp, operand: &Datum) -> Result<Datum, OpError> {
    let sign = if op == UnaryOp::Not { "!" } else { "-" };
    let symbol = || format!("{sign}{}", operand.symbol());
    operate(&[operand], symbol, || match (op, &operand.plain) {
        (UnaryOp::Not, Plain::Bool(value)) => Ok(Plain::Bool(!value)),
        (UnaryOp::Negate, Plain::Int(value)) => {
            value.checked_neg().map(Plain::Int).ok_or_else(overflow)
        }
        (UnaryOp::Negate, Plain::Float(value)) => Ok(Plain::Float(-value)),
        (UnaryOp::Negate, Plain::Duration(value)) => {
            let nanos = value.as_nanos().checked_neg().ok_or_else(overflow)?;
            Ok(Plain::Duration(Duration::from_nanos(nanos)))
        }
        (UnaryOp::Not, _) => Err(OpError::new(
            Code::ConditionNotBool,
            format!("{} is not true or false", operand.type_of().with_article()),
            "compare it with `==` or `!=`",
        )),
        (UnaryOp::Negate, _) => Err(OpError::new(
            Code::OperandTypes,
            format!("{} has no negative", operand.type_of().with_article()),
            "convert it first: `-int(…)`",
        )),
    })
}

pub(crate) fn binary(op: BinaryOp, left: &Datum, right: &Datum) -> Result<Datum, OpError> {
    let symbol = || format!("({} {} {})", left.symbol(), op.symbol(), right.symbol());
    if let (BinaryOp::Add, Plain::Array(_), Plain::Array(_)) = (op, &left.plain, &right.plain) {
        return concatenated(left, right);
    }
    let mut result = operate(&[left, right], symbol, || match op {
        BinaryOp::Equal => same(left, right).map(Plain::Bool),
        BinaryOp::NotEqual => same(left, right).map(|same| Plain::Bool(!same)),
        BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
            compare::ordered(op, left, right)
        }
        BinaryOp::Range => range(left, right),
        BinaryOp::And | BinaryOp::Or => match (&left.plain, &right.plain) {
            (Plain::Bool(left), Plain::Bool(right)) => {
                Ok(Plain::Bool(if op == BinaryOp::And { *left && *right } else { *left || *right }))
            }
            _ => Err(mismatch(op, left, right)),
        },
        _ => arithmetic(op, left, right),
    })?;
    if op == BinaryOp::Add {
        begin_as(&mut result, &[left, right]);
    }
    if let (BinaryOp::Add, Plain::Text(_)) = (op, &result.plain)
        && let Some(taint) = result.taint.as_mut().and_then(std::rc::Rc::get_mut)
    {
        taint.join = super::datum::joints(&[left, right]);
    }
    Ok(result)
}

/// The elements of both lists. Each keeps where it came from, so that a constant stays one.
fn concatenated(left: &Datum, right: &Datum) -> Result<Datum, OpError> {
    let mut items = elements(left)?;
    items.extend(elements(right)?);
    Ok(Datum::constant(Datum::array(items)?))
}

/// The elements of a list; those of one that was read as a whole are known by their index.
pub(crate) fn elements(list: &Datum) -> Result<Vec<Datum>, OpError> {
    match &list.plain {
        Plain::Array(_) if list.taint.is_some() => access::elements(list),
        Plain::Array(array) => {
            Ok(array.items.iter().map(|item| item.clone().within(list)).collect())
        }
        _ => {
            let message = format!("{} has no elements", list.type_of().with_article());
            Err(OpError::new(Code::UnknownField, message, "use the value itself"))
        }
    }
}

fn arithmetic(op: BinaryOp, left: &Datum, right: &Datum) -> Result<Plain, OpError> {
    match (&left.plain, &right.plain) {
        (Plain::Int(left), Plain::Int(right)) => int(op, *left, *right).map(Plain::Int),
        (Plain::Int(left), Plain::Float(right)) => float(op, *left as f64, *right),
        (Plain::Float(left), Plain::Int(right)) => float(op, *left, *right as f64),
        (Plain::Float(left), Plain::Float(right)) => float(op, *left, *right),
        (Plain::Text(left), Plain::Text(right)) if op == BinaryOp::Add => {
            text([left.expose(), right.expose()].into_iter())
        }
        (Plain::Duration(left), Plain::Duration(right))
            if matches!(op, BinaryOp::Add | BinaryOp::Subtract) =>
        {
            duration(op, left.as_nanos(), right.as_nanos())
        }
        (Plain::Duration(left), Plain::Int(right)) if op == BinaryOp::Multiply => {
            duration(op, left.as_nanos(), *right)
        }
        (Plain::Int(left), Plain::Duration(right)) if op == BinaryOp::Multiply => {
            duration(op, *left, right.as_nanos())
        }
        _ => Err(mismatch(op, left, right)),
    }
}

fn int(op: BinaryOp, left: i64, right: i64) -> Result<i64, OpError> {
    if right == 0 && matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
        let help = "guard it: `if divisor != 0 { … }`";
        return Err(OpError::new(Code::NoResult, "division by zero", help));
    }
    let result = match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.ok_or_else(overflow)
}

fn float(op: BinaryOp, left: f64, right: f64) -> Result<Plain, OpError> {
    let result = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        _ => left % right,
    };
    if result.is_finite() {
        return Ok(Plain::Float(result));
    }
    let help = "keep the numbers within the range of a Float, and do not divide by zero";
    Err(OpError::new(Code::NoResult, "the result of this computation is not a number", help))
}

fn duration(op: BinaryOp, left: i64, right: i64) -> Result<Plain, OpError> {
    int(op, left, right).map(|nanos| Plain::Duration(Duration::from_nanos(nanos)))
}

fn range(left: &Datum, right: &Datum) -> Result<Plain, OpError> {
    let (Plain::Int(low), Plain::Int(high)) = (&left.plain, &right.plain) else {
        return Err(mismatch(BinaryOp::Range, left, right));
    };
    let count = i128::from(*high) - i128::from(*low) + 1;
    if count > super::datum::MAX_ITEMS as i128 {
        return Err(TooLarge.into());
    }
    let items = (*low..=*high).map(|n| Datum::constant(Plain::Int(n)));
    Ok(Datum::array(items.collect())?)
}

/// Parts of text, one after the other; never longer than a value may be.
fn text<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> Result<Plain, OpError> {
    let length: usize = parts.clone().map(str::len).sum();
    limit(length)?;
    let mut joined = String::with_capacity(length);
    joined.extend(parts);
    Ok(Plain::Text(opal_core::Secret::new(joined)))
}

fn limit(text_bytes: usize) -> Result<(), OpError> {
    if text_bytes as u64 <= MAX_VALUE_BYTES {
        return Ok(());
    }
    let message = "this text would be longer than 8 MiB";
    Err(OpError::new(Code::ValueTooLarge, message, "keep large data in files"))
}

/// The parts of a string with references in it.
pub(crate) fn joined(parts: &[&Datum]) -> Result<Datum, OpError> {
    if parts.iter().any(|part| part.is_runtime()) {
        return around_handles(parts);
    }
    let symbol = || {
        let parts: Vec<String> = parts.iter().map(|part| text_symbol(part)).collect();
        format!("({})", parts.join(" + "))
    };
    let mut whole = operate(parts, symbol, || {
        let texts: Vec<opal_core::wiped::Wiped<String>> =
            parts.iter().map(|part| scalar(part)).collect::<Result<_, _>>()?;
        text(texts.iter().map(|text| text.as_str()))
    })?;
    begin_as(&mut whole, parts);
    if let Some(taint) = whole.taint.as_mut().and_then(std::rc::Rc::get_mut) {
        taint.join = super::datum::joints(parts);
    }
    Ok(whole)
}

/// A string with run-time values in it: a flat row, as long as other text at most.
fn around_handles(parts: &[&Datum]) -> Result<Datum, OpError> {
    let mut row: Vec<Datum> = Vec::new();
    let mut length = 0;
    for part in parts {
        match &part.plain {
            Plain::Joined(inner) => row.extend(inner.items.iter().cloned()),
            Plain::Handle(_) | Plain::Open(_) => row.push((*part).clone()),
            _ => {
                scalar(part)?;
                row.push((*part).clone());
            }
        }
    }
    for part in &row {
        length += scalar(part).map_or(0, |text| text.len());
    }
    limit(length)?;
    Ok(Datum::constant(Datum::joined(row)?))
}

/// Two adjacent numbers are not their sum, so what is not text yet says so.
fn text_symbol(part: &Datum) -> String {
    match part.plain {
        Plain::Text(_) | Plain::Open(_) => part.symbol(),
        _ => format!("str({})", part.symbol()),
    }
}

/// The text of a scalar; collections and null have none.
pub(crate) fn scalar(datum: &Datum) -> Result<opal_core::wiped::Wiped<String>, OpError> {
    match &datum.plain {
        Plain::Null => Err(OpError::new(
            Code::WrongType,
            format!("`{}` is null, which has no text", datum.symbol()),
            "give it a value, or leave the text out with `if`",
        )),
        Plain::Array(_) | Plain::Map(_) => Err(in_text(datum)),
        _ => match datum.to_data() {
            Some(data) => Ok(opal_core::placeholder::scalar_text(&data)),
            None => Err(in_text(datum)),
        },
    }
}

fn in_text(datum: &Datum) -> OpError {
    let message = format!("{} has no single form inside text", datum.type_of().with_article());
    OpError::new(Code::CollectionInText, message, "join it: `join(list, \",\")`")
}

pub(crate) fn mismatch(op: BinaryOp, left: &Datum, right: &Datum) -> OpError {
    let (left, right) = (left.type_of(), right.type_of());
    OpError::new(
        Code::OperandTypes,
        format!(
            "`{}` does not work between {} and {}",
            op.symbol(),
            left.with_article(),
            right.with_article()
        ),
        crate::unit::conversion(op, &left, &right),
    )
}

fn overflow() -> OpError {
    let message = "this number does not fit in 64 bits";
    OpError::new(Code::NoResult, message, "use smaller numbers, or a Float: `float(…)`")
}

/// The value of an expression that is a literal.
pub(crate) fn constant(expr: &Expr) -> Option<Datum> {
    match &expr.kind {
        ExprKind::Const(datum) => Some(datum.clone()),
        ExprKind::Unary(ops, operand) => {
            let operand = constant(operand)?;
            ops.iter().rev().try_fold(operand, |value, op| unary(*op, &value).ok())
        }
        ExprKind::Binary(first, rest) => {
            let first = constant(first)?;
            rest.iter().try_fold(first, |value, (op, _, right)| {
                binary(*op, &value, &constant(right)?).ok()
            })
        }
        _ => None,
    }
}
