//! Large plans: readable at 200 steps, linear at the limit.

use opal_core::plan::{Arg, MAX_STEPS, Plan};
use opal_core::view::{Json, PlanFormatter};

use crate::view::build::*;

const VALUES: usize = 100;

/// `count` steps: blocks of a retry and nine commands, each with a value.
fn large(count: usize) -> Plan {
    let blocks = (0..count / 10).map(|block| {
        let steps = (0..9).map(|index| {
            let key = format!("env.V{}", (block + index) % VALUES);
            let command = vec![text("echo "), data(Arg::Value(key.into()))];
            let mut step = shell(command);
            step.path = format!("deploy.retry[{block}].shell[{index}]").into();
            step
        });
        step("@retry", &format!("deploy.retry[{block}]"), vec![("attempts", int(3))])
            .block(steps.collect())
    });
    let mut plan = plan(blocks.collect());
    for index in 0..VALUES {
        plan = plan.read(&format!("env.V{index}"), "x", &[]);
    }
    plan
}

#[test]
fn each_of_200_steps_is_one_line_after_its_bars() {
    let plan = large(200);
    let shown = steps(&plan);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 201);
    assert_eq!(lines.iter().filter(|line| line.contains("@retry(attempts=3)")).count(), 20);
    assert!(lines[1..].iter().all(|line| line.starts_with(['├', '└', '│', ' '])));
    assert_eq!(lines[200].chars().take(6).collect::<String>(), "   └─ ");
}

#[test]
fn the_size_of_a_view_grows_with_the_plan_and_not_faster() {
    let sizes = |count| {
        let plan = large(count);
        let view = view(&plan);
        (tree(&view).len() / count, Json.format(&view).len() / count)
    };
    let ((small_tree, small_json), (large_tree, large_json)) = (sizes(1_000), sizes(MAX_STEPS));
    assert!(large_tree <= small_tree + 4, "{small_tree} {large_tree}");
    assert!(large_json <= small_json + 4, "{small_json} {large_json}");
}

#[test]
fn deep_nesting_is_drawn_and_never_cut() {
    let mut step = run(&"x".repeat(10_000));
    for _ in 0..120 {
        step = construct("try", Vec::new()).block(vec![step]);
    }
    let shown = steps(&plan(vec![step]));
    assert!(shown.contains(&"x".repeat(10_000)));
    assert_eq!(shown.lines().count(), 122);
}
