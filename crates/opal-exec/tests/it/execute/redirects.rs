//! Redirections to and from decorators.

use opal_testing::{Answer, LoggedSession};

use opal_testing::running::Running;

fn session() -> LoggedSession {
    LoggedSession::new()
        .on("a", Answer::prints("one\n").says("oops\n"))
        .on("b", Answer::prints("two\n"))
        .on("no", Answer::prints("half\n").and_code(3))
        .on("cat", Answer::passes_on())
}

#[test]
fn a_file_is_kept_when_its_step_has_succeeded() {
    let session = session();
    let ran = Running::new("a > @file.write(\"f\", mode=\"0640\")\nb\n", &session).run();
    ran.ok();
    assert_eq!(session.log(), ["replace f as 640", "run `a` in /p", "keep f", "run `b` in /p"]);
    assert_eq!(session.kept("f").unwrap(), b"one\n");
    assert_eq!(ran.output(), ["oops\n", "two\n"]);
}

#[test]
fn a_file_is_left_alone_when_its_step_has_failed() {
    let session = session();
    let ran = Running::new("no > @file.write(\"f\")\n", &session).run();
    assert_eq!(ran.failure(), "script.shell[0] 3");
    assert_eq!(session.log(), ["replace f", "run `no` in /p", "drop f"]);
}

#[test]
fn both_arrows_and_both_streams_find_their_file() {
    let session = session();
    Running::new("a >> @file.write(\"f\") 2> @file.write(\"g\")\n", &session).run().ok();
    assert_eq!(
        session.log(),
        ["replace f at its end", "replace g", "run `a` in /p", "keep f", "keep g"]
    );
    assert_eq!(session.kept("f").unwrap(), b"one\n");
    assert_eq!(session.kept("g").unwrap(), b"oops\n");
}

#[test]
fn a_block_a_call_and_a_pipe_are_redirected_as_a_whole() {
    for source in [
        "fun f() {\n    a\n    b\n}\n@cmd.f() > @file.write(\"f\")\n",
        "@timeout(1m) {\n    a\n    b\n} > @file.write(\"f\")\n",
        "fun f() {\n    a\n    b\n}\n@cmd.f() | cat > @file.write(\"f\")\n",
    ] {
        let session = session();
        Running::new(source, &session).run().ok();
        assert_eq!(session.kept("f").unwrap(), b"one\ntwo\n", "{source}");
    }
}

#[test]
fn a_file_is_read_at_run_time_byte_for_byte() {
    let session = session().file("in", b"raw \xff bytes\n".to_vec());
    let source = "cat < @file.read(\"in\") > @file.write(\"out\")\n";
    let project = opal_testing::planning::Project::new(source).world(|world| world.file("in", "x"));
    Running::on(project, &session, std::path::Path::new("/p")).run().ok();
    assert_eq!(session.kept("out").unwrap(), b"raw \xff bytes\n");
    assert_eq!(session.log()[..2], ["open in", "replace out"]);
}

#[test]
fn a_file_that_is_not_there_fails_the_step_before_it_runs() {
    let session = session();
    let project = opal_testing::planning::Project::new("cat < @file.read(\"in\")\n")
        .world(|world| world.file("in", "x"));
    let ran = Running::on(project, &session, std::path::Path::new("/p")).run();
    assert_eq!(ran.failure(), "script.shell[0] 1: `in` does not exist");
    assert_eq!(session.log(), ["open in"]);
}

#[test]
fn redirections_of_the_shell_follow_their_command() {
    let session = session();
    let source = "@shell(\"a\") > log 2>&1\nb > @file.write(\"f\") 2> @env.NAME\n";
    let project =
        opal_testing::planning::Project::new(source).world(|world| world.env("NAME", "err.log"));
    Running::on(project, &session, std::path::Path::new("/p")).run().ok();
    assert_eq!(
        session.log(),
        ["run `{ a\n} > log 2>&1` in /p", "replace f", "run `{ b\n} 2> {}` in /p", "keep f",]
    );
}

#[test]
fn values_are_raw_in_files_and_hidden_after_the_display_filter() {
    let session = LoggedSession::new()
        .on("id", Answer::prints("secret-0123456\n"))
        .on("echo {}", Answer::prints("it is secret-0123456\n"));
    let source = "let.s = @shell(\"id\")\necho @let.s > @file.write(\"raw\")\n\
                  echo @let.s | @to.display() > @file.write(\"clean\")\n";
    Running::new(source, &session).run().ok();
    assert_eq!(session.kept("raw").unwrap(), b"it is secret-0123456\n");
    let clean = String::from_utf8(session.kept("clean").unwrap()).unwrap();
    assert!(clean.starts_with("it is 🔒 opal:h:"), "{clean}");
}
