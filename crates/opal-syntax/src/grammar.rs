//! The rules, cut by area. Each writes events; none knows the tree.
//!
//! | area | where |
//! |---|---|
//! | which construct a statement is | `statements` |
//! | blocks, and what may stand around them | `blocks` |
//! | `fun`, labels, parameters, types | `functions` |
//! | `var`, assignment, `let` | `bindings` |
//! | `if`, `for`, `while`, `try` | `control` |
//! | `when` | `when` |
//! | shell steps, decorator calls | `steps` |
//! | operators between calls and steps | `chains` |
//! | references, arguments, fields and indices | `references` |
//! | operators, literals, strings | `expressions` |
//! | arrays, maps, parentheses, and lists that went wrong | `brackets` |
//! | what other languages write | `foreign` |
//!
//! A comment that begins with `test NAME` beside a rule is a test: its text is parsed, and its
//! outline compared with `test_data/grammar/NAME.txt`.

mod bindings;
mod blocks;
mod brackets;
mod chains;
mod control;
mod expressions;
mod foreign;
mod functions;
mod references;
mod statements;
mod steps;
mod when;

use crate::kind::SyntaxKind::File;
use crate::parser::Parser;

/// How deep blocks and brackets may nest.
pub(crate) const MAX_DEPTH: u32 = 64;

pub(crate) fn file(p: &mut Parser<'_>) {
    let marker = p.start();
    p.lexer.prologue();
    p.pass_tokens();
    statements::statements(p, statements::Level::Top);
    p.pass_tokens();
    let _ = p.complete(marker, File);
}

pub(crate) fn shell_text(p: &mut Parser<'_>) {
    let marker = p.start();
    p.lexer.whole = true;
    steps::shell_literal(p);
    let _ = p.complete(marker, File);
}
