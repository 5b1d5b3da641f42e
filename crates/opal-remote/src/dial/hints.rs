//! What to do about a target that was not reached.

use opal_core::target::{Hop, Ssh, Via};
use opal_session::reach::words::ReachError;

use super::error::{DialCause, DialError, KeyRefusal};
use super::said::Said;

const USUAL: &str = "check that the target is reachable, and that this user may run programs there";

const NEW_SSH: &str = "contracts need OpenSSH 8.5 or newer on opal's machine";

impl DialError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match (&self.cause, &self.hop) {
            (DialCause::Ended { .. }, _) | (DialCause::Hello(_), Hop::NewContainer(_)) => {
                self.help_for_end()
            }
            (DialCause::Reach(ReachError::Missing { program }), _) => {
                format!("install `{program}` where the target is reached from")
            }
            (DialCause::NoCarrier(program), _) => {
                format!("install `{program}` on opal's machine, in a directory of `PATH`")
            }
            (DialCause::Denied, Hop::User { via: Via::Sudo, .. }) => {
                "check the password, or allow the user with `NOPASSWD` in sudoers".to_owned()
            }
            (DialCause::Silent { .. }, Hop::User { user, via }) => {
                let program = via.program();
                format!("try `{program} -u {user} true` in a terminal of the same login")
            }
            (DialCause::NoProgram { .. }, _) => {
                "opal has a helper only for Linux, and for machines like its own".to_owned()
            }
            (DialCause::NoHelper(flaw), _) => flaw.help.clone(),
            (DialCause::NoPlace, _) => {
                "make space in the home directory, or in a directory that is \
                                        not mounted `noexec`: `/dev/shm` or `/tmp`"
                    .to_owned()
            }
            (DialCause::Lacks(_), Hop::Container { .. } | Hop::Pod(_)) => {
                "install them in the image, or use `@container.run`, whose image needs no program"
                    .to_owned()
            }
            (DialCause::Lacks(_), _) => "install them there".to_owned(),
            (DialCause::Windows, _) => {
                "run the steps in a Linux machine there, such as WSL with an SSH server".to_owned()
            }
            (DialCause::Noise | DialCause::Strange, _) => {
                "keep the start-up files of the login shell quiet: they must print little"
                    .to_owned()
            }
            (DialCause::HostKey(refusal), hop) => key_help(refusal, hop),
            (DialCause::Question, Hop::Ssh(ssh)) => {
                format!("`password=` answers only the question of `{}` for its password", ssh.host)
            }
            (DialCause::NoKey, _) => NEW_SSH.to_owned(),
            (DialCause::OtherKey { .. }, hop) => {
                format!("if `{hop}` was reinstalled, make a new contract")
            }
            (DialCause::Outer(trouble), _) => {
                trouble.help.first().map(ToString::to_string).unwrap_or_default()
            }
            _ => USUAL.to_owned(),
        }
    }

    /// Where the transport has ended before there was a helper.
    fn help_for_end(&self) -> String {
        match &self.hop {
            Hop::Ssh(ssh) if self.gives_password && self.said.mentions("Permission denied") => {
                format!("check `password=`, and that `{ssh}` accepts passwords for this user")
            }
            Hop::Ssh(ssh) => ssh_help(ssh, &self.said),
            Hop::User { user, via: Via::Sudo }
                if !self.gives_password && self.said.mentions("password is required") =>
            {
                format!(
                    "give the password of the user who logs in with `password=`, or allow \
                     `{user}` with `NOPASSWD` in sudoers"
                )
            }
            Hop::User { user, via } => {
                format!("check that this user may run commands as `{user}`: `{via} -u {user} true`")
            }
            Hop::Container { name, .. } => {
                format!("check that the container `{name}` is running and has `sh`")
            }
            Hop::NewContainer(new) => {
                let image = &new.image;
                format!(
                    "check the image `{image}`, its mounts and its network: `docker pull {image}`"
                )
            }
            Hop::Pod(pod) => {
                let name = &pod.name;
                format!(
                    "check that the pod `{name}` is running and has `sh`: `kubectl get pod {name}`"
                )
            }
            Hop::Program(carrier) => {
                format!("run `{}` in a terminal: its input must be a shell", carrier.program)
            }
            Hop::Local => USUAL.to_owned(),
        }
    }
}

/// By what ssh says. A wrong guess costs a wrong hint, nothing else.
fn ssh_help(ssh: &Ssh, said: &Said) -> String {
    let address = match ssh.port {
        Some(port) => format!("-p {port} {}", Ssh { port: None, ..ssh.clone() }),
        None => ssh.to_string(),
    };
    let hints: [(&str, String); 12] = [
        // What an older `ssh` says about an option that opal gives it.
        (": knownhostscommand", NEW_SSH.to_owned()),
        ("Bad configuration option", "correct the configuration of `ssh`".to_owned()),
        (" bad configuration options", "correct the configuration of `ssh`".to_owned()),
        ("Bad owner or permissions on", "nobody else may write to this file".to_owned()),
        (
            "REMOTE HOST IDENTIFICATION HAS CHANGED",
            format!("if the host was reinstalled, `ssh {address}` names its old key and the file"),
        ),
        (
            "Host key verification failed",
            format!("verify the key of the host and store it: connect once with `ssh {address}`"),
        ),
        (
            "Permission denied",
            format!(
                "check the user and its keys: `ssh {address} true` must work without a question"
            ),
        ),
        ("Could not resolve hostname", "check the name of the host".to_owned()),
        ("Connection refused", "check the port, and that an SSH server runs there".to_owned()),
        ("timed out", "check the network and the firewall between here and the host".to_owned()),
        ("not available", "give the user a login shell".to_owned()),
        // What `cmd.exe` and PowerShell say.
        ("is not recognized", "a host with Windows cannot be a target".to_owned()),
    ];
    let hint = hints.into_iter().find(|(text, _)| said.mentions(text)).map(|(_, hint)| hint);
    hint.unwrap_or_else(|| format!("check that `ssh {address} true` works"))
}

fn key_help(refusal: &KeyRefusal, hop: &Hop) -> String {
    let host = match hop {
        Hop::Ssh(ssh) => ssh.host.to_string(),
        other => other.to_string(),
    };
    match refusal {
        KeyRefusal::Changed { forget, .. } => format!(
            "if the host was reinstalled, check its new key and remove the old one: `{forget}`"
        ),
        KeyRefusal::Revoked { .. } => {
            format!(
                "do not connect to `{host}` before it has a new key: this one was stolen or retired"
            )
        }
        KeyRefusal::NotTheContracts { forget, .. } => format!(
            "if `{host}` was reinstalled, check its new key, remove the old one with \
             `{forget}`, and make a new contract"
        ),
    }
}
