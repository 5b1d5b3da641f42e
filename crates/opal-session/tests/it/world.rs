//! The world as it is: real shells, real git, real files, a real server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod asking;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use opal_core::resolver::{
    Inputs, MAX_VALUE_BYTES, Probe, Request, Run, ScriptPart, Trouble, TroubleKind,
};
use opal_core::{Data, Registry};
use opal_decorators::registry;
use opal_session::world::{Limits, OsWorld, Surroundings};
use opal_testing::processes::{eventually, is_alive};
use server::{Server, answer};
use tempfile::TempDir;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn surroundings(at: &Path, more: &[(&str, &str)]) -> Surroundings {
    let mut environment: BTreeMap<_, _> =
        more.iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment.entry("PATH".into()).or_insert_with(|| PATH.into());
    Surroundings {
        environment,
        start: at.to_owned(),
        home: Some(at.join("home")),
        ..Surroundings::default()
    }
}

fn world(at: &Path) -> OsWorld {
    OsWorld::new(surroundings(at, &[]))
}

fn hasty(at: &Path) -> OsWorld {
    let limits = Limits { command: Duration::from_secs(2), ..Limits::default() };
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

fn get(world: &OsWorld, url: &str) -> Result<String, Trouble> {
    let headers = BTreeMap::from([("X-Token".to_owned(), Data::text("canary-77"))]);
    let request = Request { url, headers: &headers, timeout: Duration::from_secs(5) };
    world.get(&request).map(|body| body.expose().to_owned())
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
    surroundings.environment.insert("BAD".into(), bytes);
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

#[test]
fn a_page_is_its_body_and_statuses_have_their_kinds() {
    let server = Server::start(|request| match request.path.as_str() {
        "/good" => answer(200, &[], "grüße"),
        "/gone" => answer(404, &[], "canary-99"),
        "/private" => answer(403, &[], ""),
        "/broken" => answer(500, &[], ""),
        "/odd" => answer(304, &[], ""),
        "/binary" => [answer(200, &[("Content-Length", "2")], ""), vec![0xff, 0xfe]].concat(),
        "/noise" => b"this is not http\r\n\r\n".to_vec(),
        _ => unreachable!("{}", request.path),
    });
    let world = world(Path::new("/"));
    let get = |path: &str| get(&world, &server.url(path));
    assert_eq!(get("/good").unwrap(), "grüße");
    refused(get("/gone"), TroubleKind::Missing, "status 404");
    refused(get("/private"), TroubleKind::Denied, "status 403");
    refused(get("/broken"), TroubleKind::Failed, "status 500");
    refused(get("/odd"), TroubleKind::Failed, "status 304");
    refused(get("/binary"), TroubleKind::NotText, "UTF-8");
    refused(get("/noise"), TroubleKind::Failed, "not HTTP");
}

#[test]
fn redirections_are_followed_without_headers_to_strangers_and_not_for_ever() {
    let stranger = Server::start(|request| answer(200, &[], &request.header("x-token")));
    let elsewhere = stranger.url("/");
    let server = Server::start(move |request| match request.path.as_str() {
        "/near" => answer(302, &[("Location", "token?x=1")], ""),
        "/token?x=1" => answer(200, &[], &request.header("x-token")),
        "/far" => answer(307, &[("Location", &elsewhere)], ""),
        "/round" => answer(301, &[("Location", "/round")], ""),
        "/file" => answer(301, &[("Location", "file:///etc/passwd")], ""),
        _ => unreachable!("{}", request.path),
    });
    let world = world(Path::new("/"));
    let get = |path: &str| get(&world, &server.url(path));
    assert_eq!(get("/near").unwrap(), "canary-77");
    assert_eq!(get("/far").unwrap(), "");
    refused(get("/round"), TroubleKind::Failed, "more than 10 times");
    refused(get("/file"), TroubleKind::Invalid, "invalid URL");
}

#[test]
fn a_server_that_only_an_answer_names_is_in_no_message() {
    let stranger = Server::start(|request| match request.path.as_str() {
        "/more" => answer(200, &[], &"x".repeat(MAX_VALUE_BYTES as usize + 1)),
        "/binary" => [answer(200, &[("Content-Length", "2")], ""), vec![0xff, 0xfe]].concat(),
        "/noise" => b"this is not http\r\n\r\n".to_vec(),
        _ => answer(404, &[], ""),
    });
    let elsewhere = stranger.url("");
    let server = Server::start(move |request| {
        let to = match request.path.as_str() {
            "/nowhere" => "http://canary-host.invalid/".to_owned(),
            path => format!("{elsewhere}{path}"),
        };
        answer(302, &[("Location", &to)], "")
    });
    let world = world(Path::new("/"));
    let hidden = stranger.url("").replace("http://", "").trim_end_matches('/').to_owned() + "`";
    for (path, kind) in [
        ("/gone", TroubleKind::Missing),
        ("/more", TroubleKind::TooLarge),
        ("/binary", TroubleKind::NotText),
        ("/noise", TroubleKind::Failed),
        ("/nowhere", TroubleKind::Unreachable),
    ] {
        let trouble = get(&world, &server.url(path)).unwrap_err();
        let words = format!("{trouble:?}");
        assert!(!words.contains("canary") && !words.contains(&hidden), "{words}");
        refused(Err::<(), _>(trouble), kind, "the server that `127.0.0.1:");
    }
}

#[test]
fn large_and_slow_pages_are_refused() {
    let limit = MAX_VALUE_BYTES as usize;
    let server = Server::start(move |request| match request.path.as_str() {
        "/most" => answer(200, &[], &"x".repeat(limit)),
        "/more" => answer(200, &[], &"x".repeat(limit + 1)),
        "/slow" => answer(200, &[("Content-Length", "100")], ""),
        _ => unreachable!("{}", request.path),
    });
    let world = world(Path::new("/"));
    assert_eq!(get(&world, &server.url("/most")).unwrap().len(), limit);
    refused(get(&world, &server.url("/more")), TroubleKind::TooLarge, "8 MiB");
    let (headers, timeout) = (BTreeMap::new(), Duration::from_millis(300));
    let slow = Request { url: &server.url("/slow"), headers: &headers, timeout };
    refused(world.get(&slow), TroubleKind::Unreachable, "did not answer");
}

#[test]
fn servers_that_are_not_there_or_not_who_they_say_are_named_without_credentials() {
    let server = Server::start(|_| answer(200, &[], ""));
    let world = world(Path::new("/"));
    let secure = server.url("/canary-path").replace("http://", "https://user:canary-pw@");
    let trouble = get(&world, &secure).unwrap_err();
    assert!(!format!("{trouble:?}").contains("canary"), "{trouble:?}");
    refused(Err::<(), _>(trouble), TroubleKind::Denied, "invalid certificate");
    let closed = server.stop();
    let trouble = get(&world, &format!("http://u:canary-pw@{closed}/canary")).unwrap_err();
    assert!(!format!("{trouble:?}").contains("canary"), "{trouble:?}");
    refused(Err::<(), _>(trouble), TroubleKind::Unreachable, "cannot be reached");
    refused(
        get(&world, "http://host.invalid/"),
        TroubleKind::Unreachable,
        "`host.invalid` was not found",
    );
    refused(get(&world, "https:///x"), TroubleKind::Invalid, "invalid URL");
}

#[test]
fn a_proxy_comes_from_the_given_environment() {
    let proxy = Server::start(|request| answer(200, &[], &format!("through {}", request.path)));
    let address = proxy.url("");
    let with = |more: &[(&str, &str)]| OsWorld::new(surroundings(Path::new("/"), more));
    let page = "http://host.invalid/x";
    let through = get(&with(&[("http_proxy", &address)]), page);
    assert_eq!(through.unwrap(), "through host.invalid:80/x");
    refused(
        get(&with(&[("HTTP_PROXY", &address)]), page),
        TroubleKind::Unreachable,
        "host.invalid",
    );
    let around = [("http_proxy", address.as_str()), ("no_proxy", "a.example, host.invalid")];
    refused(get(&with(&around), page), TroubleKind::Unreachable, "host.invalid");
}
