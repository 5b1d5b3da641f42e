//! Programs that are not what they should be: each is refused for its reason, and nothing is left of it.

use std::path::Path;
use std::time::{Duration, Instant};

use opal_terraform::client::Provider;
use opal_terraform::process::Process;

use opal_core::protocol::Body;
use opal_core::protocol::call::Resolved;

use crate::helper::{Helper, loading};
use crate::support::{LIMIT, directory, provider, real, run, script, start};

/// What is left in a directory of ours.
fn left(directory: &Path) -> Vec<String> {
    let all = std::fs::read_dir(directory).unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("opal-tf-")).collect()
}

fn lives(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_program_that_is_not_a_provider_is_refused_with_its_reason() {
    let home = directory();
    let line = |line: &str| format!("printf '{line}\\n'; exec sleep 100");
    for (name, lines, why) in [
        ("silent_end", "exit 3".to_owned(), "it ended before its handshake line (exit code 3)"),
        ("last_words", "echo no cookie >&2; exit 1".to_owned(), "(exit code 1):\nno cookie"),
        ("crash", "kill -SEGV $$".to_owned(), "(signal 11)"),
        ("endless", "exec tr '\\0' x </dev/zero".to_owned(), "longer than 4096 bytes"),
        ("closed", "exec >&- ; exec sleep 100".to_owned(), "its output ended"),
        ("noise", line("hello"), "too few parts"),
        ("bytes", line("\\xff\\xfe"), "not text"),
        ("four", line("1|4|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|"), "protocols 5 and 6"),
        ("seven", line("1|7|unix|/s|grpc|"), "protocols 5 and 6"),
        ("tcp", line("1|5|tcp|127.0.0.1:9|grpc|"), "not a unix socket"),
        ("netrpc", line("1|5|unix|/s|netrpc|"), "does not speak gRPC"),
        ("elsewhere", line("1|5|unix|/tmp/s|grpc|"), "not in the directory"),
        ("tls", line("1|5|unix|/s|grpc|MIIB"), "a certificate"),
        ("absent", own_line("s"), "its socket cannot be used"),
        ("file", format!("touch $PLUGIN_UNIX_SOCKET_DIR/s; {}", own_line("s")), "not a socket"),
        (
            "link",
            format!("ln -s /run $PLUGIN_UNIX_SOCKET_DIR/s; {}", own_line("s")),
            "not a socket",
        ),
    ] {
        let program = script(home.path(), name, &lines);
        let refused = run(async { provider(&program, home.path()).await.err() });
        let message = refused.expect(name).message("acme 1.0.0").expose().to_owned();
        assert!(message.starts_with("acme 1.0.0: ") && message.contains(why), "{name}: {message}");
        assert!(left(home.path()).is_empty(), "{name}");
    }
}

fn own_line(socket: &str) -> String {
    format!("echo \"1|5|unix|$PLUGIN_UNIX_SOCKET_DIR/{socket}|grpc|\"; exec sleep 100")
}

#[test]
fn a_program_that_cannot_be_executed_is_refused() {
    let home = directory();
    let refused = run(async { provider(&home.path().join("nothing"), home.path()).await.err() });
    let message = refused.unwrap().message("acme 1.0.0").expose().to_owned();
    assert!(message.contains("exit code 126"), "{message}");
}

#[test]
fn a_socket_on_which_another_process_answers_is_refused() {
    let home = directory();
    // Ours listens, and the provider only names the socket.
    let lines = "while ! [ -S $PLUGIN_UNIX_SOCKET_DIR/s ]; do :; done; \
                 echo \"1|5|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|\"; exec sleep 100";
    let program = script(home.path(), "other", lines);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if let Some(name) = left(home.path()).first() {
                    let socket = home.path().join(name).join("s");
                    let _listener = std::os::unix::net::UnixListener::bind(socket);
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                }
            }
        });
        let refused = run(async { provider(&program, home.path()).await.err() });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        refused
    });
    let message = refused.unwrap().message("acme 1.0.0").expose().to_owned();
    assert!(message.contains("another process answers on its socket"), "{message}");
}

#[test]
fn a_process_that_ignores_term_and_its_children_are_killed() {
    let home = directory();
    // One child in its group, one in a session of its own.
    let lines = format!(
        "trap '' TERM; sleep 1000 & echo $! >{0}/a; setsid bash -c 'echo $$ >{0}/b; exec sleep 1000' & \
         while ! [ -s {0}/b ]; do :; done; echo \"1|5|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|\"; \
         while :; do read -t 1000 <>/dev/zero; done",
        home.path().display()
    );
    let program = script(home.path(), "stubborn", &lines);
    run(async {
        let process = Process::start(&start(&program, home.path())).await.unwrap();
        process.stop().await;
    });
    for name in ["a", "b"] {
        let id = std::fs::read_to_string(home.path().join(name)).unwrap();
        let id = id.trim().parse().unwrap();
        opal_testing::processes::eventually("it is gone", || !lives(id));
    }
    assert!(left(home.path()).is_empty());
}

#[test]
fn a_real_provider_starts_answers_and_leaves_nothing() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let id = run(async {
        let began = Instant::now();
        let provider = Provider::start(&start(&program, home.path()), LIMIT).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(provider.schemas().resources.contains_key("local_file"));
        let id = provider.process().id();
        provider.stop().await;
        id
    });
    assert!(!lives(id));
    assert!(left(home.path()).is_empty());
}

#[test]
fn a_provider_that_is_killed_is_named_with_its_signal() {
    let Some(program) = real("local") else { return };
    let home = directory();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        let id = i32::try_from(provider.process().id()).unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        let trouble = provider.configure(opal_terraform::value::Value::map([])).await.unwrap_err();
        let trouble = provider.explain(trouble).await;
        let message = trouble.message("local 2.5.3").expose().to_owned();
        assert!(trouble.is_crash() && message.contains("(signal 9)"), "{message}");
        assert!(message.starts_with("local 2.5.3, ValidateProviderConfig: "), "{message}");
    });
}

#[test]
fn a_provider_ends_with_its_helper() {
    let Some(program) = real("local") else { return };
    let home = directory();
    // A shell is the helper here: it executes the provider through the launcher, and is killed.
    let lines = format!(
        "export TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2\n\
         export PLUGIN_PROTOCOL_VERSIONS=5 PLUGIN_UNIX_SOCKET_DIR={home}\n\
         mkdir {home}/keys; {launcher} exec $$ named 1 {home}/keys {program} >{home}/line & echo $! >{home}/id; wait",
        home = home.path().display(),
        launcher = env!("CARGO_BIN_EXE_opal-terraform"),
        program = program.display(),
    );
    let shell = script(home.path(), "shell", &lines);
    #[expect(clippy::disallowed_methods, reason = "it is killed before the test ends")]
    let mut shell = std::process::Command::new(shell).spawn().unwrap();
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap_or_default();
    opal_testing::processes::eventually("its line", || read("line").ends_with('\n'));
    let id = read("id").trim().parse().unwrap();
    assert!(lives(id));
    shell.kill().unwrap();
    shell.wait().unwrap();
    opal_testing::processes::eventually("it is gone", || !lives(id));
}

#[test]
fn a_provider_does_not_see_what_is_covered() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let keys = home.path().join("keys");
    std::fs::create_dir(&keys).unwrap();
    std::fs::write(keys.join("id"), "canary-key").unwrap();
    std::fs::write(home.path().join("plain"), "seen").unwrap();
    let mut helper = Helper::start(home.path());
    let covers = helper.call("package.covers", Body::default()).unwrap();
    let works: bool = covers.get("covers").unwrap();
    if !opal_testing::needs::has("namespaces of mounts", works) {
        return;
    }
    let args = |name: &str| format!(r#"{{"filename":"{}/{name}"}}"#, home.path().display());
    for covered in [vec![keys.display().to_string(), "/nowhere".to_owned()], vec![]] {
        let is_covered = !covered.is_empty();
        let load = loading(&program, home.path(), "{}", "{}").with("covered", &Some(covered));
        helper.call("load", load).unwrap();
        let plain = helper.ask("value.resolve", "local_file", &args("plain")).unwrap();
        assert!(plain.read::<Resolved>().unwrap().value.expose().contains("seen"));
        let key = helper.ask("value.resolve", "local_file", &args("keys/id"));
        assert_eq!(key.is_err(), is_covered, "{key:?}");
    }
    helper.end();
    // Only the provider had another view.
    assert!(keys.join("id").exists());
}
