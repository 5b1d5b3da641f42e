//! Help on opal, its commands and the tasks of a project.

use crate::support::Opal;

#[test]
fn help_of_a_task_shows_parameters_types_defaults_and_docs() {
    let project = "// Deploys the app.\nfun deploy(env: \"dev\" | \"prod\", max_surge: Int = 2) {\n    \
                   echo @var.env @var.max_surge\n}\n";
    let ran = Opal::project(project).args(["deploy", "--help"]).run();
    ran.code(0)
        .says("Deploys the app.")
        .says("Usage: opal deploy ENV [--max-surge=2] [OPTIONS]")
        .says("\"dev\" | \"prod\"")
        .says("--max-surge")
        .says("Int [default: 2]");
    let same = Opal::project(project).args(["help", "deploy"]).run();
    assert_eq!(ran.stdout, same.stdout);
}

#[test]
fn dashes_and_underscores_of_a_task_are_equal() {
    Opal::project("fun db_seed() = echo x\n").args(["db-seed", "--help"]).run().code(0);
}

#[test]
fn help_of_opal_names_every_built_in_with_an_example() {
    let ran = Opal::new().args(["--help"]).run();
    for command in ["check", "fmt", "list", "explain", "run", "completions", "self"] {
        ran.code(0).says(command);
    }
    ran.says("Examples:");
    Opal::new().args(["help"]).run().code(0).stdout(&ran.stdout);
}

#[test]
fn help_of_opal_names_every_built_in_that_yields_to_a_task() {
    let help = Opal::new().args(["--help"]).run().stdout.clone();
    let (_, commands) = help.split_once("Built-in commands:\n").unwrap();
    let (_, rule) = help.rsplit_once("Only").unwrap();
    let names = commands.lines().map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut yielding = 0;
    for name in names {
        // The pages of `opal ui` end after a minute of short seconds.
        let opal = Opal::machine(&format!("fun {name}() = echo ran\n"));
        let opal = opal.env("OPAL_TEST_UI_SECOND", "1");
        let yields = opal.args([name]).run().stdout == "ran\n";
        assert_eq!(rule.contains(&format!("`{name}`")), yields, "{name}: {rule}");
        yielding += usize::from(yields);
    }
    assert!(yielding > 3);
}

#[test]
fn every_built_in_has_help_with_an_example() {
    for command in
        ["check", "fmt", "list", "explain", "run", "completions", "verify", "apply", "convert"]
    {
        Opal::new().args([command, "--help"]).run().code(0).says("Usage:").says("Example");
    }
}

#[test]
fn a_functions_own_flags_win_over_opals() {
    let project = "fun a(help = \"x\", y = true, no_y = 1) = echo @var.help @var.y @var.no_y\n";
    let opal = Opal::machine(project).args(["a", "--help", "me", "--no-y", "2"]);
    opal.run().code(0).stdout("me true 2\n");
    Opal::project(project).args(["help", "a"]).run().code(0).says("--no-y");
}

#[test]
fn parameters_that_cannot_work_are_errors_and_not_panics() {
    for project in ["fun a(p = 1, p = 2) = echo @var.p\n", "fun a(r..., b) = echo @var.r @var.b\n"]
    {
        Opal::project(project).args(["a", "1"]).run().code(65).says("E0315");
        Opal::project(project).args(["a", "--help"]).run().code(0);
    }
}

#[test]
fn arguments_of_a_task_are_checked_against_its_parameters() {
    let project = "fun a(n: Int, d = 5s, m: \"x\" | \"y\" = \"x\") = echo @var.n @var.d @var.m\n";
    for wrong in [
        &["a"][..],
        &["a", "x"],
        &["a", "1", "--d", "5"],
        &["a", "1", "--m", "z"],
        &["a", "1", "--q"],
    ] {
        Opal::project(project).args(wrong).run().code(2);
    }
    Opal::machine(project).args(["a", "1", "--d=1m", "--m", "y"]).run().code(0).stdout("1 1m y\n");
}

#[test]
fn self_and_run_always_reach_what_they_say() {
    let project = "fun self() = echo s\nfun run() = echo r\nfun check() = echo c\n";
    Opal::project(project).args(["self", "check"]).run().code(0).says("W0416");
    Opal::project(project).args(["self", "check", "--help"]).run().code(0).says("opal check");
    Opal::machine(project).args(["run", "run"]).run().code(0).stdout("r\n");
    Opal::machine(project).args(["run", "check"]).run().code(0).stdout("c\n");
}

#[test]
fn an_exact_name_wins_over_one_that_differs_in_dashes() {
    let project = "fun build-all() = echo a\nfun build_all() = echo b\n";
    Opal::machine(project).args(["build_all"]).run().code(0).stdout("b\n");
    Opal::machine(project).args(["build-all"]).run().code(0).stdout("a\n");
}

#[test]
fn negative_numbers_are_values() {
    let project = "fun a(n: Int, m = -1) = echo @var.n @var.m\n";
    Opal::machine(project).args(["a", "-5", "--m", "-7"]).run().code(0).stdout("-5 -7\n");
    let ran = Opal::project(project).args(["a", "x"]).run();
    ran.code(2).says("expects an Int");
}

#[test]
fn the_version_is_printed() {
    let ran = Opal::new().args(["--version"]).run();
    ran.code(0).stdout(&format!("opal {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn unknown_words_and_options_are_usage_errors_with_a_suggestion() {
    let project = "fun deploy() = echo x\n";
    Opal::project(project).args(["deplyo"]).run().code(2).says("did you mean `deploy`?");
    Opal::project(project).args(["chekc"]).run().code(2).says("did you mean `check`?");
    Opal::project(project).args(["--colro", "never"]).run().code(2).says("did you mean `--color`?");
    Opal::project(project).args(["check", "--jsno"]).run().code(2).says("--json");
    Opal::project(project).args(["self", "lisst"]).run().code(2).says("did you mean `list`?");
    Opal::project(project).args(["--color", "loud"]).run().code(2).says("auto, always, never");
    Opal::new().args(["frobnicate"]).run().code(2).says("no `commands.opl`");
}
