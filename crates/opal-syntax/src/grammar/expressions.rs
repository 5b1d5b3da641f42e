//! Expressions: literals, strings, collections, operators.

use opal_core::duration::DurationError;
use opal_core::{Code, Span};

use super::{MAX_DEPTH, references};
use crate::kind::SyntaxKind::{self, *};
use crate::parser::{Completed, Parser};

/// Binding strength; higher binds tighter. The range stands above the comparisons.
fn strength(kind: SyntaxKind) -> u8 {
    match kind {
        OrOr => 1,
        AndAnd => 2,
        EqEq | Ne => 3,
        Lt | Le | Gt | Ge => 4,
        Ellipsis | DotDot => 5,
        Plus | Minus => 6,
        Star | Slash | Percent => 7,
        _ => 0,
    }
}

// test precedence
// var x = 1 + 2 * 3 == 7 && !a || -b < 2
// test ranges
// var r = 1...5
// test collections
// var m = {a: 1, "b c": [1, 2,], d: {}}
// test operator_at_line_end
// var x = 1 +
//     2
pub(crate) fn expression(p: &mut Parser<'_>) {
    binary(p, 1);
}

/// A literal or a range of literals.
pub(crate) fn pattern(p: &mut Parser<'_>) {
    binary(p, strength(Ellipsis));
}

fn binary(p: &mut Parser<'_>, floor: u8) {
    let Some(mut left) = unary(p) else { return };
    loop {
        let operator = p.peek();
        let strength = strength(operator);
        if strength < floor || strength == 0 {
            return;
        }
        if operator == DotDot {
            let span = p.span();
            let error = p.error(Code::TwoDotRange, span, "a range is written with three dots");
            *error = error.clone().fix("write `...`", span, "...");
            error.help.push("`1...5` holds 1, 2, 3, 4 and 5".into());
        }
        let marker = p.precede(left);
        p.bump();
        p.pass_newlines();
        binary(p, strength + 1);
        left = p.complete(marker, Binary);
    }
}

/// Any number of `!` and `-`, then an operand. A loop, because ten thousand of them may come.
fn unary(p: &mut Parser<'_>) -> Option<Completed> {
    let mut markers = Vec::new();
    while matches!(p.peek(), Bang | Minus | MinusMinus) {
        if p.peek() == MinusMinus {
            p.expected("a value").help.push("`--` stands alone behind a name: `n--`".into());
        }
        markers.push(p.start());
        p.bump();
    }
    let negative = !markers.is_empty();
    let mut operand = operand(p, negative);
    for marker in markers.into_iter().rev() {
        operand = Some(p.complete(marker, Unary));
    }
    operand
}

fn operand(p: &mut Parser<'_>, negative: bool) -> Option<Completed> {
    let left = match p.peek() {
        Int if negative => literal(p, true),
        _ => atom(p)?,
    };
    if p.is_adjacent(Dot) || p.is_adjacent(LBracket) || p.is_adjacent(DotStar) {
        let marker = p.precede(left);
        references::accesses(p);
        return Some(p.complete(marker, Access));
    }
    Some(left)
}

pub(crate) fn atom(p: &mut Parser<'_>) -> Option<Completed> {
    Some(match p.peek() {
        Int | Float | Duration | RawString | Regex => literal(p, false),
        StringOpen => string(p),
        Ident => name(p),
        RefPath => references::reference(p),
        LParen => paren(p),
        LBracket => array(p),
        LBrace if !(p.head && p.brackets == 0) => map(p),
        found => {
            let brace = found == LBrace;
            let error = p.expected("a value");
            if brace {
                error.help.push("a map in the head of a construct stands in parentheses".into());
            }
            return None;
        }
    })
}

fn literal(p: &mut Parser<'_>, negative: bool) -> Completed {
    let marker = p.start();
    let (kind, span, text) = (p.peek(), p.span(), p.token_text());
    match kind {
        Int => check_int(p, span, text, negative),
        Duration => check_duration(p, span, text),
        _ => {}
    }
    p.bump();
    p.complete(marker, Literal)
}

fn check_int(p: &mut Parser<'_>, span: Span, text: &str, negative: bool) {
    let limit = i64::MAX as u64 + u64::from(negative);
    if text.parse::<u64>().is_ok_and(|value| value <= limit) {
        return;
    }
    p.error(Code::BadNumber, span, format!("`{text}` does not fit into 64 bits"))
        .help
        .push("the largest Int is 9223372036854775807".into());
}

fn check_duration(p: &mut Parser<'_>, span: Span, text: &str) {
    let Err(problem) = opal_core::Duration::parse(text) else { return };
    let tail = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number =
        tail.starts_with('_') || (text.starts_with('0') && tail.starts_with(['x', 'b', 'o']));
    if number {
        p.error(Code::BadNumber, span, format!("`{text}` is no number"))
            .help
            .push("numbers are written in decimal digits, without `_`".into());
        return;
    }
    let error = p.error(Code::BadDuration, span, format!("`{text}` is no duration: {problem}"));
    error.help.push(match problem {
        DurationError::Fraction => "use a smaller unit: `1h30m`, `1500ms`".into(),
        DurationError::Order => "for example `1h30m`".into(),
        _ => "units are y w d h m s ms us ns, as in `1h30m`".into(),
    });
}

fn name(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let literal = matches!(p.token_text(), "true" | "false" | "null");
    p.bump();
    if literal {
        return p.complete(marker, Literal);
    }
    if p.is_adjacent(LParen) {
        references::arguments(p);
        return p.complete(marker, FnCall);
    }
    p.complete(marker, Name)
}

/// Text, escapes and references up to the closing quote; the lexer has read all of it.
fn string(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    loop {
        match p.raw() {
            Some(StringText | Escape | AtWord) => p.bump(),
            Some(RefPath) => {
                let _ = references::reference(p);
            }
            Some(StringClose) => {
                p.bump();
                break;
            }
            // The lexer has said that the string has no end.
            _ => break,
        }
    }
    p.complete(marker, Str)
}

fn paren(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    if enter(p) {
        expression(p);
        leave(p);
        if !p.eat(RParen) {
            unclosed(p, "`)`");
        }
    }
    p.complete(marker, Paren)
}

fn array(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    if enter(p) {
        while !matches!(p.peek(), RBracket | Eof) {
            expression(p);
            if !separator(p, RBracket) {
                break;
            }
        }
        leave(p);
        if !p.eat(RBracket) {
            unclosed(p, "`]`");
        }
    }
    p.complete(marker, Array)
}

fn map(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    if enter(p) {
        while !matches!(p.peek(), RBrace | Eof) {
            entry(p);
            if !separator(p, RBrace) {
                break;
            }
        }
        leave(p);
        if !p.eat(RBrace) {
            unclosed(p, "`}`");
        }
    }
    p.complete(marker, Map)
}

fn entry(p: &mut Parser<'_>) {
    let marker = p.start();
    match p.peek() {
        Ident => p.bump(),
        StringOpen | RawString => {
            let _ = atom(p);
        }
        _ => {
            p.expected("a key").help.push("an entry is `key: value` or `\"key\": value`".into());
            let _ = p.complete(marker, MapEntry);
            skip_to_comma(p);
            return;
        }
    }
    if p.eat(Colon) {
        expression(p);
    } else {
        p.expected("`:` and a value").help.push("an entry is `key: value`".into());
    }
    let _ = p.complete(marker, MapEntry);
}

/// Steps into a bracket; false, with the bracket passed over, where it would be too deep.
pub(crate) fn enter(p: &mut Parser<'_>) -> bool {
    p.brackets += 1;
    p.depth += 1;
    if p.depth <= MAX_DEPTH {
        return true;
    }
    let span = p.previous();
    p.error(Code::TooDeep, span, format!("brackets nest deeper than {MAX_DEPTH} levels"))
        .help
        .push("give the inner part a name with `var`".into());
    let mut open = 1u32;
    while open > 0 {
        match p.peek() {
            Eof => break,
            LParen | LBracket | LBrace => open += 1,
            RParen | RBracket | RBrace => open -= 1,
            _ => {}
        }
        p.bump();
    }
    leave(p);
    false
}

pub(crate) fn leave(p: &mut Parser<'_>) {
    p.brackets -= 1;
    p.depth -= 1;
}

/// A comma between two elements; false where the list cannot go on.
pub(crate) fn separator(p: &mut Parser<'_>, close: SyntaxKind) -> bool {
    if p.eat(Comma) {
        return true;
    }
    if p.peek() == close || p.peek() == Eof || p.on_new_line() {
        return false;
    }
    p.expected(&format!("`,` or {}", close.describe()));
    skip_to_comma(p) && p.eat(Comma)
}

/// Says that a bracket is open at the end of its list.
pub(crate) fn unclosed(p: &mut Parser<'_>, closer: &str) {
    p.expected(&format!("`,` or {closer}")).help.push(format!("close the bracket with {closer}"));
    p.recover();
}

/// Passes over what cannot be read, up to a comma; false at a closing bracket or a new line.
pub(crate) fn skip_to_comma(p: &mut Parser<'_>) -> bool {
    let mut open = 0u32;
    loop {
        match p.peek() {
            Eof => return false,
            Comma if open == 0 => return true,
            LParen | LBracket | LBrace => open += 1,
            RParen | RBracket | RBrace if open == 0 => return false,
            RParen | RBracket | RBrace => open -= 1,
            _ if open == 0 && p.on_new_line() => return false,
            _ => {}
        }
        p.bump();
    }
}
