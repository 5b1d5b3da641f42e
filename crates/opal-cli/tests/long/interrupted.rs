//! Runs on targets that are interrupted at any moment, in every way: no process and no file is left, on
//! either side.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use opal_testing::account::{Account, SudoRule};
use opal_testing::processes::{is_busy, kill, owned_by, signal};
use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;

use crate::needs;
use crate::support::{Opal, binary};

const ROUNDS: u64 = 1_000;

/// After that nothing should be left. A busy machine may take longer, which is counted.
const SOON: Duration = Duration::from_secs(2);

/// A target that hears nothing ends everything after this time, where 30 seconds are usual.
const LOST: Duration = Duration::from_secs(3);

/// Long before that, opal itself has ended, and nothing is left.
const TOO_LONG: Duration = Duration::from_secs(30);

/// The longest time from the start of a run to its interruption: it covers connecting, sending the helper
/// and files, and steps.
const LONGEST_MILLIS: u64 = 1_600;

const KINDS: [&str; 8] = [
    "Ctrl+C",
    "Ctrl+C twice",
    "TERM",
    "kill -9 of opal",
    "kill -9 of ssh",
    "kill -9 of the helper",
    "a network that is cut",
    "a network that is half open",
];

/// The last three are one kind: whoever is at the other end is gone.
fn kind(round: u64) -> usize {
    let kind = usize::try_from(round % 6).unwrap();
    if kind < 5 { kind } else { 5 + usize::try_from(round / 6 % 3).unwrap() }
}

/// The same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A server after a network that can fail, its two users, and a project that works on it.
struct Site {
    opal: Opal,
    /// Where opal keeps what is temporary.
    own: PathBuf,
    proxy: Proxy,
    other: Account,
    /// The files that were there before.
    before: Vec<String>,
    _rule: SudoRule,
    sshd: Sshd,
}

const STAYS: &str =
    "trap '' HUP; (setsid sleep 54321 &); sleep 54321 & cat /dev/zero | sleep 54321";

impl Site {
    fn new() -> Option<Self> {
        let has_all = Path::new("/usr/bin/sudo").exists();
        let has_all = has_all && binary().with_file_name("opal-target").exists();
        if !needs::has("sudo, and the target helper (`cargo build -p opal-target`)", has_all) {
            return None;
        }
        let (mut sshd, other) = (Sshd::start()?, Account::new("/bin/sh")?);
        let rule = sshd.account().may_be_anyone();
        let proxy = Proxy::start(sshd.port());
        let (real, port, user) = (sshd.port(), proxy.port(), sshd.account().name.clone());
        sshd.configure(&format!(
            "Host web*\nHostName 127.0.0.1\nPort {port}\nUser {user}\nHostKeyAlias [127.0.0.1]:{real}\n"
        ));
        let lost = LOST.as_secs();
        let steps = format!(
            "@file.copy(\"big\", \"copied-@target.index\", overwrite=true)\n        {STAYS}"
        );
        let source = format!(
            "fun fleet() {{\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], lost={lost}s, files={{\"f\": \"big\"}}) {{\n        \
             {steps}\n    }}\n}}\n\nfun one() {{\n    @ssh.host(\"web1\", lost={lost}s) {{\n        \
             @file.copy(\"big\", \"copied\", overwrite=true)\n        {STAYS}\n    }}\n}}\n\n\
             fun user() {{\n    @ssh.host(\"web1\", lost={lost}s) {{\n        @as(\"{}\") {{\n            {STAYS}\n        }}\n    }}\n}}\n\n\
             fun plain() {{\n    @ssh.host(\"web1\", lost={lost}s) {{\n        @parallel {{\n            {STAYS}\n            {STAYS}\n        }}\n    }}\n}}\n",
            other.name
        );
        let opal = Opal::project(&source).file("big", vec![7; 3 << 20]).file("own/.keep", "");
        let own = opal.path().join("own");
        let opal = opal
            .env("PATH", sshd.path().to_str().unwrap())
            .env("HOME", opal_home(&own).to_str().unwrap())
            .env("TMPDIR", own.to_str().unwrap());
        let before = Vec::new();
        let mut site = Self { opal, own, proxy, other, before, _rule: rule, sshd };
        site.before = site.files();
        Some(site)
    }

    fn start(&self, task: &str) -> Child {
        let mut command = self.opal.interruptible();
        command.arg(task).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn users(&self) -> [u32; 2] {
        [self.sshd.account().uid(), self.other.uid()]
    }

    /// The processes of both sides: their numbers and command lines.
    fn processes(&self) -> Vec<(String, String)> {
        let client = format!("{}/ssh_config", self.sshd.directory().display());
        let mut found: Vec<_> = self.users().into_iter().flat_map(owned_by).collect();
        found.extend(owned_by(0).into_iter().filter(|(_, line)| line.contains(&client)));
        found
    }

    /// The files of both sides that no run has finished.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        for home in [&self.sshd.account().home, &self.other.home] {
            let expected = |path: &Path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with("copied") || name.starts_with("opal-target-")
            };
            walk(home, &mut |path, size| {
                let is_whole =
                    path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("opal-"));
                if !expected(path) || !(is_whole || size == 3 << 20) {
                    found.push(format!("{} ({size} bytes)", path.display()));
                }
            });
        }
        walk(&self.own, &mut |path, _| {
            if path.file_name().is_some_and(|name| name != ".keep") {
                found.push(path.display().to_string());
            }
        });
        let users = self.users();
        for folder in ["/tmp", "/dev/shm", "/run", "/var/tmp"] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let own = entries.filter(|it| it.metadata().is_ok_and(|at| users.contains(&at.uid())));
            found.extend(own.map(|it| it.path().display().to_string()));
        }
        found.retain(|it| !self.before.contains(it));
        found
    }

    /// What is left when this time has passed, and when nothing was left any more.
    fn left(&self, wait: Duration) -> (Vec<String>, Duration) {
        let since = Instant::now();
        loop {
            let processes =
                self.processes().into_iter().map(|(pid, line)| format!("{pid}: {line}"));
            let left: Vec<String> = processes.chain(self.files()).collect();
            if left.is_empty() || since.elapsed() > wait {
                return (left, since.elapsed());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn interrupt(&self, kind: usize, child: &mut Child, dice: &mut Dice) {
        match kind {
            0 => send(child, "INT"),
            1 => {
                send(child, "INT");
                std::thread::sleep(Duration::from_millis(dice.below(200)));
                send(child, "INT");
            }
            2 => send(child, "TERM"),
            3 => send(child, "KILL"),
            4 => self.kill(|line| line.contains("/ssh_config")),
            // Not the shell that sends for it.
            5 => self
                .kill(|line| line.split(' ').next().is_some_and(|it| it.contains("opal-target-"))),
            6 => self.proxy.cut(),
            _ => self.proxy.stall(),
        }
    }

    fn kill(&self, is_meant: impl Fn(&str) -> bool) {
        for (pid, _) in self.processes().iter().filter(|(_, line)| is_meant(line)) {
            kill(pid);
        }
    }
}

/// A home of opal's own, beside what is temporary.
fn opal_home(own: &Path) -> PathBuf {
    let home = own.with_file_name("home");
    fs::create_dir_all(&home).unwrap();
    home
}

/// All files below a directory.
fn walk(folder: &Path, each: &mut impl FnMut(&Path, u64)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(found) = entry.path().symlink_metadata() else { continue };
        if found.is_dir() {
            walk(&entry.path(), each);
        } else {
            each(&entry.path(), found.len());
        }
    }
}

/// It may have ended already.
fn send(child: &mut Child, name: &str) {
    if child.try_wait().unwrap().is_none() {
        let _ = std::panic::catch_unwind(|| signal(child, name));
    }
}

/// How often, and the longest time until nothing was left.
#[derive(Default)]
struct Count {
    rounds: u64,
    millis: Vec<u128>,
    late: u64,
    /// Those of them that no busy machine explains.
    slow: u64,
}

#[test]
fn after_a_thousand_interruptions_no_process_and_no_file_is_left_on_either_side() {
    let Some(site) = Site::new() else { return };
    let mut dice = Dice(20_261_117);
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut faults: Vec<String> = Vec::new();
    for round in 0..opal_testing::rounds(ROUNDS) {
        let kind = kind(round);
        let task = ["fleet", "one", "user", "plain"][usize::try_from(dice.below(4)).unwrap()];
        // Some have to be sent the helper.
        if dice.below(4) == 0 {
            let _ = fs::remove_dir_all(site.sshd.account().home.join(".cache"));
        }
        let moment = Duration::from_millis(dice.below(LONGEST_MILLIS));
        site.proxy.heal();
        let mut child = site.start(task);
        std::thread::sleep(moment);
        site.interrupt(kind, &mut child, &mut dice);
        let since = Instant::now();
        while child.try_wait().unwrap().is_none() && since.elapsed() < TOO_LONG {
            // Whoever was interrupted before there was a connection goes on, or waits for one that does
            // not come. A person ends it.
            if kind >= 4 && since.elapsed() > LOST * 2 {
                send(&mut child, "INT");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_none() {
            faults.push(format!("round {round}, {task}, {}: opal goes on", KINDS[kind]));
            child.kill().unwrap();
        }
        child.wait().unwrap();
        if kind == 7 {
            // The server keeps its part of a half-open connection; what is ours has ended before.
            std::thread::sleep(LOST);
            site.proxy.cut();
        }
        let (left, took) = site.left(TOO_LONG);
        let count = counts.entry(KINDS[kind]).or_default();
        count.rounds += 1;
        count.millis.push(took.as_millis());
        count.late += u64::from(took > SOON);
        count.slow += u64::from(took > SOON && !is_busy());
        if !left.is_empty() {
            let what =
                format!("round {round}, {task}, {} after {moment:?}: {left:#?}", KINDS[kind]);
            eprint(&what);
            faults.push(what);
            site.kill(|_| true);
            clean(&left);
        }
        if round % 100 == 99 {
            eprint(&format!("after {} rounds, {} left something", round + 1, faults.len()));
            report(&mut counts);
        }
    }
    report(&mut counts);
    assert!(
        faults.is_empty(),
        "{} of {} rounds left something: {faults:#?}",
        faults.len(),
        opal_testing::rounds(ROUNDS)
    );
    let slow: Vec<&str> = counts.iter().filter(|it| it.1.slow > 0).map(|it| *it.0).collect();
    assert!(
        slow.is_empty(),
        "something was left after 2 s on a machine that was not busy: {slow:?}"
    );
}

fn report(counts: &mut BTreeMap<&str, Count>) {
    for (kind, Count { rounds, millis, late, .. }) in counts {
        millis.sort_unstable();
        let (middle, last) = (millis[millis.len() / 2], millis[millis.len() - 1]);
        eprint(&format!(
            "{kind}: {rounds} times, nothing left after {middle} ms (middle), {last} ms (last), {late} after 2 s"
        ));
    }
}

fn clean(left: &[String]) {
    for path in left.iter().filter_map(|it| it.split(" (").next()).filter(|it| it.starts_with('/'))
    {
        let _ = fs::remove_file(path);
        let _ = fs::remove_dir_all(path);
    }
}

/// Past the harness, which shows only what failing tests print.
fn eprint(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}
