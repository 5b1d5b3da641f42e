//! `@needs`: what runs before the target, once.

use crate::support::{Opal, assert_plan_schema};

const PROJECT: &str = "\
fun install() = echo install

fun build(mode = \"debug\") {
    @needs.install()
    echo build @var.mode
}

fun test() {
    @needs.build()
    test -e ready
    echo test
}

fun main() {
    @needs.test()
    @needs.build(\"debug\")
    @needs.build(\"release\")
    echo main
    @retry(2, delay=1ms) { @cmd.again() }
    @parallel {
        @cmd.again()
        @cmd.again()
    }
}

fun again() {
    @needs.build(\"again\")
    echo x >> again
}
";

#[test]
fn a_dependency_runs_once_before_the_target_and_after_its_own() {
    let opal = Opal::machine(PROJECT).file("ready", "");
    let expected = "install\nbuild debug\ntest\nbuild release\nbuild again\nmain\n";
    opal.call(&["main"]).code(0).stdout(expected).says("install:\n▸ echo install\n");
    // Every call itself ran where it is.
    assert_eq!(opal.read("again"), "x\nx\nx\n");
}

#[test]
fn a_run_that_failed_in_a_dependency_is_taken_up_there() {
    let opal = Opal::machine(PROJECT);
    let failed = opal.call(&["main"]);
    failed.code(1).stdout("install\nbuild debug\n").says("step: main.needs.test[0].shell[0]");
    opal.write("ready", "");
    let rest = "test\nbuild release\nbuild again\nmain\n";
    opal.call(&["main", "--resume"]).code(0).stdout(rest);
    let after = "build again\nmain\n";
    opal.call(&["main", "--from", "main.needs.build[2]"]).code(0).stdout(after);
    opal.call(&["main", "--from", "main.shell[0]"]).code(0).stdout("main\n");
}

#[test]
fn a_dependency_is_part_of_the_contract() {
    let opal = Opal::machine(PROJECT).file("ready", "");
    opal.call(&["plan", "main", "-o", "main.plan"]).code(0);
    let shown = opal.call(&["plan", "show", "main.plan"]);
    shown.code(0).says("├─ @needs.build()  (needed by test, main)");
    let json = opal.call(&["plan", "show", "main.plan", "--format", "json"]).code(0).json();
    assert_plan_schema(&json);
    let needs = &json["steps"][0];
    assert_eq!((&needs["decorator"], &needs["path"]), (&"needs".into(), &"main.needs".into()));
    let build = &needs["block"][1];
    assert_eq!(build["decorator"], "@needs");
    assert_eq!(build["path"], "main.needs.build[0]");
    opal.call(&["run", "--plan", "main.plan"]).code(0).says("build release");
    // Another step of a dependency, and another dependency.
    for (from, to) in [("echo install", "echo other"), ("    @needs.install()\n", "")] {
        opal.write("commands.opl", PROJECT.replace(from, to));
        let refused = opal.call(&["run", "--plan", "main.plan"]);
        refused.code(76).stdout("").says("source_changed").says("main.needs");
    }
}

#[test]
fn who_needs_a_dependency_is_in_the_hash() {
    let hash = |text: &str| {
        let json = Opal::machine(text).args(["plan", "main", "--format", "json"]).run().json();
        json["header"]["plan_hash"].to_string()
    };
    let text = "fun a() = true\nfun main() {\n    @needs.a()\n    echo\n}\n";
    let own = "fun a() = true\nfun main() {\n    @cmd.a()\n    echo\n}\n";
    assert_ne!(hash(text), hash(own));
    assert_eq!(hash(text), hash(&text.replace("fun a()", "// A comment.\nfun a()")));
}

#[test]
fn a_dependency_starts_as_a_target_does() {
    let text = "var mode = \"declared\"\nfun a() {\n    pwd\n    cd sub\n    pwd\n    \
                echo @var.mode\n    mode = \"inside\"\n}\nfun main() {\n    mode = \"before\"\n    \
                @needs.a()\n    echo @var.mode\n    cd sub\n    @cmd.b()\n}\n\
                fun b() {\n    @needs.c()\n    pwd\n}\nfun c() = pwd\n";
    let opal = Opal::machine(text).file("sub/.keep", "");
    let (here, sub) = (opal.path(), opal.path().join("sub"));
    let (here, sub) = (here.display(), sub.display());
    let expected = format!("{here}\n{sub}\ndeclared\n{here}\nbefore\n{sub}\n");
    opal.call(&["main"]).code(0).stdout(&expected);
}

#[test]
fn a_script_has_dependencies_too() {
    let text = "fun build(x = 1) = echo build @var.x\nvar X = 2\n@needs.build(X)\n@needs.build()\n\
                echo script\n";
    Opal::machine("")
        .file("s.opl", text)
        .args(["run", "s.opl"])
        .run()
        .code(0)
        .stdout("build 2\nbuild 1\nscript\n");
}

#[test]
fn a_value_that_a_dependency_does_not_use_is_not_asked_for() {
    let text = "fun build(x, y) {\n    echo @var.y\n}\nfun main() {\n    \
                @needs.build(@env.NO_SUCH_VARIABLE, \"a\")\n    echo main\n}\n";
    Opal::machine(text).args(["main"]).run().code(0).stdout("a\nmain\n");
}

#[test]
fn a_misplaced_dependency_is_an_error_before_anything_runs() {
    let table = [
        ("echo a\n    @needs.b()", "E1201"),
        ("let.x = @shell(\"true\")\n    @needs.b()\n    echo @let.x", "E1201"),
        ("echo a\n    if true { @needs.b() }", "E1201"),
        ("if true { echo a\n @needs.b() }", "E1201"),
        ("@retry(2) { @needs.b() }", "E1202"),
        ("@parallel { @needs.b() }", "E1202"),
        ("@workdir(\".\") { if true { @needs.b() } }", "E1202"),
        ("try { @needs.b() } catch { true }", "E1202"),
        ("try { true } catch { @needs.b() }", "E1202"),
        ("try { true } finally { @needs.b() }", "E1202"),
        ("while false { @needs.b() }", "E1202"),
        ("{ @needs.b() }", "E1202"),
        ("@needs.b() && echo a", "E1202"),
        ("@needs.b() | cat", "E1202"),
        ("@needs.b() > @file.write(\"x\")", "E1202"),
        ("let.x = @needs.b()\n    echo @let.x", "E1202"),
        ("echo a > @needs.b()", "E0517"),
        ("echo @needs.b", "E0511"),
        ("@needs()", "E0403"),
        ("@needs.c()", "E0403"),
        ("@needs.b(1)", "E0502"),
        ("@needs.b() { echo a }", "E0510"),
        ("@needs.main()", "E0405"),
        ("@need.b()", "E0406"),
    ];
    for (body, code) in table {
        let text = format!("fun b() = touch ran\nfun main() {{\n    {body}\n}}\n");
        let codes = Opal::codes(&text);
        assert!(codes.iter().any(|it| it == code), "{body}: {codes:?}");
        let opal = Opal::machine(&text);
        opal.call(&["main"]).code(65);
        assert!(!opal.path().join("ran").exists(), "{body}");
    }
}

#[test]
fn a_dependency_cannot_have_an_argument_that_exists_only_at_run_time() {
    let text = "fun b(x) = echo @var.x\nfun main() {\n    @needs.b(@let.y)\n}\n";
    Opal::machine(text).args(["main"]).run().code(65).says("E0601").says("an argument of `@needs`");
    // Through a function that is called with one.
    let text = "fun b(x) = echo @var.x\nfun a(x) {\n    @needs.b(x)\n}\nfun main() {\n    \
                let.y = @shell(\"date\")\n    @cmd.a(@let.y)\n}\n";
    let ran = Opal::machine(text).args(["main"]).run();
    ran.code(65).says("`x` gets a run-time value").says("an argument of `@needs`");
}

#[test]
fn the_fix_of_a_late_dependency_moves_it_up() {
    let text = "fun b() = true\nfun main() {\n    echo a # first\n    echo c\n    @needs.b()\n    \
                echo d\n}\n";
    let json = Opal::project(text).args(["check", "--json"]).run().json();
    let fix = &json["files"][0]["diagnostics"][0]["fix"]["edits"][0];
    let fixed = "@needs.b()\n    echo a # first\n    echo c";
    assert_eq!(fix["text"], fixed, "{json:#}");
}

#[test]
fn a_chain_of_dependencies_has_a_limit() {
    let mut text = "fun f0() = true\n".to_owned();
    for n in 1..=600 {
        text += &format!("fun f{n}() {{\n    @needs.f{}()\n    true\n}}\n", n - 1);
    }
    Opal::machine(&text).args(["f490"]).run().code(0).says("done: 491 steps");
    let refused = Opal::machine(&text).args(["f600"]).run();
    refused.code(65).says("E0312").says("chain of dependencies is longer than 500 levels");
}
