//! Steps and resources on targets: opal compared with `ssh` over a shared connection, `xargs` with `ssh`,
//! pyinfra and `podman exec`; and what its helper costs on a target.

mod place;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::place::Place;
use super::tools::Tools;
use super::{command, medians, text, write};
use crate::say;

const HOSTS: usize = 100;

const COMMANDS: usize = 100;

const COMMANDS_IN_CONTAINER: usize = 50;

const OUTPUT_MEGABYTES: usize = 200;

const FILES: usize = 1_000;

/// There and back on the slow connection.
const ROUND_TRIP: Duration = Duration::from_millis(50);

/// The helper as it is sent: bytes, packed bytes, kilobytes of memory, milliseconds until it answers.
const HELPER: [(&str, f64); 4] =
    [("size", 2e6), ("packed size", 0.9e6), ("resident kB", 4_096.0), ("start in ms", 5.0)];

/// A step that says how much memory the helper above it had at most.
const MEMORY: &str = "\
p=$$
until grep -q '^Name:.opal-target' /proc/$p/status; do
    p=$(sed -n 's/^PPid:.//p' /proc/$p/status)
done
grep VmHWM /proc/$p/status
";

/// The rows that were measured.
struct Table<'a> {
    place: &'a Place,
    opal: &'a Path,
    missed: Vec<String>,
}

/// Says how long each takes; gives the bars that are missed.
pub(super) fn compare(root: &Path, opal: &Path, tools: &Tools) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/targets");
    let Some(place) = Place::start(folder)? else {
        say("targets are left out: they require root and an SSH server");
        return Ok(Vec::new());
    };
    let mut table = Table { place: &place, opal, missed: Vec::new() };
    project(&place.folder)?;
    // The helper is in the cache of the target afterwards, as it is for all runs but the first.
    table.run(&["once"], 1)?;
    table.commands()?;
    table.hosts(tools)?;
    table.containers()?;
    table.output()?;
    table.verify()?;
    table.helper(root)?;
    Ok(table.missed)
}

impl Table<'_> {
    fn opal(&self, words: &[&str]) -> Result<Vec<String>, String> {
        let root = self.place.folder.join("root");
        let before = [text(self.opal)?, "--root", text(&root)?];
        self.place.line(&before.iter().chain(words).copied().collect::<Vec<_>>())
    }

    fn run(&self, words: &[&str], rounds: usize) -> Result<Duration, String> {
        Ok(medians(&self.place.folder, &[self.opal(words)?], rounds)?[0])
    }

    /// opal and its peers in turns: one row for each peer.
    fn beside(
        &mut self,
        name: &str,
        words: &[&str],
        peers: &[(&str, Vec<String>, f64)],
        rounds: usize,
    ) -> Result<(), String> {
        let mut lines = vec![self.opal(words)?];
        lines.extend(peers.iter().map(|(_, line, _)| line.clone()));
        let took = medians(&self.place.folder, &lines, rounds)?;
        for ((peer, _, bar), theirs) in peers.iter().zip(&took[1..]) {
            self.row(name, (took[0], "opal"), (*theirs, peer), *bar);
        }
        Ok(())
    }

    fn row(&mut self, name: &str, ours: (Duration, &str), theirs: (Duration, &str), bar: f64) {
        let ratio = ours.0.as_secs_f64() / theirs.0.as_secs_f64();
        say(&format!(
            "{name:<36} {} {:.1} ms   {} {:.1} ms   × {ratio:.3} (bar {bar})",
            ours.1,
            millis(ours.0),
            theirs.1,
            millis(theirs.0)
        ));
        if ratio > bar {
            self.missed.push(format!("{name} beside {}: × {ratio:.3}", theirs.1));
        }
    }

    /// `ssh` has its shared connection before the first round.
    fn commands(&mut self) -> Result<(), String> {
        let shared = "-o ControlPath=mux -o ControlMaster=no";
        let open = "ssh -o ControlPath=mux -o ControlMaster=yes -fN h1";
        self.shell(open)?;
        let loop_ = format!("for i in $(seq {COMMANDS}); do ssh {shared} h1 true; done");
        let theirs = self.place.line(&["sh", "-c", &loop_])?;
        let name = format!("{COMMANDS} commands on a host");
        let measured = self.beside(&name, &["commands"], &[("ssh mux", theirs, 0.15)], 7);
        self.shell(&format!("ssh {shared} -O exit h1"))?;
        measured
    }

    fn shell(&self, text: &str) -> Result<(), String> {
        let line = self.place.line(&["sh", "-c", text])?;
        let mut shell = command(&line);
        shell.current_dir(&self.place.folder);
        shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        match shell.status().is_ok_and(|status| status.success()) {
            true => Ok(()),
            false => Err(format!("`{text}` failed")),
        }
    }

    fn hosts(&mut self, tools: &Tools) -> Result<(), String> {
        let name = format!("one command on {HOSTS} hosts");
        let xargs = format!("seq {HOSTS} | xargs -P20 -I{{}} ssh h{{}} true");
        let mut peers = vec![("xargs ssh", self.place.line(&["sh", "-c", &xargs])?, 1.1)];
        if let Some(pyinfra) = &tools.pyinfra {
            self.inventory()?;
            let words =
                [text(pyinfra)?, "-y", "--parallel", "20", "inventory.py", "exec", "--", "true"];
            peers.push(("pyinfra", self.place.line(&words)?, 0.9));
        }
        self.beside(&name, &["hosts"], &peers, 7)
    }

    /// The same hosts for pyinfra, which has an SSH client of its own.
    fn inventory(&self) -> Result<(), String> {
        let folder = text(&self.place.folder)?;
        let content = format!(
            "hosts = [(f\"h{{i}}\", {{\"ssh_hostname\": \"127.0.0.1\", \"ssh_port\": {}, \"ssh_user\": \
             \"root\", \"ssh_key\": \"{folder}/id\", \"ssh_strict_host_key_checking\": \"off\", \
             \"ssh_known_hosts_file\": \"/dev/null\"}}) for i in range(1, {})]\n",
            self.place.port,
            HOSTS + 1
        );
        write(&self.place.folder, "inventory.py", &content)
    }

    fn containers(&mut self) -> Result<(), String> {
        if !self.place.has_container() {
            say("containers are left out: they require podman, runc and busybox");
            return Ok(());
        }
        let name = format!("{COMMANDS_IN_CONTAINER} commands in a container");
        let loop_ =
            format!("for i in $(seq {COMMANDS_IN_CONTAINER}); do podman exec bench true; done");
        let theirs = self.place.line(&["sh", "-c", &loop_])?;
        self.beside(&name, &["container"], &[("podman exec", theirs, 0.05)], 3)
    }

    fn output(&mut self) -> Result<(), String> {
        let line =
            "2026-01-31T14:05:00Z INFO  request 4711 took 12ms path=/api/v1/orders status=200\n";
        let content = line.repeat(OUTPUT_MEGABYTES * 1_000_000 / line.len());
        write(&self.place.folder, "large.log", &content)?;
        let file = self.place.folder.join("large.log");
        let theirs = self.place.line(&["ssh", "h1", "cat", text(&file)?])?;
        let name = format!("{OUTPUT_MEGABYTES} MB of output");
        self.beside(&name, &["output"], &[("ssh cat", theirs, 1.5)], 7)
    }

    /// What it takes beyond one file, which is the connection.
    fn verify(&mut self) -> Result<(), String> {
        self.run(&["there"], 1)?;
        let words = |task| ["verify", task];
        let lines = [
            self.opal(&words("here"))?,
            self.opal(&words("there"))?,
            self.opal(&words("one"))?,
            self.opal(&words("far"))?,
            self.opal(&words("far_one"))?,
        ];
        let took = medians(&self.place.folder, &lines, 7)?;
        let connected = took[1].saturating_sub(took[2]);
        let name = format!("verify {FILES} files when connected");
        self.row(&name, (connected, "there"), (took[0], "here"), 2.0);
        let far = took[3].saturating_sub(took[4]);
        let name = format!("verify {FILES} files, 50 ms away");
        self.row(&name, (far, "there"), (ROUND_TRIP, "round trip"), 80.0);
        Ok(())
    }

    fn helper(&mut self, root: &Path) -> Result<(), String> {
        let Some(program) = built(root) else {
            say("the helper is left out: this build of opal has none in it");
            return Ok(());
        };
        let length = |path: &Path| std::fs::metadata(path).map(|found| found.len());
        let [raw, packed] = [program.clone(), program.with_extension("gz")]
            .map(|path| length(&path).map_err(|error| format!("`{}`: {error}", path.display())));
        let script = "\"$0\" </dev/null >/dev/null 2>&1; :";
        let starts = [text(&program)?, "/bin/true"]
            .map(|program| ["sh", "-c", script, program].map(str::to_owned).to_vec());
        let took = medians(&self.place.folder, &starts, 201)?;
        let start = took[0].saturating_sub(took[1]);
        #[expect(clippy::cast_precision_loss, reason = "sizes of files")]
        let found = [raw? as f64, packed? as f64, self.resident()?, millis(start)];
        for ((name, bar), found) in HELPER.into_iter().zip(found) {
            say(&format!("helper: {name:<28} {found:.1} (bar {bar})"));
            if found > bar {
                self.missed.push(format!("helper: {name} {found:.1}"));
            }
        }
        Ok(())
    }

    /// The most memory that the helper had in a run of many steps.
    fn resident(&self) -> Result<f64, String> {
        let output = command(&self.opal(&["memory"])?).current_dir(&self.place.folder).output();
        let output = output.map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers = printed.lines().filter_map(|line| {
            line.split("VmHWM:").nth(1)?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
        });
        numbers.reduce(f64::max).ok_or_else(|| format!("no helper was found:\n{printed}"))
    }
}

/// The helper that the build of opal made last, to be put into it.
fn built(root: &Path) -> Option<PathBuf> {
    let folders = std::fs::read_dir(root.join("target/release/build")).ok()?;
    let name = format!("out/opal-target-{}", std::env::consts::ARCH);
    let programs = folders.flatten().map(|folder| folder.path().join(&name));
    let written = |path: &PathBuf| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    programs.filter(|path| path.is_file()).max_by_key(written)
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

fn project(folder: &Path) -> Result<(), String> {
    let hosts: Vec<String> = (1..=HOSTS).map(|index| format!("\"h{index}\"")).collect();
    let here = text(folder)?;
    let block = |head: &str, body: &str| format!("    {head} {{\n        {body}\n    }}\n");
    let repeat = |count| format!("for i in 1...{count} {{ true }}");
    let files = |count| {
        format!(
            "for i in 1...{count} {{\n            @file.copy(\"app.conf\", \
             \"{here}/there/@var.i().conf\")\n        }}"
        )
    };
    let host = "@ssh.host(\"h1\")";
    let memory = format!("sh {here}/memory.sh");
    let tasks = [
        ("once", block(host, "true")),
        ("commands", block(host, &repeat(COMMANDS))),
        ("hosts", block(&format!("@ssh.hosts(hosts=[{}])", hosts.join(", ")), "true")),
        (
            "container",
            block("@container.exec(\"bench\", engine=\"podman\")", &repeat(COMMANDS_IN_CONTAINER)),
        ),
        ("output", block(host, &format!("cat {here}/large.log"))),
        ("here", format!("    {}\n", files(FILES))),
        ("there", block(host, &files(FILES))),
        ("one", block(host, &files(1))),
        ("far", block("@ssh.host(\"slow\")", &files(FILES))),
        ("far_one", block("@ssh.host(\"slow\")", &files(1))),
        ("memory", block(host, &format!("{}\n        {memory}", repeat(COMMANDS)))),
    ];
    let mut source = String::new();
    for (name, body) in tasks {
        let _ = writeln!(source, "fun {name}() {{\n{body}}}\n");
    }
    std::fs::create_dir_all(folder.join("there")).map_err(|error| error.to_string())?;
    write(folder, "memory.sh", MEMORY)?;
    write(folder, "app.conf", &"listen = 8080\n".repeat(200))?;
    write(folder, "commands.opl", &source)
}
