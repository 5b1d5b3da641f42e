//! Arrays, maps, parentheses, and lists that went wrong.
//!
//! A list that is not closed must not take the rest of the file with it. A line belongs to a list
//! as long as it is indented deeper than the line the list began on; what cannot be read is passed
//! over up to a comma or the end of its line.

use opal_core::{Code, Span};

use super::expressions::{atom, expression, statement_begins};
use crate::kind::SyntaxKind::{self, *};
use crate::parser::{Completed, MAX_DEPTH, Parser};

// test parens
// var a = (1 + 2) * 3
// var b = (1 +
//     2)
// var c = (1 2)
// var d = (1
// var e = ()
// echo good
pub(crate) fn paren(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let open = p.span();
    p.bump();
    if enter(p) {
        expression(p);
        leave(p);
        close(p, open, RParen);
    }
    p.complete(marker, Paren)
}

// test arrays
// var a = []
// var b = [1, 2,]
// var c = [
//     1, // one
//     2
// ]
// var d = [1 2, 3]
// var e = [1,, 2]
// var f = [1, 2
// var g = [1, 2)
// var h = [
//     1
//     2 3
//     4
// ]
// echo good
pub(crate) fn array(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let open = p.span();
    p.bump();
    elements(p, open, RBracket, expression);
    p.complete(marker, Array)
}

// test maps
// var m = {a: 1, "b c": [1, 2,], d: {}, 'e': x}
// var n = {a 1, b: 2}
// var o = {1: 2, b: 2}
// var p = {a: , b: 2}
// var q = {
//     a: 1
//     b 2
//     c: 3
// }
// var r = {a: 1
// echo good
pub(crate) fn map(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let open = p.span();
    p.bump();
    elements(p, open, RBrace, entry);
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
            p.expected("a key")
                .help
                .push("write an entry as `key: value` or `\"key\": value`".into());
            let _ = p.complete(marker, MapEntry);
            skip_to_comma(p);
            return;
        }
    }
    if p.eat(Colon) {
        expression(p);
    } else {
        p.expected("`:` and a value").help.push("write an entry as `key: value`".into());
    }
    let _ = p.complete(marker, MapEntry);
}

/// Elements with commas between them, and the bracket that ends them; its opener, `open`, was taken.
pub(crate) fn elements<'s>(
    p: &mut Parser<'s>,
    open: Span,
    closer: SyntaxKind,
    mut element: impl FnMut(&mut Parser<'s>),
) {
    if !enter(p) {
        return;
    }
    loop {
        let before = p.previous();
        if matches!(p.peek(), Eof) || p.peek() == closer {
            break;
        }
        element(p);
        if p.previous() == before {
            // Nothing that could be an element: it was said, and the list goes on after it.
            if p.on_new_line() && belongs(p, open) && !is_closing(p.peek()) {
                p.bump();
            }
            if skip_to_comma(p) && p.eat(Comma) {
                continue;
            }
        }
        if !separator(p, open, closer) {
            break;
        }
    }
    leave(p);
    close(p, open, closer);
}

/// Steps into a bracket; false, with the bracket passed over, where it would be too deep.
pub(crate) fn enter(p: &mut Parser<'_>) -> bool {
    p.brackets += 1;
    p.depth += 1;
    if p.depth <= MAX_DEPTH {
        return true;
    }
    let span = p.previous();
    p.error(Code::TooDeep, span, format!("brackets are nested deeper than {MAX_DEPTH} levels"))
        .help
        .push("give the inner part a name with `var`".into());
    let errors = p.lexer.errors.len();
    skip_bracket(p);
    // What was passed over is not worth another complaint.
    p.lexer.errors.truncate(errors);
    leave(p);
    false
}

/// Passes over everything up to the end of a bracket whose opener was taken.
fn skip_bracket(p: &mut Parser<'_>) {
    let mut open = 1u32;
    p.brackets += 1;
    while open > 0 {
        match p.peek() {
            Eof | StringClose | ShellText | StringText => break,
            LParen | LBracket | LBrace => open += 1,
            RParen | RBracket | RBrace => open -= 1,
            _ => {}
        }
        p.bump();
    }
    p.brackets -= 1;
}

pub(crate) fn leave(p: &mut Parser<'_>) {
    p.brackets -= 1;
    p.depth -= 1;
}

/// A comma between two elements; false where the list cannot go on.
fn separator(p: &mut Parser<'_>, open: Span, close: SyntaxKind) -> bool {
    if p.eat(Comma) {
        return true;
    }
    if p.broken_string || p.peek() == close || p.peek() == Eof {
        return false;
    }
    if !p.on_new_line() {
        let error = p.expected(&format!("`,` or {}", close.describe()));
        error
            .help
            .push(format!("separate elements with commas; {} ends the list", close.describe()));
        if skip_to_comma(p) {
            return p.eat(Comma);
        }
        if p.peek() == close || !p.on_new_line() {
            return false;
        }
    }
    let belongs = belongs(p, open) && !is_closing(p.peek());
    if belongs {
        let end = Span::at(p.previous().end);
        let message = format!("expected `,` or {}, found the end of the line", close.describe());
        let error = p.error(Code::Syntax, end, message);
        *error = error.clone().fix("add a comma", end, ",");
        error.help.push("separate elements with commas, also at the end of a line".into());
    }
    belongs
}

/// Whether the line that the next token begins is still one of the list's.
fn belongs(p: &mut Parser<'_>, open: Span) -> bool {
    p.lexer.is_deeper(p.span().start as usize, open.start as usize)
        && !(p.peek() == Ident && statement_begins(p))
}

fn is_closing(kind: SyntaxKind) -> bool {
    matches!(kind, RParen | RBracket | RBrace)
}

/// The bracket that closes the one at `open`; says so where there is none, and recovers.
pub(crate) fn close(p: &mut Parser<'_>, open: Span, close: SyntaxKind) {
    if p.eat(close) {
        return;
    }
    if p.broken_string && !p.fenced {
        // Its bracket is in the text of the string; a block may still follow.
        return p.step_back();
    }
    let closer = close.describe();
    if p.on_new_line() || p.peek() == Eof {
        let end = Span::at(p.previous().end);
        let found = if p.peek() == Eof { Eof } else { Newline };
        let message = format!("expected {closer}, found {}", found.describe());
        let error = p.error(Code::Syntax, end, message);
        *error = error.clone().also(open, "opened here");
        error.help.push(format!("close the bracket with {closer}"));
    } else {
        let error = p.expected(closer);
        *error = error.clone().also(open, "opened here");
        error.help.push(format!("close the bracket with {closer}"));
    }
    if p.fenced {
        // The lexer has read on after this bracket; what it read must stay.
        skip_bracket(p);
        return;
    }
    p.step_back();
    if p.head {
        p.recover_head();
    } else {
        p.recover();
    }
}

/// Passes over what cannot be read, up to a comma; false at a closing bracket, at the block of a
/// construct or at the end of the line.
pub(crate) fn skip_to_comma(p: &mut Parser<'_>) -> bool {
    let mut open = 0u32;
    loop {
        let kind = p.peek();
        if kind == Eof || p.on_new_line() {
            return false;
        }
        match kind {
            Comma if open == 0 => return true,
            LBrace if p.head || p.is_last_on_line() => return false,
            LParen | LBracket | LBrace => open += 1,
            RParen | RBracket | RBrace if open == 0 => return false,
            RParen | RBracket | RBrace => open -= 1,
            ShellText | StringText | StringClose => return false,
            _ => {}
        }
        p.bump();
    }
}
