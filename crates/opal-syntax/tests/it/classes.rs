//! What each character is.

use opal_syntax::classes::{Class, Classes, KEYWORDS, classes};
use opal_syntax::parse;

use crate::support::Words;
use crate::test_data;

fn of(text: &str) -> Classes {
    let parsed = parse(text, &Words);
    assert!(!parsed.is_broken(), "{text}: {:?}", parsed.errors);
    classes(text, &parsed)
}

/// The runs that are not blanks: `class text`, one a line.
fn shown(text: &str) -> Vec<String> {
    let runs = of(text).runs;
    let runs = runs.iter().map(|(span, class)| (class.name(), text[span.range()].trim()));
    runs.filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name} {text}")).collect()
}

/// Sources, and their runs that are not blanks.
const CASES: [(&str, &[&str]); 9] = [
    (
        "fun a-b(x: Array[Int], y = 1, z...) = echo @var.x",
        &[
            "keyword fun",
            "function a-b",
            "punctuation (",
            "parameter x",
            "punctuation :",
            "type Array",
            "punctuation [",
            "type Int",
            "punctuation ],",
            "parameter y",
            "operator =",
            "number 1",
            "punctuation ,",
            "parameter z",
            "operator ...",
            "punctuation )",
            "operator =",
            "shell echo",
            "reference @var.x",
        ],
    ),
    ("build: make all", &["label build", "punctuation :", "shell make all"]),
    (
        "import? \"a.env\"\nimport 'b.opl' as c",
        &[
            "keyword import?",
            "string \"a.env\"",
            "keyword import",
            "string 'b.opl'",
            "keyword as",
            "variable c",
        ],
    ),
    (
        "var A = {k: lines(x).0, \"l\": m.n}",
        &[
            "keyword var",
            "variable A",
            "operator =",
            "punctuation {",
            "field k",
            "punctuation :",
            "function lines",
            "punctuation (",
            "variable x",
            "punctuation ).",
            "number 0",
            "punctuation ,",
            "string \"l\"",
            "punctuation :",
            "variable m",
            "punctuation .",
            "field n",
            "punctuation }",
        ],
    ),
    (
        "for k, v in m { x += 1h }",
        &[
            "keyword for",
            "variable k",
            "punctuation ,",
            "variable v",
            "keyword in",
            "variable m",
            "punctuation {",
            "variable x",
            "operator +=",
            "number 1h",
            "punctuation }",
        ],
    ),
    (
        "when x {\n    \"a\" | r\"b\" -> ls\n    else -> { ls }\n}",
        &[
            "keyword when",
            "variable x",
            "punctuation {",
            "string \"a\"",
            "operator |",
            "string r\"b\"",
            "operator ->",
            "shell ls",
            "keyword else",
            "operator ->",
            "punctuation {",
            "shell ls",
            "punctuation }",
            "punctuation }",
        ],
    ),
    (
        "let.x = @shell(\"a\\n\").stdout",
        &[
            "keyword let",
            "punctuation .",
            "variable x",
            "operator =",
            "decorator @shell",
            "punctuation (",
            "string \"a",
            "escape \\n",
            "string \"",
            "punctuation ).",
            "field stdout",
        ],
    ),
    (
        "@retry(times=3) { curl a\\@b } && @cmd.a > @file.write(\"p\") # c",
        &[
            "decorator @retry",
            "punctuation (",
            "parameter times",
            "operator =",
            "number 3",
            "punctuation )",
            "punctuation {",
            "shell curl a",
            "escape \\@",
            "shell b",
            "punctuation }",
            "shell &&",
            "decorator @cmd.a",
            "shell >",
            "decorator @file.write",
            "punctuation (",
            "string \"p\"",
            "punctuation )",
            "comment # c",
        ],
    ),
    (
        "@script(\"awk\") { { print } }\nif !true { } // c",
        &[
            "decorator @script",
            "punctuation (",
            "string \"awk\"",
            "punctuation )",
            "punctuation {",
            "text { print }",
            "punctuation }",
            "keyword if",
            "operator !",
            "keyword true",
            "punctuation {",
            "punctuation }",
            "comment // c",
        ],
    ),
];

#[test]
fn every_construct_has_its_classes() {
    for (source, expected) in CASES {
        assert_eq!(shown(source), expected, "{source}");
    }
}

#[test]
fn every_byte_is_covered_once_and_in_order() {
    let mut count = 0;
    for folder in ["format", "lexer"] {
        for entry in std::fs::read_dir(test_data(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "opl") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let found = classes(&text, &parse(&text, &Words));
            let mut end = 0;
            let mut before = None;
            for (span, class) in &found.runs {
                assert_eq!(span.start, end, "{}", path.display());
                assert!(span.end > span.start && before != Some(*class), "{}", path.display());
                (end, before) = (span.end, Some(*class));
            }
            assert_eq!(end as usize, text.len(), "{}", path.display());
            for span in found.functions.iter().chain(&found.blocks).chain(&found.steps) {
                assert!(span.start < span.end, "{}: {span:?}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn functions_blocks_and_steps_have_their_boundaries() {
    let text = "fun a() {\n    @retry(3) { ls } && ls\n    when x {\n        1 -> ls -l\n    }\n}\n\
                b: cat <<E > @file.write(\"p\")\nx\nE\n@env.HOME\n";
    let found = of(text);
    let shown = |spans: &[opal_core::Span]| -> Vec<String> {
        spans.iter().map(|span| text[span.range()].to_owned()).collect()
    };
    assert_eq!(shown(&found.functions).len(), 2);
    assert!(shown(&found.functions)[0].ends_with("    }\n}"));
    assert!(shown(&found.functions)[1].starts_with("b: cat"));
    assert_eq!(
        shown(&found.blocks)[1..],
        ["{ ls }", "{\n        1 -> ls -l\n    }"],
        "that of the function is the first"
    );
    assert_eq!(
        shown(&found.steps),
        [
            "@retry(3) { ls } && ls",
            "ls",
            "ls -l",
            "cat <<E > @file.write(\"p\")\nx\nE",
            "@env.HOME"
        ]
    );
}

#[test]
fn keywords_are_in_the_table_and_nothing_else_is() {
    let all = "import \"a\" as b\nimport? \"c\"\nvar x = [true, false, null]\nfun f() {\n    if x { ls } else { ls }\n    \
               for i in x { ls }\n    while x { ls }\n    when x { else -> ls }\n    try { ls } catch { ls } finally { ls }\n    \
               let.y = @shell(\"ls\")\n}\n";
    let mut found: Vec<&str> = (of(all).runs.iter())
        .filter(|(_, class)| *class == Class::Keyword)
        .map(|(span, _)| &all[span.range()])
        .collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, KEYWORDS);
}

#[test]
fn the_names_of_classes_differ() {
    let mut names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Class::ALL.len());
}
