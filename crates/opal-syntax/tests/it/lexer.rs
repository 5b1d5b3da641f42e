//! Pairs of files: a source, and its tokens with the places of the references in shell text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opal_core::Code;
use opal_core::script::ReadBy;
use opal_syntax::context::Context;
use opal_syntax::cursor::Item;
use opal_syntax::{Parse, SyntaxKind, parse, parse_shell, tree};

use opal_testing::expect::Differences;

use crate::properties;
use crate::support::Words;
use crate::test_data;

/// The contexts of references in shell text, by the index of their first token.
fn contexts(parsed: &Parse) -> BTreeMap<usize, Context> {
    let mut found = BTreeMap::new();
    let mut context = None;
    for item in parsed.cursor() {
        match item {
            Item::Start { kind: SyntaxKind::TextRef, data } => {
                context = Some(Context::from_bits(data));
            }
            Item::Token { index, .. } => {
                if let Some(context) = context.take() {
                    found.insert(index, context);
                }
            }
            _ => {}
        }
    }
    found
}

fn described(context: Context) -> String {
    let flags = [
        (context.is_declared(), "declared"),
        (context.is_program(), "program"),
        (context.is_word_start(), "starts word"),
        (context.is_whole_word(), "whole word"),
        (context.is_after_dashes(), "after --"),
        (context.is_command(), "command"),
        (context.reader().is_some_and(|it| it != ReadBy::UNLISTED), "read"),
    ];
    let mut out = format!("{:?}", context.place());
    for (_, name) in flags.iter().filter(|(on, _)| *on) {
        let _ = write!(out, ", {name}");
    }
    if let Some(case) = context.found() {
        let _ = write!(out, ", {:?}: {}", case.role, case.why);
    }
    out
}

fn shown(text: &str, parsed: &Parse) -> String {
    let contexts = contexts(parsed);
    let mut out = String::new();
    for index in 0..parsed.tokens().len() {
        let (kind, span) = (parsed.tokens().kind(index), parsed.tokens().span(index));
        let _ = write!(out, "{span:?} {kind:?} {:?}", &text[span.range()]);
        if let Some(context) = contexts.get(&index) {
            let _ = write!(out, "  <- {}", described(*context));
        }
        out.push('\n');
    }
    for error in &parsed.errors {
        let code = error.code.as_str();
        let _ = writeln!(out, "{:?} {code} {}", error.primary.span, error.message);
    }
    out
}

fn sources() -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(test_data("lexer"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "opl"))
        .collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn sources_have_their_tokens() {
    let folder = test_data("lexer");
    let mut differences = Differences::default();
    let sources = sources();
    for (name, text) in &sources {
        let parsed = parse(text, &Words);
        properties::check(text, &parsed);
        differences.compare(&folder.join(format!("{name}.txt")), &shown(text, &parsed));
    }
    let names: Vec<String> = sources.into_iter().map(|(name, _)| name).collect();
    differences.nothing_else(&folder, ".txt", &names);
    differences.none();
}

/// What a parse says, without blanks and as if every line ended in LF.
fn essence(text: &str) -> Vec<String> {
    let parsed = parse(text, &Words);
    let contexts = contexts(&parsed);
    let mut out = Vec::new();
    for index in 0..parsed.tokens().len() {
        let (kind, span) = (parsed.tokens().kind(index), parsed.tokens().span(index));
        if !matches!(kind, SyntaxKind::Blank | SyntaxKind::Newline) {
            let text = text[span.range()].replace("\r\n", "\n");
            out.push(format!("{kind:?} {text:?} {:?}", contexts.get(&index)));
        }
    }
    out.extend(parsed.errors.iter().map(|error| error.message.clone()));
    out
}

#[test]
fn lines_that_end_in_crlf_are_read_as_if_they_ended_in_lf() {
    for (name, text) in sources() {
        let carriage = text.replace('\n', "\r\n");
        properties::check(&carriage, &parse(&carriage, &Words));
        assert_eq!(essence(&carriage), essence(&text), "{name}");
    }
}

/// In the files of this name every reference is evaluated again, except where it says `safe`.
#[test]
fn text_that_is_evaluated_again_is_known() {
    for (name, text) in sources() {
        let expected = match name.as_str() {
            "reevaluated" => true,
            "not_reevaluated" => false,
            _ => continue,
        };
        let parsed = parse(&text, &Words);
        let contexts = contexts(&parsed);
        assert!(contexts.len() > 10);
        for (index, context) in contexts {
            let span = parsed.tokens().span(index);
            let line = text[..span.end as usize].lines().last().unwrap_or_default();
            let safe = &text[span.range()] == "@var.safe";
            assert_eq!(context.refused().is_some(), expected && !safe, "{line}");
        }
    }
}

/// The text of `@shell("…")`: no block is around it, and no decorator can run inside.
#[test]
fn a_whole_text_is_one_command() {
    let text = "echo }\n# comment\nif true; then\n  echo @var.a\nfi";
    let parsed = parse_shell(text, &Words);
    assert_eq!(parsed.errors, []);
    let root = tree::build(text, &parsed);
    let steps: Vec<String> = root.children().map(|step| step.text().to_string()).collect();
    assert_eq!(steps, ["echo }", "if true; then\n  echo @var.a\nfi"]);

    for text in ["a && @cmd.build()", "a > @file.write(\"p\")", "@retry(3) { a }"] {
        let parsed = parse_shell(text, &Words);
        let codes: Vec<Code> = parsed.errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::MisplacedDecorator], "{text}");
        assert_eq!(tree::build(text, &parsed).text().to_string(), text);
    }
}
