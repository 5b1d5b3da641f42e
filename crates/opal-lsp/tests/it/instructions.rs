//! How many instructions an edit takes, from the message to the diagnostics: not more than 5 % above what
//! `tests/instructions.txt` has for this compiler. After a change that is meant,
//! `UPDATE_EXPECT=1` writes the number again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Of a hundred, how many more there may be.
const MORE: u64 = 5;
const EDITS: u64 = 4;

fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// The example `edits`, built as the tests are.
fn build() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let target = here.ancestors().nth(2).expect("the tests are in a target folder");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--example", "edits", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target.parent().expect("profiles are in a target folder"))
        .status();
    assert!(built.is_ok_and(|it| it.success()), "the example `edits` builds");
    target.join("examples/edits")
}

fn count(program: &Path, edits: u64) -> u64 {
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(edits.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{said}");
    let (_, count) = said.lines().find_map(|it| it.split_once("Collected : ")).expect(&said);
    count.trim().parse().unwrap()
}

#[test]
fn an_edit_takes_as_many_instructions_as_before() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert!(!is_ci(), "valgrind is missing, and in CI nothing is skipped");
        println!("skipped: valgrind is missing (`cargo xtask test` installs it where it can)");
        return;
    }
    let program = build();
    let [once, twice] = [EDITS, 2 * EDITS].map(|edits| count(&program, edits));
    let each = (twice - once) / EDITS;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions.txt");
    let compiler = Command::new("rustc").arg("--version").output().unwrap();
    let compiler = String::from_utf8(compiler.stdout).unwrap();
    let key = format!("{} {}", std::env::consts::ARCH, compiler.trim());
    let list = std::fs::read_to_string(&path).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let is_other = |line: &&str| !line.starts_with(&key);
        let mut lines: Vec<String> = list.lines().filter(is_other).map(str::to_owned).collect();
        lines.push(format!("{key}: {each}"));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let before = list.lines().find_map(|line| line.strip_prefix(&key)?.strip_prefix(": "));
    let Some(before) = before.and_then(|it| it.parse::<u64>().ok()) else {
        assert!(!is_ci(), "no number for {key} yet: {each}");
        println!("skipped: no number for {key} yet: {each}; `UPDATE_EXPECT=1` writes it");
        return;
    };
    let most = before + before * MORE / 100;
    assert!(each <= most, "{each} instructions an edit, before {before}, at most {most}");
}
