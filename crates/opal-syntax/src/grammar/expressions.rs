//! Expressions: literals, strings, collections, operators.

use opal_core::duration::DurationError;
use opal_core::{Code, Span};

use super::brackets::{array, map, paren};
use super::references;
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::{is_blank, is_name_start};
use crate::parser::{Completed, MAX_DEPTH, Parser};

/// How many operators may appear in a row: a reader of the tree nests as deep.
const MAX_OPERATORS: u32 = 1_000;

/// Binding strength; higher binds tighter. The range is above the comparisons.
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

// test values_missing
// var a =
// var b = 1 +
//
// var c = * 2
// var d = !
// var e = --1
// var f = ;
// var g = ^
// test accesses
// var a = m.k.0.*[1]["k"][i + 1]
// var b = f(x).y
// var c = m.
// var d = m[
// var e = m[1
// var f = "s".length
// test precedence
// var x = 1 + 2 * 3 == 7 && !a || -b < 2
// test ranges
// var r = 1...5
// var s = 1..5
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
    for count in 0.. {
        let operator = p.peek();
        let strength = strength(operator);
        if strength < floor || strength == 0 {
            return;
        }
        if operator == DotDot {
            let span = p.span();
            let error = p.error(Code::TwoDotRange, span, "a range needs three dots");
            *error = error.clone().fix("write `...`", span, "...");
            error.help.push("`1...5` contains 1, 2, 3, 4 and 5".into());
        }
        if count == MAX_OPERATORS {
            let span = p.span();
            p.error(Code::TooDeep, span, format!("more than {MAX_OPERATORS} operators in a row"))
                .help
                .push("split the expression with `var`".into());
            return p.recover();
        }
        let marker = p.precede(left);
        p.bump();
        p.pass_newlines();
        binary(p, strength + 1);
        left = p.complete(marker, Binary);
    }
}

/// Some `!` and `-`, then an operand.
fn unary(p: &mut Parser<'_>) -> Option<Completed> {
    let mut markers = Vec::new();
    let mut broken = false;
    while !broken && matches!(p.peek(), Bang | Minus | MinusMinus) {
        let (kind, span) = (p.peek(), p.span());
        if kind == MinusMinus {
            p.expected("a value")
                .help
                .push("write `--` after a name, as a statement: `n--`".into());
            broken = true;
        } else if markers.len() as u32 == MAX_DEPTH {
            p.error(Code::TooDeep, span, format!("more than {MAX_DEPTH} signs in a row"))
                .help
                .push("two of them cancel each other".into());
            broken = true;
        } else {
            markers.push(p.start());
            p.bump();
        }
    }
    let negative = markers.len() == 1 && p.lexer.slice(p.previous()) == "-";
    let mut operand = if broken {
        p.recover();
        None
    } else {
        operand(p, negative)
    };
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
    if matches!(p.adjacent(), Dot | LBracket | DotStar) {
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
        Ident if !statement_begins(p) => name(p),
        RefPath => references::reference(p),
        LParen => paren(p),
        LBracket => array(p),
        LBrace if !(p.head && p.brackets == 0) => map(p),
        found => {
            let help = match found {
                Ident => return no_value_on_line(p),
                LBrace => "it goes before the `{`; put a map in parentheses",
                Newline | Eof => "a value continues on the next line only inside brackets",
                Unknown if matches!(p.token_text(), "$" | "`") => {
                    "read the environment with `@env.NAME`, the output of a command with \
                     `@shell.output(\"…\")`"
                }
                Star => {
                    "write a list as `[\"a\", \"b\"]`; for files, let the shell loop: `( for … )`"
                }
                _ => "a value is a string in quotes, a number, a name, `[…]`, `{…}` or `@path`",
            };
            p.expected("a value").help.push(help.into());
            return None;
        }
    })
}

/// Whether the next line begins a statement: a keyword and its first word are never an expression.
pub(crate) fn statement_begins(p: &mut Parser<'_>) -> bool {
    let keyword = matches!(
        p.token_text(),
        "var" | "fun" | "if" | "for" | "while" | "when" | "try" | "else" | "catch" | "finally"
    );
    if !keyword || !p.on_new_line() {
        return false;
    }
    let rest = &p.lexer.text.as_bytes()[p.span().end as usize..];
    let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
    let next = rest.get(blanks).copied().unwrap_or(0);
    blanks > 0 && (is_name_start(next) || matches!(next, b'@' | b'"' | b'{' | b'('))
}

/// A statement begins where a value should: what is missing is missing on the line before.
fn no_value_on_line(p: &mut Parser<'_>) -> Option<Completed> {
    let end = Span::at(p.previous().end);
    p.error(Code::Syntax, end, "expected a value, found the end of the line")
        .help
        .push("add the value, or delete the text before it".into());
    p.step_back();
    None
}

fn literal(p: &mut Parser<'_>, negative: bool) -> Completed {
    let marker = p.start();
    let (kind, span, text) = (p.peek(), p.span(), p.token_text());
    match kind {
        Int => check_int(p, span, text, negative),
        Float => check_float(p, span, text),
        Duration => check_duration(p, span, text),
        _ => {}
    }
    p.bump();
    p.complete(marker, Literal)
}

// test numbers
// var a = [0, 1.5, 1e9, 1.5e-3, -9223372036854775808, 1h30m, 0s]
// var b = 9223372036854775808
// var c = 1_000
// var d = 0x1f
// var e = 30m1h
// var f = 1.5h
// var g = 3 apples
// var h = 3apples
// var i = [1e999, -1e999, 1e308]
// var j = [!9223372036854775808, - -9223372036854775808, - 9223372036854775808]
fn check_int(p: &mut Parser<'_>, span: Span, text: &str, negative: bool) {
    let limit = i64::MAX as u64 + u64::from(negative);
    if text.parse::<u64>().is_ok_and(|value| value <= limit) {
        return;
    }
    p.error(Code::BadNumber, span, format!("`{text}` does not fit in 64 bits"))
        .help
        .push("the largest Int is 9223372036854775807".into());
}

fn check_float(p: &mut Parser<'_>, span: Span, text: &str) {
    if text.parse::<f64>().is_ok_and(f64::is_finite) {
        return;
    }
    p.error(Code::BadNumber, span, format!("`{text}` does not fit in a Float"))
        .help
        .push("the largest Float is about 1.8e308".into());
}

fn check_duration(p: &mut Parser<'_>, span: Span, text: &str) {
    let Err(problem) = opal_core::Duration::parse(text) else { return };
    let tail = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number =
        tail.starts_with('_') || (text.starts_with('0') && tail.starts_with(['x', 'b', 'o']));
    if number {
        p.error(Code::BadNumber, span, format!("invalid number `{text}`"))
            .help
            .push("write numbers in decimal digits, without `_`".into());
        return;
    }
    let error = p.error(Code::BadDuration, span, format!("invalid duration `{text}`: {problem}"));
    error.help.push(match problem {
        DurationError::Fraction => "use a smaller unit: `1h30m`, `1500ms`".into(),
        DurationError::Order => "for example `1h30m`".into(),
        _ => "the units are y, w, d, h, m, s, ms, us and ns, as in `1h30m`".into(),
    });
}

// test names
// var a = [true, false, null, x, split(s, ","), lines (s)]
fn name(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let literal = matches!(p.token_text(), "true" | "false" | "null");
    p.bump();
    if literal {
        return p.complete(marker, Literal);
    }
    if p.adjacent() == LParen {
        references::arguments(p);
        return p.complete(marker, FnCall);
    }
    p.complete(marker, Name)
}

// test strings
// var a = "a @var.b\n\t\"\\\@ \u{1F600} @file.read("a b").length @file.json"
// var b = 'raw @var.a \n'
// var c = """
//     two
//       lines @var.a
// """
// var d = r"^a\"[0-9]+$"
// var e = "a \q"
// var f = "\u{110000}"
// var g = "\u41"
// var h = "open
// var i = 'open
// var j = r"open
// var k = "@file.read("
// var l = "@file.read(1 2)"
// var m = "@file.read(1 2] x"
// echo good
// test string_over_lines_unclosed
// var a = """
// echo good
/// Text, escapes and references up to the closing quote; the lexer has read all of it.
fn string(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    let outer = std::mem::replace(&mut p.fenced, true);
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
            _ => {
                // The lexer has said that the string has no end.
                p.broken_string = true;
                break;
            }
        }
    }
    p.fenced = outer;
    p.complete(marker, Str)
}
