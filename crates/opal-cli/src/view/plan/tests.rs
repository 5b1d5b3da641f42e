use std::collections::{BTreeMap, BTreeSet};

use opal_core::contract::{Contract, Provenance, compare};
use opal_core::hash::{Algorithm, Digest};
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Arg, Node, Piece, PlanValue, Read, Step};
use opal_core::{Data, Span};

use super::*;
use crate::failure::contract::differs;

/// Two steps, one of which uses `env.REPLICAS`.
fn plan(replicas: &str, commands: &[&str]) -> Plan {
    let key = "env.REPLICAS";
    let data = Data::text(replicas);
    let placeholder = PlaceholderKey::new([7; 32]).placeholder(Algorithm::Sha256, key, &data);
    let value = PlanValue {
        placeholder: placeholder.clone(),
        public: None,
        roots: BTreeSet::from([key.into()]),
        holders: BTreeSet::new(),
        schema: None,
    };
    let place = opal_core::context::Context::new(opal_core::context::Place::Word);
    let scale =
        vec![Piece::Text("scale ".into()), Piece::Data { arg: Arg::Value(key.into()), place }];
    let others = commands.iter().map(|command| vec![Piece::Text((*command).into())]);
    let steps = std::iter::once(scale).chain(others).enumerate();
    Plan {
        steps: steps.map(|(index, command)| shell(index, command)).collect(),
        values: BTreeMap::from([(key.into(), value)]),
        reads: vec![Read {
            key: key.into(),
            decorator: "env".into(),
            placeholder: Some(placeholder),
            public: None,
        }],
        ..Plan::empty("deploy", Algorithm::Sha256, Digest([0; 32]))
    }
}

fn shell(index: usize, command: Vec<Piece>) -> Step {
    let path = format!("deploy.shell[{index}]");
    let args = vec![("command".into(), Arg::Shell(command))];
    Step { args, ..Step::new(Node::Shell, path, Span::at(0)) }
}

/// Hands the comparison of two plans to `look`.
fn compared<T>(before: Plan, after: &Plan, look: impl FnOnce(&Comparison<'_>) -> T) -> T {
    let contract = Contract::new(before, 0, Provenance::default()).unwrap();
    let verdict = compare(&contract, after);
    look(&Comparison {
        before: contract.plan(),
        after,
        verdict: &verdict,
        names: ["contract", "now"],
        new_contract: Some("opal plan deploy -o prod.plan"),
        look: Some("opal verify -v deploy"),
        registry: &Registry::new(&[]).unwrap(),
        source: None,
        changed_files: Vec::new(),
        is_older: false,
        is_quick: false,
        beside: &[],
    })
}

#[test]
fn a_changed_value_is_shown_where_it_is_used_and_never_in_clear() {
    let (before, after) = (plan("canary-1", &["date"]), plan("canary-2", &["date"]));
    let [then, now] =
        [&before, &after].map(|plan| plan.values["env.REPLICAS"].placeholder.to_string());
    let text = compared(before, &after, |comparison| {
        refusal(
            comparison,
            &hinted(differs(comparison.verdict, comparison.new_contract), comparison),
            Ink::new(false),
        )
    });
    let expected = format!(
        "env_changed: env.REPLICAS: {then} in the contract, {now} now
  deploy.shell[0]
    - contract: scale {then}
    + now:      scale {now}

error: the plan is not the plan of the contract: 1 difference (env_changed); nothing was run
  help: if the change is intended, make a new contract: `opal plan deploy -o prod.plan`
  help: `--force` runs the steps of the contract with the current values
"
    );
    assert_eq!(text, expected);
}

#[test]
fn a_changed_step_is_shown_as_it_was_and_as_it_is() {
    let (before, mut after) = (plan("3", &["date"]), plan("3", &["date -u\nuptime"]));
    after.source_hash = Digest([1; 32]);
    let text = compared(before, &after, |comparison| {
        refusal(
            comparison,
            &hinted(differs(comparison.verdict, comparison.new_contract), comparison),
            Ink::new(false),
        )
    });
    assert!(text.starts_with("source_changed: step `deploy.shell[1]`"), "{text}");
    assert!(
        text.contains("  - contract: date\n  + now:      date -u\n  +           uptime\n"),
        "{text}"
    );
    assert!(!text.contains("--force"), "{text}");
}

#[test]
fn steps_that_came_and_went_are_on_one_side_alone() {
    let (short, long) = (plan("3", &["date"]), plan("3", &["date", "uptime"]));
    let text = compared(short.clone(), &long, |comparison| differences(comparison, false));
    assert!(text.contains("\n  + now:      uptime\n") && !text.contains("- contract"), "{text}");
    let text = compared(long, &short, |comparison| differences(comparison, false));
    assert!(text.contains("\n  - contract: uptime\n") && !text.contains("+ now"), "{text}");
}

#[test]
fn both_sides_of_a_step_are_shown_where_others_came() {
    let (before, mut after) = (plan("canary-1", &["date"]), plan("canary-2", &["date -u"]));
    after.steps.insert(0, shell(0, vec![Piece::Text("uptime".into())]));
    for (index, step) in after.steps.iter_mut().enumerate() {
        step.path = format!("deploy.shell[{index}]").into();
    }
    let [then, now] =
        [&before, &after].map(|plan| plan.values["env.REPLICAS"].placeholder.to_string());
    let (text, document) = compared(before, &after, |comparison| {
        (differences(comparison, false), differences_json(comparison))
    });
    assert!(text.contains("\n  + now:      uptime\n"), "{text}");
    assert!(text.contains("\n  - contract: date\n  + now:      date -u\n"), "{text}");
    let uses =
        format!("  deploy.shell[1]\n    - contract: scale {then}\n    + now:      scale {now}\n");
    assert!(text.contains(&uses), "{text}");
    let changed = &document["differences"][1];
    assert_eq!([&changed["was"], &changed["path"]], ["deploy.shell[1]", "deploy.shell[2]"]);
}

#[test]
fn equal_plans_say_so() {
    let (before, mut after) = (plan("3", &["date"]), plan("3", &["date"]));
    after.source_hash = Digest([1; 32]);
    let text = compared(before, &after, |comparison| differences(comparison, false));
    let note = "note: the source has changed, but gives the same plan\n";
    assert_eq!(text, format!("the plans are the same\n{note}"));
}

#[test]
fn json_has_the_code_both_sides_and_the_way_out() {
    let (before, after) = (plan("canary-1", &["date"]), plan("canary-2", &["date -u"]));
    let document = compared(before, &after, differences_json);
    assert!(!document.to_string().contains("canary"));
    assert_eq!(document["same"], json!(false));
    assert_eq!(document["new_contract"], json!("opal plan deploy -o prod.plan"));
    let [step, value] = [&document["differences"][0], &document["differences"][1]];
    assert_eq!(step["change"], json!("changed"));
    assert_eq!(step["step"], json!({"before": "date", "after": "date -u"}));
    assert_eq!(value["key"], json!("env.REPLICAS"));
    assert_eq!(value["code"], json!("env_changed"));
    assert_eq!(value["steps"][0]["path"], json!("deploy.shell[0]"));
    assert_ne!(value["placeholder"]["before"], value["placeholder"]["after"]);
}

#[test]
fn a_value_of_many_steps_shows_some_and_counts_the_others() {
    let many = |value: &str| {
        let mut plan = plan(value, &[]);
        let step = plan.steps[0].clone();
        plan.steps = (0..10)
            .map(|index| Step { path: format!("deploy.shell[{index}]").into(), ..step.clone() })
            .collect();
        plan
    };
    let text = compared(many("1"), &many("2"), |comparison| differences(comparison, false));
    assert_eq!(text.matches("  deploy.shell[").count(), 3, "{text}");
    assert!(text.contains("  and in 7 more\n"), "{text}");
    // Whoever approves it sees all of them.
    let text = compared(many("1"), &many("2"), |comparison| all_differences(comparison, false));
    assert_eq!(text.matches("  deploy.shell[").count(), 10, "{text}");
    assert!(!text.contains("more\n"), "{text}");
}

#[test]
fn nothing_in_a_difference_acts_on_a_terminal() {
    let (before, after) = (plan("1", &["a\u{1b}[2J"]), plan("1", &["b\u{9b}"]));
    let text = compared(before, &after, |comparison| differences(comparison, false));
    assert!(!text.contains(['\u{1b}', '\u{9b}']) && text.contains("a␛[2J"), "{text}");
}
