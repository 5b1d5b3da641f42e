//! Twice the text takes twice the instructions, whatever the text.
//!
//! Instructions are counted, not seconds, so that the machine and its load do not matter.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of the smaller input.
const SIZE: usize = 12 * 1024;
/// How much more twice the input may take. What a sort adds is below this, and so is a growing list
/// that the allocator copies at one size and not at the other.
const MOST: f64 = 2.4;
/// Processes that run in parallel.
const PARTS: usize = 2;

struct Count {
    kind: String,
    instructions: u64,
}

#[test]
fn twice_the_text_takes_twice_the_instructions() {
    if !succeeds(command("valgrind").arg("--version")) {
        assert!(!in_ci(), "valgrind is missing, and in CI nothing is skipped");
        println!("skipped: valgrind is missing (`cargo xtask test` installs it where it can)");
        return;
    }
    let program = build();
    let folder = program.with_file_name(format!("callgrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let children: Vec<_> = (0..PARTS).map(|part| start(&program, &folder, part)).collect();
    let mut counts = Vec::new();
    for (part, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        counts.extend(counts_of(&shown, &folder, part));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(counts.len() > 3 * 60, "{} counts", counts.len());
    let mut slow = Vec::new();
    for counts in counts.chunks(3) {
        let [none, once, twice] = counts else { unreachable!("three sizes of each kind") };
        let base = none.instructions;
        let (once, twice) = (once.instructions - base, twice.instructions - base);
        let ratio = twice as f64 / once as f64;
        if ratio > MOST {
            slow.push(format!("{}: {once} and {twice}, {ratio:.2} times as many", none.kind));
        }
    }
    assert!(slow.is_empty(), "\n{}\n", slow.join("\n"));
}

#[expect(clippy::disallowed_methods, reason = "a test may be skipped at home, not in CI")]
fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// The counts of one process: callgrind writes a file each time the measured function returns.
fn counts_of(shown: &str, folder: &Path, part: usize) -> Vec<Count> {
    let lines = shown.lines().enumerate();
    let count = |(index, line): (usize, &str)| {
        let path = folder.join(format!("{part}.{}", index + 1));
        let text = std::fs::read_to_string(&path).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let kind = line.split(' ').next().unwrap_or_default().to_owned();
        Count { kind, instructions: total.unwrap().trim().parse().unwrap() }
    };
    lines.map(count).collect()
}

// Two patterns that name one function: callgrind would take the same one only once.
fn start(program: &Path, folder: &Path, part: usize) -> std::process::Child {
    command("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args(["--toggle-collect=count::measured*", "--dump-after=*measured*"])
        .arg(format!("--callgrind-out-file={}", folder.join(part.to_string()).display()))
        .arg(program)
        .args([SIZE, part, PARTS].map(|number| number.to_string()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The example `count`, built as the tests are.
fn build() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let target = here.ancestors().nth(2).expect("the tests are in a target folder");
    let built = succeeds(
        command(env!("CARGO"))
            .args(["build", "--quiet", "--example", "count", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(target.parent().expect("profiles are in a target folder")),
    );
    assert!(built, "the example `count` builds");
    target.join("examples/count")
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

#[expect(clippy::disallowed_methods, reason = "the test waits for each process it starts")]
fn command(program: &str) -> Command {
    Command::new(program)
}
