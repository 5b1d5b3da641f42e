//! The page of a run, painted by Chromium beside the same text in one `<pre>`.

use std::path::Path;

use serde_json::Value;

use super::runs::{UNIT_MS, tell};
use super::{command, text, write};
use crate::browsers;

const CHROMIUM: &str = "/usr/bin/chromium";
const MODULES: &str = "target/tools/browsers/node_modules";
const SCRIPT: &str = "crates/opal-cli/tests/fixtures/pages.cjs";

const STEPS: usize = 1_000;

/// The page: bytes, and its first paint in milliseconds and beside the plain text.
const MOST_BYTES: u64 = 1_000_000;
const MOST_MILLIS: f64 = 300.0;
const MOST_RATIO: f64 = 3.0;

/// `unit` is `bash -c true` here, in milliseconds.
pub(super) fn compare(root: &Path, opal: &Path, unit: f64) -> Result<Vec<String>, String> {
    browsers::provide(root);
    let folder = root.join("target/bench/pages");
    let steps: String =
        (0..STEPS).map(|number| format!("    echo 'step number {number} of many'\n")).collect();
    write(&folder, "commands.opl", &format!("fun many() {{\n{steps}}}\n"))?;
    let page = folder.join("many.html");
    let own = folder.join("root");
    let words = ["--root", text(&own)?, "many", "-q", "--report", text(&page)?];
    answer(&folder, &[&[text(opal)?], &words[..]].concat())?;
    let profile = folder.join("profile");
    let [script, modules] = [SCRIPT, MODULES].map(|path| root.join(path));
    let words = ["node", text(&script)?, text(&modules)?, "chrome", CHROMIUM, text(&profile)?];
    let found = answer(&folder, &[&words[..], &["-", text(&page)?]].concat())?;
    let found: Value =
        serde_json::from_str(&found).map_err(|error| format!("`{SCRIPT}`: {error}"))?;
    let of = |name: &str| {
        let number = found["results"][0][name].as_f64();
        number.ok_or_else(|| format!("`{SCRIPT}` does not say `{name}`"))
    };
    let (ours, plain) = (of("paint_ms")?, of("plain_ms")?);
    let size = page.metadata().map_err(|error| format!("`{}`: {error}", page.display()))?.len();
    let (most, ratio) = (MOST_MILLIS / UNIT_MS * unit, ours / plain);
    let missed = [
        tell(
            &format!("page of {STEPS} steps, size"),
            &format!("{size} bytes"),
            &format!("{MOST_BYTES}"),
            size <= MOST_BYTES,
        ),
        tell(
            &format!("page of {STEPS} steps, first paint"),
            &format!("{ours:.0} ms, one <pre> {plain:.0} ms: × {ratio:.2}"),
            &format!("{most:.0} ms here ({MOST_MILLIS:.0}), × {MOST_RATIO}"),
            ours <= most && ratio <= MOST_RATIO,
        ),
    ];
    Ok(missed.into_iter().flatten().collect())
}

/// What a program prints; an error if it does not succeed.
fn answer(folder: &Path, line: &[&str]) -> Result<String, String> {
    let ran = command(line).current_dir(folder).output();
    let ran = ran.map_err(|error| format!("`{}` did not start: {error}", line[0]))?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(format!(
            "`{}` failed ({}): {}",
            line.join(" "),
            ran.status,
            String::from_utf8_lossy(&ran.stderr)
        )),
    }
}
