//! The cases next to the rules, as comments: `// test NAME` and the source below it.

use std::fmt::Write as _;
use std::path::Path;

use opal_core::LineIndex;
use opal_syntax::cursor::Item;
use opal_syntax::{Parse, SyntaxKind, parse, tree};

use opal_testing::expect::Differences;

use crate::properties;
use crate::support::Words;
use crate::test_data;

struct Case {
    name: String,
    source: String,
}

/// Every case in the files below `folder`.
fn cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(&std::fs::read_to_string(file).unwrap())).collect()
}

fn cases_of(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim_start();
        let comment = line.strip_prefix("//").filter(|rest| !rest.starts_with('/'));
        match comment {
            Some(rest) if rest.starts_with(" test ") => {
                let name = rest.trim_start_matches(" test ").trim().to_owned();
                cases.push(Case { name, source: String::new() });
                inside = true;
            }
            Some(rest) if inside => {
                let source = &mut cases.last_mut().expect("inside a case").source;
                let _ = writeln!(source, "{}", rest.strip_prefix(' ').unwrap_or(rest));
            }
            _ => inside = false,
        }
    }
    cases
}

/// The outline of a parse and its errors, as the fixtures show them.
pub(crate) fn shown(text: &str, parsed: &Parse) -> String {
    let mut out = tree::outline(&tree::build(text, parsed));
    let lines = LineIndex::new(text);
    for error in &parsed.errors {
        let span = error.primary.span;
        let start = lines.position(text, span.start);
        let excerpt = &text[span.range()];
        let _ = writeln!(
            out,
            "{}:{} {} {}\n    at {excerpt:?}",
            start.line,
            start.column,
            error.code.as_str(),
            error.message
        );
        for help in &error.help {
            let _ = writeln!(out, "    help: {help}");
        }
    }
    out
}

#[test]
fn cases_beside_the_rules_have_their_outlines() {
    let cases = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/grammar"));
    let folder = test_data("grammar");
    let mut differences = Differences::default();
    let mut names = Vec::new();
    for Case { name, source } in cases {
        let parsed = parse(&source, &Words);
        properties::check(&source, &parsed);
        let expected = format!("{source}----\n{}", shown(&source, &parsed));
        differences.compare(&folder.join(format!("{name}.txt")), &expected);
        assert!(!names.contains(&name), "two cases are called {name}");
        names.push(name);
    }
    assert!(names.len() > 40, "the cases are found");
    differences.nothing_else(&folder, ".txt", &names);
    differences.none();
}

/// Where a case says `good`, nothing may be wrong: an error above must not reach so far.
#[test]
fn an_error_leaves_the_good_lines_alone() {
    for Case { name, source } in cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/grammar")) {
        let parsed = parse(&source, &Words);
        let lines = LineIndex::new(&source);
        for error in &parsed.errors {
            let line = lines.line(error.primary.span.start);
            let text = &source[lines.line_range(&source, line)];
            assert!(!text.contains("good"), "{name}: {text} has {error:?}");
        }
    }
}

/// The kinds and texts that a cursor meets.
fn items<'t>(parse: &Parse, text: &'t str) -> Vec<(String, &'t str)> {
    let shown = |item: Item| match item {
        Item::Start { kind, data } if kind != SyntaxKind::Heredoc => {
            (format!("{kind:?} {data}"), "")
        }
        // Where it begins is a place in the whole text.
        Item::Start { kind, data } => (format!("{kind:?}"), &text[data as usize..]),
        Item::Token { kind, span, .. } => (format!("{kind:?}"), &text[span.range()]),
        Item::Finish => ("end".to_owned(), ""),
    };
    parse.cursor().map(shown).collect()
}

#[test]
fn a_text_after_another_one_has_the_structure_that_it_has_alone() {
    let cases = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/grammar"));
    let mut text = String::from("fun first() = echo no line end");
    let mut whole = parse(&text, &Words);
    let mut expected = items(&whole, &text).len();
    for Case { name, source } in &cases {
        let alone = parse(source, &Words);
        let (own, errors) = (items(&alone, source).len(), alone.errors.clone());
        whole.append(&mut text, alone, source);
        let start = (text.len() - source.len()) as u32;
        let alone = parse(source, &Words);
        let found = items(&whole, &text);
        let (found, wanted) = (&found[expected..], items(&alone, source));
        // A heredoc is compared up to the end of its own text, which is the end of both.
        assert_eq!(found, wanted, "{name}");
        expected += own;
        let last = &whole.errors[whole.errors.len() - errors.len()..];
        for (last, error) in last.iter().zip(&errors) {
            assert_eq!(last.primary.span.start, error.primary.span.start + start, "{name}");
        }
    }
    assert_eq!(whole.tokens().end() as usize, text.len());
}
