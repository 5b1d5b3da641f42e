//! `let`: what is captured, what is read of it, and what is never shown.

use std::path::Path;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Descriptor, Returns};
use opal_core::resolver::Inputs;
use opal_core::{Data, Type};
use opal_testing::{Answer, LoggedSession};

use opal_testing::planning::Project;
use opal_testing::running::{Ran, Running};

/// A decorator that gives a structure.
static DEPLOY: Descriptor = Descriptor {
    path: "demo.deploy",
    summary: "gives a structure",
    returns: Some(Returns { version: "1.0.0", ty: Type::Any }),
    action: Some(&Deploy),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Deploy;

impl Action for Deploy {
    fn act(&self, _: &Inputs, _: &mut dyn Stage) -> Result<Data, Halt> {
        let map = |fields: Vec<(&str, Data)>| {
            Data::Map(fields.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
        };
        let pod = |name: &str| map(vec![("name", Data::text(name)), ("owner", Data::Null)]);
        Ok(map(vec![
            ("id", Data::text("i-0123456789")),
            ("option", Data::text("--force-it-all")),
            ("nul", Data::text("a\0b")),
            ("port", Data::Int(8080)),
            ("service", map(vec![("url", Data::text("http://app.example"))])),
            ("pods", Data::Array(vec![pod("pod-one-1"), pod("pod-two-2")])),
            ("words", Data::Array(vec![Data::text("first-word"), Data::text("second-word")])),
        ]))
    }
}

/// What one step makes of the result of the decorator.
fn with(step: &str, session: &LoggedSession) -> Ran {
    let source = format!("let.it = @demo.deploy()\n{step}\n");
    let project = Project::new(&source).plugins(&[&DEPLOY]);
    Running::on(project, session, Path::new("/p")).run()
}

#[test]
fn output_is_captured_without_its_last_line_ends_and_never_shown() {
    let session = LoggedSession::new()
        .on("git rev-parse", Answer::prints("0123456789abcdef\n\n").says("warning\n"))
        .on("echo {}", Answer::prints("tag 0123456789abcdef\n"));
    let source = "let.commit = @shell(\"git rev-parse\")\necho @let.commit\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    let all = format!("{:?} {:?}", ran.record, ran.seen);
    assert!(!all.contains("0123456789abcdef"), "{all}");
    let [said, tag] = ran.output()[..] else { panic!("{:?}", ran.seen) };
    assert_eq!(said, "warning\n");
    assert!(tag.starts_with("tag 🔒 opal:h:") && tag.ends_with('\n'), "{tag}");
}

#[test]
fn what_a_capture_says_waits_until_its_output_is_known() {
    let session = LoggedSession::new()
        .on("login", Answer::prints("token-0123456\n").says("got token-0123456\n"));
    let ran = Running::new("let.token = @shell(\"login\")\n@log(@let.token)\n", &session).run();
    ran.ok();
    let all = format!("{:?} {:?}", ran.record, ran.seen);
    assert!(!all.contains("token-0123456"), "{all}");
    assert!(ran.output()[0].starts_with("got 🔒 opal:h:"), "{:?}", ran.output());
}

#[test]
fn a_failing_capture_fails_its_step_and_hides_what_it_printed() {
    let session = LoggedSession::new()
        .on("login", Answer::prints("token-0123456\n").says("bad token-0123456\n").and_code(3));
    let ran = Running::new("let._t = @shell(\"login\")\nb\n", &session).run();
    assert_eq!(ran.failure(), "script.shell[0] 3");
    assert_eq!(session.log(), ["run `login` in /p"]);
    assert!(!format!("{:?}", ran.record).contains("token-0123456"));
}

#[test]
fn the_fields_of_a_captured_command_are_exact() {
    let session = LoggedSession::new()
        .on("a", Answer::prints("out\n\n").says("err\n").and_code(4))
        .on("test {} {} {}", Answer::default());
    let source = "let.r = @shell(\"a\", allow_failure=true)\n\
                  @log(\"[@let.r.stdout|@let.r.stderr|@let.r.exit_code|@let.r]\")\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert!(ran.record.contains(&"info: [out\n\n|err\n|4|out]".to_owned()), "{:?}", ran.record);
}

#[test]
fn a_binding_may_be_a_part_of_the_result() {
    let session = LoggedSession::new().on("a", Answer::code(9));
    let source = "let.code = @shell(\"a\", allow_failure=true).exit_code\n@log(\"@let.code\")\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert!(ran.record.contains(&"info: 9".to_owned()));
}

#[test]
fn parts_are_reached_through_fields_and_indices() {
    for (text, expected) in [
        ("@let.it.id", "i-0123456789"),
        ("@let.it.service.url", "http://app.example"),
        ("@let.it.pods[1].name", "pod-two-2"),
        ("@let.it[\"id\"]", "i-0123456789"),
    ] {
        let session = LoggedSession::new();
        let project =
            Project::new(&format!("let.it = @demo.deploy()\n@environ(X=\"{text}\") {{ a }}\n"));
        let ran = Running::on(project.plugins(&[&DEPLOY]), &session, Path::new("/p")).run();
        ran.ok();
        // Only the session gets to see it.
        assert!(!format!("{:?}", ran.record).contains(expected), "{text}");
    }
    let session = LoggedSession::new();
    with("a @let.it.words.*", &session).ok();
    assert_eq!(session.log(), ["run `a {}` in /p"]);
    let ran = with("@log(\"@let.it.port @let.it.pods.length\")", &session);
    let logged = ran.record.iter().find(|line| line.starts_with("info: ")).unwrap();
    assert!(logged.starts_with("info: 🔒 opal:h:") && logged.ends_with(" 2"), "{logged}");
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    for (step, expected, help) in [
        (
            "a @let.it.servise",
            "FieldAccessError: `let.it` has no field `servise`",
            "did you mean `service`?",
        ),
        (
            "a @let.it.service.zzz",
            "FieldAccessError: `let.it.service` has no field `zzz`",
            "its fields are not listed, because what a step prints is a secret; with `public=true` they are",
        ),
        (
            "a @let.it.pods[7].name",
            "IndexError: `let.it.pods` has no element `[7]`",
            "it has 2 elements, from `[0]` to `[1]`",
        ),
        (
            "a @let.it.id.x",
            "FieldAccessError: `let.it.id` is a String and has no field `x`",
            "use the value itself",
        ),
        (
            "a @let.it.pods[0].owner",
            "FieldAccessError: `let.it.pods[0].owner` is null, which has no text",
            "the command printed `null` there, not a value",
        ),
        (
            "a @let.it.pods[0].owner.name",
            "FieldAccessError: `let.it.pods[0].owner` is null and has no fields",
            "the command printed `null` there, not a value",
        ),
    ] {
        let session = LoggedSession::new();
        let ran = with(step, &session);
        assert_eq!(ran.failure(), format!("script.shell[0] 1: {expected}"), "{step}");
        let trouble = ran.outcome.failed.unwrap().trouble.unwrap();
        assert_eq!(trouble.help, [help], "{step}");
        assert!(session.log().is_empty(), "{step}");
    }
}

#[test]
fn a_run_time_value_obeys_the_rules_for_its_place() {
    for (step, expected) in [
        (
            "a @let.it.option",
            "`let.it.option` begins with `-`, so the program would read it as an option",
        ),
        ("a @let.it.nul", "`let.it.nul` contains a NUL character, which no command accepts"),
        ("a x@let.it.words", "`let.it.words` is an Array, which has no single form inside text"),
        ("a @let.it.service", "`let.it.service` is a Map, which has no single form inside text"),
        (
            "echo $((1 + @let.it.id))",
            "`let.it.id` would become code: the shell computes it, and it is a String",
        ),
        ("@log(@let.it.port)", "`message` expects a String, got an Int"),
        ("@log(\"x\", level=@let.it.id)", "the value is not a valid `level`"),
        ("@environ(X=@let.it.nul) { a }", "`X` contains a NUL character, which no variable can"),
    ] {
        let session = LoggedSession::new();
        let ran = with(step, &session);
        assert!(ran.failure().ends_with(expected), "{step}: {}", ran.failure());
        assert!(session.log().is_empty(), "{step}");
    }
}

#[test]
fn a_leading_hyphen_is_fine_where_it_is_allowed_for() {
    for step in [
        "a -- @let.it.option",
        "a x@let.it.option",
        "a \"x @let.it.option\"",
        "X=@let.it.option a",
        "a @let.it(dash=true).option",
    ] {
        let session = LoggedSession::new();
        with(step, &session).ok();
    }
}

#[test]
fn bindings_are_fresh_in_every_attempt_and_every_call() {
    let session = LoggedSession::new()
        .on("id", Answer::prints("one"))
        .on("id", Answer::prints("two"))
        .on("use {}", Answer::code(1))
        .on("use {}", Answer::code(0));
    let source = "@retry(2, delay=1ms) {\n    let.x = @shell(\"id\")\n    \
                  @log(\"@let.x\")\n    use @let.x\n}\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    let logged: Vec<_> = ran.record.iter().filter(|line| line.starts_with("info")).collect();
    assert_eq!(logged, ["info: one", "info: two"]);
}

#[test]
fn a_binding_is_read_in_branches_and_functions_below_it() {
    let session = LoggedSession::new().on("id", Answer::prints("seven"));
    let source = "fun f(x) { @log(x) }\nlet.x = @shell(\"id\", public=true)\n\
                  @parallel {\n    @cmd.f(@let.x)\n    @log(\"@let.x\")\n}\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert_eq!(ran.record.iter().filter(|line| *line == "info: seven").count(), 2);
}

#[test]
fn output_that_is_not_text_or_too_long_cannot_be_bound() {
    let session = LoggedSession::new()
        .on("binary", Answer::prints(vec![0xff, 0xfe]))
        .on("long", Answer::prints(vec![b'x'; 9 * 1024 * 1024]));
    let ran = Running::new("let._a = @shell(\"binary\")\n", &session).run();
    assert_eq!(
        ran.failure(),
        "script.shell[0] 1: its output is not UTF-8 text, so it cannot be bound"
    );
    let ran = Running::new("let._a = @shell(\"long\")\n", &session).run();
    assert!(ran.failure().contains("larger than 8 MiB"), "{}", ran.failure());
}

#[test]
fn what_is_said_beside_output_that_cannot_be_hidden_is_not_shown() {
    let printed = b"hunter22hunter22 \xff\n".to_vec();
    let session =
        LoggedSession::new().on("login", Answer::prints(printed).says("tok hunter22hunter22\n"));
    let ran = Running::new("let.token = @shell(\"login\")\n@log(@let.token)\n", &session).run();
    assert!(ran.failure().contains("is not UTF-8 text"), "{}", ran.failure());
    let all = format!("{:?} {:?}", ran.record, ran.seen);
    assert!(!all.contains("hunter22"), "{all}");
}
