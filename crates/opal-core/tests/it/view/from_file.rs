//! A plan and its file read alike.

use opal_core::Value;
use opal_core::context::{Context, Place};
use opal_core::contract::{Contract, Encoding, Frame, Provenance, encode};
use opal_core::plan::{Arg, Piece, Plan, RedirectTarget, Step};
use opal_core::view::step_text;
use proptest::prelude::*;

use crate::view::build::*;

fn read_back(plan: Plan) -> Plan {
    let contract = Contract::new(plan, 0, Provenance::default()).unwrap();
    let encoding = Encoding { envelope: &[], auth_key: &[0; 32], compress: false, signer: None };
    let bytes = encode(&contract, &encoding).unwrap();
    Frame::read(&bytes).unwrap().decode().unwrap().plan().clone()
}

fn texts(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| step_text(plan, step, None)).collect()
}

#[test]
fn a_step_reads_the_same_from_a_plan_and_from_its_file() {
    let call = step("@cmd", "deploy.build[0]", vec![("function", string("build"))]);
    let steered = vec![("condition", string("env.A == 1")), ("taken", int(1))];
    let long = format!("if \"{}\"\n    == b", "ä".repeat(200));
    let mut fresh = plan(vec![
        call.note("@cmd.build(mode=\"fast\")"),
        construct("if", steered).note("if a == 1 else").block(vec![run("x")]),
        construct("if", vec![("taken", int(1))]).note("if a == \n 1 else").block(vec![run("y")]),
        construct("if", vec![("taken", int(0))]).note(&long),
        construct("if", vec![("taken", int(1))]).note(&format!("{long} else")),
    ]);
    for (index, step) in fresh.steps.iter_mut().enumerate() {
        step.path = format!("deploy.step[{index}]").into();
    }
    let from_file = read_back(fresh.clone());
    let cut = format!("if \"{}… → yes", "ä".repeat(195));
    let open = format!("if \"{}… → branch 2", "ä".repeat(195));
    let expected = [
        "@cmd.build(mode=\"fast\")",
        "if env.A == 1 → no, else",
        "if a == 1 → no, else",
        &cut,
        &open,
    ];
    assert_eq!(texts(&fresh), expected);
    assert_eq!(texts(&from_file), expected);
    assert!(steps(&fresh).contains("├─ if a == 1 → no, else\n│  └─ x\n"));
    assert_eq!(steps(&from_file), steps(&fresh));
}

/// A command whose data is where `@` is, in the place that the lexer would report.
fn command(parts: &[&str], constant: &str, place: Place) -> Step {
    let context = Context::new(place).whole_word(place == Place::Word);
    let mut pieces = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            pieces.push(Piece::Data { arg: string(constant), place: context });
        }
        pieces.push(text(part));
    }
    shell(pieces)
}

/// Commands around one value, what they read as for `a "b"`, and the place.
const PLACES: [(&[&str], &str, Place); 8] = [
    (&["echo ", " ok"], "echo 'a \"b\"' ok", Place::Word),
    (&["echo \"hello ", "\""], "echo \"hello a \\\"b\\\"\"", Place::Quoted),
    (&["echo 'it \"' \"", "\""], "echo 'it \"' \"a \\\"b\\\"\"", Place::Quoted),
    (&["echo \"it's\" ", ""], "echo \"it's\" 'a \"b\"'", Place::Word),
    (&["cat <<E\nit's ", "\nE\n"], "cat <<E\nit's a \"b\"\nE\n", Place::Heredoc),
    (&["X=", " run"], "X='a \"b\"' run", Place::Assignment),
    (&["echo \"$(cat ", ")\""], "echo \"$(cat 'a \"b\"')\"", Place::Word),
    (&["echo $((1 + ", "))"], "echo $((1 + a \"b\"))", Place::Arithmetic),
];

#[test]
fn a_constant_is_shown_as_its_place_needs_it_also_from_a_file() {
    for (parts, expected, place) in PLACES {
        let fresh = plan(vec![command(parts, "a \"b\"", place)]);
        assert_eq!(texts(&fresh), [expected]);
        assert_eq!(texts(&read_back(fresh)), [expected]);
    }
}

proptest! {
    #[test]
    fn every_command_reads_the_same_from_a_plan_and_from_its_file(
        chosen in prop::collection::vec((0..PLACES.len(), "[a '\"$\\\\\n]{0,4}"), 1..6),
        noise in "[a @$(){}\"'`\\\\<#\nE-]{0,20}",
    ) {
        let mut steps = Vec::new();
        for (index, (which, constant)) in chosen.iter().enumerate() {
            let (parts, _, place) = PLACES[*which];
            let around: Vec<String> = parts.iter().map(|part| format!("{part}{noise}")).collect();
            let around: Vec<&str> = around.iter().map(String::as_str).collect();
            let list = Arg::Const(Value::Array(vec![Value::String(constant.clone().into())]));
            let target = vec![text("log "), Piece::Data { arg: list, place: Context::new(place) }];
            let mut step = command(&around, constant, place)
                .redirect(">", RedirectTarget::Shell(target));
            step.path = format!("deploy.shell[{index}]").into();
            steps.push(step);
        }
        let fresh = plan(steps);
        let from_file = read_back(fresh.clone());
        prop_assert_eq!(texts(&from_file), texts(&fresh));
        prop_assert_eq!(tree(&view(&from_file)), tree(&view(&fresh)));
    }
}
