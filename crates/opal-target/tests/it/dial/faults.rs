//! Networks that fail, and parties that are killed: nothing is left running, and never are there two
//! sessions at once.

use std::fs;
use std::path::Path;
use std::time::Duration;

use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::target::Hop;
use opal_remote::{Mode, RemoteSession, Terms};
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_testing::account::Account;
use opal_testing::processes;
use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;

use super::support::{Caller, act, act_as, nothing_runs_as, pids_of, run, ssh, try_run, world};

/// A server after a network that can fail.
struct Far {
    proxy: Proxy,
    caller: Caller,
    hop: Hop,
    // Last, so that it is there as long as anybody uses it.
    sshd: Sshd,
}

impl Far {
    fn new() -> Option<Self> {
        let mut sshd = Sshd::start()?;
        let proxy = Proxy::start(sshd.port());
        // The key of a server does not depend on the port that it is reached by.
        let alias = format!("Host *\nHostKeyAlias [127.0.0.1]:{}\n", sshd.port());
        sshd.configure(&alias);
        let mut caller = Caller::of(&sshd);
        let (ping, lost) = (Duration::from_millis(300), Duration::from_secs(3));
        caller.timing = Timing { ping, lost };
        let hop = ssh(&format!("{}@127.0.0.1:{}", sshd.account().name, proxy.port()));
        Some(Self { proxy, caller, hop, sshd })
    }

    fn act(&self) -> RemoteSession {
        act_as(self.caller.dial(&self.hop, Mode::Effect).unwrap(), "dial-test")
    }

    fn home(&self) -> &Path {
        &self.sshd.account().home
    }

    fn nothing_is_left(&self) {
        nothing_runs_as(self.sshd.account().uid());
    }

    /// Runs a command for ever, and does something once it has begun: why it did not end.
    fn while_it_runs(&self, session: &RemoteSession, then: impl FnOnce() + Send) -> Trouble {
        let script = "echo $$ >pid.new; mv pid.new pid; sleep 1000 & sleep 1000";
        let pid = self.home().join("pid");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                processes::eventually("the command runs", || pid.exists());
                then();
            });
            try_run(session, self.home(), script).unwrap_err()
        })
    }
}

#[test]
fn a_network_that_is_cut_loses_the_step_and_leaves_nothing_running() {
    let Some(far) = Far::new() else { return };
    let session = far.act();
    let trouble = far.while_it_runs(&session, || far.proxy.cut());
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    far.nothing_is_left();
}

#[test]
fn a_half_open_connection_is_lost_and_the_next_one_waits_until_the_old_helper_is_gone() {
    let Some(far) = Far::new() else { return };
    let session = far.act();
    let trouble = far.while_it_runs(&session, || far.proxy.stall());
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    far.proxy.heal();
    let dialled = far.caller.dial(&far.hop, Mode::Effect).unwrap();
    let terms = Terms { marker: "dial-test".to_owned(), ..Terms::default() };
    let again = dialled.act_again(terms, world(), &Stop::new()).unwrap();
    let pid = fs::read_to_string(far.home().join("pid")).unwrap();
    assert!(!processes::is_alive(&pid), "never two at once");
    let helpers = pids_of(far.sshd.account().uid()).into_iter().filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("opal-target")
    });
    assert_eq!(helpers.count(), 1, "the old helper is gone");
    assert_eq!(run(&again, Path::new("/"), "echo back").0, "back\n");
    drop((session, again));
    // Of the half-open connection, the server still has its own part.
    far.proxy.cut();
    far.nothing_is_left();
}

#[test]
fn what_a_killed_helper_has_left_is_ended_by_the_next_one() {
    let Some(far) = Far::new() else { return };
    let session = far.act();
    let uid = far.sshd.account().uid();
    let trouble = far.while_it_runs(&session, || kill_helpers(uid));
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    let pid = fs::read_to_string(far.home().join("pid")).unwrap();
    assert!(processes::is_alive(&pid), "nobody was there to end it");
    let dialled = far.caller.dial(&far.hop, Mode::Effect).unwrap();
    let terms = Terms { marker: "dial-test".to_owned(), ..Terms::default() };
    let again = dialled.act_again(terms, world(), &Stop::new()).unwrap();
    assert!(!processes::is_alive(&pid));
    drop((session, again));
    far.nothing_is_left();
}

/// As the system does it when memory runs out: they and whoever would end
/// what they leave, all at once.
fn kill_helpers(uid: u32) {
    let is_helper = |pid: &String| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let has = |part: &[u8]| line.windows(part.len()).any(|at| at == part);
        has(b"opal-target-") || has(b"--guard")
    };
    let helpers: Vec<String> = pids_of(uid).into_iter().filter(is_helper).collect();
    for signal in ["-STOP", "-KILL"] {
        std::process::Command::new("kill").arg(signal).args(&helpers).status().unwrap();
    }
}

#[test]
fn a_session_whose_old_helper_does_not_go_stays_lost() {
    let Some(far) = Far::new() else { return };
    let first = far.act();
    // It is not lost at all.
    let dialled = far.caller.dial(&far.hop, Mode::Effect).unwrap();
    let stop = Stop::new().limited(Duration::from_secs(1), Duration::ZERO);
    let terms = || Terms { marker: "dial-test".to_owned(), ..Terms::default() };
    let trouble = dialled.act_again(terms(), world(), &stop).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    assert!(trouble.message.contains("still active"), "{trouble:?}");
    // Another session of the run has nothing to do with it.
    let dialled = far.caller.dial(&far.hop, Mode::Effect).unwrap();
    let other = Terms { marker: "dial-other".to_owned(), ..Terms::default() };
    dialled.act_again(other, world(), &Stop::new()).unwrap();
    drop(first);
}

#[test]
fn a_connection_that_is_cut_at_any_byte_is_an_error_and_leaves_nothing() {
    let Some(far) = Far::new() else { return };
    drop(far.act());
    for bytes in [0, 30, 1000, 2000, 3000, 4000, 4400, 4800, 5200, 6000] {
        far.proxy.cut_after(bytes);
        if let Ok(dialled) = far.caller.dial(&far.hop, Mode::Effect) {
            let session = act(dialled);
            let trouble =
                try_run(&session, Path::new("/"), "head -c 100000 /dev/zero").unwrap_err();
            assert_eq!(trouble.kind, TroubleKind::Lost, "{bytes}: {trouble:?}");
        }
    }
    far.proxy.cut_after(u64::MAX);
    far.nothing_is_left();
    assert_eq!(run(&far.act(), Path::new("/"), "echo fine").0, "fine\n");
}

#[test]
fn an_upload_that_is_cut_leaves_no_helper_that_is_used() {
    let Some(far) = Far::new() else { return };
    far.proxy.cut_after(4_500);
    let _ = far.caller.dial(&far.hop, Mode::Effect);
    // And in the middle of all that a session that only reads sends.
    for bytes in [3_900, 4_200, 4_500, 4_800] {
        far.proxy.cut_after(bytes);
        let _ = far.caller.dial(&far.hop, Mode::ReadOnly);
    }
    far.proxy.cut_after(u64::MAX);
    far.nothing_is_left();
    assert_eq!(super::ssh::left(&far.sshd), Vec::<String>::new());
    let session = far.act();
    assert_eq!(run(&session, Path::new("/"), "echo whole").0, "whole\n");
    let cache = fs::read_dir(far.home().join(".cache/opal")).unwrap().count();
    assert_eq!(cache, 1, "nothing half is left");
}

#[test]
fn a_slow_network_is_only_slow() {
    let Some(far) = Far::new() else { return };
    drop(far.act());
    far.proxy.delay(Duration::from_millis(20));
    assert_eq!(run(&far.act(), Path::new("/"), "echo slow").0, "slow\n");
}

#[test]
fn whoever_is_killed_nothing_is_left_running() {
    let Some(far) = Far::new() else { return };
    let (uid, port) = (far.sshd.account().uid(), far.proxy.port());
    type Killer = Box<dyn Fn() + Send + Sync>;
    let killers: [(&str, Killer); 2] = [
        // The client, by the port on its command line.
        ("ssh", Box::new(move || kill(&["-KILL", "-f", &format!("ssh .*-p {port} ")]))),
        // The part of the server that belongs to the account.
        ("sshd", Box::new(move || kill(&["-KILL", "-U", &uid.to_string(), "sshd"]))),
    ];
    for (who, killer) in killers {
        let session = far.act();
        let _ = fs::remove_file(far.home().join("pid"));
        let trouble = far.while_it_runs(&session, killer);
        assert_eq!(trouble.kind, TroubleKind::Lost, "{who}: {trouble:?}");
        far.nothing_is_left();
    }
}

/// Only processes of this test: by its port, or by its account.
fn kill(words: &[&str]) {
    assert!(std::process::Command::new("pkill").args(words).status().unwrap().success());
}

#[test]
fn another_user_or_machine_after_a_loss_is_noticed() {
    let Some(sshd) = Sshd::start() else { return };
    let caller = Caller::of(&sshd);
    let identity = |address: &str| caller.dial(&ssh(address), Mode::ReadOnly).unwrap().identity();
    let first = identity(&sshd.address());
    assert_eq!(identity(&sshd.address()), first);
    let other = Account::new("/bin/sh").unwrap();
    assert_ne!(identity(&sshd.address_of(&other.name)), first);
}
