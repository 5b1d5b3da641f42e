//! Where resources are: directory, environment, and what only the run will know.

use opal_core::resource::Status;
use opal_testing::LoggedSession;

use crate::verify::things::{is_there, log};
use crate::verify::verifying::{Verifying, lines};

#[test]
fn resources_are_found_in_wrappers_constructs_and_calls() {
    let source = "fun inner(n) {\n    @test.thing(\"around/\" + n)\n}\n\
                  @workdir(\"a\") {\n    @test.thing(\"around/1\")\n}\n\
                  @environ(A=\"b\") {\n    @retry(5) {\n        @timeout(1m) {\n            \
                  @test.thing(\"around/2\")\n        }\n    }\n}\n\
                  @parallel {\n    @test.thing(\"around/3\")\n    {\n        \
                  @test.thing(\"around/4\")\n    }\n}\n\
                  if true { @test.thing(\"around/5\") }\nfor i in [6] { @cmd.inner(str(i)) }\n\
                  try { @test.thing(\"around/7\") } catch { echo x }\n\
                  @test.thing(\"around/8\") && @test.thing(\"around/9\")\n";
    let looked = Verifying::new(source).look();
    assert_eq!(looked.report.verifications.len(), 9);
    assert!(looked.report.verifications.iter().all(|it| it.status == Status::Missing));
    assert_eq!(log("around").len(), 9, "each once, however often it may be tried");
}

#[test]
fn nothing_runs_and_nothing_is_written_while_looking() {
    let session = std::sync::Arc::new(LoggedSession::new());
    let source = "make\nlet.x = @shell(\"date\")\n@workdir(\"new\", create=true) {\n    \
                  @test.thing(\"quiet/a\")\n}\necho a > @file.write(\"b\")\n\
                  @test.thing(\"quiet/b\")\n@retry(3) { false }\n";
    let looking = Verifying { session: session.clone(), ..Verifying::new(source) };
    looking.look();
    assert_eq!(session.log(), [""; 0]);
}

#[test]
fn what_comes_only_when_something_fails_or_ends_is_not_verified() {
    let source = "try { make } catch { @test.thing(\"then/a\", id=\"a\") } \
                  finally { @test.thing(\"then/b\", id=\"b\") }\n";
    assert_eq!(
        lines(source),
        [
            "a unknown: verified only when the run reaches it",
            "b unknown: verified only when the run reaches it",
        ]
    );
    assert!(log("then").is_empty());
}

#[test]
fn what_uses_a_value_of_the_run_is_unknown() {
    let source = "let.name = @shell(\"hostname\")\n\
                  @test.thing(\"of-the-run/@let.name\", id=\"a\")\n\
                  @environ(NAME=@let.name) {\n    @test.thing(\"of-the-run/b\", id=\"b\")\n}\n";
    assert_eq!(
        lines(source),
        [
            "a unknown: it uses a run-time value",
            "b unknown: `@environ` around it uses a run-time value",
        ]
    );
    assert!(log("of-the-run").is_empty());
}

#[test]
fn a_check_is_unknown_where_its_directory_is_and_other_resources_are_not() {
    let source = ". ./settings\n@shell(\"make\", check=\"test -e made\", id=\"m\")\n\
                  @test.thing(\"adrift/a\", id=\"a\")\n\
                  @workdir(\"gone\") {\n    @shell(\"make\", check=\"test -e it\", id=\"n\")\n}\n";
    let looked = Verifying::new(source).on(LoggedSession::new().without("gone")).look();
    assert_eq!(
        looked.lines(),
        [
            "m unknown: its directory is unknown: `script.shell[0]` may change the directory",
            "a missing: `adrift/a` does not exist",
            "n unknown: its directory is unknown: `script.shell[0]` may change the directory",
        ]
    );
}

#[test]
fn a_chain_moves_only_where_it_is_certain_which_operands_run() {
    let there = "@shell(\"make\", check=\"test -e made\", id=\"m\")\n";
    for (line, is_known) in [
        ("@cmd.a() && cd web", true),
        ("cd web && @cmd.a()", true),
        ("@cmd.a(); cd web", true),
        ("@cmd.a() || @cmd.a()", true),
        ("@cmd.a() | cd web", true),
        ("@cmd.a() || cd web", false),
        ("cd web || @cmd.a()", false),
        ("@cmd.a() && cd web || @cmd.a()", false),
        ("@cmd.a() && cd web; @cmd.a()", false),
    ] {
        let source = format!("fun a() {{ a }}\n{line}\n{there}");
        let looked = Verifying::new(&source).look();
        let found = looked.of("m");
        let unknown = "its directory is unknown: `script.chain[0]` may change the directory";
        assert_eq!(found.message.text() != unknown, is_known, "{line}: {}", found.message.text());
    }
}

#[test]
fn a_check_in_a_chain_is_verified_in_the_directory_it_would_run_in() {
    for (line, is_known) in [
        ("cd web && CHECK", true),
        ("cd web || CHECK", true),
        ("@cmd.a() || cd web; CHECK", false),
        ("@cmd.a() || cd web && CHECK", false),
    ] {
        let line = line.replace("CHECK", "@shell(\"make\", check=\"test -e made\", id=\"m\")");
        let looked = Verifying::new(&format!("fun a() {{ a }}\n{line}\n")).look();
        let found = looked.of("m").message.text().into_owned();
        assert_eq!(!found.contains("its directory is unknown"), is_known, "{line}: {found}");
    }
}

#[test]
fn a_directory_that_is_named_whole_is_known_again() {
    let source = "cd gone\n@shell(\"a\", check=\"b\", id=\"lost\")\n@workdir(\"/srv\") {\n    \
                  @shell(\"c\", check=\"d\", id=\"found\")\n}\n";
    let looked = Verifying::new(source).on(LoggedSession::new().without("gone")).look();
    let lost = looked.of("lost");
    assert_eq!(lost.status, Status::Unknown);
    assert!(lost.message.text().ends_with("the directory `gone` does not exist"));
    assert_ne!(looked.of("found").status, Status::Unknown);
}

#[test]
fn a_key_says_which_thing_it_is_and_shows_no_value() {
    is_there("keys/a");
    let source = "//@ env PLACE keys/hidden-place\n@test.thing(\"keys/a\", id=\"a\")\n\
                  @test.thing(@env.PLACE(secret=true), id=\"b\")\n";
    let mut looking = Verifying::new(source);
    looking.project.world = std::mem::take(&mut looking.project.world).env("PLACE", "keys/hidden");
    let looked = looking.look();
    assert_eq!(looked.of("a").key.text(), "thing:keys/a");
    let hidden = looked.of("b");
    assert!(hidden.key.text().starts_with("thing:<11:sha256:"), "{}", hidden.key.text());
    assert!(!hidden.message.text().contains("keys/hidden"), "{}", hidden.message.text());
}

#[test]
fn in_a_key_only_paths_are_tidied() {
    let looked =
        Verifying::new("@file.line(\"/etc//apt/./list\", \"deb http://x//y ./\")\n").look();
    let keys: Vec<_> = looked.report.verifications.iter().map(|it| it.key.text()).collect();
    assert_eq!(keys, ["line_in_file:/etc/apt/list deb http://x//y ./"]);
}
