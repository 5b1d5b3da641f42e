//! A real SSH server on a port of its own, with its own keys and configuration, and an `ssh` that
//! knows it.
//!
//! Programs find that `ssh` first in [`Sshd::path`]: it is the system's, with the configuration of the
//! test instead of the user's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::account::Account;
use crate::network::Network;
use crate::{needs, processes};

const PROGRAM: &str = "/usr/sbin/sshd";
const MACHINE_ID: &str = "/etc/machine-id";

/// The file with the name of the network that a server is in.
const NETWORK: &str = "network";

/// It is stopped when it is dropped.
#[derive(Debug)]
pub struct Sshd {
    directory: TempDir,
    server: Child,
    port: u16,
    account: Option<Account>,
    /// Where it listens.
    address: String,
    /// What was added to the configuration of the client.
    added: String,
}

impl Sshd {
    /// A server with an account whose login shell is `sh`; none where the machine has no server, or the
    /// tests do not run as root.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with("/bin/sh", &[])
    }

    /// The same with another login shell, and more lines for the configuration of the server.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn start_with(shell: &str, lines: &[&str]) -> Option<Self> {
        if !needs::has("an SSH server", Path::new(PROGRAM).exists()) {
            return None;
        }
        let account = Account::new(shell)?;
        Some(Self::serve(Some(account), lines))
    }

    /// The same on what says that it is another machine: its machine ID is in `machine-id` of the
    /// directory, which everybody may write, and its `/srv` is `srv` of the directory.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn start_as_machine(id: &str) -> Option<Self> {
        let has_both = Path::new("/usr/bin/unshare").exists() && Path::new(MACHINE_ID).exists();
        if !needs::has("unshare, and a machine ID", has_both) {
            return None;
        }
        let mut sshd = Self::start()?;
        sshd.stop();
        fs::create_dir(sshd.directory().join("srv")).unwrap();
        let file = sshd.directory().join("machine-id");
        fs::write(&file, id).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        sshd.restart(&[]);
        Some(sshd)
    }

    /// A server that lets root in, and nobody else is needed.
    #[must_use]
    pub fn start_for_root() -> Option<Self> {
        let is_there = needs::has("an SSH server", Path::new(PROGRAM).exists());
        (is_there && needs::root()).then(|| Self::serve(None, &[]))
    }

    /// A server with an account in another network.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn start_in(network: &Network) -> Option<Self> {
        if !needs::has("an SSH server", Path::new(PROGRAM).exists()) {
            return None;
        }
        Some(Self::serve_in(Some(Account::new("/bin/sh")?), &[], Some(network)))
    }

    fn serve(account: Option<Account>, lines: &[&str]) -> Self {
        Self::serve_in(account, lines, None)
    }

    fn serve_in(account: Option<Account>, lines: &[&str], network: Option<&Network>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        if let Some(network) = network {
            fs::write(directory.path().join(NETWORK), network.name()).unwrap();
        }
        // The account reads which keys it accepts.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
        for key in ["host", "id"] {
            keygen(&directory.path().join(key));
        }
        fs::copy(directory.path().join("id.pub"), directory.path().join("keys")).unwrap();
        // Its directory for processes without rights.
        fs::create_dir_all("/run/sshd").unwrap();
        let address = network.map_or("127.0.0.1", Network::address).to_owned();
        let (server, port) = serve(directory.path(), &address, lines);
        let mut sshd = Self { directory, server, port, account, address, added: String::new() };
        sshd.know_host();
        sshd.configure("");
        sshd
    }

    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// # Panics
    /// If the server is for root alone.
    #[must_use]
    pub fn account(&self) -> &Account {
        self.account.as_ref().unwrap()
    }

    /// `user@127.0.0.1:port` of the account.
    #[must_use]
    pub fn address(&self) -> String {
        self.address_of(&self.account().name)
    }

    /// The same of another account, which the same key opens.
    #[must_use]
    pub fn address_of(&self, user: &str) -> String {
        format!("{user}@{}:{}", self.address, self.port)
    }

    /// `$PATH` with the client of this server first.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the programs of the system are found in it")]
    pub fn path(&self) -> OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.directory().join("bin"));
        std::env::join_paths(own.chain(std::env::split_paths(&others))).unwrap()
    }

    /// An environment with nothing but that.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<OsString, OsString> {
        BTreeMap::from([("PATH".into(), self.path())])
    }

    /// Names under which the client finds this server, as `Host` in its configuration.
    pub fn name_hosts(&mut self, names: &[&str]) {
        let (user, port, address) = (&self.account().name, self.port, &self.address);
        let names = names.join(" ");
        self.configure(&format!("Host {names}\nHostName {address}\nPort {port}\nUser {user}\n"));
    }

    /// The client of this server knows another one by a name, too.
    pub fn name_other(&mut self, name: &str, other: &Self) {
        let (user, port) = (&other.account().name, other.port);
        let folder = other.directory().display();
        self.configure(&format!(
            "Host {name}\nHostName 127.0.0.1\nPort {port}\nUser {user}\nIdentityFile {folder}/id\n\
             UserKnownHostsFile {folder}/known_hosts\n"
        ));
    }

    /// Adds to the configuration of the client, before what is there.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn configure(&mut self, lines: &str) {
        self.added.insert_str(0, lines);
        let folder = self.directory.path().display();
        let mut text = self.added.clone();
        let _ = write!(
            text,
            "Host *\nIdentityFile {folder}/id\nIdentitiesOnly yes\nUserKnownHostsFile \
             {folder}/known_hosts\nGlobalKnownHostsFile /dev/null\nKexAlgorithms curve25519-sha256\n"
        );
        let config = self.directory.path().join("ssh_config");
        fs::write(&config, text).unwrap();
        let bin = self.directory.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("ssh");
        let script = format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", config.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[must_use]
    pub fn known_hosts(&self) -> PathBuf {
        self.directory().join("known_hosts")
    }

    /// The client knows the key of the server.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn know_host(&self) {
        let line = format!("[{}]:{} {}", self.address, self.port, self.host_key());
        fs::write(self.known_hosts(), line).unwrap();
    }

    /// The public key of the server, as `known_hosts` has it.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn host_key(&self) -> String {
        fs::read_to_string(self.directory().join("host.pub")).unwrap()
    }

    /// The fingerprint of a public key in the directory.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn fingerprint(&self, file: &str) -> String {
        let mut command = command("ssh-keygen");
        let output = command.arg("-lf").arg(self.directory().join(file)).stdout(Stdio::piped());
        let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    }

    /// Has `ssh-keygen` work in the directory.
    ///
    /// # Panics
    /// If it fails.
    pub fn keygen(&self, words: &[&str]) {
        let made = command("ssh-keygen").current_dir(self.directory()).args(words).status();
        assert!(made.unwrap().success());
    }

    /// The server is started again, with another key.
    ///
    /// # Panics
    /// If it does not start.
    pub fn change_host_key(&mut self, lines: &[&str]) {
        let key = self.directory().join("host");
        let _ = fs::remove_file(&key);
        keygen(&key);
        self.restart(lines);
    }

    /// The server is started again, with other lines in its configuration.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self, lines: &[&str]) {
        self.stop();
        self.server = spawn(self.directory.path(), &self.address, self.port, lines);
        await_server(&mut self.server, &self.address, self.port, self.directory.path());
    }

    /// The machine goes down: nobody listens, and everything of the account ends at once.
    pub fn go_down(&mut self) {
        self.stop();
        processes::owned_by(self.account().uid()).iter().for_each(|(pid, _)| processes::kill(pid));
    }

    /// It is up again.
    ///
    /// # Panics
    /// If the server does not start.
    pub fn come_up(&mut self) {
        self.restart(&[]);
    }

    fn stop(&mut self) {
        // The directory is still in use. Who is down already is not asked again.
        if let Some(mut stdin) = self.server.stdin.take() {
            let _ = stdin.write_all(b"stop\n");
        }
        let _ = self.server.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(directory: &Path, address: &str, lines: &[&str]) -> (Child, u16) {
    for _ in 0..20 {
        // Nobody else gets the same one soon.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = spawn(directory, address, port, lines);
        if await_server(&mut server, address, port, directory) {
            return (server, port);
        }
    }
    panic!("the SSH server does not start: {}", log(directory));
}

fn spawn(directory: &Path, address: &str, port: u16, lines: &[&str]) -> Child {
    let folder = directory.display();
    let config = format!(
        "{}\nListenAddress {address}\nPort {port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n\
         AuthorizedKeysFile {folder}/keys\nStrictModes no\nMaxStartups 200\nUseDNS no\n\
         PermitRootLogin yes\n",
        lines.join("\n")
    );
    fs::write(directory.join("sshd_config"), config).unwrap();
    let log = fs::File::create(directory.join("log")).unwrap();
    // It ends with this process, however that ends: then nobody has the other end of its input.
    let script = "\"$@\" & read -r word; kill $!; wait; [ \"$word\" ] || rm -rf \"$0\"";
    let mut server = command("/bin/sh");
    server.args(["-c", script]).arg(directory);
    if let Ok(name) = fs::read_to_string(directory.join(NETWORK)) {
        server.args(["ip", "netns", "exec", &name]);
    }
    if directory.join("machine-id").exists() {
        let bind = format!(
            "mount --bind \"$0/machine-id\" {MACHINE_ID} && mount --bind \"$0/srv\" /srv && exec \"$@\""
        );
        server.args(["unshare", "-m", "sh", "-c", &bind]).arg(directory);
    }
    server.args([PROGRAM, "-D", "-e", "-f"]);
    server.arg(directory.join("sshd_config")).stderr(log).stdin(Stdio::piped());
    server.spawn().unwrap()
}

/// Whether it accepts connections; it may also end, where somebody else has the port.
fn await_server(server: &mut Child, address: &str, port: u16, directory: &Path) -> bool {
    let mut accepts = false;
    processes::eventually("the SSH server accepts connections", || {
        accepts = TcpStream::connect((address, port)).is_ok();
        accepts || has_failed(directory) || server.try_wait().unwrap().is_some()
    });
    accepts && !has_failed(directory)
}

fn has_failed(directory: &Path) -> bool {
    let log = log(directory);
    log.contains("Cannot bind any address") || log.contains("Bad configuration")
}

fn log(directory: &Path) -> String {
    fs::read_to_string(directory.join("log")).unwrap_or_default()
}

fn keygen(path: &Path) {
    let mut command = command("ssh-keygen");
    let made =
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(path).status();
    assert!(made.unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "the programs are the system's")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}
