//! Which functions short runs execute: `crates/opal-cli/layout.txt`, whose order the linker follows
//! (`docs/decisions/0008-order-of-code.md`).
//!
//! A debugger tells: it stops at each function once, while the runs follow one another. What valgrind
//! sees would do as well, but the older ones lack calls to the system that opal makes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use crate::say;

const LIST: &str = "crates/opal-cli/layout.txt";

const HEAD: &str =
    "# The functions that short runs execute, by first use: `cargo xtask layout` writes this.\n";

/// The runs, the plainest one first: its functions end up closest together.
const RUNS: [&str; 13] = [
    "main",
    "say",
    "values",
    "values --loud --name=ada",
    "trouble",
    "beside",
    "run ./script.opl a b",
    "list",
    "check",
    "plan values",
    "main --dry-run",
    "apply files.yaml --yes",
    "verify files.yaml",
];

const FILES: [(&str, &str); 4] = [
    ("commands.opl", include_str!("layout/commands.opl")),
    ("script.opl", include_str!("layout/script.opl")),
    ("files.yaml", include_str!("layout/files.yaml")),
    ("settings.j2", "name = {{ name }}\n"),
];

/// Stops once at every function of a run, and says where.
const STOPS: &str = "while 1\ncontinue\nprintf \"at %#lx\\n\", $pc - $base\nend\n";

/// Writes the list anew.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let build = root.join("target/layout");
    say("building opal with its symbols; this takes minutes");
    let line = ["rustc", "--release", "-p", "opal-cli", "--bin", "opal", "--target-dir"];
    let mut cargo = command("cargo");
    cargo.current_dir(root).args(line).arg(&build).args(["--", "-Cstrip=none"]);
    output(cargo.stderr(Stdio::inherit()))?;
    let opal = build.join("release/opal");
    let functions = functions(&output(command("readelf").arg("-sW").arg(&opal))?);
    say(&format!("{} runs, {} functions to stop at", RUNS.len(), functions.len()));
    let stops = watch(&opal, &build.join("runs"), &functions)?;
    let ran = stops.iter().filter_map(|stop| functions.get(stop)).map(String::as_str);
    let list = list(ran, functions.values().map(String::as_str));
    fs::write(root.join(LIST), &list).map_err(|error| format!("cannot write `{LIST}`: {error}"))?;
    say(&format!("{LIST}: {} names", list.lines().count() - 1));
    Ok(())
}

/// The functions in what `readelf` says of the symbols, by their address.
fn functions(symbols: &str) -> BTreeMap<u64, String> {
    let function = |line: &str| {
        let [_, address, size, "FUNC", _, _, section, name] =
            *line.split_whitespace().collect::<Vec<_>>()
        else {
            return None;
        };
        let is_code = size != "0" && section.bytes().all(|byte| byte.is_ascii_digit());
        let address = u64::from_str_radix(address, 16).ok()?;
        is_code.then(|| (address, name.to_owned()))
    };
    symbols.lines().filter_map(function).collect()
}

/// Where the runs stopped, in that order: each function once.
fn watch(
    opal: &Path,
    folder: &Path,
    functions: &BTreeMap<u64, String>,
) -> Result<Vec<u64>, String> {
    let main = functions.iter().find(|(_, name)| *name == "main");
    let (main, _) = main.ok_or("`main` has no symbol; was the binary stripped?")?;
    let mut prepare = String::from(
        "set pagination off\nset confirm off\nset startup-with-shell off\n\
         set breakpoint always-inserted on\nset inferior-tty /dev/null\n\
         handle all nostop noprint pass\nstarti\n",
    );
    let _ = writeln!(prepare, "set $base = (unsigned long)&main - {main}");
    for address in functions.keys() {
        let _ = writeln!(prepare, "tbreak *($base + {address})");
    }
    let provide = || {
        provide(folder, &prepare).map_err(|error| {
            format!("cannot write into `{}` ({error}); remove it and try again", folder.display())
        })
    };
    // The debugger does not always hear how a run ends, so that they show beforehand that they can.
    provide()?;
    for run in RUNS {
        output(inside(folder, command(text(opal)?)).args(run.split(' ')))?;
    }
    provide()?;
    let mut gdb = inside(folder, command("gdb"));
    gdb.args(["-nx", "-q", "-batch", "-x", "prepare.gdb"]);
    for run in RUNS {
        gdb.args(["-ex", &format!("set args {run}"), "-ex", "starti"]);
        // A thread that ends just when it is looked at ends the loop.
        for _ in 0..3 {
            gdb.args(["-x", "stops.gdb", "-ex", "thread 1"]);
        }
    }
    let said = output(gdb.args(["-ex", "echo end"]).arg(opal))?;
    let stop = |line: &str| u64::from_str_radix(line.strip_prefix("at 0x")?, 16).ok();
    Ok(said.lines().filter_map(stop).collect())
}

fn inside(folder: &Path, mut command: Command) -> Command {
    command.current_dir(folder).env("OPAL_ROOT", folder.join("root"));
    command
}

/// A folder with nothing but what the runs begin with.
fn provide(folder: &Path, prepare: &str) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, content) in FILES.into_iter().chain([("prepare.gdb", prepare), ("stops.gdb", STOPS)])
    {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}

/// The list of the functions that `ran`: each name once, where it is first. Where several functions of
/// `all` share a name but for the hash, the one that ran stands there with its own; what is common to
/// them comes last, for the builds whose hashes are others.
fn list<'a>(ran: impl Iterator<Item = &'a str>, all: impl Iterator<Item = &'a str>) -> String {
    let mut sharing = BTreeMap::<String, usize>::new();
    for name in all {
        *sharing.entry(without_hashes(name)).or_default() += 1;
    }
    let (mut seen, mut list, mut common) = (BTreeSet::new(), HEAD.to_owned(), String::new());
    let mut add = |list: &mut String, name: String| {
        if !seen.contains(&name) {
            list.push_str(&name);
            list.push('\n');
            seen.insert(name);
        }
    };
    for name in ran {
        let general = without_hashes(name);
        if sharing.get(&general).is_some_and(|count| *count > 1) {
            add(&mut list, with_any_suffix(name));
            add(&mut common, general);
        } else {
            add(&mut list, general);
        }
    }
    list + &common
}

/// The name with whatever the optimiser adds to that of a function which it has moved.
fn with_any_suffix(name: &str) -> String {
    name.split_once(".llvm.").map_or_else(|| name.to_owned(), |(name, _)| format!("{name}*"))
}

/// The name with a `*` for each hash, which the next compiler makes anew. Both ways to write names
/// are in use: the standard library's is the newer one.
fn without_hashes(name: &str) -> String {
    if name.starts_with("_ZN") {
        let end = name.rfind("17h").map_or(name.len(), |at| at + "17h".len());
        return format!("{}*", &name[..end]);
    }
    let mut parts = name.split("Cs");
    let mut general = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        general.push_str("Cs");
        match part.split_once('_') {
            Some((hash, rest)) if name.starts_with("_R") && !hash.is_empty() => {
                general.push_str("*_");
                general.push_str(rest);
            }
            _ => general.push_str(part),
        }
    }
    general
}

/// What a program that succeeds prints. The debugger also complains at the end of each run, which is
/// nobody's business.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        format!("`{program}` did not start ({error}); install cargo, gdb and binutils")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{program}` failed ({})\n{}", output.status, said.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "a chore runs programs and waits for them")]
fn command(program: &str) -> Command {
    Command::new(program)
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| "the repository's path is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests;
