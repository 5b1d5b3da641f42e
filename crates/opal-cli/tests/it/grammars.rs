//! The grammars for editors agree with opal's own parser, character by character.
//!
//! What they are compared over are all sources of this repository that have no errors: fixtures, examples and the
//! blocks of documents. Each difference that is left is in a list that a person has read.

#![expect(clippy::disallowed_methods, reason = "grammars are tried in the programs that use them")]

mod corpus;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use opal_testing::needs;
use serde_json::Value;

use crate::support::repository;
use corpus::Corpus;

/// Libraries from npm and PyPI: see `xtask/src/grammars.rs`.
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/grammars");
const MODULES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/grammars/node_modules");

/// What `line` prints, as a document.
fn report(line: &[&str]) -> Value {
    let ran = Command::new(line[0]).args(&line[1..]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{line:?}: {said}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// A difference as a line of the list has it.
fn row(corpus: &Corpus, difference: &Value) -> String {
    let word = |key: &str| difference[key].as_str().unwrap().trim().to_owned();
    let place = corpus.place(&word("file"));
    [place, word("expected"), word("found"), word("text"), word("source")].join("\t")
}

/// At least `least` of 1,000 characters have the same class, and `list` has all others.
fn assert_agreement(corpus: &Corpus, report: &Value, least: f64, list: &str) {
    let count = |key: &str| report[key].as_f64().unwrap();
    assert_eq!(count("files"), corpus.len() as f64);
    let same = 1_000.0 * (1.0 - count("different") / count("compared"));
    let shown =
        format!("{same:.2} of 1,000 characters of {} have the same class", count("compared"));
    assert!(count("compared") > 60_000.0, "{shown}");
    let mut reviewed: BTreeMap<String, bool> = BTreeMap::new();
    let path = repository().join(list);
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        if !line.is_empty() && !line.starts_with("# ") {
            reviewed.insert(line.to_owned(), false);
        }
    }
    let mut new = Vec::new();
    for difference in report["differences"].as_array().unwrap() {
        let row = row(corpus, difference);
        match reviewed.get_mut(&row) {
            Some(is_there) => *is_there = true,
            None => new.push(row),
        }
    }
    assert!(new.is_empty(), "{shown}; not in {list}:\n{}", new.join("\n"));
    let gone: Vec<_> = reviewed.into_iter().filter(|(_, is_there)| !is_there).collect();
    assert!(gone.is_empty(), "in {list}, and no difference any more: {gone:#?}");
    assert!(same >= least, "{shown}; it must be {least}");
}

/// The parser of tree-sitter, compiled; none where something for it is missing.
fn tree_sitter(folder: &Path) -> Option<Vec<String>> {
    let python = Path::new(TOOLS).join("bin/python");
    let driver =
        python.exists() && is_answering(&[python.to_str().unwrap(), "-c", "import tree_sitter"]);
    if !needs::has("tree-sitter for Python (`cargo xtask test` installs it)", driver)
        || !needs::has("a C compiler", is_answering(&["cc", "--version"]))
    {
        return None;
    }
    let grammar = repository().join("editors/tree-sitter-opal");
    let library = folder.join("opal.so").display().to_string();
    let source = |name: &str| grammar.join("src").join(name).display().to_string();
    let include = format!("-I{}", source(""));
    let line = ["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", &include];
    let files = [source("parser.c"), source("scanner.c")];
    assert!(
        is_answering(&[&line[..], &[&files[0], &files[1], "-o", &library]].concat()),
        "it does not compile"
    );
    let script = grammar.join("test/agreement.py").display().to_string();
    Some(vec![python.display().to_string(), script, library])
}

fn is_answering(line: &[&str]) -> bool {
    Command::new(line[0]).args(&line[1..]).output().is_ok_and(|ran| ran.status.success())
}

#[test]
fn the_tree_sitter_grammar_agrees_with_the_parser() {
    let corpus = Corpus::write();
    let Some(line) = tree_sitter(corpus.folder()) else { return };
    let [python, script, library] = [0, 1, 2].map(|at| line[at].as_str());
    let folder = corpus.folder().display().to_string();
    let mut report = report(&[python, script, "compare", library, &folder]);
    let boundaries = report["boundaries"].as_array_mut().unwrap();
    let mut boundaries: Vec<Value> = std::mem::take(boundaries);
    for boundary in &mut boundaries {
        boundary["expected"] = boundary["kind"].take();
        boundary["found"] = boundary["side"].take();
    }
    report["differences"].as_array_mut().unwrap().append(&mut boundaries);
    assert_agreement(&corpus, &report, 995.0, "editors/tree-sitter-opal/test/reviewed.txt");
}

#[test]
fn the_tree_sitter_grammar_makes_the_same_tree_after_random_edits() {
    let corpus = Corpus::write();
    let Some(line) = tree_sitter(corpus.folder()) else { return };
    let [python, script, library] = [0, 1, 2].map(|at| line[at].as_str());
    let rounds = opal_testing::rounds(500).to_string();
    let folder = corpus.folder().display().to_string();
    let report = report(&[python, script, "edit", library, &folder, &rounds]);
    assert!(report["edits"].as_u64().unwrap() > 1_000, "{report}");
    assert!(report["compared"].as_u64().unwrap() > 200, "{report}");
    assert_eq!(report["different"].as_array().unwrap().len(), 0, "{report:#}");
}

/// What Zed and Helix refuse or ignore is in none of their files. The names are those of their documentation.
#[test]
fn the_files_for_zed_and_helix_have_what_these_editors_read() {
    let folder = tempfile::tempdir().unwrap();
    let Some(line) = tree_sitter(folder.path()) else { return };
    let [python, script, library] = [0, 1, 2].map(|at| line[at].as_str());
    let report = report(&[python, script, "editors", library]);
    assert_eq!(report["errors"], false);
    let queries = &report["queries"];
    assert_eq!(queries["outline.scm"]["name"], serde_json::json!(["deploy", "build"]));
    assert_eq!(queries["brackets.scm"]["open"].as_array().unwrap().len(), 4, "{queries}");
    assert_eq!(queries["brackets.scm"]["close"].as_array().unwrap().len(), 4, "{queries}");
    assert_eq!(queries["indents.scm"]["indent"].as_array().unwrap().len(), 4, "{queries}");
    assert_eq!(queries["overrides.scm"]["comment"].as_array().unwrap().len(), 1, "{queries}");
    keys(
        &report["language"],
        &[
            "autoclose_before",
            "block_comment",
            "brackets",
            "first_line_pattern",
            "grammar",
            "line_comments",
            "name",
            "path_suffixes",
            "tab_size",
            "word_characters",
        ],
    );
    let extension = &report["extension"];
    keys(
        extension,
        &[
            "authors",
            "description",
            "grammars",
            "id",
            "language_servers",
            "name",
            "schema_version",
            "version",
        ],
    );
    keys(&extension["grammars"]["opal"], &["path", "repository", "rev"]);
    assert_eq!(report["language"]["grammar"], "opal");
    assert_eq!(extension["language_servers"]["opal"]["languages"][0], report["language"]["name"]);
    let path = extension["grammars"]["opal"]["path"].as_str().unwrap();
    assert!(repository().join(path).join("src/parser.c").exists());
    // Helix refuses a file with a key of a language that it does not know.
    let helix = &report["helix"];
    keys(helix, &["grammar", "language", "language-server"]);
    keys(&helix["language-server"]["opal"], &["args", "command"]);
    keys(
        &helix["language"][0],
        &[
            "comment-token",
            "file-types",
            "grammar",
            "indent",
            "language-servers",
            "name",
            "roots",
            "scope",
        ],
    );
    keys(&helix["language"][0]["indent"], &["tab-width", "unit"]);
    keys(&helix["grammar"][0], &["name", "source"]);
}

#[track_caller]
fn keys(table: &Value, known: &[&str]) {
    let unknown: Vec<_> =
        table.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} in {table}");
}

#[test]
fn the_scanner_uses_only_functions_that_webassembly_parsers_have() {
    // Those that tree-sitter exports to parsers, as far as the scanner needs them.
    const HAS: [&str; 8] =
        ["calloc", "free", "memchr", "memcmp", "memcpy", "memmove", "memset", "strlen"];
    if !needs::has("a C compiler", is_answering(&["cc", "--version"])) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("scanner.o").display().to_string();
    let source = repository().join("editors/tree-sitter-opal/src");
    let include = format!("-I{}", source.display());
    let scanner = source.join("scanner.c").display().to_string();
    let plain = ["cc", "-std=c11", "-O0", "-fno-stack-protector", "-fno-pic", "-c"];
    assert!(is_answering(&[&plain[..], &[&include, &scanner, "-o", &object]].concat()));
    let names = Command::new("nm").args(["-u", &object]).output().unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let used: Vec<&str> = names.split_whitespace().filter(|word| *word != "U").collect();
    assert!(used.contains(&"memcpy") || used.contains(&"memset"), "{used:?}");
    let others: Vec<&&str> = used.iter().filter(|name| !HAS.contains(name)).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn the_textmate_grammar_agrees_with_the_parser() {
    let has_modules = Path::new(MODULES).join("tm-grammars").is_dir();
    if !needs::has("vscode-textmate (`cargo xtask test` installs it)", has_modules) {
        return;
    }
    let corpus = Corpus::write();
    let editors = repository().join("editors/vscode");
    let script = editors.join("test/agreement.js").display().to_string();
    let grammar = editors.join("syntaxes/opal.tmLanguage.json").display().to_string();
    let folder = corpus.folder().display().to_string();
    let report = report(&["node", &script, MODULES, &grammar, &folder]);
    assert_agreement(&corpus, &report, 990.0, "editors/vscode/test/reviewed.txt");
}
