//! Runs that begin in the middle, and what is seen before anything runs.

use opal_core::decorator::Descriptor;
use opal_exec::execute::leaf;
use opal_testing::{Answer, LoggedSession};

use opal_testing::planning::Project;
use opal_testing::running::Running;

fn from(source: &str, path: &str, session: &LoggedSession) -> Vec<String> {
    let running = Running { from: Some(path.to_owned()), ..Running::new(source, session) };
    let ran = running.run();
    ran.ok();
    let skipped = ran.record.into_iter().filter(|line| line.starts_with("skip"));
    skipped.map(|line| line.trim_start_matches("skip ").to_owned()).collect()
}

fn refused(source: &str, path: &str) -> String {
    let session = LoggedSession::new();
    let running = Running { from: Some(path.to_owned()), ..Running::new(source, &session) };
    let words = running.unready().into_iter().map(|unready| unready.trouble.message);
    assert!(session.log().is_empty());
    words.map(String::from).collect::<Vec<_>>().join("; ")
}

#[test]
fn steps_before_the_first_are_skipped_and_recorded_so() {
    let session = LoggedSession::new();
    let source = "a\n@timeout(1m) {\n    b\n    c\n    d\n}\ne\n";
    assert_eq!(
        from(source, "script.timeout[0].shell[1]", &session),
        ["script.shell[0]", "script.timeout[0].shell[0]"]
    );
    assert_eq!(session.log(), ["run `c` in /p", "run `d` in /p", "run `e` in /p"]);
}

#[test]
fn a_block_can_be_the_first() {
    let session = LoggedSession::new();
    from("a\n@timeout(1m) { b }\n", "script.timeout[0]", &session);
    assert_eq!(session.log(), ["run `b` in /p"]);
}

#[test]
fn a_run_can_begin_in_every_clause_of_a_try() {
    let source = "try {\n    a\n    b\n} catch {\n    c\n    d\n} finally {\n    e\n    f\n}\n";
    for (path, expected) in [
        ("script.try[0].shell[1]", "b e f"),
        ("script.try[0].catch.shell[1]", "d e f"),
        ("script.try[0].finally.shell[1]", "f"),
    ] {
        let session = LoggedSession::new();
        from(source, path, &session);
        let ran: Vec<String> =
            session.log().iter().map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
        assert_eq!(ran.join(" "), expected, "{path}");
    }
}

#[test]
fn operands_are_left_out_with_the_operator_after_them() {
    let functions = "fun a() { a }\nfun b() { b }\n";
    for line in ["@cmd.a() && @cmd.b()", "@cmd.a() || @cmd.b()", "@cmd.a(); @cmd.b()"] {
        let session = LoggedSession::new();
        from(&format!("{functions}{line}\n"), "script.chain[0].b[0].shell[0]", &session);
        assert_eq!(session.log(), ["run `b` in /p"], "{line}");
    }
    let piped = format!("{functions}@cmd.a() | @cmd.b()\n");
    assert_eq!(
        refused(&piped, "script.chain[0].b[0].shell[0]"),
        "the run cannot begin after a pipe: its input would be missing"
    );
}

#[test]
fn a_skipped_cd_still_moves_and_what_may_move_is_refused() {
    let session = LoggedSession::new();
    from("cd web\na\nb\n", "script.shell[2]", &session);
    assert_eq!(session.log(), ["run `b` in /p/web"]);
    assert_eq!(
        refused("cd web && make\nb\n", "script.shell[1]"),
        "`script.shell[0]` would be skipped, but it may change the directory"
    );
    let session = LoggedSession::new();
    from("{\n    cd $X && make\n}\nb\n", "script.shell[0]", &session);
    assert_eq!(session.log(), ["run `b` in /p"], "it ends with its block");
}

#[test]
fn a_run_begins_after_a_chain_only_where_it_is_certain_which_operands_move() {
    let functions = "fun a() { a }\nfun b() { b }\n";
    let after = |line: &str| (format!("{functions}{line}\nlast\n"), "script.shell[0]");
    for (line, directory) in [
        ("@cmd.a() && cd web", "/p/web"),
        ("cd web && @cmd.a()", "/p/web"),
        ("@cmd.a(); cd web", "/p/web"),
        ("cd web && @cmd.a() && cd api", "/p/web/api"),
        ("@cmd.a() || @cmd.b(); cd web", "/p/web"),
        ("@cmd.a() | cd web", "/p"),
        ("cd web | @cmd.a()", "/p"),
        ("cd web && @cmd.a() | cd api", "/p/web"),
    ] {
        let (source, path) = after(line);
        let session = LoggedSession::new();
        from(&source, path, &session);
        assert_eq!(session.log(), [format!("run `last` in {directory}")], "{line}");
    }
    for (line, mover) in [
        ("@cmd.a() || cd web", "script.chain[0].shell[0]"),
        ("cd web || @cmd.a()", "script.chain[0].shell[0]"),
        ("cd web || @cmd.a() && cd api", "script.chain[0].shell[0]"),
        ("@cmd.a() && cd web || @cmd.b()", "script.chain[0].shell[0]"),
        ("@cmd.a() && cd web; @cmd.b()", "script.chain[0].shell[0]"),
        ("cd web; @cmd.a()", "script.chain[0].shell[0]"),
    ] {
        let (source, path) = after(line);
        let said = refused(&source, path);
        let expected = format!("`{mover}` would be skipped, but it may change the directory");
        assert!(said.contains(&expected), "{line}: {said}");
    }
}

#[test]
fn a_run_begins_in_a_chain_only_where_it_is_certain_which_operands_moved() {
    let functions = "fun a() { a }\nfun b() { b }\n";
    let path = "script.chain[0].b[0].shell[0]";
    for (line, directory) in [
        ("cd web && @cmd.b()", "/p/web"),
        ("@cmd.a(); cd web && @cmd.b()", "/p/web"),
        ("@cmd.a() && cd web && @cmd.b()", "/p/web"),
        ("@cmd.a() || @cmd.b()", "/p"),
    ] {
        let session = LoggedSession::new();
        from(&format!("{functions}{line}\n"), path, &session);
        assert_eq!(session.log(), [format!("run `b` in {directory}")], "{line}");
    }
    for line in [
        "cd web || @cmd.b()",
        "@cmd.a() || cd web; @cmd.b()",
        "@cmd.a() && cd web; @cmd.b()",
        "@cmd.a() || cd web && @cmd.b()",
    ] {
        let said = refused(&format!("{functions}{line}\n"), path);
        assert!(said.contains("may change the directory"), "{line}: {said}");
    }
}

#[test]
fn a_binding_that_is_needed_is_not_skipped() {
    let source = "let.x = @shell(\"a\")\nb\nc @let.x\n";
    assert_eq!(
        refused(source, "script.shell[2]"),
        "`let.x` is needed, but `script.shell[0]`, which binds it, would be skipped"
    );
    let session = LoggedSession::new();
    from("let.x = @shell(\"a\")\nb @let.x\nc\n", "script.shell[2]", &session);
    assert_eq!(session.log(), ["run `c` in /p"]);
}

#[test]
fn a_path_that_is_not_there_is_refused() {
    assert_eq!(refused("a\n", "script.shell[7]"), "the plan has no step `script.shell[7]`");
}

#[test]
fn steps_are_counted_without_blocks() {
    let session = LoggedSession::new();
    let source = "a\n@timeout(1m) {\n    b\n}\nif true { c }\n@log(\"d\")\n";
    let plan = Running::new(source, &session).plan().plan;
    let paths: Vec<_> = (0..6).map(|n| leaf(&plan, n)).collect();
    assert_eq!(
        paths,
        [
            None,
            Some("script.shell[0]"),
            Some("script.timeout[0].shell[0]"),
            Some("script.if[0].shell[0]"),
            Some("script.log[0]"),
            None,
        ]
    );
}

#[test]
fn text_that_the_shell_does_not_understand_is_found_before_anything_runs() {
    let session = LoggedSession::new().wrong("b {}", "syntax error near `{}`");
    let source = "a\nfor i in [1, 2] { b @var.i }\n";
    let unready = Running::new(source, &session).unready();
    assert_eq!(unready.len(), 1, "texts that differ in values only are one");
    assert_eq!(unready[0].path, "script.i[0].shell[0]");
    assert!(unready[0].trouble.message.contains("syntax error near"));
    assert!(session.log().is_empty());
}

#[test]
fn what_this_version_cannot_do_is_named_before_anything_runs() {
    static LATER: Descriptor = Descriptor { path: "demo.later", ..Descriptor::BASE };
    let session = LoggedSession::new().on("a", Answer::default());
    let project = Project::new("a\n@demo.later()\n").plugins(&[&LATER]);
    let unready = Running::on(project, &session, std::path::Path::new("/p")).unready();
    let words: Vec<_> = unready.iter().map(|it| &*it.trouble.message).collect();
    assert_eq!(words, ["this version of opal cannot run `@demo.later`"]);
    assert!(session.log().is_empty());
}

#[test]
fn branches_before_the_first_step_are_skipped_whatever_they_are() {
    let source = "@parallel(max=1) {\n    a\n    { b }\n    if true { c }\n    when 1 { 1 -> d }\n    \
                  for i in [1, 2, 3] { e @var.i\nf }\n    g\n}\n";
    for (path, skipped, expected) in [
        ("script.parallel[0].i[1].shell[1]", 7, "f e {} f g"),
        ("script.parallel[0].i[1]", 6, "e {} f e {} f g"),
        ("script.parallel[0].shell[1]", 10, "g"),
    ] {
        let session = LoggedSession::new();
        assert_eq!(from(source, path, &session).len(), skipped, "{path}");
        let ran: Vec<String> =
            session.log().iter().map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
        assert_eq!(ran.join(" "), expected, "{path}");
    }
}

#[test]
fn only_the_first_attempt_is_begun_in_its_middle() {
    for (source, path, expected) in [
        ("@retry(2, delay=1ms) {\n    a\n    b\n}\n", "retry[0].shell[1]", "b a b"),
        (
            "@retry(2, delay=1ms) { @parallel(max=1) {\n    { a }\n    { b }\n} }\n",
            "retry[0].parallel[0].block[1]",
            "b a b",
        ),
        ("@retry(2, delay=1ms) { try { a } catch { b } }\n", "retry[0].try[0].catch", "b a"),
        ("@retry(2, delay=1ms) { try { a } finally { b } }\n", "retry[0].try[0].finally", "b a b"),
    ] {
        let session = LoggedSession::new().on("b", Answer::code(1)).on("b", Answer::code(0));
        let path = format!("script.{path}");
        assert_eq!(from(source, &path, &session).len(), 1, "{path}");
        let ran: Vec<String> =
            session.log().iter().map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
        assert_eq!(ran.join(" "), expected, "{path}");
    }
}

#[test]
fn a_skipped_move_that_fails_says_why() {
    let session = LoggedSession::new().without("sub");
    let source = "cd sub\na\n";
    let from = Some("script.shell[1]".to_owned());
    let ran = Running { from, ..Running::new(source, &session) }.run();
    let failed = ran.outcome.failed.unwrap();
    assert_eq!((&*failed.path, failed.number, failed.code), ("script.shell[0]", None, 1));
    assert_eq!(failed.text.text(), "cd sub");
    assert_eq!(failed.trouble.unwrap().message, "the directory `sub` does not exist");
}
