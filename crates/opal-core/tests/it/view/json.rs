//! What JSON says beyond being valid.

use opal_core::Value;
use opal_core::plan::{Arg, Piece, Plan};
use opal_core::view::{Json, PlanFormatter};
use serde_json::{Value as Node, json};

use crate::view::build::*;
use crate::view::everything::{all_facts, plan_of_everything};

fn text(plan: &Plan) -> String {
    String::from_utf8(Json.format(&view(plan))).unwrap()
}

fn document(plan: &Plan) -> Node {
    serde_json::from_str(&text(plan)).unwrap()
}

#[test]
fn a_shell_step_has_its_command_as_one_text_and_lists_what_it_uses() {
    let command = vec![
        Piece::Text("kubectl scale --replicas=".into()),
        data(Arg::Value("env.REPLICAS".into())),
        Piece::Text(" deployment/".into()),
        data(string("my app")),
    ];
    let plan = plan(vec![shell(command)]).read("env.REPLICAS", "3", &["replicas"]);
    let shown = placeholder(&plan, "env.REPLICAS");
    let document = document(&plan);
    assert_eq!(
        document["steps"],
        json!([{
            "args": {"command": format!("kubectl scale --replicas={shown} deployment/'my app'")},
            "decorator": "@shell",
            "path": "deploy.shell[0]",
            "values": ["env.REPLICAS"],
        }])
    );
    assert_eq!(document["values"], json!({"env.REPLICAS": shown}));
    assert_eq!(document["holders"], json!({"env.REPLICAS": ["replicas"]}));
}

#[test]
fn a_constant_that_looks_like_a_reference_is_distinguished() {
    let plan = plan_of_everything();
    let args = &document(&plan)["steps"][2]["args"];
    assert_eq!(args["string"], json!("<1:sha256:abc123>"));
    assert_eq!(args["odd"], json!({"$map": {"$value": "env.HOME"}}));
    assert_eq!(args["int"], json!(i64::MAX));
    assert_eq!(args["duration"], json!("1m30s"));
    let args = &document(&plan)["steps"][3]["args"];
    let shown = placeholder(&plan, "env.N");
    assert_eq!(args["value"], json!({"$value": "env.N", "shown": shown}));
    assert_eq!(args["text"], json!({"$text": format!("\"v{shown}3@raw(\"x\")\"")}));
}

#[test]
fn a_public_value_is_a_placeholder_in_steps_and_clear_in_public() {
    let mut plan =
        plan(vec![shell(vec![data(Arg::Value("env.A".into()))])]).read("env.A", "x", &[]);
    plan.values.get_mut("env.A").unwrap().public = Some(Value::text("x"));
    let document = document(&plan);
    assert_eq!(document["steps"][0]["args"]["command"], json!(placeholder(&plan, "env.A")));
    assert_eq!(document["public"], json!({"env.A": "x"}));
}

#[test]
fn undecided_ways_are_marked_and_deferred_values_named() {
    let plan = plan_of_everything();
    let steps = document(&plan)["steps"].clone();
    assert_eq!(steps[5]["undecided"], json!(true));
    assert!(steps[5]["args"].get("undecided").is_none());
    assert_eq!(steps[1]["deferred"], json!(["shell.output(command=\"date\")"]));
}

#[test]
fn times_are_in_utc_and_left_out_where_they_are_not_known() {
    let plan = plan(Vec::new());
    let with = Json.format(&view(&plan).with_facts(all_facts()));
    let with: Node = serde_json::from_slice(&with).unwrap();
    assert_eq!(with["header"]["timestamp"], json!("2025-10-12T20:00:00Z"));
    assert_eq!(with["provenance"]["expires"], json!("2025-10-13T20:00:00Z"));
    assert!(document(&plan)["header"].get("timestamp").is_none());
    let mut facts = all_facts();
    (facts.created, facts.expires) = (Some(i64::MAX), Some(i64::MIN));
    let odd: Node = serde_json::from_slice(&Json.format(&view(&plan).with_facts(facts))).unwrap();
    assert!(odd["header"].get("timestamp").is_none());
}

#[test]
fn keys_are_sorted_everywhere() {
    fn check(node: &Node) {
        if let Node::Object(fields) = node {
            let keys: Vec<&String> = fields.keys().collect();
            assert!(keys.is_sorted(), "{keys:?}");
        }
        match node {
            Node::Object(fields) => fields.values().for_each(check),
            Node::Array(items) => items.iter().for_each(check),
            _ => {}
        }
    }
    check(&document(&plan_of_everything()));
    // Reading sorts by itself; the text is what counts.
    let text = text(&plan_of_everything());
    let top: Vec<&str> = text.lines().filter(|line| line.starts_with("  \"")).collect();
    assert!(top.len() > 10 && top.is_sorted(), "{top:?}");
}

#[test]
fn nothing_in_json_acts_on_a_terminal() {
    let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}\u{e0001}\n";
    let plan = plan(vec![run(hostile)]);
    let text = text(&plan);
    assert!(!text.chars().any(|c| c != '\n' && opal_core::view::visible::character(c) != c));
    assert_eq!(document(&plan)["steps"][0]["args"]["command"], json!(hostile));
}
