//! What cannot be planned: each source with the code and the place of what is said about it.
//!
//! Every error has a help line, and none takes long to find.

use opal_testing::planning;
mod resources;

use std::time::{Duration, Instant};

use opal_core::LineIndex;
use opal_plan::plan::Purpose;

use planning::Project;

/// A source, and each error as `LINE:COLUMN CODE`.
type Row = (&'static str, &'static [&'static str]);

fn found(project: &Project) -> Vec<String> {
    let Err(errors) = project.plan() else { return Vec::new() };
    let lines = LineIndex::new(&project.source);
    let said = errors.iter().map(|error| {
        assert!(!error.help.is_empty(), "no way forward: {error:?}");
        let at = lines.position(&project.source, error.primary.span.start);
        format!("{}:{} {}", at.line, at.column, error.code.as_str())
    });
    said.collect()
}

fn check(rows: &[Row], purpose: Purpose) {
    let mut wrong = Vec::new();
    for (source, expected) in rows {
        let found = found(&Project::read(source).purpose(purpose));
        if found != *expected {
            wrong.push(format!("{source}  expected {expected:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_world_does_not_have() {
    check(
        &[
            ("echo @env.NOPE\n", &["1:6 E0804"]),
            ("var a = @env.NOPE\n\necho b @var.a\n", &["1:9 E0804"]),
            ("echo @env.ONE @env.TWO\n", &["1:6 E0804", "1:15 E0804"]),
            ("echo @file.read(\"nope\")\n", &["1:6 E0804"]),
            ("@file.hash(\"nope\")\n", &["1:1 E0804"]),
            ("if @env.NOPE == \"a\" { echo b }\n", &["1:4 E0804"]),
            ("for x in lines(@file.read(\"nope\")) { echo b }\n", &["1:16 E0804"]),
            ("echo @shell.output(\"nope\")\n", &["1:6 E0804"]),
            ("echo @http.get(\"https://nope\")\n", &["1:6 E0804"]),
        ],
        Purpose::Run,
    );
}

#[test]
fn a_list_that_is_spread_gives_each_parameter_one_argument() {
    for (list, named, expected) in [
        (r#"["x"]"#, "b=2", &[][..]),
        (r#"["x"]"#, "a=\"y\"", &["3:20 E0504"]),
        (r#"["x", 2]"#, "b=3", &["3:20 E0504"]),
        (r#"["x", 2, 3]"#, "", &["3:8 E0502"]),
    ] {
        let call = format!("@cmd.f(@var.l.*{}{named})", if named.is_empty() { "" } else { ", " });
        let source = format!("var l = {list}\nfun f(a, b = 1) = echo @var.a @var.b\n{call}\n");
        let found = found(&Project::read(&source).purpose(Purpose::Run));
        assert_eq!(found, expected, "{list} {named}");
    }
}

#[test]
fn a_missing_variable_names_itself_and_the_form_with_a_default() {
    let errors = Project::new("echo @env.NOPE\n").plan().unwrap_err();
    assert!(errors[0].message.contains("`NOPE`"), "{errors:?}");
    assert!(errors[0].help[0].contains("@env.NOPE(default="), "{errors:?}");
}

#[test]
fn computations_without_a_result() {
    check(
        &[
            ("var a = 9223372036854775807\nvar b = a + 1\necho @var.b\n", &["2:11 E0801"]),
            ("var a = 9223372036854775807\na++\necho @var.a\n", &["2:1 E0801"]),
            ("var a = 0\nvar b = 1 / a\necho @var.b\n", &["2:11 E0801"]),
            ("var a = 0\nvar b = 1 % a\necho @var.b\n", &["2:11 E0801"]),
            ("var a = 0.0\nvar b = 1.0 / a\necho @var.b\n", &["2:13 E0801"]),
            ("var a = -9223372036854775807 - 1\nvar b = -a\necho @var.b\n", &["2:9 E0801"]),
            ("//@ env N 0\nvar b = 1 / int(@env.N)\necho @var.b\n", &["2:11 E0801"]),
            ("//@ env N x\nvar b = int(@env.N)\necho @var.b\n", &["2:9 E0802"]),
            ("//@ env N 1e999\nvar b = float(@env.N)\necho @var.b\n", &["2:9 E0802"]),
            ("//@ env N 99999999999999999999\nvar b = int(@env.N)\necho @var.b\n", &["2:9 E0802"]),
            ("var d = 200y\nvar e = d + d\necho @var.e\n", &["2:11 E0801"]),
        ],
        Purpose::Run,
    );
}

#[test]
fn types_that_only_the_values_tell() {
    check(
        &[
            ("//@ env A x\nvar a = 1\na = @env.A\nvar b = a + 1\necho @var.b\n", &["4:11 E0514"]),
            ("//@ target f\n//@ arg x 1\nfun f(x) { if x { echo a } }\n", &["3:15 E0515"]),
            ("//@ target f\n//@ arg x 1\nfun f(x) { for y in x { echo a } }\n", &["3:21 E0516"]),
            ("//@ target f\n//@ arg x 1\nfun f(x) { echo @var.x.name }\n", &["3:24 E0513"]),
            (
                "//@ target f\n//@ arg x 1\nfun f(x) { var y = x + \"a\"\necho @var.y }\n",
                &["3:22 E0514"],
            ),
            ("//@ target f\n//@ arg x a\nfun f(x: Int) { echo @var.x }\n", &["1:1 E0505"]),
            (
                "//@ target f\n//@ arg x c\nfun f(x: \"a\" | \"b\") { echo @var.x }\n",
                &["1:1 E0506"],
            ),
            ("//@ target f\nfun f(x) { echo @var.x }\n", &["1:1 E0501"]),
            (
                "//@ target f\n//@ arg x 1\nfun f(x) { @cmd.g(x) }\nfun g(y: String) { echo @var.y }\n",
                &["3:19 E0505"],
            ),
            (
                "//@ target f\n//@ arg x c\nfun f(x) { @cmd.g(x) }\nfun g(y: \"a\" | \"b\") { echo @var.y }\n",
                &["3:19 E0506"],
            ),
            ("//@ target f\n//@ arg x 1\nfun f(x) { @environ(A=x) { echo a } }\n", &["3:23 E0505"]),
            ("//@ target f\n//@ arg x 9999\nfun f(x) { @retry(x) { echo a } }\n", &["3:19 E0507"]),
            (
                "//@ target f\n//@ arg x no\nfun f(x) { when x { 1...3 -> echo a } }\n",
                &["3:21 E0514"],
            ),
            (
                "//@ target f\n//@ arg x 1\nfun f(x) { when x { \"a\" -> echo a } }\n",
                &["3:21 E0514"],
            ),
        ],
        Purpose::Run,
    );
}

#[test]
fn elements_that_are_not_there() {
    check(
        &[
            ("var l = [1]\nvar i = 1\nvar x = l[i]\necho @var.x\n", &["3:9 E0803"]),
            ("var l = [1]\nvar i = -1\nvar x = l[i]\necho @var.x\n", &["3:9 E0803"]),
            ("var m = {a: 1}\nvar k = \"b\"\nvar x = m[k]\necho @var.x\n", &["3:9 E0803"]),
            ("//@ env L a,b\nvar l = split(@env.L, \",\")\necho @var.l[2]\n", &["3:6 E0803"]),
            ("//@ env K b\nvar m = {a: 1}\nvar x = m[@env.K]\necho @var.x\n", &["3:9 E0803"]),
            ("//@ target f\n//@ arg l 1\nfun f(l) { echo @var.l[0] }\n", &["3:17 E0505"]),
        ],
        Purpose::Run,
    );
}

#[test]
fn values_that_are_not_allowed_in_text() {
    check(
        &[
            ("//@ target f\nvar l = [1]\nfun f(x = l) { echo \"@var.x\" }\n", &["3:22 E0512"]),
            ("//@ target f\nvar n = null\nfun f() { echo @var.n }\n", &["3:16 E0505"]),
            ("var a = \"\\u{0}\"\necho @var.a\n", &["2:6 E0811"]),
            ("//@ env D -x\nrm @env.D\n", &["2:4 E0810"]),
            ("//@ env D -x\nrm -- @env.D\n", &[]),
            ("//@ env D -x\nrm @env.D(dash=true)\n", &[]),
            ("//@ env D -x\nrm a@@env.D\n", &[]),
            ("//@ env D -x\nrm \"@env.D\"\n", &["2:5 E0810"]),
            ("//@ env L a,-x\nvar l = split(@env.L, \",\")\nrm @var.l\n", &["3:4 E0810"]),
            ("//@ env N 1\nvar n = @env.N\necho $((@var.n + 1))\n", &["3:9 E0702"]),
            ("//@ env C ls\nvar c = @env.C\n@shell(c)\n", &["3:8 E0701"]),
            ("//@ env C ls\nvar c = @env.C\necho @shell.output(c)\n", &["3:20 E0701"]),
            ("var c = \"ls\"\n@shell(c)\n", &[]),
            ("//@ env API_TOKEN abc\necho @env.API_TOKEN(secret=true)\n", &["2:6 E0812"]),
            ("//@ env API_TOKEN abc\necho @env.API_TOKEN\n", &[]),
            ("//@ env GIT_AUTHOR_NAME Bo\necho @env.GIT_AUTHOR_NAME\n", &[]),
            ("//@ env X four\necho @env.X(public=true, secret=true)\n", &["2:6 E0505"]),
            ("//@ file F abc\necho @secret.file(\"F\")\n", &["2:6 E0812"]),
            ("//@ env X abc\necho @secret.env.X\n", &["2:6 E0812"]),
        ],
        Purpose::Run,
    );
}

#[test]
fn random_values_shape_nothing() {
    check(
        &[
            ("if @random.password() == \"a\" { echo a }\n", &["1:4 E0809"]),
            ("when @random.password() { \"a\" -> echo a }\n", &["1:6 E0809"]),
            ("for x in split(@random.password(), \"\") { echo @var.x }\n", &["1:10 E0809"]),
            ("var p = @random.password()\nwhile p != \"a\" { p = \"a\" }\n", &["2:7 E0809"]),
            ("var p = @random.password()\necho @file.read(p)\n", &["2:6 E0809"]),
            ("var p = @random.password()\nif p.length > 3 { echo a }\n", &["2:4 E0809"]),
            ("echo @random.password(length=3)\n", &["1:30 E0507"]),
        ],
        Purpose::Run,
    );
}

#[test]
fn the_clock_is_in_no_contract() {
    let rows: &[Row] = &[
        ("echo @time.now\n", &["1:6 E0813"]),
        ("var t = @time.now\nif t == \"a\" { echo a }\n", &["1:9 E0813"]),
        ("var t = @time.now\necho a\n", &[]),
    ];
    check(rows, Purpose::Contract);
    for (source, _) in rows {
        assert_eq!(found(&Project::new(source)), [""; 0], "{source}");
    }
}

#[test]
fn what_would_be_too_much_stops_early() {
    let start = Instant::now();
    check(
        &[
            ("var x = 1\nwhile x > 0 { echo a }\n", &["2:7 E0807"]),
            ("while true { }\n", &["1:7 E0807"]),
            ("for i in 1...200000 { echo a }\n", &["1:23 E0806"]),
            ("for i in 1...700 { for j in 1...700 { } }\n", &["1:20 E0806"]),
            ("for i in 1...1000000000 { echo a }\n", &["1:11 E0808"]),
            ("//@ env N 1000000000\nfor i in 1...int(@env.N) { echo a }\n", &["2:11 E0808"]),
            ("var s = \"aaaaaaaa\"\nfor i in 1...40 { s = s + s }\necho @var.s\n", &["2:25 E0808"]),
            ("var l = [1]\nfor i in 1...40 { l = [l, l] }\necho @var.l\n", &["2:23 E0808"]),
            (
                "var s = \"aaaaaaaa\"\nfor i in 1...17 { s = s + s }\nfor i in 1...90000 { echo @var.s }\n",
                &["3:27 E0806"],
            ),
        ],
        Purpose::Run,
    );
    // Nobody asserts how long it takes, but one of these that was worked through would need days.
    assert!(start.elapsed() < Duration::from_secs(600));
}

#[test]
fn calls_do_not_nest_without_end() {
    let mut source = String::from("@cmd.f0()\n");
    for index in 0..80 {
        source += &format!("fun f{index}() = @cmd.f{}()\n", index + 1);
    }
    source += "fun f80() = echo a\n";
    let found = found(&Project::new(&source));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("E0312"), "{found:?}");
}

#[test]
fn a_cycle_of_calls_is_found_before_anything_is_planned() {
    let source = "fun a() = @cmd.b()\nfun b() = @cmd.a()\n";
    assert!(found(&Project::new(source).target("a"))[0].ends_with("E0405"));
}

#[test]
fn errors_come_all_at_once_and_in_order() {
    let source =
        "echo @env.ONE\necho @file.read(\"two\")\nvar c = int(\"x\" + \"\")\necho @var.c\n";
    assert_eq!(found(&Project::new(source)), ["1:6 E0804", "2:6 E0804", "3:9 E0802"]);
}
