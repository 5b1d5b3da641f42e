//! The words of `ssh`: what opal adds to the user's own configuration, and nothing else.

use std::ffi::OsString;
use std::time::Duration;

use opal_core::target::{HostKey, Ssh};

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
        Self { connect_timeout, is_batch: true, forward_agent: false, key_file: None, keys }
    }
}

/// Older clients do not know these. They get their defaults back: a configuration must not replace the
/// command, or take its input.
const LATER: [(&str, &str); 4] = [
    ("RemoteCommand", "none"),
    ("SessionType", "default"),
    ("StdinNull", "no"),
    ("ForkAfterAuthentication", "no"),
];

const FIXED: [&str; 8] = [
    "ControlMaster=no",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "EscapeChar=none",
    "LogLevel=ERROR",
    "IgnoreUnknown=RemoteCommand,SessionType,StdinNull,ForkAfterAuthentication",
];

/// All arguments of `ssh`. `more` are options of this connection alone.
pub(crate) fn arguments(
    ssh: &Ssh,
    options: &SshOptions,
    more: &[String],
    command: &str,
) -> Vec<OsString> {
    let mut words: Vec<String> = vec!["-T".to_owned()];
    let mut set = |option: String| words.extend(["-o".to_owned(), option]);
    FIXED.into_iter().for_each(|option| set(option.to_owned()));
    LATER.into_iter().for_each(|(name, value)| set(format!("{name}={value}")));
    set(format!("ForwardAgent={}", if options.forward_agent { "yes" } else { "no" }));
    set(format!("ConnectTimeout={}", options.connect_timeout.as_secs().max(1)));
    if options.is_batch {
        set("BatchMode=yes".to_owned());
    }
    more.iter().cloned().for_each(&mut set);
    if let Some(port) = ssh.port {
        words.extend(["-p".to_owned(), port.to_string()]);
    }
    if let Some(key_file) = &options.key_file {
        words.extend(["-i".to_owned(), key_file.clone()]);
    }
    if let Some(user) = &ssh.user {
        words.extend(["-l".to_owned(), user.to_string()]);
    }
    words.extend(["--".to_owned(), ssh.host.to_string(), command.to_owned()]);
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_gets_these_options_and_no_other() {
        let ssh: Ssh = "root@web1:2222".parse().unwrap();
        let words = arguments(&ssh, &SshOptions::default(), &["X=y".to_owned()], "exec sh");
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "-T -o ControlMaster=no -o ClearAllForwardings=yes -o ForwardX11=no \
             -o PermitLocalCommand=no -o RequestTTY=no -o EscapeChar=none -o LogLevel=ERROR \
             -o IgnoreUnknown=RemoteCommand,SessionType,StdinNull,ForkAfterAuthentication \
             -o RemoteCommand=none -o SessionType=default -o StdinNull=no \
             -o ForkAfterAuthentication=no -o ForwardAgent=no -o ConnectTimeout=10 -o BatchMode=yes \
             -o X=y -p 2222 -l root -- web1 exec sh"
        );
    }
}
