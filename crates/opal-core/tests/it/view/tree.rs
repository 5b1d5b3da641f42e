//! The tree, line by line.

use std::collections::BTreeMap;

use opal_core::context::{Context, Place};
use opal_core::plan::{Arg, Handle, Part, Piece, RedirectTarget};
use opal_core::view::{PlanFormatter, Tree};
use opal_core::{Duration, Value};

use crate::view::build::*;
use crate::view::everything::{all_facts, handle, plan_of_everything};

#[test]
fn the_tree_has_steps_values_reads_and_the_hash() {
    let command = |key: &str| vec![text("kubectl scale --replicas="), data(Arg::Value(key.into()))];
    let plan = plan(vec![
        run("kubectl apply -f k8s/"),
        step(
            "@retry",
            "deploy.retry[0]",
            vec![
                ("attempts", int(3)),
                ("delay", Arg::Const(Value::Duration(Duration::from_secs(2)))),
            ],
        )
        .block(vec![run("true"), shell(command("env.REPLICAS"))]),
        run("date"),
    ])
    .read("env.REPLICAS", "3", &["replicas"]);
    let shown = placeholder(&plan, "env.REPLICAS");
    let expected = format!(
        "deploy:
├─ kubectl apply -f k8s/
├─ @retry(attempts=3, delay=2s)
│  ├─ true
│  └─ kubectl scale --replicas={shown}
└─ date

Values:
  env.REPLICAS = {shown}  (var replicas)

Reads:
  env.REPLICAS = {shown}

Plan Hash: sha256:{}
",
        "cd".repeat(32)
    );
    assert_eq!(tree(&view(&plan)), expected);
}

#[test]
fn deferred_values_have_numbers_and_a_note_each() {
    let plan = plan(vec![shell(vec![text("deploy --at="), data(Arg::Deferred(0))])])
        .deferred("shell.output(command=\"date\")", "runs a command");
    let shown = tree(&view(&plan));
    assert!(shown.contains("└─ deploy --at=¹@shell.output(command=\"date\")\n"), "{shown}");
    let note = "Deferred:\n  1. @shell.output(command=\"date\") → <expensive: runs a command>  (var now)\n";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn what_a_quick_plan_would_defer_has_numbers_in_a_resolved_one() {
    let uses =
        |keys: &[&str]| shell(keys.iter().map(|key| data(Arg::Value((*key).into()))).collect());
    let plan = plan(vec![uses(&["b", "env.A"]), uses(&["a", "b"])])
        .read("a", "1", &[])
        .read("b", "2", &[])
        .read("env.A", "3", &[]);
    let mut view = view(&plan);
    view.expensive = ["a".into(), "b".into()].into();
    let shown = tree(&view);
    let [a, b, env] = ["a", "b", "env.A"].map(|key| placeholder(&plan, key));
    assert!(shown.contains(&format!("├─ ¹{b}{env}\n└─ ²{a}¹{b}\n")), "{shown}");
    assert!(shown.contains(&format!("Resolved:\n  1. @b → {b}\n  2. @a → {a}\n")), "{shown}");
}

#[test]
fn public_values_are_in_clear_and_marked() {
    let quoted = Context::new(Place::Quoted);
    let file = Piece::Data { arg: Arg::Value("env.DIR".into()), place: quoted };
    let mut plan = plan(vec![shell(vec![text("ls \""), file, text("/app\"")])]).read(
        "env.DIR",
        "/var",
        &["DIR"],
    );
    plan.values.get_mut("env.DIR").unwrap().public = Some(Value::text("/var"));
    let shown = tree(&view(&plan));
    assert!(shown.contains("└─ ls \"/var/app\"\n"), "{shown}");
    assert!(shown.contains("  env.DIR = \"/var\"  (public, var DIR)\n"), "{shown}");
}

#[test]
fn constants_arrays_and_pasted_text_can_be_distinguished() {
    let whole = Context::new(Place::Word).whole_word(true);
    let words = strings(&["a", "b c"]);
    let plan = plan(vec![shell(vec![
        text("rm -- "),
        Piece::Data { arg: words, place: whole },
        text(" "),
        data(string("$HOME")),
        text(" "),
        Piece::Raw(string("*.log | wc")),
    ])]);
    assert_eq!(steps(&plan), "deploy:\n└─ rm -- a 'b c' '$HOME' @raw(\"*.log | wc\")");
}

#[test]
fn every_construct_says_which_way_it_went() {
    let iteration = |index: usize, value| {
        step("iteration", &format!("deploy.service[{index}]"), vec![("value", string(value))])
            .block(vec![run(value)])
    };
    let steered = ("roots", strings(&["env.STAGE"]));
    let plan = plan(vec![
        construct("if", vec![steered.clone(), ("taken", int(0))])
            .note("if stage == \"production\"")
            .block(vec![run("prod")]),
        construct("if", vec![("taken", int(1))])
            .note("if stage == \"test\" else")
            .block(vec![run("x")]),
        construct("if", vec![("taken", int(1))])
            .note("if stage == \"test\" else if stage == \"dev\"")
            .block(vec![run("y")]),
        construct("if", vec![("taken", int(2))]).block(vec![run("z")]),
        construct("if", vec![("taken", Arg::Const(Value::Null))]).note("if a else if b"),
        construct(
            "if",
            vec![("condition", string("env.STAGE == 1")), ("taken", Arg::Const(Value::Null))],
        ),
        construct("when", vec![("arm", string("\"production\"")), steered]).note("when stage"),
        construct("when", vec![("arm", Arg::Const(Value::Null)), ("subject", string("env.A"))]),
        construct("for", vec![("count", int(2))])
            .note("for service in [\"api\", \"web\"]")
            .block(vec![iteration(0, "api"), iteration(1, "web")]),
        construct("while", vec![("condition", string("n < 1")), ("count", int(1))]),
    ]);
    let expected = "deploy:
├─ if stage == \"production\" → yes  (by env.STAGE)
│  └─ prod
├─ if stage == \"test\" → no, else
│  └─ x
├─ if stage == \"test\" else if stage == \"dev\" → branch 2
│  └─ y
├─ if → branch 3
│  └─ z
├─ if a else if b → no, nothing
├─ if env.STAGE == 1 → no, nothing
├─ when stage → \"production\"  (by env.STAGE)
├─ when env.A → no match, nothing
├─ for service in [\"api\", \"web\"] (2 times)
│  ├─ service[0] = \"api\"
│  │  └─ api
│  └─ service[1] = \"web\"
│     └─ web
└─ while n < 1 (1 time)";
    assert_eq!(steps(&plan), expected);
}

#[test]
fn undecided_ways_are_all_shown_as_open() {
    let plan = plan(vec![
        construct("if", vec![("condition", string("shell.output == 1")), undecided()]).block(vec![
            construct("branch", vec![("condition", string("shell.output == 1"))])
                .block(vec![run("a")]),
            construct("branch", vec![("condition", string("else"))]).block(vec![run("b")]),
        ]),
        construct("when", vec![undecided()]).note("when x").block(vec![
            construct("branch", vec![("pattern", string("\"p\""))]).block(vec![run("c")]),
        ]),
        construct("for", vec![("over", string("lines")), undecided()])
            .block(vec![step("iteration", "deploy.line[0]", Vec::new()).block(vec![run("d")])]),
    ]);
    let expected = "deploy:
├─ if shell.output == 1 → undecided until values are resolved
│  ├─ where shell.output == 1
│  │  └─ a
│  └─ else
│     └─ b
├─ when x → undecided until values are resolved
│  └─ on \"p\"
│     └─ c
└─ for lines → undecided until values are resolved
   └─ line[0]
      └─ d";
    assert_eq!(steps(&plan), expected);
}

#[test]
fn an_open_way_that_cannot_be_planned_says_why() {
    let why = || ("unplanned", string("`@env.NAME` is not set"));
    let named = ("value", string("api"));
    let plan = plan(vec![
        construct("if", vec![undecided()]).block(vec![
            construct("branch", vec![("condition", string("a")), why()]).block(vec![run("b")]),
            construct("branch", vec![why()]),
        ]),
        construct("for", vec![undecided()]).block(vec![
            step("iteration", "deploy.x[0]", vec![why()]),
            step("iteration", "deploy.x[1]", vec![why(), named]),
        ]),
    ]);
    let expected = "deploy:
├─ if → undecided until values are resolved
│  ├─ where a → cannot be planned: `@env.NAME` is not set
│  │  └─ b
│  └─ else → cannot be planned: `@env.NAME` is not set
└─ for → undecided until values are resolved
   ├─ x[0] → cannot be planned: `@env.NAME` is not set
   └─ x[1] = \"api\" → cannot be planned: `@env.NAME` is not set";
    assert_eq!(steps(&plan), expected);
}

#[test]
fn a_head_that_was_cut_or_is_not_an_if_says_nothing_about_else() {
    let long = format!("if \"{}\" == b else", "x".repeat(200));
    let plan = plan(vec![
        construct("if", vec![("taken", int(1))]).note(&long),
        construct("if", vec![("taken", int(0))]).note("if a else"),
        construct("for", vec![("count", int(1))]).note("for x in else"),
    ]);
    let shown = steps(&plan);
    assert!(shown.contains("… → branch 2\n"), "{shown}");
    assert!(shown.contains("if a else → yes\n"), "{shown}");
    assert!(shown.contains("for x in else (1 time)"), "{shown}");
}

#[test]
fn chains_redirects_handles_and_errors_are_drawn() {
    let token = Handle { id: Handle::id("deploy.shell[0]"), name: "token".into(), access: vec![] };
    let id = token.id.clone();
    let log = step("@file.write", "p", vec![("path", string("log"))]);
    let mut code = step(
        "@shell",
        "deploy.shell[0]",
        vec![
            ("allow_failure", Arg::Const(Value::Bool(true))),
            ("command", Arg::Shell(vec![text("curl \"x\"")])),
        ],
    )
    .named("code");
    code.binding.as_mut().unwrap().access = vec![Part::Field("exit_code".into())];
    let plan = plan(vec![
        code,
        construct("chain", vec![("operators", strings(&["&&", "|"]))]).block(vec![
            step("@retry", "r", Vec::new()).block(vec![run("curl")]),
            run("echo done"),
            run("cat").redirect("2>>", RedirectTarget::Step(Box::new(log))),
        ]),
        construct("try", Vec::new()).block(vec![
            shell(vec![text("use "), data(Arg::Handle(token))])
                .redirect(">", RedirectTarget::Shell(vec![data(string("a b"))])),
            construct("catch", Vec::new()).block(vec![run("undo")]),
            construct("finally", Vec::new()).block(vec![run("done")]),
        ]),
        construct("require", vec![("value", int(1))]),
    ]);
    let expected = format!(
        "deploy:
├─ let.code (🔒 opal:h:{id}) = @shell(\"curl \\\"x\\\"\", allow_failure=true).exit_code
├─ chain
│  ├─ @retry
│  │  └─ curl
│  ├─ && echo done
│  └─ | cat 2>> @file.write(path=\"log\")
├─ try
│  ├─ use 🔒 opal:h:{id}(let.token) > 'a b'
│  ├─ catch
│  │  └─ undo
│  └─ finally
│     └─ done
└─ require 1"
    );
    assert_eq!(steps(&plan), expected);
}

#[test]
fn continued_lines_stay_after_bars_and_cannot_draw_other_steps() {
    let plan = plan(vec![
        run("cat <<EOF\n  hello\nEOF"),
        run("echo\n└─ rm -rf /\n\nPlan Hash: sha256:00"),
    ]);
    let expected = "deploy:
├─ cat <<EOF
│  ┊   hello
│  ┊ EOF
└─ echo
   ┊ └─ rm -rf /
   ┊ 
   ┊ Plan Hash: sha256:00";
    assert_eq!(steps(&plan), expected);
}

#[test]
fn nothing_of_a_plan_acts_on_a_terminal() {
    let hostile = "\u{1b}[2J\u{9b}\u{202e}\r\u{7}x\ny";
    let word = Context::new(Place::Quoted);
    let mut plan = plan(vec![
        shell(vec![text(hostile), Piece::Data { arg: string(hostile), place: word }]),
        step(
            "@log",
            "p",
            vec![
                ("message", string(hostile)),
                ("map", Arg::Map(BTreeMap::from([(hostile.to_owned(), string(hostile))]))),
            ],
        )
        .note(hostile),
        construct(
            "for",
            vec![("roots", Arg::Const(Value::Array(vec![Value::String(hostile.into())])))],
        )
        .note(hostile),
    ])
    .read(&format!("env.{hostile}"), hostile, &[hostile])
    .deferred(hostile, hostile);
    plan.target.name = hostile.into();
    plan.target.arguments = BTreeMap::from([(hostile.to_owned(), Value::String(hostile.into()))]);
    let mut facts = all_facts();
    facts.generated_by = Some(hostile.into());
    let view = view(&plan).with_facts(facts).with_notes(vec![hostile.into()]);
    let plain = tree(&view);
    let acts = |c: char| c != '\n' && opal_core::view::visible::character(c) != c;
    assert!(!plain.contains(acts), "{plain:?}");
    let feeds = plain.lines().filter(|line| line.starts_with('y')).count();
    assert_eq!(feeds, 0, "{plain}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let plan = plan_of_everything();
    let view = view(&plan).with_facts(all_facts());
    let coloured = String::from_utf8(Tree { colour: true }.format(&view)).unwrap();
    let mut bare = String::new();
    for (index, part) in coloured.split("\u{1b}[").enumerate() {
        bare.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_ne!(coloured, bare);
    assert_eq!(bare, tree(&view));
}

#[test]
fn facts_and_notes_are_below_the_hash() {
    let plan = plan(Vec::new());
    let shown = tree(&view(&plan).with_facts(all_facts()).with_notes(vec!["the end".into()]));
    let expected = format!(
        "deploy:
└─ no steps to run

Targets:
  web1: ssh web1, user number 1000, linux x86_64, host key SHA256:abc (ssh-ed25519), machine {}
  web2: ssh web2, user number 1000, linux x86_64, machine {}

Plan Hash: sha256:{}
Project: shop
Source: commands.opl
Commit: a1b2c3, modified
Made: 2025-10-12T20:00:00Z by ci@builder with opal 0.1.0
Plugins: aws 1.2.0 (git:example, passed)
Signed by: ed25519:ab
Resources: 1 satisfied, 1 missing
Options: --root /srv/opal
Seed: chacha20-drbg, hkdf-sha256, scope plan, hash {}
Expires: 2025-10-13T20:00:00Z
Once: it may run only once
note: these placeholders belong to this process: no other plan has the same
note: the end
",
        all_facts().targets[0].machine,
        all_facts().targets[1].machine,
        "cd".repeat(32),
        "33".repeat(32)
    );
    assert_eq!(shown, expected);
}

#[test]
fn paths_are_beside_their_steps_where_they_are_asked_for() {
    let plan = plan(vec![construct("block", vec![]).block(vec![run("date")])]);
    let shown = |with_paths| {
        let mut view = view(&plan);
        view.with_paths = with_paths;
        tree(&view)
    };
    let whole = "├─ block  [deploy.block[0]]\n│  └─ date  [deploy.shell[0]]".replace("├─", "└─");
    assert!(shown(true).contains(&whole.replace('│', " ")), "{}", shown(true));
    assert!(!shown(false).contains('['));
}

#[test]
fn a_step_alone_reads_as_in_the_tree_without_numbers() {
    let plan = plan_of_everything();
    let n = placeholder(&plan, "env.N");
    let id = handle().id;
    let expected = format!(
        "echo 🔒 opal:h:{id}(let.probe.items[-1].*) \"{n}\" @shell.output(command=\"date\") \
         @raw({n}) >> out/'a b' 2> @file.write(path=\"log\")"
    );
    assert_eq!(opal_core::view::step_text(&plan, &plan.steps[1], None), expected);
}
