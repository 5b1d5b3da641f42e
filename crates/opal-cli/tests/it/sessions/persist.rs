//! Connections that stay open from run to run: `[ssh] persist`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opal_testing::processes::eventually;
use opal_testing::sshd::Sshd;

use crate::servers::servers;
use crate::support::Opal;

/// Says which connection it runs over.
const SOURCE: &str = "fun task() {\n    @ssh.host(\"web1\") {\n        echo \"$SSH_CONNECTION\"\n    }\n}\n\n\
                      fun other() {\n    @ssh.host(\"web1\", connect_timeout=11s) {\n        \
                      echo \"$SSH_CONNECTION\"\n    }\n}\n\n\
                      fun agent() {\n    @ssh.host(\"web1\", forward_agent=true) {\n        \
                      echo \"$SSH_CONNECTION\"\n    }\n}\n\n\
                      fun asked() {\n    @ssh.host(\"web1\", password=@secret.env.PASSWORD) {\n        \
                      echo \"$SSH_CONNECTION\"\n    }\n}\n\n\
                      fun plain() {\n    @ssh.host(\"web1\", helper=\"none\") {\n        \
                      echo \"$SSH_CONNECTION\"\n        echo \"$SSH_CONNECTION\"\n    }\n}\n";

/// Waits to be interrupted.
const WAITING: &str = "\nfun wait() {\n    @ssh.host(\"web1\") {\n        echo started\n        \
                       sleep 60\n    }\n}\n";

/// A project whose connections stay open. They end with it.
struct Persisting {
    _sshd: Sshd,
    opal: Opal,
    root: PathBuf,
}

impl Persisting {
    fn new(settings: &str, root: &str) -> Option<Self> {
        let (sshd, opal) = servers(&["web1"], &[SOURCE, WAITING].concat())?;
        let root = opal.path().join(root);
        fs::create_dir_all(root.join("config")).unwrap();
        fs::write(root.join("config/settings.toml"), settings).unwrap();
        let opal = opal.args(["--root", root.to_str().unwrap()]).env("PASSWORD", "canary-61626162");
        Some(Self { _sshd: sshd, opal, root })
    }

    fn minute() -> Option<Self> {
        Self::new("[ssh]\npersist = \"60s\"\n", "root")
    }

    /// The connection that a task runs over.
    fn connection(&self, task: &str) -> String {
        self.opal.call(&[task]).code(0).stdout.clone()
    }

    fn sockets(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.root.join("ssh")) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_none()).collect()
    }
}

/// What a person can ask a master.
#[expect(clippy::disallowed_methods, reason = "ssh is another program, run by a test")]
fn control(what: &str, socket: &Path) -> (bool, String) {
    let mut command = Command::new("/usr/bin/ssh");
    let output = command.args(["-O", what, "-S"]).arg(socket).arg("_").output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn is_alive(socket: &Path) -> bool {
    control("check", socket).0
}

impl Drop for Persisting {
    fn drop(&mut self) {
        for socket in self.sockets() {
            let _ = control("exit", &socket);
        }
    }
}

#[test]
fn a_connection_stays_open_only_if_the_settings_say_so() {
    let Some(this) = Persisting::minute() else { return };
    let first = this.connection("task");
    // The run has ended and its output is closed, while the connection is still there.
    let [socket] = &this.sockets()[..] else { panic!("{:?}", this.sockets()) };
    assert!(is_alive(socket));
    assert_eq!(this.connection("task"), first);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&this.root.join("ssh")), 0o700);
    assert_eq!(mode(&socket.with_extension("log")), 0o600);
    // A person ends it.
    assert!(control("exit", socket).0);
    assert_ne!(this.connection("task"), first);

    for settings in ["", "[ssh]\npersist = \"0s\"\n"] {
        let Some(this) = Persisting::new(settings, "root") else { return };
        assert_ne!(this.connection("task"), this.connection("task"));
        assert!(!this.root.join("ssh").exists());
    }
}

#[test]
fn a_block_never_uses_the_master_of_another_block() {
    let Some(this) = Persisting::minute() else { return };
    let first = this.connection("task");
    let other = this.connection("other");
    assert_ne!(first, other);
    assert_eq!((this.connection("task"), this.connection("other")), (first.clone(), other));
    assert_eq!(this.sockets().len(), 2);
    // Whoever forwards an agent shares no connection.
    assert_ne!(this.connection("agent"), this.connection("agent"));
    assert_eq!(this.sockets().len(), 2);
    // Nor does whoever logs in with a password: a master would let others in without it.
    assert_ne!(this.connection("asked"), this.connection("asked"));
    assert_eq!(this.sockets().len(), 2);
    // Nor does a contract: the key of the host is checked each time.
    this.opal.call(&["plan", "task", "-o", "a.plan"]).code(0);
    for _ in 0..2 {
        let ran = this.opal.call(&["run", "--plan", "a.plan"]);
        assert_ne!(ran.code(0).stdout, first);
    }
    assert_eq!(this.sockets().len(), 2);
}

#[test]
fn commands_without_a_helper_share_a_connection_too() {
    let Some(this) = Persisting::minute() else { return };
    let printed = this.connection("plain");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(matches!(lines[..], [first, second] if first == second), "{lines:?}");
}

#[test]
fn an_interrupt_does_not_end_a_master() {
    let Some(this) = Persisting::minute() else { return };
    let mut command = this.opal.interruptible();
    command.arg("wait").process_group(0).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let [socket] = &this.sockets()[..] else { panic!("{:?}", this.sockets()) };
    assert!(is_alive(socket));
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_alive(socket));
}

#[test]
fn a_dead_master_and_its_socket_are_replaced() {
    let Some(this) = Persisting::minute() else { return };
    let first = this.connection("task");
    let [socket] = &this.sockets()[..] else { panic!("{:?}", this.sockets()) };
    let (_, said) = control("check", socket);
    let pid: String = said.chars().filter(char::is_ascii_digit).collect();
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    eventually("the master ends", || !is_alive(socket));
    assert!(socket.exists());
    let second = this.connection("task");
    assert_ne!(first, second);
    assert_eq!(this.connection("task"), second);
    // Another file in its place is not a master either.
    assert!(control("exit", socket).0);
    eventually("the socket goes", || !socket.exists());
    fs::write(socket, "").unwrap();
    let third = this.connection("task");
    assert_eq!(this.connection("task"), third);
}

#[test]
fn where_no_socket_can_be_the_connection_is_made_as_usual() {
    let long = "r".repeat(100);
    for root in [&*long, "with \"quotes\"", "100%h"] {
        let Some(this) = Persisting::new("[ssh]\npersist = \"60s\"\n", root) else { return };
        assert_ne!(this.connection("task"), this.connection("task"));
        assert!(this.sockets().is_empty());
    }
    // A directory that others can enter is not used.
    let Some(this) = Persisting::minute() else { return };
    fs::create_dir(this.root.join("ssh")).unwrap();
    fs::set_permissions(this.root.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(this.connection("task"), this.connection("task"));
    assert!(this.sockets().is_empty());
    // Spaces are fine.
    let Some(this) = Persisting::new("[ssh]\npersist = \"60s\"\n", "a b") else { return };
    assert_eq!(this.connection("task"), this.connection("task"));
}

#[test]
fn settings_that_are_not_understood_are_an_error_with_their_line() {
    let Some(this) = Persisting::new("[ssh]\npersists = \"60s\"\n", "root") else { return };
    let ran = this.opal.call(&["task"]);
    ran.says("settings.toml:2: unknown key `persists`").says("did you mean `persist`?");
    // Before the run, and not for each host.
    assert_eq!((ran.code, ran.stderr.matches("unknown key").count()), (78, 1), "{}", ran.stderr);
    ran.hides("TARGET").hides("unreachable");
}
