//! What the planner will be given: nothing of the source is lost on the way.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
use opal_core::plan::ChainOperator;
use opal_plan::Words;
use opal_plan::lower;
use opal_plan::unit::{Links, Piece, ShellText, StatementKind, Step, Target, Unit, Work};

fn unit(text: &str) -> Unit {
    let registry = opal_decorators::registry();
    let parse = opal_syntax::parse(text, &Words(&registry));
    assert_eq!(parse.errors, [], "{text}");
    lower::unit(&parse, text)
}

fn step(text: &str) -> Step {
    match unit(text).script.statements.pop().unwrap().kind {
        StatementKind::Step(step) => step,
        other => panic!("{other:?}"),
    }
}

/// The text with `<path>` for references.
fn flat(text: &ShellText) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::AtWord(name) => format!("@{}", name.text),
        Piece::Reference(reference, _) => format!("<{}>", reference.path.text),
    };
    text.pieces.iter().map(piece).collect()
}

fn shell(work: &Work) -> String {
    match work {
        Work::Shell(text) => flat(text),
        Work::Call(call) => format!("call {}", call.path.text),
    }
}

#[test]
fn a_step_keeps_its_text_and_loses_its_comments() {
    let given = "echo  a \\\n  b && # why\n  c @var.x '# no' // end\n";
    assert_eq!(shell(&step(given).first.work), "echo  a \\\n  b && \n  c <var.x> '# no'");
}

#[test]
fn line_ends_of_windows_become_line_feeds() {
    let given = "cat <<EOF\r\na\r\nEOF\r\n";
    assert_eq!(shell(&step(given).first.work), "cat <<EOF\na\nEOF");
}

#[test]
fn an_escaped_at_is_an_at() {
    assert_eq!(shell(&step("echo \\@var.x \"\\@\"\n").first.work), "echo @var.x \"@\"");
}

#[test]
fn a_chain_has_its_operands_operators_and_redirections_in_order() {
    let given = "echo a | cat && @cmd.b() > log 2>&1 || c; d >> @file.write(\"p\")\n";
    let step = step(given);
    let mut all = vec![shell(&step.first.work)];
    all.extend(step.rest.iter().map(|(op, operand)| format!("{op:?} {}", shell(&operand.work))));
    assert_eq!(all, ["echo a", "Pipe cat", "And call cmd.b", "Or c", "Then d"]);
    let call = &step.rest[1].1.redirects;
    assert!(matches!(&call[0].target, Target::Text(text) if flat(text).trim() == "> log 2>&1"));
    let last = &step.rest[3].1.redirects[0];
    assert_eq!(last.operator.to_string(), ">>");
    assert!(matches!(&last.target, Target::Decorator(call) if call.path.text == "file.write"));
    assert_eq!(step.rest[0].0, ChainOperator::Pipe);
}

#[test]
fn a_heredoc_stays_with_the_operand_that_announced_it() {
    let given = "cat <<A | @to.display() && cat <<'B'\n  a @var.x\nA\nb @var.y\nB\n";
    let step = step(given);
    assert_eq!(shell(&step.first.work), "cat <<A\n  a <var.x>\nA");
    assert_eq!(shell(&step.rest[1].1.work), "cat <<'B'\nb @var.y\nB");
}

#[test]
fn strings_are_decoded_and_dedented() {
    let given = "var a = \"\\t\\u{41}\\@\"\nvar b = \"\"\"\n    x\n      y\n    \"\"\"\n";
    let values: Vec<String> = unit(given)
        .script
        .statements
        .iter()
        .map(|statement| match &statement.kind {
            StatementKind::Var { value, .. } => format!("{:?}", value.kind),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values[0], r#"Literal(String("\tA@"))"#);
    assert_eq!(values[1], r#"Literal(String("x\n  y"))"#);
}

#[test]
fn documentation_is_the_comment_lines_directly_above() {
    let given = "// not this\n\n// One.\n# Two.\nfun a() = true\n/* no */\nfun b() = true\n";
    let unit = unit(given);
    assert_eq!(unit.functions[0].docs, "One.\nTwo.");
    assert_eq!(unit.functions[1].docs, "");
}

#[test]
fn an_outline_has_no_bodies_and_a_unit_has_all_with_the_same_signatures() {
    let text = "fun a() {\n    one\n    two\n}\nfun b() = three\n";
    let registry = opal_decorators::registry();
    let parse = opal_syntax::parse(text, &Words(&registry));
    let outline = lower::outline(&parse, text, &Links::default());
    assert!(outline.functions.iter().all(|function| function.body.statements.is_empty()));
    let unit = lower::unit(&parse, text);
    let bodies = unit.functions.iter().map(|function| function.body.statements.len());
    assert_eq!(bodies.collect::<Vec<_>>(), [2, 1]);
    for (whole, outlined) in unit.functions.iter().zip(&outline.functions) {
        assert_eq!((&whole.name, whole.span), (&outlined.name, outlined.span));
    }
}
