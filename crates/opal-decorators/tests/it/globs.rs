//! `@file.exists` and `@file.glob` against real files, and against what bash says about them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use opal_core::Data;
use opal_core::resolver::{Input, Inputs, Trouble, TroubleKind};
use opal_decorators::registry;
use opal_session::world::{OsWorld, Surroundings};
use tempfile::TempDir;

fn ask(at: &Path, path: &str, name: &'static str, text: &str) -> Result<Data, Trouble> {
    let home = Some(at.join("home"));
    let environment = BTreeMap::new();
    let world = OsWorld::new(Surroundings {
        environment: environment.into(),
        start: at.to_owned(),
        home,
        ..Surroundings::default()
    });
    let mut inputs = Inputs::default();
    inputs.args.insert(name, Input::Data(Data::text(text)));
    registry().get(path).unwrap().resolver.unwrap().resolve(&inputs, &world)
}

fn exists(at: &Path, path: &str) -> Result<bool, Trouble> {
    ask(at, "file.exists", "path", path).map(|data| matches!(data, Data::Bool(true)))
}

fn glob(at: &Path, pattern: &str) -> Result<Vec<String>, Trouble> {
    let Data::Array(items) = ask(at, "file.glob", "pattern", pattern)? else { panic!() };
    Ok(items.iter().map(|item| item.as_text().unwrap().to_owned()).collect())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Trouble>, kind: TroubleKind, words: &str) {
    let trouble = answer.unwrap_err();
    assert_eq!(trouble.kind, kind, "{trouble:?}");
    assert!(trouble.message.contains(words), "{trouble:?}");
}

/// What bash prints, a line each.
#[expect(clippy::disallowed_methods, reason = "bash is what this is compared with")]
fn bash(at: &Path, script: &str) -> Vec<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(at).env("LC_ALL", "C");
    let output = bash.env("HOME", at.join("home")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn tree() -> TempDir {
    let at = TempDir::new().unwrap();
    for directory in ["a/b/c", "a/.hidden", "empty", "home/docs", "{odd}"] {
        fs::create_dir_all(at.path().join(directory)).unwrap();
    }
    for file in [
        "B.md",
        "a.md",
        "é.md",
        ".dot.md",
        "-dash.md",
        "with space.md",
        "star*.md",
        "a/x.md",
        "a/b/x.md",
        "a/b/c/y.txt",
        "a/.hidden/x.md",
        "home/docs/h.md",
        "{odd}/o.md",
    ] {
        fs::write(at.path().join(file), "").unwrap();
    }
    symlink("a", at.path().join("to_a")).unwrap();
    symlink("gone", at.path().join("dangling")).unwrap();
    symlink("round", at.path().join("round")).unwrap();
    symlink("../a/x.md", at.path().join("a/up")).unwrap();
    at
}

#[test]
fn a_pattern_matches_what_bash_matches() {
    let at = tree();
    let mut differences = Vec::new();
    for pattern in [
        "*",
        "*.md",
        ".*",
        ".*.md",
        "?.md",
        "??.md",
        "[a-z].md",
        "[!a].md",
        "[.]dot.md",
        "./*.md",
        "a/*",
        "*/x.md",
        "*/*",
        "*/",
        "**",
        "**/*.md",
        "a/**/*.md",
        "**/b/*",
        "**/**/x.md",
        "a/.*/*",
        "{a,B}.md",
        "{a,a/b}/x.md",
        "{.dot,a*}.md",
        "{*,.dot.md}",
        "{a,{B,é}}.md",
        "a/../*.md",
        "a//x.md",
        "to_a/*.md",
        "to_a/",
        "dangling",
        "d*",
        "round/*",
        "r*",
        "none*",
        "none",
        "a.md/*",
        "\\{odd\\}/*",
        "star\\*.md",
        "~/docs/*",
        "~/",
        "~",
        "/",
        "*/**/x.md",
        "a/u*/",
        "a.md/",
        "*.md/",
    ] {
        // A word without a pattern is a path here, which bash does not check.
        let script = format!(
            "shopt -s globstar nullglob; for f in {pattern}; do [ -e \"$f\" ] || [ -L \"$f\" ] && echo \"$f\"; done; true"
        );
        let mut expected = bash(at.path(), &script);
        expected.sort();
        expected.dedup();
        let expected: Vec<_> = expected.iter().map(|it| it.replace("//", "/")).collect();
        let found = glob(at.path(), pattern).unwrap();
        if found != expected {
            differences.push((pattern, found, expected));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    // bash also gives `a/b/`, and links to directories, in the first directory only.
    assert_eq!(glob(at.path(), "a/b/**").unwrap(), ["a/b/c", "a/b/c/y.txt", "a/b/x.md"]);
    assert_eq!(glob(at.path(), "a/b/**/").unwrap(), ["a/b/", "a/b/c/"]);
}

#[test]
fn a_path_exists_where_test_says_so() {
    let at = tree();
    for path in [
        "a.md",
        "a",
        "a/",
        "a.md/",
        "a/.",
        "a.md/.",
        "none",
        "a.md/x",
        "dangling",
        "round",
        "to_a",
        "to_a/",
        "to_a/b",
        "a/up",
        "/",
        "~/docs",
        "home/docs/h.md",
        ".",
        "..",
        ".dot.md",
        "é.md",
    ] {
        let word = path.strip_prefix("~/").map_or(path.to_owned(), |rest| format!("home/{rest}"));
        let expected = bash(at.path(), &format!("test -e '{word}' && echo yes; true")) == ["yes"];
        assert_eq!(exists(at.path(), path).unwrap(), expected, "{path}");
    }
    assert!(!exists(at.path(), "").unwrap());
    refused(exists(at.path(), "~other/x"), TroubleKind::Invalid, "`~other/x`");
}

#[test]
fn a_pattern_that_is_not_valid_says_so() {
    let at = tree();
    for pattern in ["", "[", "a/[b/c]", "{a", "a}", "{a,{b}", "[é]", "\\", &"x".repeat(4097)] {
        refused(glob(at.path(), pattern), TroubleKind::Invalid, "invalid pattern");
    }
    refused(glob(at.path(), "~other/*"), TroubleKind::Invalid, "`~other/*`");
}

#[test]
fn a_pattern_that_matches_too_much_fails_at_its_limit() {
    let at = TempDir::new().unwrap();
    fs::create_dir(at.path().join("many")).unwrap();
    for number in 0..10_000 {
        fs::write(at.path().join(format!("many/{number}")), "").unwrap();
    }
    assert_eq!(glob(at.path(), "many/*").unwrap().len(), 10_000);
    fs::write(at.path().join("many/more"), "").unwrap();
    refused(glob(at.path(), "many/*"), TroubleKind::TooLarge, "more than 10000 paths");
    // What does not match is limited too.
    let often = format!("many/{{{}}}x*", "a,".repeat(10));
    refused(glob(at.path(), &often), TroubleKind::TooLarge, "more than 100000 names");
    let braces = "{a,b}".repeat(9);
    refused(glob(at.path(), &braces), TroubleKind::TooLarge, "too many patterns");
    fs::create_dir_all(at.path().join("d/".repeat(102))).unwrap();
    refused(glob(at.path(), "d/**/x"), TroubleKind::TooLarge, "too many directories");
}

#[test]
fn a_name_that_is_not_text_is_refused_where_it_matches() {
    let at = TempDir::new().unwrap();
    fs::write(at.path().join(OsStr::from_bytes(b"x\xff.md")), "").unwrap();
    fs::write(at.path().join("y.md"), "").unwrap();
    assert_eq!(glob(at.path(), "y*").unwrap(), ["y.md"]);
    refused(glob(at.path(), "*.md"), TroubleKind::NotText, "not UTF-8");
}
