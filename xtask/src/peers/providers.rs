//! Resources of a real Terraform provider: opal beside `tofu` or `terraform`, which keep a state file, and
//! what providers cost a plan that starts none.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{command, judge, medians, text, write};
use crate::chores::{answers, release, run, run_with};
use crate::{providers, say};

/// What opal must be quicker by, and the share of the processor's time that it may take.
const VERIFY: f64 = 5.0;
const VERIFY_CPU: f64 = 0.25;
const APPLY: f64 = 3.0;

/// In milliseconds, on the machine that the bars were set on: what types of a provider may add to a check and
/// a quick plan, with its megabytes, and what opal may add to the start of a provider.
const PLAN_MS: f64 = 1.0;
const PLAN_MB: f64 = 8.0;
const START_MS: f64 = 5.0;

/// `bash -c true` on that machine.
const UNIT_MS: f64 = 1.23;

/// The variable without which a provider does not start: it shows that a person did not start it.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    release(root)?;
    providers::build_all(root)?;
    providers::provide_tofu(root);
    let peer = peer(root)?;
    let bench = Bench::new(root, if quick { 50 } else { 1000 })?;
    let rounds = if quick { 3 } else { 11 };
    let mut missed = bench.plans(rounds * 4 - 1)?;
    missed.extend(bench.start(rounds)?);
    missed.extend(bench.peer(text(&peer)?, rounds)?);
    judge(bars, &missed)
}

/// The OpenTofu that was built, or what the machine has.
fn peer(root: &Path) -> Result<PathBuf, String> {
    let own = root.join(providers::TOFU_FOLDER).join("tofu");
    let all = [own, "tofu".into(), "terraform".into()];
    let found =
        all.into_iter().find(|it| text(it).is_ok_and(|it| answers(&[it, "version"]).is_some()));
    found.ok_or_else(|| "there is neither OpenTofu nor Terraform to compare with".to_owned())
}

/// A project of opal and one of Terraform, with the same files.
struct Bench {
    folder: PathBuf,
    opal: PathBuf,
    provider: PathBuf,
    files: usize,
}

/// What a run took: by the clock, and of the processor with all its children.
#[derive(Clone, Copy, Debug)]
struct Took {
    wall: f64,
    cpu: f64,
}

impl Bench {
    fn new(root: &Path, files: usize) -> Result<Self, String> {
        let folder = root.join("target/bench/providers");
        let _ = fs::remove_dir_all(&folder);
        let built = root.join("target/tools/providers/terraform-provider-local");
        let opal = root.join("target/release/opal");
        let bench = Self { folder, opal, provider: built, files };
        bench.opal_project()?;
        bench.peer_project()?;
        Ok(bench)
    }

    fn opal_project(&self) -> Result<(), String> {
        let project = self.folder.join("opal");
        let mut source = String::from("fun infra() {\n    @parallel(max=10) {\n");
        for number in 0..self.files {
            let _ = writeln!(
                source,
                "        @local.file(filename=\"out/{number}\", content=\"content {number}\", \
                 file_permission=\"0644\")"
            );
        }
        source.push_str("    }\n}\n");
        write(&project, "many.opl", &source)?;
        let step = |path: &str| format!("{path}(filename=\"out/one\", content=\"x\")");
        let three = format!(
            "fun three() {{\n    {}\n    {}\n    echo @local.data.file(filename=\"/etc/hostname\").content\n}}\n\
             fun one() = {}\n",
            step("@local.file"),
            step("@local.sensitive_file"),
            step("@local.file")
        );
        write(&project, "three.opl", &three)?;
        let own = "fun three() {\n    @file.directory(\"out\")\n    @file.directory(\"out/own\")\n    \
                   echo @file.read(\"/etc/hostname\")\n}\nfun one() = @file.directory(\"out\")\n";
        write(&self.folder.join("own"), "three.opl", own)?;
        let wanted = "name = \"shop\"\n\n[plugins]\n\"terraform/hashicorp/local\" = { path = \"bin/local\" }\n";
        write(&project, "opal.mod", wanted)?;
        let failed = |error: std::io::Error| format!("`{}`: {error}", self.provider.display());
        fs::create_dir_all(project.join("bin")).map_err(failed)?;
        fs::copy(&self.provider, project.join("bin/local")).map_err(failed)?;
        let digest = answers(&["sha256sum", text(&self.provider)?]).ok_or("no `sha256sum`")?;
        let digest = digest.split(' ').next().unwrap_or_default();
        let list = format!(
            "version = 1\n\n[[accepted]]\nname = \"terraform/hashicorp/local\"\nversion = \"local\"\n\
             checksum = \"sha256:{digest}\"\ncapabilities = []\n"
        );
        write(&self.folder, "accepted.toml", &list)?;
        let (kept, list) = (self.folder.join("root"), self.folder.join("accepted.toml"));
        let install = [text(&self.opal)?, "plugin", "install", "--accept", text(&list)?];
        run_with(&project, &[("OPAL_ROOT", text(&kept)?)], &install)
    }

    fn peer_project(&self) -> Result<(), String> {
        let project = self.folder.join("peer");
        let main = format!(
            "resource \"local_file\" \"many\" {{\n  count           = {}\n  filename        = \
             \"out/${{count.index}}\"\n  content         = \"content ${{count.index}}\"\n  file_permission = \
             \"0644\"\n}}\n",
            self.files
        );
        write(&project, "main.tf", &main)?;
        let above = self.provider.parent().unwrap_or(Path::new("/"));
        let rc = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/local\" = \"{}\"\n  }}\n}}\n",
            text(above)?
        );
        write(&project, "rc", &rc)
    }

    /// A call of opal in one of the projects.
    fn call(&self, project: &str, words: &[&str]) -> Result<Vec<String>, String> {
        let (kept, project) = (self.folder.join("root"), self.folder.join(project));
        let first = [text(&self.opal)?, "-C", text(&project)?, "--root", text(&kept)?];
        Ok(first.iter().chain(words).map(|word| (*word).to_owned()).collect())
    }

    /// A check and a quick plan with types of a provider, beside the same with built-in resources.
    fn plans(&self, rounds: usize) -> Result<Vec<String>, String> {
        let check = ["check", "three.opl"];
        let plan = ["-f", "three.opl", "three", "--dry-run"];
        let bash = ["bash", "-c", "true"].map(str::to_owned).to_vec();
        let lines = [
            self.call("own", &check)?,
            self.call("opal", &check)?,
            self.call("own", &plan)?,
            self.call("opal", &plan)?,
            bash,
        ];
        let took = medians(&self.folder, &lines, rounds)?;
        let took: Vec<f64> = took.into_iter().map(ms).collect();
        let most = PLAN_MS / UNIT_MS * took[4];
        let each = [("check", took[0], took[1]), ("quick plan", took[2], took[3])];
        let mut missed = Vec::new();
        for (name, own, with) in each {
            let more = with - own;
            let name = format!("{name} with types of a provider");
            let line = format!("{with:.2} ms, built-in resources {own:.2} ms: {more:.2} ms more");
            missed.extend(bar(&name, &line, more, most, more <= most));
        }
        let (own, with) = (self.memory("own")?, self.memory("opal")?);
        let more = with - own;
        let line = format!("{with:.1} MB, built-in resources {own:.1} MB: {more:.1} MB more");
        missed.extend(bar("memory of a quick plan", &line, more, PLAN_MB, more <= PLAN_MB));
        Ok(missed)
    }

    /// The most that a quick plan has, in megabytes.
    fn memory(&self, project: &str) -> Result<f64, String> {
        let plan = ["-f", "three.opl", "three", "--dry-run", "--telemetry", "basic"];
        let done = command(&self.call(project, &plan)?).output();
        let done = done.map_err(|error| format!("`opal` did not start: {error}"))?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let peak = said.lines().find_map(|line| line.strip_prefix("peak memory"));
        let peak = peak.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
        peak.map(|kilobytes| kilobytes / 1_000.0).ok_or_else(|| format!("no memory in `{said}`"))
    }

    /// What opal adds to the start of a provider: one resource, beside one that is built in and the
    /// provider's own handshake.
    fn start(&self, rounds: usize) -> Result<Vec<String>, String> {
        let own = self.call("own", &["-f", "three.opl", "one", "--yes"])?;
        let with = self.call("opal", &["-f", "three.opl", "one", "--yes"])?;
        for line in [&own, &with] {
            run(&self.folder, &line.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        let verify = ["-f", "three.opl", "verify", "one"];
        let bash = ["bash", "-c", "true"].map(str::to_owned).to_vec();
        let lines = [self.call("own", &verify)?, self.call("opal", &verify)?, bash];
        let took = medians(&self.folder, &lines, rounds)?;
        let mut handshakes = Vec::new();
        for _ in 0..rounds {
            handshakes.push(self.handshake()?);
        }
        let handshake = median(&handshakes);
        let more = ms(took[1]) - ms(took[0]) - handshake;
        let most = START_MS / UNIT_MS * ms(took[2]);
        let line = format!(
            "verify of one {:.1} ms, of a built-in one {:.1} ms, handshake {handshake:.1} ms: {more:.1} ms more",
            ms(took[1]),
            ms(took[0])
        );
        Ok(bar("start of a provider", &line, more, most, more <= most).into_iter().collect())
    }

    /// From the start of the provider to its line, in milliseconds.
    fn handshake(&self) -> Result<f64, String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", self.provider.display());
        let sockets = self.folder.join("s");
        fs::create_dir_all(&sockets).map_err(failed)?;
        let start = Instant::now();
        let mut child = command(&[text(&self.provider)?])
            .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
            .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
            .env("PLUGIN_UNIX_SOCKET_DIR", &sockets)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
        let took = ms(start.elapsed());
        let _ = child.kill();
        let _ = child.wait();
        if line.starts_with("1|") { Ok(took) } else { Err(format!("it says `{}`", line.trim())) }
    }

    /// All files, made and verified by opal and by the peer, in turns.
    fn peer(&self, peer: &str, rounds: usize) -> Result<Vec<String>, String> {
        let opal = |words: &[&str]| self.call("opal", &[&["-f", "many.opl"], words].concat());
        let other = |words: &[&str]| -> Vec<String> {
            [peer].iter().chain(words).map(|word| (*word).to_owned()).collect()
        };
        let apply = [opal(&["infra"])?, other(&["apply", "-auto-approve", "-input=false"])];
        let verify = [opal(&["verify", "infra"])?, other(&["plan", "-input=false"])];
        let (mut applied, mut verified) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for round in 0..rounds {
            // Whoever is first finds other caches.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for at in order {
                self.clear(at);
                applied[at].push(self.timed(at, &apply[at])?);
            }
            for at in order {
                verified[at].push(self.timed(at, &verify[at])?);
            }
        }
        let files = self.files;
        let peer = Path::new(peer).file_name().map_or(peer.into(), |it| it.to_string_lossy());
        let wall = |all: &[Took]| median(&all.iter().map(|it| it.wall).collect::<Vec<_>>());
        let cpu = |all: &[Took]| median(&all.iter().map(|it| it.cpu).collect::<Vec<_>>());
        let mut missed = Vec::new();
        for (name, took, least) in [("verify", &verified, VERIFY), ("apply", &applied, APPLY)] {
            let (own, peers) = (wall(&took[0]), wall(&took[1]));
            let line = format!("{own:.2} s, {peer} {peers:.2} s: × {:.1} quicker", peers / own);
            let name = format!("{name} of {files} files");
            missed.extend(bar(&name, &line, peers / own, least, peers / own >= least));
        }
        let (own, peers) = (cpu(&verified[0]), cpu(&verified[1]));
        let line = format!("{own:.2} s, {peer} {peers:.2} s: × {:.2}", own / peers);
        let name = format!("processor of a verify of {files} files");
        missed.extend(bar(&name, &line, own / peers, VERIFY_CPU, own / peers <= VERIFY_CPU));
        Ok(missed)
    }

    fn project(&self, at: usize) -> PathBuf {
        self.folder.join(if at == 0 { "opal" } else { "peer" })
    }

    /// As if nothing had been made.
    fn clear(&self, at: usize) {
        let project = self.project(at);
        let _ = fs::remove_dir_all(project.join("out"));
        for name in ["terraform.tfstate", "terraform.tfstate.backup"] {
            let _ = fs::remove_file(project.join(name));
        }
    }

    /// One run, with the time of all its children.
    fn timed(&self, at: usize, line: &[String]) -> Result<Took, String> {
        let script = "TIMEFORMAT='%R %U %S'; time \"$@\" > /dev/null 2> said";
        let words = ["bash", "-c", script, "bash"].into_iter().map(str::to_owned);
        let words: Vec<String> = words.chain(line.iter().cloned()).collect();
        let project = self.project(at);
        let done = command(&words)
            .current_dir(&project)
            .env("TF_CLI_CONFIG_FILE", project.join("rc"))
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`bash` did not start: {error}"))?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let times: Vec<f64> = said.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        match (done.status.success(), times.as_slice()) {
            (true, [wall, user, system]) => Ok(Took { wall: *wall, cpu: user + system }),
            _ => {
                let said = fs::read_to_string(project.join("said")).unwrap_or_default();
                Err(format!("`{}` failed: {}", line.join(" "), said.trim()))
            }
        }
    }
}

/// Prints a measurement beside its bar; its line again where the bar is missed.
fn bar(name: &str, line: &str, got: f64, bar: f64, holds: bool) -> Option<String> {
    let verdict = if holds { "holds" } else { "MISSED" };
    say(&format!("{name}: {line} (bar here {bar:.2}): {verdict}"));
    (!holds).then(|| format!("{name}: {got:.2}"))
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}
