//! What is asked of the world while planning: what a step needs, once, and as much at the same time
//! as can be.

use opal_testing::planning;

use std::time::Duration;

use opal_plan::plan::Purpose;
use opal_testing::Asked;

use planning::Project;

/// A world in which everything is there: what was asked of it, in order.
fn asked(source: &str, purpose: Purpose) -> Vec<String> {
    let project = Project::read(source).purpose(purpose).world(|world| world.otherwise("3"));
    if let Err(errors) = project.plan() {
        panic!("{source}\n{errors:#?}");
    }
    let names = project.world.asked().into_iter().map(|asked| match asked {
        Asked::Env(name)
        | Asked::Open(name)
        | Asked::Run(name)
        | Asked::Get(name)
        | Asked::Connect(name) => name,
        other => format!("{other:?}"),
    });
    names.collect()
}

fn check(rows: &[(&str, &[&str])]) {
    for (source, expected) in rows {
        let mut found = asked(source, Purpose::Run);
        found.sort();
        assert_eq!(found, *expected, "{source}");
    }
}

#[test]
fn what_nothing_uses_is_not_asked_for() {
    check(&[
        ("var a = @env.A\necho b\n", &[]),
        ("var a = @env.A\nvar b = a + \"x\"\necho c\n", &[]),
        ("var a = @env.A\na = \"x\"\necho @var.a\n", &[]),
        ("@cmd.f(@env.A)\nfun f(unused) { echo b }\n", &[]),
        ("@cmd.f()\nfun f(x = @env.A) { echo b }\n", &[]),
        ("@cmd.f(\"x\")\nfun f(x = @env.A) { echo @var.x }\n", &[]),
        ("var m = {a: @env.A, b: @env.B}\necho @var.m.a\n", &["A", "B"]),
        ("//@ target f\nvar a = @env.A\nvar b = @env.B\nfun f() { echo @var.b }\n", &["B"]),
        ("//@ target f\nfun f() { echo a }\nfun g() { echo @env.A }\n", &[]),
        ("for x in [] { echo @env.A }\n", &[]),
        ("while false { echo @env.A }\n", &[]),
    ]);
}

#[test]
fn what_is_in_a_branch_that_is_not_taken_is_not_asked_for() {
    check(&[
        ("if true { echo @env.A } else { echo @env.B }\n", &["A"]),
        ("if false { echo @env.A } else if @env.B == \"3\" { echo @env.C }\n", &["B", "C"]),
        ("if true { echo a } else if @env.B == \"3\" { echo b }\n", &[]),
        (
            "when \"x\" { \"y\" -> echo @env.A\n \"x\" -> echo @env.B\n else -> echo @env.C }\n",
            &["B"],
        ),
        ("try { echo @env.A } catch { echo @env.B } finally { echo @env.C }\n", &["A", "B", "C"]),
    ]);
}

#[test]
fn the_right_side_is_asked_for_only_where_the_left_does_not_decide() {
    check(&[
        ("if false && @env.A == \"3\" { echo a }\n", &[]),
        ("if true || @env.A == \"3\" { echo a }\n", &[]),
        ("if true && @env.A == \"3\" { echo a }\n", &["A"]),
        ("if @env.A == \"no\" && @env.B == \"3\" { echo a }\n", &["A"]),
        ("if @env.A == \"3\" || @env.B == \"3\" { echo a }\n", &["A"]),
        ("if @env.A == \"3\" && @env.B == \"3\" { echo a }\n", &["A", "B"]),
        ("var c = @env.A == \"no\" && @env.B == \"3\"\necho @var.c\n", &["A"]),
    ]);
}

#[test]
fn each_value_is_asked_for_once() {
    check(&[
        ("echo @env.A @env.A\necho \"@env.A\"\n", &["A"]),
        ("if @env.A == \"3\" { echo @env.A }\nvar b = @env.A\necho @var.b\n", &["A"]),
        ("for i in 1...5 { echo @shell.output(\"c\") }\n", &["c"]),
        ("echo @shell.output(\"c\") @shell.output(\"c\", public=true)\n", &["c"]),
        ("@cmd.f()\n@cmd.f()\nfun f() { echo @file.read(\"F\") }\n", &["F"]),
        ("echo @file.read(\"F\") @file.read(\"F\", trim=true)\n", &["F"]),
    ]);
}

#[test]
fn quick_plans_ask_for_what_is_cheap() {
    let source = "echo @env.A @file.read(\"F\") @shell.output(\"c\") @http.get(\"https://h\")\n\
                  if @shell.output(\"d\") == \"3\" { echo @env.B } else { echo @env.C }\n\
                  echo @random.password()\n";
    let mut found = asked(source, Purpose::Quick);
    found.sort();
    assert_eq!(found, ["A", "B", "C", "F"]);
}

/// How many questions are asked at the same time, at most. A busy machine may start the threads
/// one after another: then each question takes longer, until `wanted` are seen.
fn most_at_once(source: &str, wanted: usize) -> usize {
    let mut most = 0;
    for round in 0..6 {
        let delay = Duration::from_millis(40 << round);
        let project = Project::new(source).world(|world| world.otherwise("3").slow(delay));
        assert!(project.plan().is_ok(), "{source}");
        most = most.max(project.world.most_at_once());
        if most >= wanted {
            break;
        }
    }
    most
}

#[test]
fn independent_questions_are_asked_in_parallel() {
    let eight: String = (0..8).map(|index| format!("echo @shell.output(\"c{index}\")\n")).collect();
    assert!(most_at_once(&eight, 5) > 4);
    // What waits for an answer is asked afterwards.
    let waits = "var a = @shell.output(\"a\")\necho @shell.output(\"b @var.a\")\n";
    assert_eq!(most_at_once(waits, 1), 1);
    // A decision takes along what the steps before it need.
    let decided = "echo @shell.output(\"a\")\nif @shell.output(\"b\") == \"3\" { echo c }\n";
    assert_eq!(most_at_once(decided, 2), 2);
    let many: String = (0..60).map(|index| format!("echo @shell.output(\"c{index}\")\n")).collect();
    assert!(most_at_once(&many, 16) <= 16);
}
