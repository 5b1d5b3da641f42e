//! Fleets: their tables, their records, and runs that continue them.

mod folded;
mod hygiene;
mod language;
mod limits;
mod lost;
mod many;
mod shown;
mod unreached;
mod values;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use opal_testing::needs;
use opal_testing::processes::eventually;
use serde_json::Value;

use crate::servers::servers;
use crate::support::{Opal, binary};

/// A project whose hosts are this machine: `h1` to `hN` of `hosts.ini`.
pub(crate) fn local(count: usize, block: &str, options: &str) -> Option<Opal> {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return None;
    }
    let source = format!(
        "fun task() {{\n    @ssh.hosts(inventory=\"hosts.ini\", connections=[\"local\"]{options}) {{\n{block}    }}\n}}\n"
    );
    let inventory = format!("[web]\nh[1:{count}] ansible_connection=local\n");
    Some(Opal::project(&source).file("hosts.ini", inventory).args(["--root", "root"]))
}

/// The table on standard error, without times.
pub(crate) fn table(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("TARGET")).skip(1);
    let rows = lines.take_while(|line| !line.is_empty() && !line.contains(": "));
    rows.map(|line| line.split_whitespace().collect()).collect()
}

pub(super) fn records(opal: &Opal) -> Vec<PathBuf> {
    let folder = opal.path().join("root/logs/run/task");
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    all.sort();
    all
}

/// Without what two equal runs differ in.
fn timeless(value: &Value) -> Value {
    const TIMES: [&str; 8] =
        ["at", "finished_at", "id", "pid", "record", "started_at", "took_ms", "version"];
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !TIMES.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), timeless(value))).collect()
        }
        Value::Array(items) => items.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

fn targets_of(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("targets.json")).unwrap()).unwrap()
}

/// A pipe with a name, which everybody may use.
#[expect(clippy::disallowed_methods, reason = "`mkfifo` is the program that makes one")]
fn fifo(path: &Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .args(["-m", "666"])
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

/// Waits until so many files are in a directory, and lets all go on that read the pipe `go` beside it, as
/// long as what this returns is there. They go on in any case: a host that never begins must not leave the
/// others waiting.
fn release(begun: &Path, count: usize) -> fs::File {
    let end = Instant::now() + Duration::from_mins(2);
    while fs::read_dir(begun).unwrap().count() < count && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Whoever opens both ends waits for nobody.
    fs::OpenOptions::new().read(true).write(true).open(begun.with_file_name("go")).unwrap()
}

#[test]
fn of_50_hosts_7_fail_and_the_resumed_run_repeats_no_host_that_was_ok() {
    let names: Vec<String> = (1..=8).map(|number| format!("h{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    for name in ["begun", "broken"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o777)).unwrap();
    }
    for name in ["first", "last"] {
        fs::write(folder.path().join(name), "").unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o666)).unwrap();
    }
    // All hosts have begun when the first of them fails: none goes on before somebody writes.
    fifo(&folder.path().join("go"));
    let source = format!(
        "fun task() {{\n    @ssh.hosts(inventory=\"hosts.ini\", connections=[\"local\"], max_concurrency=50, tolerate=3) {{\n        \
         echo @target.name >> {at}/first\n        \
         touch {at}/begun/@target.name; : < {at}/go\n        \
         test ! -e {at}/broken/@target.name\n        \
         echo @target.name >> {at}/last\n    }}\n}}\n"
    );
    let Some((_sshd, opal)) = servers(&names, &source) else { return };
    let opal = opal
        .file("hosts.ini", "[web]\nh[1:8]\nh[9:50] ansible_connection=local\n")
        .args(["--root", "root"]);
    let broken = ["h2", "h8", "h9", "h17", "h33", "h49", "h50"];
    for name in broken {
        fs::write(folder.path().join("broken").join(name), "").unwrap();
    }
    let ran = std::thread::scope(|scope| {
        let writer = scope.spawn(|| release(&folder.path().join("begun"), 50));
        let ran = opal.call(&["task"]);
        drop(writer.join());
        ran
    });
    ran.code(1).says("7 of 50 targets failed (tolerate=3)");
    ran.says("`opal --root root task --resume` continues 7 targets");
    ran.says("failed: 186 steps done, 7 failed in");
    let rows = table(&ran.stderr);
    assert_eq!(rows.len(), 50, "{}", ran.stderr);
    for (number, row) in (1..).zip(&rows) {
        let name = format!("h{number}");
        let end = if broken.contains(&name.as_str()) { "failed" } else { "ok" };
        assert_eq!(row[..2], [name.as_str(), end]);
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((read("first").lines().count(), read("last").lines().count()), (50, 43));

    fs::remove_dir_all(folder.path().join("broken")).unwrap();
    let ran = opal.call(&["task", "--resume"]);
    ran.code(0).says("(in the resumed run)").says("done: 14 steps, 14 skipped in");
    assert!(table(&ran.stderr).iter().all(|row| row[1] == "ok"), "{}", ran.stderr);
    assert_eq!(read("first").lines().count(), 50);
    let last = read("last");
    let mut last: Vec<&str> = last.lines().collect();
    assert_eq!(last.len(), 50);
    last.sort_unstable();
    last.dedup();
    assert_eq!(last.len(), 50);
}

#[test]
fn a_record_has_the_table_and_everything_that_reads_it_shows_it() {
    let block = "        echo hello\n        test @target.name != h2 || exit 7\n";
    let Some(opal) = local(3, block, ", max_concurrency=1") else { return };
    let ran = opal.call(&["task", "--json"]);
    let document = ran.code(7).json();
    let rows = |fleets: &Value| -> Vec<String> {
        assert_eq!(fleets[0]["path"], "task.ssh.hosts[0]");
        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
        let row = |row: &Value| {
            let (path, code) = (text(row, "path"), row["code"].as_i64().unwrap_or_default());
            format!("{} {} {path} {code}", text(row, "target"), text(row, "status"))
        };
        fleets[0]["targets"].as_array().unwrap().iter().map(row).collect()
    };
    let expected = ["h1 ok - 0", "h2 failed task.ssh.hosts[0].shell[1] 7", "h3 skipped - 0"];
    assert_eq!(rows(&document["fleets"]), expected);
    assert_eq!(document["counts"]["failed"], 1);
    let kept = targets_of(&records(&opal)[0]);
    assert_eq!(rows(&kept["fleets"]), expected);
    assert_eq!(kept["fleets"][0]["targets"][1]["step"], "test h2 != h2 || exit 7");
    assert!(kept["fleets"][0]["targets"][1]["took_ms"].is_number());
    let shown = opal.call(&["runs", "show"]);
    shown.code(0);
    assert_eq!(table(&shown.stdout)[2], ["h3", "skipped"], "{}", shown.stdout);
    let head = shown.stdout.lines().find(|line| line.starts_with("STEP")).unwrap();
    let head: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(head, ["STEP", "TARGET", "END", "TOOK", "PATH", "WHAT"]);
    assert_eq!(rows(&opal.call(&["runs", "show", "--json"]).json()["fleets"]), expected);
    for file in ["r.html", "r.md", "r.xml", "r.json"] {
        opal.call(&["runs", "report", "-o", file]).code(0);
        let text = fs::read_to_string(opal.path().join(file)).unwrap();
        let said = match file {
            "r.html" => "<td class=\"skip\">skipped</td>",
            "r.md" => "| h3 | skipped |  |  |  |",
            "r.xml" => "name=\"[h2] shell[1]: test h2 != h2 || exit 7\"",
            _ => "\"status\": \"skipped\"",
        };
        assert!(text.contains(said), "{file}: {text}");
    }
}

#[test]
fn two_equal_runs_of_a_fleet_differ_only_in_times() {
    // Which host is faster is left to chance.
    let block = "        sleep 0.0$((RANDOM % 5)); echo @target.name\n        \
                 @environ(A=\"1\") {\n            echo $A\n        }\n        echo done\n        test @target.name != h5\n";
    let Some(opal) = local(9, block, ", tolerate=1") else { return };
    let look = || {
        let shown = timeless(&opal.call(&["runs", "show", "--json"]).json());
        let logs = opal.call(&["runs", "show", "--logs"]).stdout;
        let newest = records(&opal).pop().unwrap();
        (shown.to_string(), timeless(&targets_of(&newest)).to_string(), logs)
    };
    opal.call(&["task"]).code(0);
    let first = look();
    assert!(first.0.contains("\"target\":\"h5\""), "{}", first.0);
    for _ in 0..2 {
        opal.call(&["task"]).code(0);
        assert_eq!(look(), first);
    }
}

#[test]
fn a_run_that_was_killed_is_resumed_on_each_target_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let block = format!(
        "        echo @target.name >> {at}/first\n        \
         test @target.name = h1 || {{ touch {at}/waits-@target.name; until test -e {at}/go; do sleep 0.05; done; }}\n"
    );
    let Some(opal) = local(3, &block, ", max_concurrency=2") else { return };
    let mut child = opal.command().args(["task"]).stderr(Stdio::null()).spawn().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let waits = |name: &str| folder.path().join(format!("waits-{name}")).exists();
    eventually("h1 has ended, and the others wait", || waits("h2") && waits("h3"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!records(&opal)[0].join("targets.json").exists());
    let shown = opal.call(&["runs", "show"]);
    let rows = table(&shown.code(0).stdout);
    assert_eq!([rows[0][1], rows[1][1], rows[2][1]], ["ok", "lost", "lost"]);
    fs::write(folder.path().join("go"), "").unwrap();
    opal.call(&["task", "--resume"]).code(0).says("(in the resumed run)");
    assert_eq!(read("first").lines().count(), 3);
}
