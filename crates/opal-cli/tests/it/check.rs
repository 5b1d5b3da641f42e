//! `opal check`.

use crate::support::Opal;

#[test]
fn limits_without_a_limit_are_an_error() {
    let opal = Opal::machine("fun a() {\n    @limits() {\n        true\n    }\n}\n");
    let words = "`@limits` needs at least one of `memory`, `processes` and `cpu`";
    opal.call(&["check"]).code(65).says(words);
    opal.call(&["a"]).code(65).says(words);
    let opal = Opal::machine("fun a() {\n    @limits(cpu=10s) {\n        true\n    }\n}\n");
    opal.call(&["check"]).code(0);
}

#[test]
fn a_correct_file_exits_with_0_and_says_so() {
    let ran = Opal::project("fun a() = echo hi\n").args(["check"]).run();
    ran.code(0).stderr("").stdout("1 file checked, no problems found\n");
}

#[test]
fn an_error_shows_code_place_excerpt_and_hint() {
    let ran = Opal::project("var NAME = \"x\"\necho @var.NAEM @var.NAME\n").args(["check"]).run();
    ran.code(65).stderr("").stdout(
        "error[E0401]: undeclared variable `NAEM`\n --> commands.opl:2:6\n  |\n2 | echo @var.NAEM \
         @var.NAME\n  |      ^^^^^^^^^\n  |\n  = help: did you mean `NAME`?\nhelp: write `NAME`\n  \
         |\n2 - echo @var.NAEM @var.NAME\n2 + echo @var.NAME @var.NAME\n  |\n\n1 file checked: 1 \
         error\nmore on a code: `opal explain E0401`\n",
    );
}

#[test]
fn all_errors_of_all_files_are_reported_in_one_go() {
    let ran = Opal::new()
        .file("a.opl", "echo @var.A\nif x {\n}}\necho @var.B\n")
        .file("b.opl", "@retyr(3) { true }\n")
        .args(["check", "a.opl", "b.opl"])
        .run();
    ran.code(65).says("`A`").says("`x`").says("E0303").says("`B`").says("@retry");
}

#[test]
fn warnings_alone_do_not_fail() {
    Opal::project("var unused = 1\n").args(["check"]).run().code(0).says("warning[W0410]");
}

#[test]
fn json_is_one_document_on_stdout() {
    let opal = Opal::project("echo @var.X\n").args(["check", "--json"]);
    let document = opal.run().code(65).stderr("").json();
    let found = &document["files"][0]["diagnostics"][0];
    assert_eq!(document["version"], 1);
    assert_eq!(document["summary"]["errors"], 1);
    assert_eq!(found["code"], "E0401");
    assert_eq!(found["severity"], "error");
    assert_eq!(found["span"]["start"]["line"], 1);
    assert_eq!(found["span"]["start"]["column"], 6);
    assert_eq!(found["span"]["start"]["offset"], 5);
}

#[test]
fn format_json_and_json_are_the_same() {
    let one = Opal::project("echo @var.X\n").args(["check", "--format", "json"]).run();
    let two = Opal::project("echo @var.X\n").args(["check", "--json"]).run();
    assert_eq!(one.stdout, two.stdout);
}

#[test]
fn a_failure_where_json_is_wanted_is_json_too() {
    for args in [&["check", "--json"][..], &["check", "--format", "json"], &["list", "--json"]] {
        let document = Opal::new().args(args).run().code(66).json();
        assert!(document["error"]["message"].as_str().unwrap().contains("commands.opl"));
    }
    Opal::new().args(["explain", "json"]).run().code(2).stdout("");
}

#[test]
fn github_gets_one_annotation_a_diagnostic() {
    let ran = Opal::project("echo @var.X\n").args(["check", "--format", "github"]).run();
    ran.code(65);
    assert!(ran.stdout.starts_with("::error file=commands.opl,line=1,"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn standard_input_is_checked_as_a_file() {
    let ran = Opal::new().args(["check", "-"]).stdin("echo @var.X\n").run();
    ran.code(65).says("<stdin>:1:6");
}

#[test]
fn colours_are_used_only_where_they_are_wanted() {
    let project = || Opal::project("echo @var.X\n");
    assert!(!project().args(["check"]).run().stdout.contains('\x1b'), "a pipe is no terminal");
    assert!(project().args(["--color=always", "check"]).run().stdout.contains('\x1b'));
    let forced = project().args(["check"]).env("CLICOLOR_FORCE", "1");
    assert!(forced.run().stdout.contains('\x1b'));
    let never = project().args(["check"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!never.run().stdout.contains('\x1b'), "NO_COLOR wins");
}

#[test]
fn a_function_with_the_name_of_a_built_in_is_reported_with_the_way_to_call_it() {
    let project = "fun check() = echo mine\nfun build() = echo b\n";
    let checked = Opal::project(project).args(["check"]).run();
    checked.code(0).says("W0416").says("run it with `opal run check`").hides("`opal run build`");
    assert_eq!(Opal::codes("fun lsp() = echo later\n"), ["W0416"]);
}

#[test]
fn checking_twice_gives_the_same_bytes() {
    let text = "var a = 1\nvar a = 2\nfun x() = @cmd.y()\nfun y() = @cmd.x()\necho @var.b @var.c\n";
    let one = Opal::project(text).args(["check", "--json"]).run();
    let two = Opal::project(text).args(["check", "--json"]).run();
    assert_eq!(one.stdout, two.stdout);
}
