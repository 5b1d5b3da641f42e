//! Help on opal, its commands and the tasks of a project.

use crate::support::Opal;

#[test]
fn help_of_a_task_shows_parameters_types_defaults_and_docs() {
    let project = "// Deploys the app.\nfun deploy(env: \"dev\" | \"prod\", max_surge: Int = 2) {\n    \
                   echo @var.env @var.max_surge\n}\n";
    let ran = Opal::project(project).args(["deploy", "--help"]).run();
    ran.code(0)
        .says("Deploys the app.")
        .says("Usage: opal deploy [OPTIONS] <ENV>")
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
fn every_built_in_has_help_with_an_example() {
    for command in ["check", "fmt", "list", "explain", "run", "completions"] {
        Opal::new().args([command, "--help"]).run().code(0).says("Usage:").says("Example");
    }
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
    Opal::project(project).args(["--color", "loud"]).run().code(2).says("auto, always and never");
    Opal::new().args(["frobnicate"]).run().code(2).says("no `commands.opl`");
}

#[test]
fn commands_of_later_versions_are_said_to_be_missing() {
    Opal::new().args(["plan", "deploy"]).run().code(69).says("not part of this version");
}
