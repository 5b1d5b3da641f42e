//! A Docker daemon with a store of its own, a container that runs in it, and a `docker` that knows it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{needs, podman};

const PROGRAM: &str = "/usr/sbin/dockerd";

/// What the image and the container are called.
pub const NAME: &str = "opal-test";

const RUNS: &str = "a Docker daemon that runs here";

/// How long a daemon may take to start, where it can.
const TOO_LONG: Duration = Duration::from_secs(60);

/// It is stopped when it is dropped, with all its containers.
#[derive(Debug)]
pub struct Docker {
    daemon: Child,
    directory: TempDir,
}

impl Docker {
    /// None where the machine has no daemon, or it does not run: in many containers it cannot. Then it is
    /// said why.
    ///
    /// # Panics
    /// If the image cannot be made.
    #[must_use]
    pub fn start(program: &Path) -> Option<Self> {
        if !needs::root() || !needs::has("`dockerd`", Path::new(PROGRAM).exists()) {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        let log = fs::File::create(at("log")).unwrap();
        // Nothing of this machine's network is changed.
        let daemon = command(PROGRAM)
            .args([
                "--storage-driver=vfs",
                "--iptables=false",
                "--ip6tables=false",
                "--bridge=none",
            ])
            .args(["--data-root", &at("data"), "--exec-root", &at("run"), "--pidfile", &at("pid")])
            .args(["-H", &format!("unix://{}", at("socket"))])
            .stderr(log)
            .spawn()
            .unwrap();
        let mut docker = Self { daemon, directory };
        docker.write_program();
        if !docker.answers_in_time() {
            let log = fs::read_to_string(docker.directory.path().join("log")).unwrap_or_default();
            let why = log.lines().last().unwrap_or_default().to_owned();
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("{why}\n").as_bytes());
            let _ = needs::has(RUNS, false);
            return None;
        }
        let archive = podman::image(docker.directory.path(), program);
        assert!(docker.run(&["import", archive.to_str().unwrap(), NAME]));
        let stays = ["sh", "-c", "while :; do sleep 60; done"];
        let run = ["run", "-d", "--name", NAME, "--network", "host", NAME];
        let has_container = docker.run(&[&run[..], &stays].concat());
        needs::has(RUNS, has_container).then_some(docker)
    }

    fn answers_in_time(&mut self) -> bool {
        let since = Instant::now();
        while since.elapsed() < TOO_LONG && self.daemon.try_wait().unwrap().is_none() {
            if self.run(&["version"]) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    fn write_program(&self) {
        let bin = self.directory.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let socket = self.directory.path().join("socket");
        let text =
            format!("#!/bin/sh\nexec /usr/bin/docker -H unix://{} \"$@\"\n", socket.display());
        fs::write(bin.join("docker"), text).unwrap();
        fs::set_permissions(bin.join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Where its socket is, as programs name it.
    #[must_use]
    pub fn host(&self) -> String {
        format!("unix://{}", self.directory.path().join("socket").display())
    }

    /// `$PATH` with the `docker` of this daemon first.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the programs of the system are found in it")]
    pub fn path(&self) -> OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.directory.path().join("bin"));
        std::env::join_paths(own.chain(std::env::split_paths(&others))).unwrap()
    }

    /// Runs `docker` with these words.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn run(&self, words: &[&str]) -> bool {
        let program = self.directory.path().join("bin/docker");
        command(program.to_str().unwrap()).args(words).status().unwrap().success()
    }

    /// The containers that there are, in any state.
    ///
    /// # Panics
    /// If `docker` cannot be started.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let program = self.directory.path().join("bin/docker");
        let mut list = command(program.to_str().unwrap());
        let listed = list.args(["ps", "--all", "--format", "{{.Names}}"]).stdout(Stdio::piped());
        let listed = String::from_utf8_lossy(&listed.output().unwrap().stdout).into_owned();
        listed.lines().map(str::to_owned).collect()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        for name in self.names() {
            let _ = self.run(&["rm", "--force", &name]);
        }
        let _ = command("kill").arg(self.daemon.id().to_string()).status();
        let _ = self.daemon.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the programs are the system's")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
