//! Decorators that are written in opal: what they see, and what a plan shows of them.

use super::{TOML, added, hi, rooted};
use crate::support::Opal;

/// A project whose package has this file.
fn with(commands: &str, source: &str) -> Opal {
    let opal =
        rooted(commands).file("house/opal.toml", TOML).file("house/decorators/a.opl", source);
    opal.call(&["plugin", "trust", "."]).code(0);
    opal.call(&["plugin", "add", "./house"]).code(0);
    opal
}

#[test]
fn a_plan_shows_every_step_and_whose_it_is() {
    let opal = added();
    let plan = opal.call(&["-n", "hi"]);
    plan.code(0).says("@house.greet(\"world\", times=n)  (acme/house 1.0.0)");
    plan.says("echo hello world").says("Plugins: acme/house 1.0.0 (local:./plugins/house)");
    let json = opal.call(&["plan", "hi", "--format", "json"]).json();
    crate::support::assert_plan_schema(&json);
    assert_eq!(json["steps"][0]["decorator"], "@house.greet");
    assert!(json["steps"][0]["schema"].is_string());
}

#[test]
fn a_package_never_sees_the_variables_and_functions_of_the_project() {
    for source in [
        "fun house.a() = echo @var.secret\n",
        "fun house.a() {\n    @cmd.inner()\n}\n",
        "fun house.a(x: String = @var.secret) = echo @var.x\n",
    ] {
        let commands = "var secret = \"mine\"\nfun inner() = echo inner\nfun hi() = @house.a()\n";
        let opal = with(commands, source);
        hi(&opal).code(65).hides("mine");
    }
    let opal = with(
        "var x = \"of the project\"\nfun hi() = @house.a()\n",
        "var x = \"own\"\nfun house.a() = echo @var.x\n",
    );
    hi(&opal).code(0).stdout("own\n");
}

#[test]
fn a_package_sees_its_own_decorators_and_those_it_depends_on() {
    let opal = rooted("fun hi() = @garden.all(\"x\")\n")
        .file("house/opal.toml", TOML)
        .file("house/decorators/a.opl", "fun house.one(who: String) = echo one @var.who\n")
        .file(
            "garden/opal.toml",
            format!("{}[dependencies]\n\"acme/house\" = \"1\"\n", TOML.replace("house", "garden")),
        )
        .file(
            "garden/decorators/a.opl",
            "fun garden.all(who: String) {\n    @house.one(who)\n    @garden.two(who)\n}\n",
        )
        .file("garden/decorators/b.opl", "fun garden.two(who: String) = echo two @var.who\n");
    opal.call(&["plugin", "trust", "."]).code(0);
    opal.call(&["plugin", "add", "./garden"]).code(78).says("needs acme/house");
    opal.call(&["plugin", "add", "./house"]).code(0);
    opal.call(&["plugin", "add", "./garden"]).code(0);
    hi(&opal).code(0).stdout("one x\ntwo x\n");
    // The project calls it differently; the package that needs it does not know that.
    opal.write(
        "opal.mod",
        "[plugins]\n\"./house\" = { version = \"1\", as = \"h\" }\n\"./garden\" = \"1\"\n",
    );
    opal.call(&["plugin", "install"]).code(0);
    hi(&opal).code(0).stdout("one x\ntwo x\n");
}

#[test]
fn a_package_does_not_see_packages_that_it_does_not_name() {
    let opal = with("fun hi() = @house.a()\n", "fun house.a() {\n    @garden.one()\n}\n")
        .file("garden/opal.toml", TOML.replace("house", "garden"))
        .file("garden/decorators/a.opl", "fun garden.one() = echo one\n");
    opal.call(&["plugin", "add", "./garden"]).code(0);
    hi(&opal).code(65).says("unknown decorator `@garden.one`");
}

#[test]
fn arguments_are_checked_like_those_of_built_in_decorators() {
    for (call, code) in [
        ("@house.greet()", "E0501"),
        ("@house.greet(1)", "E0505"),
        ("@house.greet(\"a\", time=2)", "E0503"),
        ("@house.greet(\"a\") { echo b }", "E0"),
    ] {
        let opal = added();
        opal.write("commands.opl", format!("fun hi() {{\n    {call}\n}}\n"));
        opal.call(&["check"]).code(65).says(code);
        hi(&opal).code(65);
    }
}

#[test]
fn decorators_that_call_each_other_in_a_cycle_are_reported() {
    let source = "fun house.a() {\n    @house.b()\n}\nfun house.b() {\n    @house.a()\n}\n";
    let opal = with("fun hi() = @house.a()\n", source);
    hi(&opal).code(65).says("E0405");
}

#[test]
fn a_decorator_that_is_not_exported_is_for_its_own_package() {
    let opal = rooted("fun hi() = @house.a()\n")
        .file("house/opal.toml", format!("{TOML}[decorators]\nexports = [\"house.a\"]\n"))
        .file(
            "house/decorators/a.opl",
            "fun house.a() {\n    @house.hidden()\n}\nfun house.hidden() = echo hidden\n",
        );
    opal.call(&["plugin", "trust", "."]).code(0);
    opal.call(&["plugin", "add", "./house"]).code(0);
    hi(&opal).code(0).stdout("hidden\n");
    opal.write("commands.opl", "fun hi() = @house.hidden()\n");
    hi(&opal).code(65).says("unknown decorator `@house.hidden`");
}

#[test]
fn loops_retries_and_values_work_inside_a_package() {
    let source = "var tries = 3\nfun house.a(names: Array[String]) {\n    for name in names {\n        \
                  @retry(tries, delay=1ms) {\n            echo @var.name\n        }\n    }\n    \
                  let.x = @shell(\"echo inner\", public=true)\n    echo @let.x.stdout\n}\n";
    let opal = with("fun hi() {\n    @house.a([\"p\", \"q\"])\n    echo after\n}\n", source);
    hi(&opal).code(0).stdout("p\nq\ninner\n\nafter\n");
}

#[test]
fn an_error_in_a_package_is_shown_in_its_own_file() {
    let opal = with("fun hi() = @house.a()\n", "fun house.a() {\n    echo @var.nope\n}\n");
    hi(&opal).code(65).says("house/decorators/a.opl:2");
    opal.call(&["check"]).code(65).says("house/decorators/a.opl:2");
}

#[test]
fn help_list_and_completion_show_tasks_and_not_functions_of_packages() {
    let opal = added();
    let list = opal.call(&["list"]);
    list.code(0).says("hi").hides("greet");
    opal.call(&["hi", "-h"]).code(0);
    opal.call(&["house.greet"]).code(2);
    opal.call(&["explain"]).code(0).says("@house.greet");
}
