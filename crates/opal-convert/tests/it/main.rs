//! Every result is a correct program that contains what the reader intended and nothing else.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures")]

mod hostile;
mod just;
mod makefile;
mod package;
mod several;
mod shells;
mod taskfile;

use opal_convert::{Conversion, Files, Format, Grade, Options, convert};
use opal_core::Registry;
use opal_plan::unit::StatementKind;
use opal_plan::{Words, check, lower};
use opal_syntax::{Style, SyntaxKind};

fn registry() -> Registry {
    opal_decorators::registry()
}

fn options(registry: &Registry) -> Options<'_> {
    Options {
        registry,
        name: "file",
        output: "commands.opl",
        reserved: &["fmt"],
        siblings: &[],
        files: Files::NONE,
        inline: false,
    }
}

fn converted(format: Format, text: &str) -> Conversion {
    let registry = registry();
    let converted = convert(text, format, options(&registry))
        .unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    assert_program(&converted, &registry);
    converted
}

/// What the emitter writes; no text of an input begins with one of these and is a reference.
const OURS: [&str; 15] = [
    "var.",
    "env.",
    "raw",
    "shell.output",
    "os.name",
    "os.arch",
    "file.exists",
    "cached",
    "cmd.",
    "needs.",
    "script",
    "environ",
    "workdir",
    "confirm",
    "fail",
];

/// The text passes `opal check` and `opal fmt`, and has no reference and no function but
/// those that the reader intended.
fn assert_program(converted: &Conversion, registry: &Registry) {
    let source = converted.source.as_str();
    let parse = opal_syntax::parse(source, &Words(registry));
    let checked = check::check_parsed(&parse, source, registry);
    let errors: Vec<_> = checked.diagnostics.iter().filter(|it| it.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{source}");
    let formatted = opal_syntax::format(source, &Words(registry), Style::default());
    assert_eq!(formatted.as_deref(), Some(source), "formatting changes it");
    let tokens = parse.tokens();
    for index in (0..tokens.len()).filter(|it| tokens.kind(*it) == SyntaxKind::RefPath) {
        let span = tokens.span(index);
        let path = &source[span.start as usize + 1..span.end as usize];
        assert!(OURS.iter().any(|ours| path.starts_with(ours)), "`@{path}` in\n{source}");
        assert!(!path.contains("CANARY"), "`@{path}` in\n{source}");
    }
    let unit = lower::unit(&parse, source);
    for statement in &unit.script.statements {
        assert!(matches!(statement.kind, StatementKind::Var { .. }), "{statement:?}\n{source}");
    }
    // Every function is a task of the report, under the name that the report gives it.
    let reported = |name: &str| {
        let named = converted.outcomes.iter().filter(|it| it.is_task);
        named.map(|it| it.renamed.as_ref().unwrap_or(&it.name)).any(|it| it == name)
    };
    for function in &unit.functions {
        assert!(
            reported(&function.name.text),
            "{}
{source}",
            function.name.text
        );
    }
}

/// The result without its first line, and the grades in order.
fn assert_result(format: Format, text: &str, expected: &str, grades: &str) {
    let converted = converted(format, text);
    let (_, rest) = converted.source.split_once("\n\n").unwrap_or_default();
    assert_eq!(rest, expected, "{text}");
    let found: Vec<&str> = converted.outcomes.iter().map(|it| it.grade.name()).collect();
    assert_eq!(found.join(" "), grades, "{:#?}\n{text}", converted.outcomes);
}

fn reasons(converted: &Conversion, name: &str) -> (Grade, String) {
    let found = converted.outcomes.iter().find(|it| it.name == name).expect("the task is reported");
    (found.grade, found.why.join("; "))
}
