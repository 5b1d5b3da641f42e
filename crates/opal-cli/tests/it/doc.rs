//! `opal doc` and `opal man`: what there is, on paper.

use std::fs;

use crate::support::{Opal, repository};

const PROJECT: &str = "\
// # Releases

// Ship a version <to> a stage, `<now>`.
// stage: where | to
fun ship(version: String, stage: \"a\" | \"b\" = \"a\", more...) {
    ./ship.sh @var.version @var.stage @var.more
}

// # Work

// Hides \u{1b}[2Jnothing.
fun build() = true
fun _private() = true
";

#[test]
fn tasks_are_documented_with_groups_and_parameters() {
    let ran = Opal::project(PROJECT).args(["doc"]).run();
    ran.code(0).says("# Tasks\n\n## Releases\n\n### ship\n\n");
    ran.says("Ship a version &lt;to> a stage, `<now>`.\n");
    ran.says("```sh\nopal ship VERSION [--stage=\"a\"] [MORE...]\n```\n");
    ran.says("| `version` | `String` | required |  |\n");
    ran.says("| `stage` | `\"a\" \\| \"b\"` | `\"a\"` | where \\| to |\n");
    ran.says("| `more` | `Array[String]` | none |  |\n");
    ran.says("## Work\n\n### build\n\n").hides("_private").hides("\u{1b}");
}

#[test]
fn programs_get_the_document_of_list() {
    let opal = Opal::project(PROJECT);
    let mut listed = opal.call(&["list", "--json"]).code(0).json();
    listed["tasks"].as_array_mut().unwrap().retain(|task| task["private"] == false);
    assert_eq!(opal.call(&["doc", "--json"]).code(0).json(), listed);
    opal.call(&["-f", "gone.opl", "doc", "--json"]).code(66).says("\"error\"");
}

#[test]
fn a_task_of_this_name_wins() {
    let opal = Opal::project("fun doc() = echo mine\nfun man() = echo yours\n");
    opal.call(&["doc"]).code(0).stdout("mine\n");
    opal.call(&["man"]).code(0).stdout("yours\n");
    opal.call(&["self", "doc"]).code(0).says("## doc");
    opal.call(&["self", "man"]).code(0).says(".TH opal 1");
}

/// The commands in the help of opal.
fn commands(opal: &Opal) -> Vec<String> {
    let help = opal.call(&["--help"]).code(0).stdout.clone();
    let (_, after) = help.split_once("Built-in commands:\n").unwrap();
    let (lines, _) = after.split_once("\n\n").unwrap();
    let names = lines.lines().filter(|line| !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_a_manual_page_with_the_options_of_its_help() {
    let opal = Opal::new().file("pages/.keep", "");
    opal.call(&["man", "-o", "pages"]).code(0).stdout("");
    for name in commands(&opal) {
        let page = opal.call(&["man", &name]).code(0).stdout.clone();
        assert!(page.contains(&format!(".TH opal-{name} 1")), "{page}");
        assert_eq!(opal.read(&format!("pages/opal-{name}.1")), page);
        let help = opal.call(&["self", &name, "--help"]).code(0).stdout.clone();
        let words =
            help.split([' ', '\n', ',', '=', '[', '`']).filter(|word| word.starts_with("--"));
        let plain = page.replace('\\', "");
        for option in words.filter(|word| word.len() > 3) {
            let option = option.trim_end_matches(['.', ';', ')', ':', ']']);
            assert!(plain.contains(option), "{name}: {option} is not in {plain}");
        }
    }
    assert!(opal.path().join("pages/opal-plan-show.1").is_file());
    opal.call(&["man", "nothing"]).code(2).says("opal-nothing");
}

#[test]
fn the_reference_lists_every_command() {
    let page = fs::read_to_string(repository().join("docs/reference/command-line.md")).unwrap();
    for name in commands(&Opal::new()) {
        assert!(page.contains(&format!("| `opal {name}` |")), "`opal {name}` is not on the page");
    }
}
