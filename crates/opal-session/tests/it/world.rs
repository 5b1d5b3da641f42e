//! The world as it is: real shells, real git, real files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod asking;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use opal_core::Registry;
use opal_core::resolver::{Inputs, MAX_VALUE_BYTES, Probe, Run, ScriptPart, Trouble, TroubleKind};
use opal_decorators::registry;
use opal_session::world::{Limits, OsWorld, Surroundings};
use opal_testing::processes::{eventually, is_alive};
use tempfile::TempDir;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn surroundings(at: &Path, more: &[(&str, &str)]) -> Surroundings {
    let mut environment: BTreeMap<_, _> =
        more.iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment.entry("PATH".into()).or_insert_with(|| PATH.into());
    Surroundings {
        environment: environment.into(),
        start: at.to_owned(),
        home: Some(at.join("home")),
        ..Surroundings::default()
    }
}

fn world(at: &Path) -> OsWorld {
    OsWorld::new(surroundings(at, &[]))
}

fn hasty(at: &Path) -> OsWorld {
    let limits = Limits { command: Duration::from_secs(2) };
    OsWorld::with_limits(surroundings(at, &[]), limits)
}

fn run(world: &OsWorld, script: &str) -> Result<String, Trouble> {
    let parts = [ScriptPart::Text(script.to_owned())];
    world.run(&Run::Script(&parts)).map(|output| output.expose().to_owned())
}

fn read(world: &OsWorld, path: &str) -> Result<String, Trouble> {
    let mut text = String::new();
    world.open(path)?.read_to_string(&mut text).unwrap();
    Ok(text)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Trouble>, kind: TroubleKind, words: &str) {
    let trouble = answer.unwrap_err();
    assert_eq!(trouble.kind, kind, "{trouble:?}");
    assert!(trouble.message.contains(words), "{trouble:?}");
    assert!(trouble.help.iter().all(|help| !help.is_empty()) && !trouble.help.is_empty());
}

#[test]
fn only_the_given_environment_is_there() {
    let at = TempDir::new().unwrap();
    let world = OsWorld::new(surroundings(at.path(), &[("GIVEN", "ä"), ("EMPTY", "")]));
    assert_eq!(Probe::env(&world, "GIVEN").unwrap().unwrap().expose(), "ä");
    assert_eq!(Probe::env(&world, "EMPTY").unwrap().unwrap().expose(), "");
    assert!(Probe::env(&world, "CARGO_MANIFEST_DIR").unwrap().is_none());
    let seen = run(&world, "env | cut -d= -f1 | sort").unwrap();
    assert_eq!(seen, "EMPTY\nGIVEN\nPATH\nPWD\nSHLVL\n_\n");
}

#[test]
fn debug_shows_the_names_of_variables_only() {
    let at = TempDir::new().unwrap();
    let shown = format!("{:?}", OsWorld::new(surroundings(at.path(), &[("NAME_5", "canary-55")])));
    assert!(shown.contains("NAME_5") && !shown.contains("canary"));
}

#[test]
fn a_variable_that_is_not_utf8_is_not_text() {
    use std::os::unix::ffi::OsStringExt;
    let mut surroundings = surroundings(Path::new("/"), &[]);
    let bytes = std::ffi::OsString::from_vec(vec![0xff, 0xfe]);
    std::sync::Arc::make_mut(&mut surroundings.environment).insert("BAD".into(), bytes);
    refused(Probe::env(&OsWorld::new(surroundings), "BAD"), TroubleKind::NotText, "`BAD`");
}

#[test]
fn paths_begin_where_the_steps_start_or_at_home() {
    let at = TempDir::new().unwrap();
    fs::create_dir(at.path().join("home")).unwrap();
    fs::write(at.path().join("home/a"), "at home").unwrap();
    fs::write(at.path().join("b"), "at the start").unwrap();
    let world = world(at.path());
    assert_eq!(read(&world, "~/a").unwrap(), "at home");
    assert_eq!(read(&world, "b").unwrap(), "at the start");
    assert_eq!(read(&world, at.path().join("b").to_str().unwrap()).unwrap(), "at the start");
    refused(read(&world, "c"), TroubleKind::Missing, "`c`");
    refused(read(&world, "b/c"), TroubleKind::Missing, "`b/c`");
    refused(read(&world, "b\0"), TroubleKind::Invalid, "NUL");
    let homeless = Surroundings { home: None, ..surroundings(at.path(), &[]) };
    refused(read(&OsWorld::new(homeless), "~/a"), TroubleKind::Missing, "home directory");
}

#[test]
fn what_is_not_a_file_is_refused_without_waiting() {
    let at = TempDir::new().unwrap();
    let world = world(at.path());
    run(&world, "mkfifo pipe; ln -s pipe link; mkdir directory").unwrap();
    refused(read(&world, "pipe"), TroubleKind::Invalid, "a named pipe");
    refused(read(&world, "link"), TroubleKind::Invalid, "a named pipe");
    refused(read(&world, "directory"), TroubleKind::Invalid, "a directory");
    refused(read(&world, "~"), TroubleKind::Missing, "`~`");
    refused(read(&world, "/dev/zero"), TroubleKind::Invalid, "a device");
}

#[test]
fn exit_codes_have_their_words() {
    let at = TempDir::new().unwrap();
    let world = world(at.path());
    assert_eq!(run(&world, "printf ok; echo canary >&2").unwrap(), "ok");
    refused(run(&world, "exit 3"), TroubleKind::Failed, "exit code 3");
    refused(run(&world, "no-such-command-here"), TroubleKind::Missing, "127");
    fs::write(at.path().join("plain"), "").unwrap();
    refused(run(&world, "./plain"), TroubleKind::Denied, "126");
    refused(run(&world, "kill -9 $$"), TroubleKind::Failed, "signal 9");
    refused(run(&world, "echo canary-88 >&2; exit 1"), TroubleKind::Failed, "exit code 1");
    let program = |words: &[&str]| world.run(&Run::Program(words));
    refused(program(&["no-such-program"]), TroubleKind::Missing, "`no-such-program`");
    refused(program(&["false"]), TroubleKind::Failed, "`false` failed with exit code 1");
    assert_eq!(program(&["printf", "%s", "$(id) *"]).unwrap().expose(), "$(id) *");
}

#[test]
fn output_that_is_not_text_or_too_much_is_refused() {
    let at = TempDir::new().unwrap();
    let world = world(at.path());
    refused(run(&world, r"printf '\377'"), TroubleKind::NotText, "UTF-8");
    // Whoever asked for it refuses a NUL, wherever that comes from.
    assert_eq!(run(&world, r"printf 'a\000b'").unwrap(), "a\0b");
    let print = |bytes: u64| run(&world, &format!("head -c {bytes} /dev/zero | tr '\\0' x"));
    assert_eq!(print(MAX_VALUE_BYTES).unwrap().len() as u64, MAX_VALUE_BYTES);
    refused(print(MAX_VALUE_BYTES + 1), TroubleKind::TooLarge, "8 MiB");
    refused(run(&world, "yes"), TroubleKind::TooLarge, "8 MiB");
}

#[test]
fn a_command_gets_no_input_and_starts_where_the_steps_start() {
    let at = TempDir::new().unwrap();
    let start = at.path().canonicalize().unwrap();
    let seen = run(&world(at.path()), "cat; pwd -P").unwrap();
    assert_eq!(seen.trim_end(), start.to_str().unwrap());
    let gone = at.path().join("gone");
    refused(run(&world(&gone), "true"), TroubleKind::Missing, "cannot be started");
}

/// Waits until the process whose number the file holds has ended.
fn ends(pid_file: &Path) {
    let pid = fs::read_to_string(pid_file).unwrap();
    eventually("it has ended", || !is_alive(&pid));
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_its_children() {
    let at = TempDir::new().unwrap();
    let script = "sh -c 'sleep 300 & echo $! > pid; wait'; true";
    refused(run(&hasty(at.path()), script), TroubleKind::TimedOut, "timed out after 2s");
    ends(&at.path().join("pid"));
}

#[test]
fn whoever_keeps_the_output_open_is_ended_too() {
    let at = TempDir::new().unwrap();
    let script = "(setsid sleep 300 & echo $! > pid); printf done";
    refused(run(&hasty(at.path()), script), TroubleKind::TimedOut, "kept its output open");
    ends(&at.path().join("pid"));
}

#[test]
fn a_world_without_a_shell_says_so() {
    let at = TempDir::new().unwrap();
    let world = OsWorld::new(surroundings(at.path(), &[("PATH", "nowhere")]));
    refused(run(&world, "true"), TroubleKind::Missing, "no shell");
}

#[test]
fn a_host_has_a_name_a_system_and_an_architecture() {
    let host = world(Path::new("/")).host();
    assert!(["linux", "macos"].contains(&host.os.as_str()), "{host:?}");
    assert!(!host.arch.is_empty() && !host.name.is_empty(), "{host:?}");
}

#[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
fn git(at: &Path, words: &[&str]) {
    let identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"];
    let status = Command::new("git").args(identity).args(words).current_dir(at).status().unwrap();
    assert!(status.success(), "{words:?}");
}

fn resolve(registry: &Registry, path: &str, world: &OsWorld) -> Result<String, Trouble> {
    let resolver = registry.get(path).unwrap().resolver.unwrap();
    resolver.resolve(&Inputs::default(), world).map(|data| data.as_text().unwrap().to_owned())
}

#[test]
fn git_tells_commit_and_branch_and_what_is_not_there() {
    let at = TempDir::new().unwrap();
    let (world, registry) = (world(at.path()), registry());
    let ask = |path| resolve(&registry, path, &world);
    refused(ask("git.commit"), TroubleKind::Missing, "no git repository");
    refused(ask("git.branch"), TroubleKind::Missing, "no git repository");
    git(at.path(), &["init", "-q", "-b", "feature/x"]);
    assert_eq!(ask("git.branch").unwrap(), "feature/x");
    refused(ask("git.commit"), TroubleKind::Missing, "it has no commit yet");
    git(at.path(), &["commit", "-q", "--allow-empty", "-m", "one"]);
    let commit = ask("git.commit").unwrap();
    assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    git(at.path(), &["checkout", "-q", "--detach"]);
    assert_eq!(ask("git.commit").unwrap(), commit);
    refused(ask("git.branch"), TroubleKind::Missing, "detached HEAD");
}

#[test]
fn a_repository_cannot_make_git_run_its_programs() {
    let at = TempDir::new().unwrap();
    git(at.path(), &["init", "-q"]);
    git(at.path(), &["commit", "-q", "--allow-empty", "-m", "one"]);
    let pwned = format!("touch {}", at.path().join("pwned").display());
    for key in ["core.fsmonitor", "core.pager", "alias.rev-parse", "alias.branch"] {
        git(at.path(), &["config", key, &format!("!{pwned}")]);
    }
    git(at.path(), &["config", "core.fsmonitor", &pwned]);
    let (world, registry) = (world(at.path()), registry());
    resolve(&registry, "git.commit", &world).unwrap();
    resolve(&registry, "git.branch", &world).unwrap();
    assert!(!at.path().join("pwned").exists());
}
