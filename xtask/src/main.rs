//! The chores of this repository: `cargo xtask --help`.
//!
//! | what | where |
//! |---|---|
//! | everything that must hold | [`checks`] |
//! | benchmarks, and how commands run | [`chores`] |
//! | what tests use and a machine may lack | [`tools`] |
//! | the documentation as a book | [`book`] |
//! | opal beside its peers | [`peers`] |
//! | browsers for the tests of pages | [`browsers`] |
//! | public task files, converted | [`corpus`] |
//! | releases | [`dist`] |
//! | the words in the grammars of editors | [`editors`], what they are tried with in [`grammars`] |
//! | helpers for other kinds of machines | [`machines`] |
//! | real Terraform providers for the tests | [`providers`] |
//! | real servers for the long tests | [`servers`] |
//! | providers of real clouds, which take longer | [`clouds`] |
//! | pictures of real runs | [`pictures`] |
//! | the rules no compiler knows, and their tests | [`tidy`] |
//!
//! Deliberately not here: anything of ours. A chore must run while the crates do not build.

mod book;
mod browsers;
mod checks;
mod chores;
mod clouds;
mod corpus;
mod dist;
mod editors;
mod grammars;
mod guests;
mod machines;
mod peers;
mod pictures;
mod providers;
mod servers;
mod tidy;
mod tools;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The chores of this repository.

Usage: cargo xtask <command>

Commands:
  test           everything that must hold: format, lints, tests, fuzz targets; last the timing
                 tests, one at a time
  test --long    the same, and then, as root: 1,000 interruptions of runs on targets, networks that fail,
                 Docker, Terraform providers that are killed, OpenTofu beside opal, pages in Chromium and Firefox; sessions and resources on ARM (in qemu); the
                 conversion of our own task files (xtask/corpus), whose exact tasks run in opal and in just, Task
                 or make; last, two releases of the last commit must have the same bytes
  test --repeat N  the ordinary tests N times; stops at the first run that fails
  tidy           the rules no compiler knows: arrows, rings, sizes, leftovers, paths, pages, words
  bench [names]  the benchmarks (parse, contract, plan, scrub) and opal compared with its peers on this
                 machine (peers) and on targets (targets); calls of plugins in each language, and what locked
                 packages cost (plugins); resources of Terraform providers beside OpenTofu, which is
                 built from its Go module (providers); questions about 100,000 runs beside sqlite3 (runs);
                 the language server beside `opal check` (editor); a contract on 4 runners beside one run
                 (runners); all of them without a name;
                 `--bars` fails where a bar is missed, `--quick` shows Ansible 100 of the 1,000 files,
                 which saves a quarter of an hour, and measures plugins a few times, without installing
                 compilers
  providers      build the Terraform providers that tests use, from their Go modules; needs Go
  clouds docker  build the provider of Docker, and test objects of a real daemon with it; as root
  clouds aws DIR  build the provider of AWS with some of its services, from a checkout of it, and test objects
                 of the services that moto (from PyPI) answers for
  pictures [names]  make the pictures of docs/pictures from real runs; needs tmux, and Chromium for pages
  convert-corpus DIR [--run]  convert the public task files in DIR (DIR/justfile/*, DIR/taskfile/*, …)
                 and print how many tasks are exact, adapted and omitted; `--run`, as root, runs the
                 exact ones in both tools and compares the programs that they start
  editors        write keywords, types and built-in paths into the grammars of editors; `--check` fails if they
                 are stale; `--pack` makes target/editors/opal.vsix, the extension for VS Code; `--try` installs
                 it in code-server and tries it in Chromium; `--zed` makes target/editors/zed, the extension for
                 Zed
  book           make the book of docs in target/book/html, and check its links
  dist --key FILE --url URL [--out DIR]  build a release: static programs in an archive, signed checksums
                 and the script that installs them; `dist --twice` builds the last commit in two
                 directories and compares the archives
  help           this text

`test` runs `tidy` too, as tests. It stops at the first failure, with exit code 1.
Exit codes: 0 success, 1 something failed, 2 unknown command.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    match arguments.as_slice() {
        [] => misunderstood("no command was given"),
        ["help" | "-h" | "--help", ..] | [_, "-h" | "--help"] => {
            say(HELP.trim_end());
            ExitCode::SUCCESS
        }
        ["test"] => report(checks::test(&root)),
        ["test", "--long"] => report(long(&root)),
        ["test", "--repeat", times] => report(checks::repeat(&root, times)),
        ["tidy"] => report(tidy_up(&root)),
        ["providers"] => report(providers::build_all(&root)),
        ["clouds", rest @ ..] => report(clouds::test(&root, rest)),
        ["pictures", names @ ..] => report(pictures::make(&root, names)),
        ["convert-corpus", rest @ ..] => report(corpus::measure(&root, rest)),
        ["editors"] => report(editors::make(&root, false)),
        ["editors", "--check"] => report(editors::make(&root, true)),
        ["editors", "--try"] => report(editors::try_out(&root)),
        ["editors", "--zed"] => report(editors::make_zed(&root)),
        ["editors", "--pack"] => {
            report(editors::make(&root, true).and_then(|()| editors::pack(&root)))
        }
        ["book"] => report(book::make(&root)),
        ["dist", "--twice"] => report(dist::twice(&root)),
        ["dist", rest @ ..] => report(dist::make(&root, rest)),
        ["bench", rest @ ..] => report(chores::bench(&root, rest)),
        ["test" | "tidy" | "book" | "editors" | "providers", extra, ..] => {
            misunderstood(&format!("unexpected argument `{extra}`"))
        }
        [unknown, ..] => misunderstood(&format!("unknown command `{unknown}`")),
    }
}

fn long(root: &Path) -> Result<(), String> {
    checks::test(root)?;
    checks::long(root)?;
    machines::test(root)?;
    corpus::own(root)?;
    dist::twice(root)
}

fn tidy_up(root: &Path) -> Result<(), String> {
    let tree = tidy::Tree::read(root)?;
    let findings = tidy::findings(&tree);
    for finding in &findings {
        say(&finding.to_string());
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err("1 finding; it says how to fix it".to_string()),
        many => Err(format!("{many} findings; each says how to fix it")),
    }
}

fn report(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}

fn misunderstood(what: &str) -> ExitCode {
    complain(&format!("{what}; `cargo xtask --help` lists the commands"));
    ExitCode::from(2)
}

/// The repository: the folder above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

// A closed pipe (`cargo xtask tidy | head`) is not a reason to fail, so errors of writing are
// dropped.

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "error: {message}");
}
