//! What packages cost a run: calls of plugins in each language, decorators that are only locked, and the
//! runs of everybody who has no packages.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{judge, medians, text, write};
use crate::chores::{RELEASED, answers, command, release, run, run_with};
use crate::{guests, say};

/// Bytes of `opal` with symbols removed: 12 MB, and one more for packages.
const MOST_BYTES: u64 = 13_000_000;

/// `bash -c true` on the machine of the design pages, which bars in milliseconds refer to.
const UNIT_MS: f64 = 1.23;

/// What decorators that are locked may add to a run, in milliseconds, and how many there are.
const LOCKED_MS: f64 = 0.5;
const LOCKED: usize = 200;

const ROUNDS: usize = 41;
const QUICK_ROUNDS: usize = 7;

const LANGUAGES: [&str; 4] = ["rust", "c", "javascript", "python"];

pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    release(root)?;
    let opal = root.join("target/release/opal");
    let folder = packages(root, &opal, quick)?;
    // The helper as it is released, with the same packages: otherwise it would be built once more.
    let bench = [&["cargo", "bench", "--profile", "release"], &RELEASED[..]].concat();
    let guests = ["--bench", "plugins", "--", "--guests", text(&folder)?];
    let mut line = [&bench[..], &guests].concat();
    line.extend(bars.then_some("--bars"));
    line.extend(quick.then_some("--quick"));
    // The other bars are printed even where one of these is missed.
    let calls = run(root, &line);
    let mut missed = locked(root, &opal, if quick { QUICK_ROUNDS } else { ROUNDS })?;
    missed.extend(size(&opal)?);
    calls.and_then(|()| judge(bars, &missed))
}

/// A package in each language, made from its template. What cannot be built is left out and named. A quick
/// measurement installs nothing and takes what was built before, and Rust.
fn packages(root: &Path, opal: &Path, quick: bool) -> Result<PathBuf, String> {
    let folder = root.join("target/bench/guests");
    if !quick {
        guests::provide(root);
    }
    let tools = root.join(guests::FOLDER);
    for language in LANGUAGES {
        let package = folder.join(language);
        let is_built = package.join(format!("plugins/{language}.wasm")).exists();
        if is_built || (quick && language != "rust") {
            continue;
        }
        let _ = std::fs::remove_dir_all(&package);
        let init = [text(opal)?, "plugin", "init", text(&package)?, "--language", language];
        run(root, &[&init[..], &["--kind", "value"]].concat())?;
        let path = guests::path(root)?;
        let variables = [("PATH", path.as_str()), ("OPAL_C_TOOLS", text(&tools)?)];
        if let Err(message) = run_with(&package, &variables, &["sh", "build.sh"]) {
            say(&format!("{language} is not measured: {message}"));
        }
    }
    Ok(folder)
}

/// Dry runs in a project that has locked a package with many decorators, of a file that uses none of them,
/// beside the same project without packages. What a file pays that uses one has no bar, and is printed.
fn locked(root: &Path, opal: &Path, rounds: usize) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/locked");
    let _ = std::fs::remove_dir_all(&folder);
    project(&folder, opal)?;
    let kept = folder.join("root");
    let dry = |file: &str, task: &str| -> Result<Vec<String>, String> {
        let source = folder.join(file);
        let words = [text(opal)?, "-f", text(&source)?, "-n", task, "--root", text(&kept)?];
        Ok(words.map(str::to_owned).to_vec())
    };
    let bash = ["bash", "-c", "true"].map(str::to_owned).to_vec();
    let lines = [
        dry("none/commands.opl", "plain")?,
        dry("some/commands.opl", "plain")?,
        dry("some/uses.opl", "uses")?,
        bash,
    ];
    let took = medians(&folder, &lines, rounds)?;
    let most = LOCKED_MS / UNIT_MS * ms(took[3]);
    let mut missed = Vec::new();
    let (without, more) = (ms(took[0]), ms(took[1]) - ms(took[0]));
    let holds = more <= most;
    say(&format!(
        "{LOCKED} locked decorators: {:.2} ms, {without:.2} ms without packages: {more:.3} ms more, bar here \
         {most:.3} (bar {LOCKED_MS}), bash -c true {:.2} ms: {}",
        ms(took[1]),
        ms(took[3]),
        if holds { "holds" } else { "MISSED" }
    ));
    say(&format!("a file that uses one of them: {:.2} ms", ms(took[2])));
    if !holds {
        missed.push(format!("{LOCKED} locked decorators: {more:.3} ms"));
    }
    if let (Some(without), Some(with)) = (instructions(&lines[0]), instructions(&lines[1])) {
        say(&format!(
            "instructions of a dry run: {without} without `[plugins]` (bar: as in a build of the commit before \
             packages), {with} with {LOCKED} locked decorators that it does not name"
        ));
    }
    Ok(missed)
}

/// A registry with the package, a project that has locked it, and one without packages.
fn project(folder: &Path, opal: &Path) -> Result<(), String> {
    let mut decorators = String::new();
    for number in 0..LOCKED {
        let _ = writeln!(
            decorators,
            "# Say something.\n# who: whom\nfun house.d{number}(who: String, times: Int = 1) {{\n    \
             @log(who)\n}}\n"
        );
    }
    let package = folder.join("house");
    write(&package, "opal.toml", "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n")?;
    write(&package.join("decorators"), "all.opl", &decorators)?;
    let (none, some) = (folder.join("none"), folder.join("some"));
    write(&none, "commands.opl", "fun plain() = echo hello\n")?;
    write(&none, "opal.mod", "name = \"shop\"\n")?;
    write(&some, "commands.opl", "fun plain() = echo hello\n")?;
    write(&some, "uses.opl", "fun uses() = @house.d7(\"x\")\n")?;
    let registry = format!("file:{}", text(&folder.join("registry"))?);
    write(&some, "opal.mod", &format!("name = \"shop\"\n\n[registries]\nacme = \"{registry}\"\n"))?;
    let kept = folder.join("root");
    let (opal, variables) = (text(opal)?, [("OPAL_ROOT", text(&kept)?)]);
    let publish = [opal, "plugin", "publish", text(&package)?, "--to", &registry, "--no-sign"];
    run_with(folder, &variables, &publish)?;
    // Below a directory of the user's own the package is accepted, and its list accepts the archive.
    run_with(&none, &variables, &[opal, "plugin", "trust", text(folder)?])?;
    run_with(&none, &variables, &[opal, "plugin", "add", "../house"])?;
    let list = command(&[opal, "plugin", "accepted", "--root", text(&kept)?]).output();
    let list = list.map_err(|error| format!("`opal plugin accepted`: {error}"))?;
    write(folder, "accepted.toml", &String::from_utf8_lossy(&list.stdout))?;
    write(&none, "opal.mod", "name = \"shop\"\n")?;
    let accept = folder.join("accepted.toml");
    let add = [opal, "plugin", "add", "acme/house@1", "--accept", text(&accept)?];
    run_with(&some, &variables, &add)
}

/// The instructions of a run, where valgrind can count them.
fn instructions(dry: &[String]) -> Option<u64> {
    let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let line: Vec<&str> = valgrind.into_iter().chain(dry.iter().map(String::as_str)).collect();
    let done = command(&line).output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let (_, count) = said.lines().find_map(|it| it.split_once("Collected : "))?;
    count.trim().parse().ok()
}

fn size(opal: &Path) -> Result<Vec<String>, String> {
    let copy = opal.with_file_name("opal.stripped");
    let failed = |error: std::io::Error| format!("`{}`: {error}", opal.display());
    std::fs::copy(opal, &copy).map_err(failed)?;
    let is_stripped = answers(&["strip", text(&copy)?]).is_some();
    let bytes = std::fs::metadata(&copy).map_err(failed)?.len();
    std::fs::remove_file(&copy).map_err(failed)?;
    if !is_stripped {
        say("the size of `opal` is not measured: `strip` is missing");
        return Ok(Vec::new());
    }
    let holds = bytes <= MOST_BYTES;
    let verdict = if holds { "holds" } else { "MISSED" };
    say(&format!("size of `opal`: {bytes} bytes (bar {MOST_BYTES}): {verdict}"));
    Ok(if holds { Vec::new() } else { vec![format!("size of `opal`: {bytes} bytes")] })
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
