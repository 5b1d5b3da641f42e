//! Mistakes that were made once.

use opal_testing::planning;

use opal_plan::plan::Purpose;
use opal_testing::Asked;
use planning::Project;

fn shown(source: &str) -> String {
    Project::read(source).shown()
}

#[test]
fn an_index_from_the_world_is_not_in_the_words_of_an_error() {
    let shown = shown(
        "//@ env S 40317\nvar l = [1]\nvar at = int(@secret.env.S)\nvar x = l[at]\necho @var.x\n",
    );
    assert!(shown.contains("E0803") && !shown.contains("40317"), "{shown}");
}

#[test]
fn a_default_that_is_a_secret_cannot_be_made_public() {
    let source = "//@ env S hidden-5150\nvar x = @env.NOPE(default=@secret.env.S, public=true)\necho @var.x\n";
    let project = Project::read(source);
    assert!(!project.shown().contains("hidden-5150"));
    let resolved = project.plan().unwrap();
    let key = resolved.plan.values.keys().next().unwrap();
    assert!(resolved.showing.class(key).is_declared(), "{key} is a secret too");
}

#[test]
fn looking_ahead_asks_nothing_that_the_program_does_not() {
    let source = "//@ run echo y => y\n//@ run echo {} => z\nvar x = \"a\"\n@retry(2) {\n    \
                  x = \"b\"\n    if @shell.output(\"echo y\") == \"y\" {\n        echo yes\n    }\n}\n\
                  echo @shell.output(\"echo @var.x\")\n";
    let project = Project::read(source);
    let plan = project.plan().unwrap().plan;
    let keys: Vec<&str> = plan.reads.iter().map(|read| &*read.key).collect();
    assert_eq!(keys, ["shell.output(cmd=\"echo @(\"a\")\")", "shell.output(cmd=\"echo y\")"]);
    let commands = project.world.asked().into_iter().filter(|a| matches!(a, Asked::Run(_)));
    assert_eq!(commands.count(), 2);
}

#[test]
fn another_pattern_of_the_same_arm_is_the_same_plan() {
    let source = |env: &str| {
        format!(
            "//@ env STAGE {env}\nwhen @env.STAGE {{\n    \"dev\" | \"staging\" -> echo small\n    \
             else -> echo large\n}}\n"
        )
    };
    let hash = |env: &str| {
        let project = Project::read(&source(env)).purpose(Purpose::Contract);
        opal_core::contract::plan_hash(&project.plan().unwrap().plan)
    };
    assert_eq!(hash("dev"), hash("staging"));
    assert_ne!(hash("dev"), hash("production"));
}

#[test]
fn a_leading_dash_is_found_wherever_it_hides() {
    for source in [
        "//@ env PRE -rf\nvar x = \"@env.PRE@random.password(length=8)\"\nrm @var.x\n",
        "var x = [@random.password(length=8, alphabet=\"_-\")]\nrm @var.x\n",
        "//@ env PRE -rf\nlet.a = @shell(\"id\")\n@cmd.del(\"@env.PRE@let.a\")\nfun del(f) {\n    rm @var.f\n}\n",
        "var x = @random.password(length=8, alphabet=\"_-\")\nrm @var.x\n",
    ] {
        let shown = shown(source);
        assert!(shown.contains("E0810"), "{source}\n{shown}");
    }
    let fine = shown("var x = \"x@random.password(length=8, alphabet=\"_-\")\"\nrm @var.x\n");
    assert!(!fine.contains("E0810"), "{fine}");
}

#[test]
fn what_a_branch_set_before_it_failed_is_open_afterwards() {
    let shown = shown(
        "//@ mode quick\nvar x = \"a\"\nif @shell.output(\"id\") == \"y\" {\n    x = \"b\"\n    \
         if @env.NOPE == \"z\" {\n        echo z\n    }\n}\necho @var.x\n",
    );
    assert!(!shown.contains("echo a\n") && shown.contains("undecided("), "{shown}");
}

#[test]
fn a_condition_that_waits_for_a_command_is_listed() {
    let shown = shown("//@ mode quick\nif @shell.output(\"id\") == \"y\" {\n    echo z\n}\n");
    assert!(shown.contains("Deferred:\n  1. @(shell.output(cmd=\"id\") == \"y\")"), "{shown}");
}

#[test]
fn a_regex_is_an_argument_like_any_other() {
    let shown = shown("@file.line(\"/etc/hosts\", \"127.0.0.1 x\", match=r\"x$\")\n");
    assert!(shown.contains("match=\"x$\""), "{shown}");
}

#[test]
fn making_a_value_public_is_another_plan() {
    let hash = |source: &str| {
        let project = Project::read(source).purpose(Purpose::Contract);
        opal_core::contract::plan_hash(&project.plan().unwrap().plan)
    };
    let (hidden, public) = ("echo @env.P\n", "echo @env.P(public=true)\n");
    let world = "//@ env P long-enough\n";
    assert_ne!(hash(&format!("{world}{hidden}")), hash(&format!("{world}{public}")));
}

#[test]
fn one_element_has_one_name() {
    let shown = shown("//@ env L a,b\nvar l = split(@env.L, \",\")\necho @var.l.0 @var.l[0]\n");
    assert_eq!(shown.matches("split(env.L, \",\")[0] =").count(), 1, "{shown}");
}

#[test]
fn a_range_of_exactly_a_million_is_not_too_large_and_no_plan_of_that_many() {
    let shown = shown("for i in 1...1000000 {\n    echo @var.i\n}\n");
    assert!(shown.contains("E0806"), "{shown}");
}
