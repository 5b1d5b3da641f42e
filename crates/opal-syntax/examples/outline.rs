//! Prints the outline of a source read from standard input, for work on the grammar.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

use std::io::{Read, Write};

use opal_syntax::{parse, tree};

#[path = "../tests/it/support.rs"]
mod support;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let parsed = parse(&text, &support::Words);
    let root = tree::build(&text, &parsed);
    assert_eq!(root.text().to_string(), text, "the tree has the text of the source");
    let mut out = std::io::stdout().lock();
    write!(out, "{}", tree::outline(&root))?;
    for error in &parsed.errors {
        writeln!(out, "{:?} {} {}", error.primary.span, error.code.as_str(), error.message)?;
    }
    Ok(())
}
