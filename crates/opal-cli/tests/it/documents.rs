//! Every block of the documents behaves as it says.
//!
//! ` ```opl ` blocks are whole files: nothing is reported for them, or exactly the codes that stand
//! behind `opl`. ` ```sh ` blocks run with `opal` on the path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use opal_core::Code;

use crate::support::{Opal, binary, repository};

struct Block {
    line: usize,
    info: String,
    text: String,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open =
                    Some(Block { line: index + 1, info: info.trim().into(), text: String::new() });
            }
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(repository().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty(), "{folder}");
    pages
}

/// Checks the `opl` blocks of a page; returns what went wrong, one line each.
fn check_page(path: &Path) -> Vec<String> {
    let markdown = fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    for block in blocks(&markdown) {
        let mut words = block.info.split_whitespace();
        if words.next() != Some("opl") {
            continue;
        }
        let mut expected: Vec<String> = words.map(str::to_owned).collect();
        expected.sort();
        let found = Opal::codes(&block.text);
        if found != expected {
            let place = path.strip_prefix(repository()).unwrap().display().to_string();
            wrong.push(format!("{place}:{}: expected {expected:?}, found {found:?}", block.line));
        }
    }
    wrong
}

#[test]
fn blocks_of_the_language_reference_behave_as_they_say() {
    let wrong: Vec<String> =
        pages("docs/language").iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_of_error_pages_behave_as_they_say() {
    let wrong: Vec<String> =
        pages("docs/errors").iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_is_provoked_by_its_page_and_comes_with_a_hint() {
    for code in Code::ALL {
        // No built-in has a deprecated parameter; `opal-runtime/tests/plugins.rs` provokes it.
        if *code == Code::DeprecatedParameter {
            continue;
        }
        let page = repository().join(format!("docs/errors/{}.md", code.as_str()));
        let markdown = fs::read_to_string(&page).unwrap();
        let wrong = blocks(&markdown)
            .into_iter()
            .find(|block| block.info.split_whitespace().any(|word| word == code.as_str()));
        let wrong = wrong.unwrap_or_else(|| panic!("{} has no wrong example", page.display()));
        let found = if wrong.info.starts_with("sh") {
            let output = bash(&wrong.text.replace("opal check", "opal check --json"));
            serde_json::from_str(&output.1).unwrap()
        } else {
            Opal::project(&wrong.text).args(["self", "check", "--json"]).run().json()
        };
        let found: Vec<&serde_json::Value> = found["files"][0]["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["code"] == code.as_str())
            .collect();
        assert!(!found.is_empty(), "{} does not provoke its code", page.display());
        for one in found {
            assert_ne!(one["help"].as_array().unwrap().len(), 0, "{} has no hint", code.as_str());
        }
    }
}

#[test]
fn shell_blocks_of_error_pages_behave_as_they_say() {
    for page in pages("docs/errors") {
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let mut words = block.info.split_whitespace();
            if words.next() != Some("sh") {
                continue;
            }
            let (code, stdout, stderr) = bash(&block.text);
            let expected: Vec<&str> = words.collect();
            for word in &expected {
                assert!(stdout.contains(word), "{}: {word} in {stdout} {stderr}", page.display());
            }
            let fails = expected.iter().any(|word| word.starts_with('E'));
            assert_eq!(code != 0, fails, "{}:{}: {stdout}{stderr}", page.display(), block.line);
        }
    }
}

/// Commands behind `$ ` and what they print, with the `opl` block above as `commands.opl`.
#[test]
fn shell_blocks_of_the_language_reference_print_what_they_show() {
    let mut count = 0;
    for page in pages("docs/language") {
        let mut project = String::new();
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            if block.info.starts_with("opl") {
                project = block.text;
                continue;
            }
            if block.info != "sh" {
                continue;
            }
            count += 1;
            let commands = block.text.lines().filter_map(|line| line.strip_prefix("$ "));
            let shown = block.text.lines().filter(|line| !line.starts_with("$ "));
            let script = format!(
                "cat > commands.opl <<'END_OF_PROJECT'\n{project}END_OF_PROJECT\nexec 2>&1\n{}\n",
                commands.collect::<Vec<_>>().join("\n")
            );
            let expected: String = shown.map(|line| format!("{line}\n")).collect();
            assert_eq!(bash(&script).1, expected, "{}:{}", page.display(), block.line);
        }
    }
    assert!(count > 0, "no block was run");
}

/// Runs a script in a directory of its own with `opal` on the path.
#[expect(clippy::disallowed_methods, reason = "a document's shell block is run by the shell")]
fn bash(script: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary().parent().unwrap().display());
    let output = Command::new("bash")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn examples_of_every_decorator_pass_the_check_and_are_formatted() {
    for descriptor in opal_runtime::decorators::registry().iter() {
        for example in descriptor.examples {
            let place = format!("@{}, {}", descriptor.path, example.title);
            let codes = Opal::codes(example.source);
            assert_eq!(codes, [""; 0], "{place}:\n{}", example.source);
            let ran =
                Opal::project(example.source).args(["self", "fmt", "--check", "--diff"]).run();
            assert_eq!(ran.code, 0, "{place}: {}", ran.stdout);
        }
    }
}

#[test]
fn shipped_examples_pass_the_check_and_are_formatted() {
    let mut count = 0;
    for entry in fs::read_dir(repository().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "opl") {
            continue;
        }
        count += 1;
        let file = path.to_str().unwrap();
        Opal::new().args(["check", file]).run().code(0).says("nothing to complain about");
        Opal::new().args(["fmt", "--check", file]).run().code(0);
    }
    assert!(count >= 3, "{count} examples");
}

#[test]
fn the_blocks_of_the_readme_behave_as_they_say() {
    let wrong = check_page(&repository().join("README.md"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_names_two_commands_and_ci_calls_the_second() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let commands: Vec<String> =
        blocks(&readme).into_iter().filter(|b| b.info == "sh").map(|b| b.text).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let ci = fs::read_to_string(repository().join(".ci/run")).unwrap();
    assert!(ci.contains(commands[1].trim()), "{ci}");
}

#[test]
fn the_projects_own_tasks_pass_the_check_and_are_formatted() {
    let file = repository().join("commands.opl");
    let file = file.to_str().unwrap();
    Opal::new().args(["check", file]).run().code(0);
    Opal::new().args(["fmt", "--check", file]).run().code(0);
}
