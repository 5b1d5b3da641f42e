//! A block of `@cached` with nothing to do, compared with `git status` of the same tree.

use std::path::Path;
use std::process::Stdio;

use super::{command, medians, text, write};
use crate::say;

const FILES: usize = 10_000;

const ROUNDS: usize = 41;

const BAR_OF_GIT: f64 = 3.0;

const BAR_MILLIS: f64 = 60.0;

/// Says how long both take; gives the bars that are missed. The files are in 100 directories, and in as
/// many as there are files.
pub(super) fn compare(root: &Path, opal: &Path) -> Result<Vec<String>, String> {
    let mut missed = Vec::new();
    for spread in [10, 100] {
        missed.extend(compare_tree(root, opal, spread)?);
    }
    Ok(missed)
}

/// A tree of two levels, with so many directories in each.
fn compare_tree(root: &Path, opal: &Path, spread: usize) -> Result<Vec<String>, String> {
    let folder = root.join(format!("target/bench/cached-{spread}"));
    let tree = folder.join("tree");
    if !tree.join(".git").exists() {
        for index in 0..FILES {
            let (above, below) = (index % spread, index / spread % spread);
            let place = tree.join(format!("src/{above:02}/{below:02}"));
            write(&place, &format!("{index}.c"), &format!("int x{index};\n"))?;
        }
        let build = "fun build() {\n    @cached(inputs=[\"src/**\"]) {\n        true\n    }\n}\n";
        write(&tree, "commands.opl", build)?;
        for words in [&["init", "-q"][..], &["add", "."]] {
            let line: Vec<String> = ["git"].iter().chain(words).map(|it| (*it).into()).collect();
            let status = command(&line).current_dir(&tree).stdout(Stdio::null()).status();
            if !status.is_ok_and(|status| status.success()) {
                return Err(format!("`{}` failed", line.join(" ")));
            }
        }
    }
    let records = folder.join("root");
    let ours = [text(opal)?, "--root", text(&records)?, "build"].map(str::to_owned).to_vec();
    let theirs = ["git", "status", "--porcelain"].map(str::to_owned).to_vec();
    // The first run reads every file, and the second knows that they are old enough.
    medians(&tree, &[ours.clone(), ours.clone(), theirs.clone()], 2)?;
    let took = medians(&tree, &[ours, theirs], ROUNDS)?;
    let [ours, theirs] = [0, 1].map(|at| took[at].as_secs_f64() * 1000.0);
    let ratio = ours / theirs;
    say(&format!(
        "@cached, {FILES} unchanged inputs in {} directories   opal {ours:.2} ms (bar {BAR_MILLIS})   git status \
         {theirs:.2} ms   × {ratio:.2} (bar {BAR_OF_GIT})",
        spread * spread
    ));
    let mut missed = Vec::new();
    if ratio > BAR_OF_GIT {
        missed.push(format!("@cached beside git status: × {ratio:.2}"));
    }
    if ours > BAR_MILLIS {
        missed.push(format!("@cached with {FILES} inputs: {ours:.2} ms"));
    }
    Ok(missed)
}
