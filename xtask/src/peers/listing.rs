//! A list of the tasks of a justfile that opal has converted, compared with `just --list` of the original.

use std::fmt::Write as _;
use std::path::Path;

use super::tools::Tools;
use super::{medians, text, write};
use crate::say;

const TASKS: usize = 1_000;

const ROUNDS: usize = 101;

const BAR: f64 = 1.1;

/// Says how long both take; gives the bar if it is missed.
pub(super) fn compare(root: &Path, opal: &Path, tools: &Tools) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/listing");
    write(&folder, "justfile", &justfile())?;
    let convert = [text(opal)?, "convert", "justfile", "--force", "-o", "commands.opl"];
    medians(&folder, &[convert.map(str::to_owned).to_vec()], 1)?;
    let ours = [text(opal)?, "list"].map(str::to_owned).to_vec();
    let theirs = [text(&tools.just)?, "--list"].map(str::to_owned).to_vec();
    let took = medians(&folder, &[ours, theirs], ROUNDS)?;
    let [ours, theirs] = [0, 1].map(|at| took[at].as_secs_f64() * 1000.0);
    let ratio = ours / theirs;
    say(&format!(
        "a list of {TASKS} converted tasks        opal list {ours:.2} ms   just --list {theirs:.2} ms   \
         × {ratio:.2} (bar {BAR})"
    ));
    let is_missed = ratio > BAR;
    Ok(is_missed.then(|| format!("a list of converted tasks: × {ratio:.2}")).into_iter().collect())
}

/// Tasks with what people give them: a comment, a group, parameters, dependencies.
fn justfile() -> String {
    let mut text = String::from("tag := \"v1\"\n\n");
    for index in 0..TASKS {
        let needs = if index % 5 == 4 { format!(" task{}", index - 1) } else { String::new() };
        let parameter = if index % 5 == 3 { "" } else { " name=\"app\"" };
        let word = if parameter.is_empty() { "all" } else { "{{name}}" };
        let _ = write!(
            text,
            "# Build and push image {index}\n[group(\"part{}\")]\ntask{index}{parameter}:{needs}\n    \
             docker build --tag {word}:{{{{tag}}}} .\n    docker push {word}:{{{{tag}}}}\n\n",
            index / 50
        );
    }
    text
}
