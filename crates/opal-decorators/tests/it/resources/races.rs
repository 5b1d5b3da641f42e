//! Another process swaps things for symlinks while a resource writes: what the symlinks lead to
//! never changes.
//!
//! A resource is added to [`WRITERS`].

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::resources::support::{Site, tree};
use opal_testing::needs;

/// Every resource that writes, with `SPOT` for what is attacked.
const WRITERS: &[(&str, &str)] = &[
    ("file.directory", "@file.directory(\"SPOT\", mode=\"0711\")"),
    ("file.absent", "@file.absent(\"SPOT\", recursive=true)"),
    ("file.symlink", "@file.symlink(\"source\", \"SPOT\", force=true)"),
    ("file.copy", "@file.copy(\"source\", \"SPOT\", overwrite=true)"),
    ("file.template", "@file.template(\"page.tmpl\", \"SPOT\", mode=\"0600\")"),
    ("file.line", "@file.line(\"SPOT\", \"more\", backup=true)"),
    ("file.copy, recursive", "@file.copy(\"tree\", \"SPOT\", recursive=true, overwrite=true)"),
];

/// Those that let a program write, which goes by the path: they refuse a path that another user
/// controls.
const PROGRAMS: &[(&str, &str)] = &[("git.repo", "@git.repo(\"server\", \"SPOT\")")];

const ROUNDS: usize = 300;
/// On a machine that has no time for the attacker.
const MOST_ROUNDS: usize = 10 * ROUNDS;

/// The user who attacks.
const NOBODY: u32 = 65534;

/// What resources read, and what nobody may touch.
fn site() -> Site {
    let site = Site::new();
    site.file("source", "new\n");
    site.file("tree/spot", "new\n");
    site.file("tree/sub/file", "new\n");
    site.file("page.tmpl", "new\n");
    site.file("victim/spot", "victim\n");
    site.file("victim/sub/file", "victim\n");
    site.directory("victim/empty");
    site.directory("arena");
    site
}

/// Applies it again and again, whatever comes of it, until it was attacked often enough.
fn apply_often(site: &Site, call: &str, name: &str, attacks: impl Fn() -> usize) {
    let victim = tree(&site.path("victim"));
    for round in 0..MOST_ROUNDS {
        if round >= ROUNDS && attacks() >= ROUNDS {
            break;
        }
        let _ = site.apply(call);
        if round % 50 == 49 {
            assert!(tree(&site.path("victim")) == victim, "{name} was led astray");
        }
    }
    assert!(attacks() > 0, "{name} was never attacked");
    assert!(tree(&site.path("victim")) == victim, "{name} was led astray");
}

#[test]
fn a_destination_that_is_swapped_for_a_link_leads_no_write_astray() {
    for (name, call) in WRITERS {
        let site = site();
        let (spot, done, swaps) =
            (site.path("arena/spot"), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    swap(&spot, &site.path("victim"), swaps.fetch_add(1, Ordering::SeqCst));
                }
            });
            // However this ends, the other thread must hear of it.
            let _end = Ending(&done);
            let attacks = || swaps.load(Ordering::SeqCst);
            apply_often(&site, &call.replace("SPOT", "arena/spot"), name, attacks);
        });
        let left = fs::read_dir(site.path("arena")).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = left.filter(|it| it.to_string_lossy().starts_with(".opal-")).collect();
        assert!(left.is_empty(), "{name} has left {left:?}");
    }
}

struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Symlinks to a file and to directories, a file, a directory, nothing. Whatever the resource does
/// to it at the same time does not matter.
fn swap(spot: &Path, victim: &Path, turn: usize) {
    if fs::remove_file(spot).is_err() {
        let _ = fs::remove_dir_all(spot);
    }
    let _ = match turn % 6 {
        0 => symlink(victim.join("spot"), spot),
        1 => fs::write(spot, "old\n"),
        2 => symlink(victim, spot),
        3 => fs::create_dir(spot),
        4 => symlink(victim.join("empty"), spot),
        _ => Ok(()),
    };
    thread::yield_now();
}

#[test]
fn a_directory_on_the_way_that_another_user_swaps_for_a_link_leads_no_write_astray() {
    if !needs::root() {
        return;
    }
    for (name, call) in WRITERS.iter().chain(PROGRAMS) {
        let site = site();
        serve(&site);
        fs::set_permissions(site.path(""), Permissions::from_mode(0o755)).unwrap();
        chown(site.path("arena"), Some(NOBODY), Some(NOBODY)).unwrap();
        let attacker = Attacker::start(&site.path("arena"), &site.path("victim"));
        // One is there where the link leads, and one is not.
        for spot in ["arena/way/spot", "arena/way/fresh"] {
            apply_often(&site, &call.replace("SPOT", spot), name, || attacker.strikes());
        }
    }
}

/// A repository to clone from.
#[expect(clippy::disallowed_methods, reason = "the server is a real one")]
fn serve(site: &Site) {
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut command = Command::new("git");
        command.arg("-C").arg(site.path("server")).args(who).args(words);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    site.directory("server");
    git(&["init", "-q", "-b", "main"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A process of another user, which goes on until it is ended.
struct Attacker(Child, std::path::PathBuf);

/// Makes a directory, swaps it for a symlink, and starts again.
const ATTACK: &str = "n=0; while :; do \
    mkdir way; mv -T way \"old.$n\"; ln -s \"$1\" way; rm -f way; n=$((n+1)); done 2>/dev/null";

const FAST_ATTACK: &str = "my $n = 0; while (1) { \
    mkdir 'way'; select(undef, undef, undef, 0.0007); rename 'way', \"old.$n\"; \
    symlink $ARGV[0], 'way'; select(undef, undef, undef, 0.0007); unlink 'way'; $n++ }";

impl Attacker {
    #[expect(clippy::disallowed_methods, reason = "only another process can be another user")]
    fn start(arena: &Path, victim: &Path) -> Self {
        let mut perl = Command::new("/usr/bin/perl");
        perl.args(["-e", FAST_ATTACK, "--"]).arg(victim);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", ATTACK, "sh"]).arg(victim);
        let start =
            |command: &mut Command| command.current_dir(arena).uid(NOBODY).gid(NOBODY).spawn();
        let child = start(&mut perl).or_else(|_| start(&mut shell)).unwrap();
        Self(child, arena.to_owned())
    }

    /// How often it struck.
    fn strikes(&self) -> usize {
        fs::read_dir(&self.1).unwrap().count()
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
