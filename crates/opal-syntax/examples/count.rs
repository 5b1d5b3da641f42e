//! Parses generated inputs of growing size, for the test that counts instructions.
//!
//! `count SIZE` parses every input at no size, at SIZE bytes and at twice that, and prints a line
//! for each; `count SIZE PART PARTS` does so for every PARTS-th kind of input, from PART on.
//! `count SIZE KIND` does it for one kind. The work to be counted is inside [`measured`].

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

use std::io::Write as _;
use std::process::ExitCode;

use opal_syntax::parse;

#[path = "../tests/it/support.rs"]
mod support;

/// What is repeated, and what is around the repetitions.
struct Kind {
    name: &'static str,
    before: &'static str,
    unit: &'static str,
    /// What is between the openers and the closers of nested brackets.
    inside: &'static str,
    close: &'static str,
    after: &'static str,
}

const fn lines(name: &'static str, unit: &'static str) -> Kind {
    Kind { name, before: "", unit, inside: "", close: "", after: "" }
}

/// One line of many units.
const fn line(
    name: &'static str,
    before: &'static str,
    unit: &'static str,
    after: &'static str,
) -> Kind {
    Kind { name, before, unit, inside: "", close: "", after }
}

const fn nested(
    name: &'static str,
    before: &'static str,
    open: &'static str,
    close: &'static str,
) -> Kind {
    Kind { name, before, unit: open, inside: "x", close, after: "\n" }
}

const PROGRAM: &str = r#"
// Ships one service.
var image = "@var.registry/app:@git.commit"
var regions = ["eu", "us", {a: 1}]
fun deploy(env: String = "staging", n = 3) {
    for region in @var.regions {
        kubectl --context @var.region set image app=@var.image && echo "done @var.region" | tee log
    }
    if env == "production" && n > 2 {
        @retry(3, delay=10s) { docker push @var.image 2>&1 }
    } else { echo none }
    when env {
        "a" | "b" -> echo a
        else -> echo b
    }
    cat <<EOF
text @var.image
EOF
}
"#;

const KINDS: &[Kind] = &[
    lines("program", PROGRAM),
    nested("nested-parens", "var x = ", "(", ")"),
    nested("nested-arrays", "var x = ", "[", "]"),
    nested("nested-maps", "var x = ", "{a: ", "}"),
    nested("nested-types", "fun f(x: ", "Array[", "]"),
    nested("nested-unary", "var x = ", "!-", ""),
    nested("nested-subshells", "", "( ", " )"),
    nested("nested-substitutions", "echo ", "$(a ", ")"),
    nested("nested-expansions", "echo ", "${x:-", "}"),
    nested("nested-arithmetic", "echo $((", "(", ")"),
    nested("nested-braces", "echo ", "{a,", "}"),
    nested("nested-blocks", "", "{ ", " }"),
    nested("nested-ifs", "", "if x { ", " }"),
    nested("nested-decorators", "", "@retry(3) { ", " }"),
    nested("nested-quotes", "echo ", "\"$(a ", ")\""),
    nested("nested-strings", "var x = ", "\"@file.read(", ")\""),
    nested("nested-heredocs", "", "$(cat <<A\n", "\nA\n)"),
    nested("nested-compounds", "( ", "if true; then ", "; fi"),
    line("line-text", "echo ", "abcdefgh", "\n"),
    line("line-words", "echo", " abc", "\n"),
    line("line-operators", "a", " && b | c;", "d\n"),
    line("line-references", "echo", " @var.abc", "\n"),
    line("line-references-in-a-word", "echo ", "@var.abc/", "\n"),
    line("line-at-words", "echo", " @file.json", "\n"),
    line("line-string", "var x = \"", "abc @var.a \\n", "\"\n"),
    line("line-sum", "var x = 1", " + a.b[0]", "\n"),
    line("line-array", "var x = [", "1, ", "]\n"),
    line("line-braces", "", "} ", "\n"),
    line("line-blocks", "", "{ n++ m } ", "\n"),
    line("line-quote-unclosed", "echo \"", "abc $(d) ", "\n"),
    line("line-subscripts", "echo ", "@var.a[\"b\"c", "\n"),
    line("line-at-paths", "echo ", "@a.b.c.d.e.f.g", "\n"),
    line("line-dashes", "echo @cmd.a", "-a", "\n"),
    line("line-assignments", "", "a=", "\n"),
    line("line-arguments-in-strings", "var x = ", "\"@env.A(", "\n"),
    line("line-strings-with-arguments", "var x = [", "\"@env.A(\", ", "]\n"),
    line("line-arguments-in-quotes", "echo ", "\"@env.A(", "\n"),
    line("line-heredocs", "a ", "<<A ", "&& @retry(1) { b }\n"),
    line("line-closers", "", "}", "\n"),
    lines("comments", "# a\n// b\n/* c */\n"),
    lines("comments-in-steps", "a && # b\n"),
    lines("comments-behind-blocks", "if x { } /* a */ // b\n# c\n"),
    line("comment-of-many-lines", "if x { }\n", "# a comment\n", "else { }\n"),
    line("comments-in-brackets", "var x = [1\n", "# a comment\n", "]\n"),
    lines("blank-lines", "\n\n  \n"),
    lines("errors-quotes", "echo \"a b\n"),
    lines("errors-raw-quotes", "echo 'a b\n"),
    lines("errors-mixed-quotes", "echo \"a 'b\n"),
    lines("errors-ansi-quotes", "echo $'a\\'\n"),
    lines("errors-parens", "echo (a\n"),
    lines("errors-substitutions", "echo $(a \"b $(c\"\n"),
    lines("errors-expansions", "echo ${a\n"),
    lines("errors-backticks", "echo `a\n"),
    lines("errors-braces", "echo a{b\n"),
    lines("errors-arguments", "echo @file.read(\"a\"\n"),
    lines("errors-arguments-in-strings", "var x = \"@file.read(\"\n"),
    lines("errors-arguments-in-quotes", "echo \"@file.read(1\"\n"),
    lines("errors-heredocs", "cat <<A\n"),
    lines("errors-heredocs-in-blocks", "if x {\n  cat <<A\n}\n"),
    lines("errors-heredocs-indented", "cat <<A\n A\n"),
    lines("errors-heredocs-nested", "cat <<A\n$(cat <<B\nvar x\nA\n"),
    lines("errors-compounds", "case x in\nuntil a; do\n[[ b\n"),
    lines("errors-tokens", "var x = ^ §\n"),
    lines("errors-brackets", "var x = [1, (2, {a: 3\n"),
    lines("errors-brackets-deeper", " @retry(3, [\n"),
    lines("errors-closers", "}\n"),
    lines("errors-clauses", "else\ncatch {\n}\n"),
    lines("errors-blocks", "if x {\n"),
    lines("errors-blocks-missing", "if x\n  echo a\n"),
    lines("errors-strings", "var x = \"a\nvar y = 'b\n"),
    lines("errors-long-strings", "var x = \"\"\"\n"),
    lines("errors-comments", "/* a\n"),
    lines("errors-shell-ifs", "if a; then\n"),
    lines("errors-constructs", "a && if b {\n"),
    lines("errors-heads", "for f in a b { echo }\n"),
    lines("errors-groups", "var (\n  a 1\n"),
    lines("errors-functions", "f() {\n"),
    lines("errors-escapes", "var x = \"\\q\"\n"),
];

fn text(kind: &Kind, size: usize) -> String {
    let count = size / (kind.unit.len() + kind.close.len());
    let mut text = String::from(kind.before);
    text.push_str(&kind.unit.repeat(count));
    text.push_str(kind.inside);
    text.push_str(&kind.close.repeat(count));
    text.push_str(kind.after);
    text
}

/// The only thing that is counted; its name is known to the test.
#[inline(never)]
fn measured(text: &str) -> (usize, usize) {
    let parsed = parse(text, &support::Words);
    (parsed.cursor().count(), parsed.errors.len())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|a| a.parse::<usize>().ok());
    let Some(size) = number(0) else { return ExitCode::from(2) };
    let chosen = |index: usize, kind: &Kind| match (arguments.get(1), number(1), number(2)) {
        (None, ..) => true,
        (_, Some(part), Some(parts)) => index % parts == part,
        (Some(name), ..) => kind.name == name,
    };
    let mut out = std::io::stdout().lock();
    for (_, kind) in KINDS.iter().enumerate().filter(|(index, kind)| chosen(*index, kind)) {
        for size in [0, size, 2 * size] {
            let (items, errors) = measured(&text(kind, size));
            let _ = writeln!(out, "{} {size} {items} items {errors} errors", kind.name);
        }
    }
    ExitCode::SUCCESS
}
