//! `&&`, `||`, `;` and `|` between operands.

use opal_testing::{Answer, LoggedSession};

use opal_testing::running::{LONG, Running, log, millis};

/// Functions that do what they are called.
const FUNCTIONS: &str =
    "fun yes() { yes }\nfun no() { no }\nfun a() { a }\nfun b() { b }\nfun c() { c }\n";

fn session() -> LoggedSession {
    LoggedSession::new().on("no", Answer::code(7))
}

/// What ran, and what it ended with.
fn ran(line: &str) -> (String, i32) {
    let session = session();
    let ran = Running::new(&format!("{FUNCTIONS}{line}\n"), &session).run();
    let code = ran.outcome.failed.as_ref().map_or(0, |failed| failed.code);
    assert_eq!(ran.outcome.halt.is_some(), code != 0);
    let words = session.log();
    let words = words.iter().map(|line| line.split('`').nth(1).unwrap());
    (words.collect::<Vec<_>>().join(" "), code)
}

#[test]
fn operators_run_from_left_to_right_as_in_a_shell() {
    for (line, expected, code) in [
        ("@cmd.yes() && @cmd.a()", "yes a", 0),
        ("@cmd.no() && @cmd.a()", "no", 7),
        ("@cmd.no() || @cmd.a()", "no a", 0),
        ("@cmd.yes() || @cmd.a()", "yes", 0),
        ("@cmd.yes() || @cmd.a() && @cmd.b()", "yes b", 0),
        ("@cmd.no() && @cmd.a() || @cmd.b()", "no b", 0),
        ("@cmd.no() || @cmd.no() && @cmd.a()", "no no", 7),
        ("@cmd.no() && @cmd.a() || @cmd.no()", "no no", 7),
        ("@cmd.no(); @cmd.a()", "no a", 0),
        ("@cmd.a(); @cmd.no()", "a no", 7),
        ("@cmd.no() && @cmd.a(); @cmd.b()", "no b", 0),
        ("@cmd.yes() && @cmd.no(); @cmd.b() && @cmd.c()", "yes no b c", 0),
        ("@cmd.no() || true", "no true", 0),
    ] {
        assert_eq!(ran(line), (expected.to_owned(), code), "{line}");
    }
}

#[test]
fn a_directory_carries_on_from_operand_to_operand_and_after_them() {
    assert_eq!(
        log("fun a() { x }\ncd web && @cmd.a()\ny\n"),
        ["run `cd web` in /p", "run `x` in /p/web", "run `y` in /p/web"]
    );
}

#[test]
fn an_operand_of_a_pipe_keeps_its_directory_to_itself() {
    let log = log("fun a() { x }\ncd web | @cmd.a()\ny\n");
    assert!(log.contains(&"run `x` in /p".to_owned()), "{log:?}");
    assert_eq!(log.last().unwrap(), "run `y` in /p");
}

#[test]
fn a_pipe_runs_its_operands_at_once_and_passes_bytes_on() {
    let session = LoggedSession::new()
        .on("make", Answer::prints("one\ntwo\n"))
        .on("cat", Answer::passes_on())
        .on("last", Answer::passes_on());
    let source = "fun make() { make }\nfun cat() { cat }\n@cmd.make() | @cmd.cat() | last\n";
    let ran = Running::new(source, &session).run();
    ran.ok();
    assert_eq!(ran.output(), ["one\ntwo\n"]);
    let starts: Vec<_> = ran.record.iter().filter(|line| line.contains("{")).collect();
    assert!(starts[0].contains("make") && starts[1].contains("cat"), "{starts:?}");
}

#[test]
fn a_pipe_fails_with_its_last_operand_that_does() {
    let session = LoggedSession::new().on("a", Answer::code(3)).on("b", Answer::code(4));
    let run = |line: &str| {
        let functions = "fun a() { a }\nfun b() { b }\nfun c() { c }\n";
        Running::new(&format!("{functions}{line}\n"), &session).run()
    };
    assert!(run("@cmd.a() | @cmd.b() | @cmd.c()").failure().ends_with(" 4"));
    assert!(run("@cmd.b() | @cmd.a() | @cmd.c()").failure().ends_with(" 3"));
    run("@cmd.c() | @cmd.c()").ok();
    assert!(run("@cmd.c() && @cmd.c() | @cmd.a()").failure().ends_with(" 3"));
    run("@cmd.a() | @cmd.c() || @cmd.c()").ok();
}

#[test]
fn a_pipe_is_stopped_as_a_whole() {
    let session = LoggedSession::new()
        .on("a", Answer::default().takes(LONG))
        .on("b", Answer::default().takes(LONG));
    let source = "fun a() { a }\n@timeout(200ms) { @cmd.a() | b }\n";
    let ran = Running::new(source, &session).run();
    assert!(ran.failure().contains(" 124"), "{}", ran.failure());
    let stopped = session.log().iter().filter(|line| line.starts_with("stop")).count();
    assert_eq!(stopped, 2);
}

#[test]
fn the_display_filter_hides_values_in_a_pipe() {
    let session = LoggedSession::new().on("a {}", Answer::prints("it is canary-51500!\n"));
    let project = opal_testing::planning::Project::new("a @secret.env.NAME | @to.display()\n")
        .world(|world| world.env("NAME", "canary-51500"));
    let ran = Running::on(project, &session, std::path::Path::new("/p")).run();
    ran.ok();
    let [line] = ran.output()[..] else { panic!("{:?}", ran.seen) };
    assert!(line.starts_with("it is <12:sha256:"), "{line}");
}

#[test]
fn an_operand_that_is_not_read_to_its_end_gets_to_know() {
    let long = "x".repeat(1024 * 1024);
    let session = LoggedSession::new()
        .on("a", Answer::prints(long))
        .on("b", Answer::default().takes(millis(10)));
    let ran = Running::new("fun a() { a }\n@cmd.a() | b\n", &session).run();
    assert!(ran.failure().ends_with(" 141"), "{}", ran.failure());
}
