//! The rules, cut by area. Each writes events; none knows the tree.
//!
//! | area | where |
//! |---|---|
//! | which construct a statement is | `statements` |
//! | blocks, and what may appear around them | `blocks` |
//! | `import` | `imports` |
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
mod imports;
mod references;
mod statements;
mod steps;
mod text_blocks;
mod when;

use opal_core::text::MAX_SOURCE_BYTES;

use crate::event::Event;
use crate::kind::SyntaxKind::File;
use crate::parse::{Parse, Skipped};
use crate::parser::{Level, Parser};
use crate::source;
use crate::tokens::Tokens;
use crate::vocabulary::Vocabulary;

/// Reads a whole source file. Of one that is too large nothing is read.
#[must_use]
pub fn parse(text: &str, vocabulary: &dyn Vocabulary) -> Parse {
    read(text, vocabulary, file)
}

/// Reads `text` as the text of one shell step, as in `@shell("…")`.
#[must_use]
pub fn parse_shell(text: &str, vocabulary: &dyn Vocabulary) -> Parse {
    read(text, vocabulary, shell_text)
}

fn read(text: &str, vocabulary: &dyn Vocabulary, rule: fn(&mut Parser<'_>)) -> Parse {
    if text.len() > MAX_SOURCE_BYTES {
        let events = vec![Event::start(File), Event::FINISH];
        let errors = vec![source::too_large()];
        return Parse { tokens: Tokens::default(), events, errors, skipped: Skipped::default() };
    }
    let mut parser = Parser::new(text, vocabulary, statements::statement);
    rule(&mut parser);
    // What a line of a command declares holds for the lines above it too, which may run again.
    if let Some(attributes) = parser.lexer.late_attributes() {
        parser = Parser::new(text, vocabulary, statements::statement);
        parser.lexer.begin_with(attributes);
        rule(&mut parser);
    }
    parser.finish()
}

fn file(p: &mut Parser<'_>) {
    let marker = p.start();
    p.lexer.prologue();
    p.pass_tokens();
    blocks::statements(p, Level::Top);
    p.pass_tokens();
    let _ = p.complete(marker, File);
}

fn shell_text(p: &mut Parser<'_>) {
    let marker = p.start();
    p.lexer.whole = true;
    steps::shell_literal(p);
    let _ = p.complete(marker, File);
}
