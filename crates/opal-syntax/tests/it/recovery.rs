//! One mistake, one error: none is lost, and none reaches into its neighbours.

use opal_core::{Code, LineIndex};
use opal_syntax::{parse, parse_shell};

use crate::properties;
use crate::support::Words;

/// A line, and the code of its one error.
const MISTAKES: &[(&str, Code)] = &[
    ("var", Code::Syntax),
    ("var x", Code::Syntax),
    ("var x =", Code::Syntax),
    ("var x = 1 2", Code::TextAfterStatement),
    ("var x: Int = 1", Code::Syntax),
    ("var x = (1", Code::Syntax),
    ("var x = [1, 2", Code::Syntax),
    ("var x = {a: 1", Code::Syntax),
    ("var x = [1 2]", Code::Syntax),
    ("var x = 1..2", Code::TwoDotRange),
    ("var x = ^", Code::UnexpectedCharacter),
    ("var x = \"a", Code::UnterminatedString),
    ("var x = 'a", Code::UnterminatedString),
    ("var x = \"\\q\"", Code::UnknownEscape),
    ("var x = 99999999999999999999", Code::BadNumber),
    ("var x = 30m1h", Code::BadDuration),
    ("var x = \"@file.read(\"", Code::UnterminatedBracket),
    ("n =", Code::Syntax),
    ("n = 1 2", Code::TextAfterStatement),
    ("let.x = git rev-parse HEAD", Code::BadLetSource),
    ("let.x", Code::Syntax),
    ("let x = 1", Code::BadLetSource),
    ("for f in a b { echo a }", Code::Syntax),
    ("for in xs { echo a }", Code::Syntax),
    ("if x = 1 { echo a }", Code::Syntax),
    ("if x == 1", Code::Syntax),
    ("if x == { echo a }", Code::Syntax),
    ("if x { echo a } && echo b", Code::ConstructAsOperand),
    ("if x { echo a } echo b", Code::TextAfterStatement),
    ("if x { var y = }", Code::Syntax),
    ("if x { var y = 1 2 } else { echo a }", Code::TextAfterStatement),
    ("if x { echo 'a", Code::UnterminatedQuote),
    ("if [ -f x ]; then echo a; fi", Code::ShellControlFlow),
    ("for x in a; do echo a; done", Code::ShellControlFlow),
    ("while true; do echo a; done", Code::ShellControlFlow),
    ("else { echo a }", Code::StrayClause),
    ("catch { echo a }", Code::StrayClause),
    ("when x { a -> echo a }", Code::Syntax),
    ("when x { 1 echo a }", Code::Syntax),
    ("when x", Code::Syntax),
    ("try { echo a }", Code::Syntax),
    ("try { echo a } catch e { echo b }", Code::Syntax),
    ("}", Code::UnmatchedBrace),
    ("{ echo a } > file", Code::RedirectedBlock),
    ("&& echo a", Code::LeadingOperator),
    ("greet() { echo a; }", Code::ShellFunction),
    ("function greet { echo a; }", Code::ShellFunction),
    ("echo a && if x { echo b }", Code::ConstructAsOperand),
    ("echo a )", Code::Syntax),
    ("@cmd.a foo", Code::MisplacedDecorator),
    ("@cmd.a & echo b", Code::MisplacedDecorator),
    ("( @cmd.a )", Code::MisplacedDecorator),
    ("@retry(3", Code::Syntax),
    ("@retry(3 4) { echo a }", Code::Syntax),
    ("@retry(delay=1s, 3) { echo a }", Code::PositionalAfterNamed),
    ("cat <<", Code::UnterminatedHeredoc),
    ("fun f echo a", Code::Syntax),
    ("fun f(x y) { echo a }", Code::Syntax),
    ("fun f(x: ) { echo a }", Code::Syntax),
    ("fun f() =", Code::Syntax),
    ("fun f() = if x { echo a }", Code::Syntax),
    ("fun f.g() { echo a }", Code::DottedFunction),
    ("fun f() -> Int { echo a }", Code::Syntax),
    ("name:", Code::LabelWithoutBody),
    ("/* a", Code::UnterminatedComment),
];

/// Statements that nothing is wrong with, each of its own kind.
const GOOD: &[&str] = &[
    "echo fine",
    "var good = [1, 2, 3]",
    "if good { echo fine }",
    "@retry(3) { echo fine }",
    "echo \"it is fine\" | grep -q fine",
    "fun good() = echo fine",
    "for x in good { echo fine }",
    "n = 1 + 2",
];

fn errors_by_line(text: &str) -> Vec<(u32, Code)> {
    let lines = LineIndex::new(text);
    let errors = parse(text, &Words).errors;
    errors.iter().map(|error| (lines.line(error.primary.span.start), error.code)).collect()
}

#[test]
fn each_mistake_is_reported_once_and_alone() {
    for (line, code) in MISTAKES {
        for good in GOOD {
            if line.starts_with("else") && good.starts_with("if") {
                continue;
            }
            let text = format!("{good}\n{line}\n{good}\n");
            assert_eq!(errors_by_line(&text), [(2, *code)], "{text}");
        }
    }
}

#[test]
fn all_mistakes_of_a_file_are_reported() {
    // A lone quote closes at the next one wherever that is: the shell cannot know either.
    let pairs = |line: &str| line.matches('\'').count().is_multiple_of(2);
    let mut text = String::new();
    let mut expected = Vec::new();
    let mut line = 0;
    for (index, (mistake, code)) in MISTAKES.iter().enumerate() {
        if !pairs(mistake) && !mistake.starts_with("var") {
            continue;
        }
        let good = GOOD[index % GOOD.len()];
        text.push_str(&format!("{good}\n{mistake}\n\n"));
        expected.push((line + 2, *code));
        line += 3;
    }
    assert!(expected.len() > 60);
    assert_eq!(errors_by_line(&text), expected, "{text}");
}

#[test]
fn all_mistakes_in_a_function_are_reported() {
    let mut text = String::from("fun f() {\n");
    let mut expected = Vec::new();
    let mut line = 1;
    let top_level = |mistake: &str| mistake.starts_with("fun") || mistake.starts_with("name:");
    for (index, (mistake, code)) in MISTAKES.iter().enumerate() {
        let unpaired = mistake.matches('\'').count() % 2 != 0;
        if top_level(mistake) || unpaired || *mistake == "}" || mistake.starts_with("/*") {
            continue;
        }
        let good = GOOD[index % GOOD.len()];
        let good = if good.starts_with("fun") { "echo fine" } else { good };
        text.push_str(&format!("    {good}\n    {mistake}\n\n"));
        expected.push((line + 2, *code));
        line += 3;
    }
    text.push_str("}\necho fine\n");
    assert!(expected.len() > 40);
    assert_eq!(errors_by_line(&text), expected, "{text}");
}

#[test]
fn a_forgotten_brace_is_one_error() {
    let text = "fun a() {\n    if x {\n        echo a\n}\n\nfun b() {\n    echo b\n}\n\nfun c() = echo c\n";
    assert_eq!(errors_by_line(text), [(1, Code::UnclosedBlock)]);
}

#[test]
fn a_forgotten_opening_brace_is_one_error() {
    let text =
        "fun a() {\n    if x == 1\n        echo a\n        echo b\n    }\n    echo c\n}\necho d\n";
    assert_eq!(errors_by_line(text), [(2, Code::Syntax)]);
}

#[test]
fn a_heredoc_without_its_end_stops_with_its_block() {
    let text = "fun a() {\n    cat <<EOF\n    text\n}\nfun b() = echo b\n";
    assert_eq!(errors_by_line(text), [(2, Code::UnterminatedHeredoc)]);
}

#[test]
fn a_quote_that_closed_too_late_is_reported_where_it_opened() {
    let text = "echo \"a\necho fine\necho \"b\"\necho fine\n";
    assert_eq!(errors_by_line(text), [(1, Code::UnterminatedQuote)]);
}

#[test]
fn a_list_over_lines_reports_each_of_its_lines() {
    let text = "var a = [\n    1 2,\n    3,\n    = 4,\n    5\n]\necho fine\n";
    assert_eq!(errors_by_line(text), [(2, Code::Syntax), (4, Code::Syntax)]);
}

#[test]
fn what_nests_too_deep_is_one_error_a_line() {
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(100), close.repeat(100));
    let expression = |open: &str, close: &str| format!("var x = {}\n", nested(open, close));
    for text in [
        expression("(", ")"),
        expression("[", "]"),
        expression("{a: ", "}"),
        expression("f(", ")"),
        expression("a[", "]"),
        format!("fun f(x: {}) = echo a\n", nested("Array[", "]")),
        format!("{}\n", nested("{ ", " }")),
        format!("{}\n", nested("when x { 1 -> ", " }")),
        format!("{}\n", nested("@retry(3) { ", " }")),
    ] {
        assert_eq!(errors_by_line(&text), [(1, Code::TooDeep)], "{text}");
    }
    let strings = format!("echo {}\n", nested("@file.read(\"", "\")"));
    assert_eq!(errors_by_line(&strings), [(1, Code::TooDeep)], "{strings}");
}

#[test]
fn heredocs_nest_so_deep_and_no_deeper() {
    let mut text = String::new();
    for level in 0..20 {
        text.push_str(&format!("$(cat <<E{level}\n"));
    }
    for level in (0..20).rev() {
        text.push_str(&format!("\nE{level}\n)"));
    }
    let errors = errors_by_line(&format!("echo {text}\n"));
    assert_eq!(errors, [(17, Code::TooDeep)], "{text}");
}

/// Each of these once took minutes, gigabytes or both.
#[test]
fn what_is_large_and_wrong_is_read_in_time() {
    let size = opal_core::text::MAX_SOURCE_BYTES;
    let braces = parse(&"}".repeat(size), &Words);
    assert_eq!(braces.errors.len(), 1);
    for unit in ["\"@env.A(", "\"@env.A(\", ", "\"@file.read('a', \""] {
        let text = format!("var x = [{}\necho \"{}\n", unit.repeat(4_000), unit.repeat(4_000));
        properties::check(&text, &parse(&text, &Words));
    }
    let heredocs = format!("a {}&& @retry(1) {{ b }}\nA\n", "<<A ".repeat(100_000));
    assert!(parse(&heredocs, &Words).is_broken());
}

#[test]
fn of_a_text_that_is_too_large_nothing_is_read() {
    let text = "\n".repeat(opal_core::text::MAX_SOURCE_BYTES + 1);
    for parsed in [parse(&text, &Words), parse_shell(&text, &Words)] {
        let codes: Vec<Code> = parsed.errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::TooLarge]);
        assert_eq!(parsed.cursor().count(), 2);
    }
}
