//! The process of the helper: what it gave up, how it ends, and that it leaves nothing.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use opal_core::protocol::call::Function;
use opal_plugins::client::failure::Why;
use opal_plugins::client::{Ended, Host};

use super::fixtures::{BUILD, Opal, component, hosts, invocation, program, resolve};

fn is_there(pid: u32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok()
}

fn kill(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_helper_of_another_build_is_not_used() {
    let ended = Host::start(program(), "another").unwrap_err();
    assert_eq!(ended, Ended::OtherBuild(BUILD.to_owned()));
}

#[test]
fn a_helper_ends_with_opal_and_with_its_run() {
    let host = Host::start(program(), BUILD).unwrap();
    let pid = host.pid();
    assert!(is_there(pid));
    drop(host);
    assert!(!is_there(pid));
}

#[test]
fn a_helper_has_no_variables_and_is_confined() {
    let hosts = hosts();
    resolve(&hosts, &component(), "guest.subject", "").unwrap();
    let pid = hosts.pids()[0];
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let has = |line: &str| {
        status.lines().any(|it| it.split_whitespace().collect::<Vec<_>>().join(" ") == line)
    };
    assert!(has("Seccomp: 2"), "{status}");
    assert!(has("NoNewPrivs: 1"), "{status}");
    assert_eq!(fs::read(format!("/proc/{pid}/environ")).unwrap_or_default(), b"");
}

#[test]
fn a_crash_fails_the_open_call_by_name_and_the_helper_restarts_once() {
    let (hosts, guest) = (hosts(), component());
    let crash = || {
        resolve(&hosts, &guest, "guest.subject", "").unwrap();
        let pid = hosts.pids()[0];
        std::thread::scope(|scope| {
            let call = scope.spawn(|| resolve(&hosts, &guest, "guest.loop", ""));
            std::thread::sleep(Duration::from_millis(50));
            kill(pid, "-KILL");
            let failure = call.join().unwrap().unwrap_err();
            let said = failure.trouble().message.to_string();
            assert_eq!(
                said,
                "plugin `acme/guest` 1.2.3, `@guest.loop`: the helper was ended by SIGKILL"
            );
            assert_eq!(failure.code(), 69);
        });
        assert!(!is_there(pid));
    };
    crash();
    crash();
    let failure = resolve(&hosts, &guest, "guest.subject", "").unwrap_err();
    assert!(matches!(failure.why, Why::CrashedAgain(Ended::Signal(9))), "{failure:?}");
}

#[test]
fn a_helper_that_hangs_is_ended_when_the_run_is_stopped() {
    let (hosts, guest) = (hosts(), component());
    resolve(&hosts, &guest, "guest.subject", "").unwrap();
    let pid = hosts.pids()[0];
    kill(pid, "-STOP");
    let mut opal = Opal { is_stopped: true, ..Opal::default() };
    let it = invocation("guest.subject", "");
    let failure = hosts.call(&guest, Function::Resolve, &it, &mut opal).unwrap_err();
    assert!(matches!(failure.why, Why::Crashed(Ended::Silent)), "{failure:?}");
    wait_until("the helper is gone", || !is_there(pid));
}

#[test]
fn a_package_with_secrets_has_a_process_of_its_own() {
    let hosts = hosts();
    let mut alone = component();
    alone.is_alone = true;
    alone.name = "acme/alone".to_owned();
    resolve(&hosts, &component(), "guest.subject", "").unwrap();
    resolve(&hosts, &alone, "guest.subject", "").unwrap();
    assert_eq!(hosts.pids().len(), 2);
}

#[test]
fn garbage_ends_the_helper_at_once() {
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    for bytes in [
        &b"{}\n"[..],
        b"nonsense\n",
        b"{\"id\":1,\"call\":\"other\"}\n",
        b"{\"id\":5,\"ok\":{}}\n",
        &[b'x'; (1 << 20) + 1],
    ] {
        let (mut own, theirs) = UnixStream::pair().unwrap();
        let mut child = Command::new(program()).stdin(OwnedFd::from(theirs)).spawn().unwrap();
        let _ = own.write_all(bytes);
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(76), None));
    }
    // Standard input that is not a socket.
    let status = Command::new(program()).stdin(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(76));
}
