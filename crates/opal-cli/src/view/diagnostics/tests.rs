use opal_core::{Code, Diagnostic, Span};

use super::*;
use crate::view::ink::Ink;

const SOURCE: &str = "var image = \"a\"\nfun deploy() {\n\techo @var.imge\n}\n";

fn place(text: &str, part: &str) -> Span {
    let start = text.find(part).expect("the part stands in the text");
    Span::new(start as u32, (start + part.len()) as u32)
}

fn undeclared() -> Diagnostic {
    let span = place(SOURCE, "imge");
    Diagnostic::new(Code::UndeclaredVariable, span, "no variable `imge` is declared")
        .label("undeclared")
        .also(place(SOURCE, "image"), "a similar one is declared here")
        .help("declare it with `var imge = …`")
}

fn rendered(text: &str, diagnostics: &[Diagnostic], colour: bool) -> String {
    let mut out = String::new();
    human(
        &Report { source: Source { name: "ci.opl", text }, diagnostics },
        Ink::new(colour),
        &mut out,
    );
    out
}

/// Compares line by line, so that a failure shows both texts as they look.
#[track_caller]
fn shows(text: &str, diagnostic: Diagnostic, expected: &str) {
    let actual = rendered(text, &[diagnostic], false);
    let expected = format!("{}\n\n", expected.trim_start_matches('\n').trim_end());
    assert!(actual == expected, "expected:\n{expected}actual:\n{actual}");
}

#[test]
fn a_diagnostic_shows_code_place_labels_and_help() {
    shows(
        SOURCE,
        undeclared(),
        r#"
error[E0401]: no variable `imge` is declared
 --> ci.opl:3:12
  |
1 | var image = "a"
  |     ----- a similar one is declared here
2 | fun deploy() {
3 |     echo @var.imge
  |               ^^^^ undeclared
  |
  = help: declare it with `var imge = …`
"#,
    );
}

#[test]
fn a_fix_shows_the_changed_line() {
    let span = place(SOURCE, "imge");
    shows(
        SOURCE,
        undeclared().fix("there is a variable of a similar name", span, "image"),
        r#"
error[E0401]: no variable `imge` is declared
 --> ci.opl:3:12
  |
1 | var image = "a"
  |     ----- a similar one is declared here
2 | fun deploy() {
3 |     echo @var.imge
  |               ^^^^ undeclared
  |
  = help: declare it with `var imge = …`
help: there is a variable of a similar name
  |
3 |     echo @var.image
  |                 +
"#,
    );
}

#[test]
fn a_fix_may_add_at_the_end_of_a_line() {
    let text = "echo \"a\r\necho b\r\n";
    let end = place(text, "\r\n").start;
    shows(
        text,
        Diagnostic::new(Code::UnterminatedString, Span::new(5, end), "the string does not end")
            .fix("close it", Span::at(end), "\""),
        r#"
error[E0201]: the string does not end
 --> ci.opl:1:6
  |
1 | echo "a
  |      ^^
  |
help: close it
  |
1 | echo "a"
  |        +
"#,
    );
}

#[test]
fn a_fix_over_several_lines_is_told() {
    let fix = Diagnostic::new(Code::UnclosedBlock, Span::at(0), "the block is not closed");
    shows(
        SOURCE,
        fix.fix("add a brace", Span::at(SOURCE.len() as u32), "\n}\n"),
        r#"
error[E0302]: the block is not closed
 --> ci.opl:1:1
  |
1 | var image = "a"
  | ^
  |
  = help: add a brace: `}`
"#,
    );
}

#[test]
fn the_end_of_the_file_is_a_place() {
    let text = "\n\n\n\n\n\n\n\nfun a() {\n";
    let end = Span::at(text.len() as u32);
    shows(
        text,
        Diagnostic::new(Code::UnclosedBlock, end, "the block is not closed")
            .label("expected `}`")
            .also(place(text, "{"), "opened here"),
        r#"
error[E0302]: the block is not closed
  --> ci.opl:10:1
   |
 9 | fun a() {
   |         - opened here
10 |
   | ^ expected `}`
"#,
    );
    let empty = rendered("", &[Diagnostic::new(Code::Syntax, Span::at(0), "m")], false);
    assert!(empty.contains("--> ci.opl:1:1\n"), "{empty}");
}

#[test]
fn a_long_span_is_marked_on_its_first_line() {
    let text = "a {\r\n1\r\n2\r\n3\r\n}\r\n";
    shows(
        text,
        Diagnostic::new(Code::UnclosedBlock, Span::new(2, 15), "m").label("here"),
        "error[E0302]: m\n --> ci.opl:1:3\n  |\n1 | a {\n  |   ^ here",
    );
    shows(
        text,
        Diagnostic::new(Code::UnclosedBlock, Span::new(2, 8), "m").label("here"),
        "error[E0302]: m\n --> ci.opl:1:3\n  |\n1 |   a {\n  |  ___^\n2 | | 1\n  | |_^ here",
    );
}

#[test]
fn a_far_label_gets_its_own_excerpt_with_its_own_place() {
    let text = format!("{} = 1{}x", "a".repeat(300), "\n".repeat(5000));
    let end = text.len() as u32;
    let diagnostic = Diagnostic::new(Code::LetRebound, Span::new(end - 1, end), "m")
        .also(Span::new(301, 302), "first here");
    let out = rendered(&text, &[diagnostic], false);
    assert!(out.contains("    --> ci.opl:5001:1\n"), "{out}");
    assert!(out.contains("    ::: ci.opl:1:302\n"), "{out}");
    assert!(out.len() < 500, "{out}");
}

#[test]
fn a_long_line_is_cut_and_keeps_its_column() {
    let text = "ü".repeat(500_000) + "漢 bad" + &"z".repeat(500_000);
    let diagnostic = Diagnostic::new(Code::Syntax, place(&text, "bad"), "m").label("here");
    let cut = format!("{}漢 bad{}", "ü".repeat(38), "z".repeat(60));
    let out = rendered(&text, &[diagnostic], false);
    assert!(out.contains("--> ci.opl:1:500003\n"), "{out}");
    assert!(out.contains(&format!("\n1 | …{cut}…\n")), "{out}");
    let wide = Diagnostic::new(Code::Syntax, Span::new(10, text.len() as u32 - 10), "m");
    assert!(rendered(&text, &[wide], false).chars().count() < 600);
}

#[test]
fn many_secondary_labels_are_counted() {
    let mut diagnostic = undeclared();
    for at in 0..20 {
        diagnostic = diagnostic.also(Span::at(at), "here");
    }
    let out = rendered(SOURCE, &[diagnostic], false);
    assert!(out.contains("= note: 13 more places are not shown here\n"), "{out}");
}

#[test]
fn nothing_can_act_on_the_terminal() {
    let bad = "\u{1b}[31m\u{7}\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{61c}\r\u{2028}\u{1}\u{feff}";
    let text = format!("echo {bad} x\n");
    let span = Span::new(5, 5 + bad.len() as u32);
    let diagnostic = Diagnostic::new(Code::BidiControl, span, format!("message {bad}"))
        .label(format!("label {bad}"))
        .help(format!("help {bad}"))
        .fix(format!("title {bad}"), span, format!("y{bad}"));
    let source = Source { name: bad, text: &text };
    let report = Report { source, diagnostics: &[diagnostic] };
    let mut out = String::new();
    human(&report, Ink::new(false), &mut out);
    github(&report, &mut out);
    let acts =
        |c: &char| c.is_control() && *c != '\n' || bad.contains(*c) && !"[31m2J".contains(*c);
    assert_eq!(out.chars().find(acts), None, "{out:?}");
    assert!(out.contains("␛[31m␇␡�2J"), "{out}");
}

#[test]
fn colour_is_only_there_on_demand() {
    assert!(rendered(SOURCE, &[undeclared()], true).contains("\u{1b}[1m\u{1b}[91merror[E0401]"));
    assert!(!rendered(SOURCE, &[undeclared()], false).contains('\u{1b}'));
}

#[test]
fn json_holds_everything_with_sorted_keys() {
    let span = place(SOURCE, "imge");
    let diagnostics = [undeclared().fix("rename", span, "image")];
    let source = Source { name: "ci.opl", text: SOURCE };
    let value = json(&[Report { source, diagnostics: &diagnostics }]);
    let span = concat!(
        r#""span":{"end":{"column":16,"line":3,"offset":46},"#,
        r#""start":{"column":12,"line":3,"offset":42}}"#
    );
    let expected = [
        r#"{"files":[{"diagnostics":[{"code":"E0401","fix":{"edits":[{"#,
        span,
        r#","text":"image"}],"title":"rename"},"help":["declare it with `var imge = …`"],"#,
        r#""label":"undeclared","message":"no variable `imge` is declared","#,
        r#""related":[{"message":"a similar one is declared here","#,
        r#""span":{"end":{"column":10,"line":1,"offset":9},"#,
        r#""start":{"column":5,"line":1,"offset":4}}}],"severity":"error","#,
        span,
        r#","title":"undeclared variable"}],"file":"ci.opl"}],"#,
        r#""summary":{"errors":1,"files":1,"notes":0,"warnings":0},"version":1}"#,
    ];
    assert_eq!(value.to_string(), expected.concat());
}

#[test]
fn github_gets_one_escaped_command_a_diagnostic() {
    let span = place(SOURCE, "imge");
    let one = Diagnostic::new(Code::UndeclaredVariable, span, "100%: a,\nb").help("try c");
    let two = Diagnostic::new(Code::UnusedVariable, Span::new(0, 20), "m");
    let source = Source { name: "a:b,c.opl", text: SOURCE };
    let mut out = String::new();
    github(&Report { source, diagnostics: &[one, two] }, &mut out);
    let expected = "\
::error file=a%3Ab%2Cc.opl,line=3,endLine=3,col=12,endColumn=16,title=E0401::100%25: a,%0Ab%0Ahelp: try c
::warning file=a%3Ab%2Cc.opl,line=1,endLine=2,title=W0410::m
";
    assert_eq!(out, expected);
}

/// Texts and spans of every awkward kind, from a fixed seed: rendering them must not panic.
#[test]
fn no_text_and_no_span_is_too_strange() {
    let parts = [
        "a",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "漢",
        "e\u{301}",
        "👩\u{200d}🔧",
        "\u{1b}",
        "{",
        "// x",
    ];
    let mut state: u32 = 7;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..3000 {
        let count = next(30) * if next(20) == 0 { 40 } else { 1 };
        let text: String = (0..count).map(|_| parts[next(parts.len())]).collect();
        let mut span = || {
            let (a, b) = (next(text.len() + 3) as u32, next(text.len() + 3) as u32);
            Span::new(a.min(b), if a == b { a } else { a.max(b) })
        };
        let spans = [span(), span(), span(), span(), span()];
        let words = ["", "words", "漢\n字"][next(3)];
        let mut diagnostic = Diagnostic::new(Code::Syntax, spans[0], words)
            .label(words)
            .also(spans[1], "x")
            .also(spans[2], words)
            .fix("f", spans[3], parts[next(parts.len())]);
        if let Some(fix) = diagnostic.fix.as_mut().filter(|_| next(2) == 0) {
            fix.edits
                .push(opal_core::Edit { span: spans[4], text: parts[next(parts.len())].into() });
        }
        rendered(&text, &[diagnostic], next(2) == 0);
    }
}
