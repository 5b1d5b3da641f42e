//! The words of `ssh`: what opal adds to the user's own configuration, and nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use opal_core::target::{HostKey, Ssh};

use super::client::Client;
use super::master::Persist;

/// What a block says about its connections.
#[derive(Clone, Debug)]
pub struct SshOptions {
    pub connect_timeout: Duration,
    /// Nobody is there to answer a question: without a terminal, and for several targets.
    pub is_batch: bool,
    pub forward_agent: bool,
    /// The key to log in with, besides those of the user's configuration.
    pub key_file: Option<String>,
    pub keys: KeyPolicy,
    /// How long the host may be silent, where no helper says that it is still there.
    pub silence: Option<Duration>,
    /// Where connections stay open.
    pub persist: Option<Persist>,
    /// What else the block says: another block has other connections that stay open.
    pub block: String,
    /// The socket of a connection that stays open.
    pub(crate) control: Option<PathBuf>,
}

/// Which host keys are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyPolicy {
    /// The user's configuration decides, and nobody gets to know the key.
    #[default]
    Users,
    /// Only one that `known_hosts` has. It is reported: for making a contract.
    Reported,
    /// The same, and only this one: for running a contract.
    Only(HostKey),
}

impl Default for SshOptions {
    fn default() -> Self {
        let (connect_timeout, keys) = (Duration::from_secs(10), KeyPolicy::Users);
        Self {
            connect_timeout,
            is_batch: true,
            forward_agent: false,
            key_file: None,
            keys,
            silence: None,
            persist: None,
            block: String::new(),
            control: None,
        }
    }
}

const FIXED: [&str; 7] = [
    "ControlMaster=no",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "EscapeChar=none",
    "LogLevel=ERROR",
];

/// All arguments of `ssh`. `more` are options of this connection alone.
pub(crate) fn arguments(
    client: Client,
    ssh: &Ssh,
    options: &SshOptions,
    more: &[String],
    command: &str,
) -> Vec<OsString> {
    let mut words: Vec<String> = vec!["-T".to_owned()];
    let mut set = |option: String| words.extend(["-o".to_owned(), option]);
    FIXED.into_iter().for_each(|option| set(option.to_owned()));
    client.later().into_iter().for_each(|option| set(option.to_owned()));
    set(format!("ForwardAgent={}", if options.forward_agent { "yes" } else { "no" }));
    set(format!("ConnectTimeout={}", options.connect_timeout.as_secs().max(1)));
    if options.is_batch {
        set("BatchMode=yes".to_owned());
    }
    if let Some(silence) = options.silence {
        // Two questions without an answer, and the time of a third.
        let interval = silence.as_secs().div_ceil(3).max(1);
        set(format!("ServerAliveInterval={interval}"));
        set("ServerAliveCountMax=2".to_owned());
    }
    if let Some(socket) = &options.control {
        set(control_path(&socket.to_string_lossy()));
    }
    more.iter().cloned().for_each(&mut set);
    words.extend(address(ssh, options));
    words.push(command.to_owned());
    words.into_iter().map(OsString::from).collect()
}

/// The arguments of a master, which goes to the background once it is logged in. `socket` has nothing in it
/// that `ssh` would replace.
pub(crate) fn master_arguments(
    client: Client,
    ssh: &Ssh,
    options: &SshOptions,
    socket: &str,
    time: Duration,
) -> Vec<OsString> {
    let mut words: Vec<String> = ["-T", "-N", "-n", "-f"].map(str::to_owned).into();
    let mut set = |option: String| words.extend(["-o".to_owned(), option]);
    set("ControlMaster=yes".to_owned());
    FIXED[1..].iter().for_each(|option| set((*option).to_owned()));
    client.of_master().into_iter().for_each(|option| set(option.to_owned()));
    set("ForwardAgent=no".to_owned());
    set(format!("ConnectTimeout={}", options.connect_timeout.as_secs().max(1)));
    set("BatchMode=yes".to_owned());
    set(control_path(socket));
    set(format!("ControlPersist={}", time.as_secs().max(1)));
    // One whose host is gone must not be there for the next run.
    let alive = ["ServerAliveInterval=10", "ServerAliveCountMax=2"];
    alive.into_iter().for_each(|option| set(option.to_owned()));
    words.extend(address(ssh, options));
    words.into_iter().map(OsString::from).collect()
}

fn control_path(socket: &str) -> String {
    format!("ControlPath=\"{socket}\"")
}

/// Whom to reach, and with which key.
fn address(ssh: &Ssh, options: &SshOptions) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(port) = ssh.port {
        words.extend(["-p".to_owned(), port.to_string()]);
    }
    if let Some(key_file) = &options.key_file {
        words.extend(["-i".to_owned(), key_file.clone()]);
    }
    if let Some(user) = &ssh.user {
        words.extend(["-l".to_owned(), user.to_string()]);
    }
    words.extend(["--".to_owned(), ssh.host.to_string()]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_gets_these_options_and_no_other() {
        let ssh: Ssh = "root@web1:2222".parse().unwrap();
        let client = Client::read("OpenSSH_9.2p1");
        let options = SshOptions::default();
        let words = arguments(client, &ssh, &options, &["X=y".to_owned()], "exec sh");
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "-T -o ControlMaster=no -o ClearAllForwardings=yes -o ForwardX11=no \
             -o PermitLocalCommand=no -o RequestTTY=no -o EscapeChar=none -o LogLevel=ERROR \
             -o RemoteCommand=none -o SessionType=default -o StdinNull=no \
             -o ForkAfterAuthentication=no -o ForwardAgent=no -o ConnectTimeout=10 -o BatchMode=yes \
             -o X=y -p 2222 -l root -- web1 exec sh"
        );
        for (silence, interval) in [(30, 10), (3, 1), (4, 2), (0, 1)] {
            let silence = Some(Duration::from_secs(silence));
            let options = SshOptions { silence, ..SshOptions::default() };
            let words = arguments(client, &ssh, &options, &[], "exec sh");
            let asks = format!("ServerAliveInterval={interval}");
            assert!(words.contains(&asks.into()), "{words:?}");
            assert!(words.contains(&"ServerAliveCountMax=2".into()), "{words:?}");
        }
    }
}
