//! `let` on JSON: fields, indexes, their errors, and what is hidden.

use crate::support::Opal;

fn run(json: &str, steps: &str) -> crate::support::Ran {
    let source = format!(
        "fun main() {{\n    let.r = @shell(\"cat data.json\", json=true)\n    {steps}\n}}\n"
    );
    Opal::machine(&source).file("data.json", json).args(["main", "--quiet"]).run()
}

#[test]
fn fields_and_indexes_reach_nested_values() {
    let json = r#"{"items": [{"name": "web-one", "ports": [80, 443]}, {"name": "db"}], "n": {"a b": true}}"#;
    let steps = "printf '%s\\n' @let.r.items[0].name @let.r.items.0.ports[1] @let.r.n[\"a b\"] \
                 @let.r.items.length > out\n    wc -l < out";
    run(json, steps).code(0).stdout("4\n");
    let source = "fun main() {\n    let.name = @shell(\"cat data.json\", json=true).items[0].name\n    \
                  test @let.name = web-one\n}\n";
    Opal::machine(source).file("data.json", json).args(["main"]).run().code(0);
}

#[test]
fn what_is_not_there_names_the_binding_and_what_exists() {
    let json = r#"{"items": [{"name": "web"}], "none": null}"#;
    for (step, says) in [
        ("echo @let.r.item", "FieldAccessError: `let.r` has no field `item`"),
        ("echo @let.r.item", "did you mean `items`?"),
        ("echo @let.r.items[3].name", "IndexError: `let.r.items` has no element `[3]`"),
        ("echo @let.r.items[3].name", "it has one element, `[0]`"),
        ("echo @let.r.items[0].name.x", "FieldAccessError: `let.r.items[0].name` is a String"),
        ("echo @let.r.none.x", "FieldAccessError: `let.r.none` is null"),
        ("echo @let.r.none", "null"),
    ] {
        run(json, step).code(1).says(says);
    }
}

/// A document may have secrets for its keys.
#[test]
fn the_fields_of_what_may_be_a_secret_are_not_listed() {
    let json = r#"{"tok-canary-1": {"tok-canary-2": 1}}"#;
    for access in ["nokey", "*.nokey", "[\"tok-canary-1\"].nokey"] {
        let dot = if access.starts_with('[') { "" } else { "." };
        let ran = run(json, &format!("test -n @let.r{dot}{access}"));
        ran.code(1).says("has no").hides("tok-canary-2");
    }
    run(json, "echo @let.r.nokey").code(1).says("are not listed").hides("tok-canary");
    let task = "fun main() {\n    let.r = @shell(\"cat data.json\", json=true, public=true)\n    \
                echo @let.r.nokey\n}\n";
    let opal = Opal::machine(task).file("data.json", r#"{"name": 1}"#);
    opal.args(["main"]).run().code(1).says("it has `name`");
}

#[test]
fn what_is_not_exactly_json_fails_the_step_without_showing_it() {
    for (json, says) in [
        ("{\"secret-key\": tru", "line 1, column 16: expected a value"),
        ("{\"a\": 1, \"a\": 2}", "duplicate key"),
        ("{\"id\": 12345678901234567890}", "does not fit in 64 bits"),
        ("", "it is empty"),
        (&"[".repeat(80), "deeper than 64 levels"),
    ] {
        let ran = run(json, "echo never");
        ran.code(1)
            .says("the output is not JSON")
            .says(says)
            .hides("never")
            .hides("12345678901234567890");
    }
}

#[test]
fn every_leaf_is_a_secret_of_its_own() {
    let json = r#"{"user": {"token": "tok-canary-1"}, "list": ["pw-canary-2", 5150515051]}"#;
    let ran = run(json, "cat data.json\n    echo @let.r.user.token");
    ran.code(0).hides("canary").hides("5150515051").says("opal:h:");
}

#[test]
fn a_public_result_is_public_as_a_whole() {
    let json = r#"{"user": {"token": "tok-canary-1"}, "list": ["pw-canary-2", 5150515051]}"#;
    let url = "postgres://shop:canary-3@db/shop";
    let source = "fun whole() {\n    let.r = @shell(\"cat data.json\", json=true, public=true)\n    \
                  echo @let.r.user.token @let.r.list[1]\n    @log(\"second: @let.r.list[0]\")\n    cat data.json\n}\n\
                  fun part() {\n    let.t = @shell(\"cat data.json\", json=true, public=true).user.token\n    \
                  echo @let.t\n}\n\
                  fun both() {\n    let.r = @shell(\"cat data.json\", json=true, public=true)\n    \
                  let.s = @shell(\"cat url.json\", json=true)\n    cat data.json url.json\n    \
                  echo @let.r.user.token @let.s\n}\n";
    let opal = Opal::machine(source).file("data.json", json).file("url.json", format!("{url:?}"));
    let ran = opal.call(&["whole"]);
    ran.code(0).stdout(&format!("tok-canary-1 5150515051\n{json}")).says("second: pw-canary-2");
    ran.hides("hidden in the output");
    opal.call(&["runs", "show", "--logs"]).code(0).says("tok-canary-1 5150515051\n");
    opal.call(&["part"]).code(0).stdout("tok-canary-1\n");
    // What is not public stays hidden beside it.
    opal.call(&["both"]).code(0).says("tok-canary-1").hides("canary-3");
}

#[test]
fn the_option_needs_a_let() {
    let source = "fun main() {\n    @shell(\"echo 1\", json=true)\n}\n";
    Opal::machine(source).args(["check"]).run().code(65).says("E0611");
}

#[test]
fn computing_with_a_run_time_value_is_found_by_check() {
    for expression in
        ["int(@let.r)", "@let.r + \"x\"", "upper(@let.r)", "@let.r == \"x\"", "!@let.r"]
    {
        let source = format!(
            "fun main() {{\n    let.r = @shell(\"echo 1\")\n    @cmd.show({expression})\n}}\n\
             fun show(x) = echo @var.x\n"
        );
        let ran = Opal::machine(&source).args(["check"]).run();
        ran.code(65).says("E0601");
    }
    let source = "fun main() {\n    let.r = @shell(\"echo 1\")\n    @cmd.show(\"n: @let.r\")\n}\n\
                  fun show(x) = echo @var.x\n";
    Opal::machine(source).args(["check"]).run().code(0);
}

#[test]
fn arrays_concatenate_and_spread() {
    let source = "var base = [\"a\", \"b c\"]\nfun main(more...) {\n    var all = @var.base + more + [@env.X(public=true)]\n    \
                  printf '%s\\n' @var.all\n    @cmd.two(@var.all.*)\n    @cmd.two(\"first\", @var.more.*)\n}\n\
                  fun two(x, y = \"-\", rest...) = echo \"x=@var.x y=@var.y rest=\" @var.rest\n";
    let opal = Opal::machine(source).env("X", "last-value");
    let ran = opal.args(["main", "--quiet", "d"]).run();
    ran.code(0).stdout("a\nb c\nd\nlast-value\nx=a y=b c rest= d last-value\nx=first y=d rest=\n");
    let few = "fun main() {\n    var l = [1, 2, 3]\n    @cmd.two(@var.l.*)\n}\nfun two(x, y) = echo @var.x @var.y\n";
    Opal::machine(few).args(["main"]).run().code(65).says("E0502");
    let none = few.replace("[1, 2, 3]", "[1]");
    Opal::machine(&none).args(["main"]).run().code(65).says("E0501");
}

#[test]
fn the_functions_of_expressions_compute_at_plan_time() {
    for (expression, value) in [
        ("replace(\"a-b-c\", \"-\", \"_\")", "a_b_c"),
        ("upper(\"äb\") + lower(\"CD\")", "ÄBcd"),
        ("str(contains(\"abc\", \"bc\"))", "true"),
        ("str(contains([1, 2], 3))", "false"),
        ("str(contains({a: 1}, \"a\"))", "true"),
        ("str(starts_with(\"abc\", \"ab\")) + str(ends_with(\"abc\", \"b\"))", "truefalse"),
        ("basename(\"/usr/lib/\") + dirname(\"/usr/lib/\")", "lib/usr"),
        ("path(\"a\", \"\", \"b/\", \"c\")", "a/b/c"),
        ("path([\"x\", \"y\"].*)", "x/y"),
        ("join(split(\"a,b\", \",\") + [\"c\"], \"+\")", "a+b+c"),
        ("\"x\".length", "1"),
    ] {
        let source =
            format!("fun main() {{\n    var v = {expression}\n    printf %s \"@var.v\"\n}}\n");
        Opal::machine(&source).args(["main", "-q"]).run().code(0).stdout(value);
    }
    for (expression, code) in [
        ("replace(\"a\", \"\", \"b\")", "E0801"),
        ("path(\"a\", \"/b\")", "E0801"),
        ("upper(1)", "E0505"),
        ("path()", "E0501"),
        ("contains(1, 1)", "E0505"),
        ("[1] + 2", "E0514"),
        ("uper(\"a\")", "E0407"),
    ] {
        let source = format!("fun main() {{\n    var v = {expression}\n    echo \"@var.v\"\n}}\n");
        Opal::machine(&source).args(["main"]).run().code(65).says(code);
    }
}

#[test]
fn a_computed_value_is_as_secret_as_what_it_came_from() {
    let source = "fun main() {\n    var s = upper(@secret.env.KEY) + \"!\"\n    var l = [\"a\"] + split(@secret.env.KEY, \"/\")\n    \
                  echo \"@var.s\" @var.l\n}\n";
    let opal = Opal::machine(source).env("KEY", "canaryone/canarytwo");
    let ran = opal.call(&["main"]);
    ran.code(0).hides("canaryone").hides("CANARYONE").hides("canarytwo");
    opal.call(&["plan", "main", "--resolve", "--format=tree"])
        .code(0)
        .hides("canary")
        .hides("CANARY");
}

#[test]
fn empty_brackets_end_a_path_after_a_field() {
    let source = "var s = {path: \"dir\", list: [\"x\"]}\nfun main() {\n    echo @var.s.path()_check \"@var.s.list[0]()y\" @var.s.path().txt\n}\n";
    Opal::machine(source).args(["main", "-q"]).run().code(0).stdout("dir_check xy dir.txt\n");
}
