//! The `ssh` of this machine, and which options it knows.
//!
//! An option that a client does not know ends it. `IgnoreUnknown` would help, but the first value of it
//! counts: that of the user, for options of another system, would be gone.

/// Options that came later than the oldest client that opal uses, with the release that has them first.
/// They get their defaults back: a configuration must not replace the command, or take its input.
const LATER: [(&str, (u32, u32)); 4] = [
    ("RemoteCommand=none", (7, 6)),
    ("SessionType=default", (8, 7)),
    ("StdinNull=no", (8, 7)),
    ("ForkAfterAuthentication=no", (8, 7)),
];

/// For who does not say its release, before all of the above.
const IGNORED: &str = "IgnoreUnknown=RemoteCommand,SessionType,StdinNull,ForkAfterAuthentication";

/// What `ssh -V` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Client {
    release: Option<(u32, u32)>,
}

impl Client {
    /// Of `OpenSSH_9.2p1 Debian-2+deb12u6, …`; whatever else starts it may print more.
    pub(super) fn read(text: &str) -> Self {
        let after = text.split("OpenSSH_").nth(1).unwrap_or_default();
        let mut numbers = after.split(|c: char| !c.is_ascii_digit());
        let mut number = || numbers.next()?.parse().ok();
        Self { release: number().zip(number()) }
    }

    /// The later ones that it knows.
    pub(super) fn later(self) -> Vec<&'static str> {
        let Some(release) = self.release else {
            let all = LATER.into_iter().map(|(option, _)| option);
            return std::iter::once(IGNORED).chain(all).collect();
        };
        let known = LATER.into_iter().filter(|(_, since)| release >= *since);
        known.map(|(option, _)| option).collect()
    }

    /// The same for a connection that has no command to replace, and goes to the background.
    pub(super) fn of_master(self) -> Vec<&'static str> {
        let mut options = self.later();
        options.retain(|option| [IGNORED, LATER[0].0].contains(option));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_only_options_that_it_knows_and_the_users_ignored_ones_stay() {
        for (text, count) in [
            ("OpenSSH_7.4p1, OpenSSL 1.0.2k-fips  26 Jan 2017\n", 0),
            ("OpenSSH_7.6p1 Ubuntu-4ubuntu0.7, OpenSSL 1.0.2n\n", 1),
            ("OpenSSH_8.6p1, LibreSSL 3.3.6\n", 1),
            ("OpenSSH_8.7p1, OpenSSL 3.0.7\n", 4),
            ("warning: wrapped\nOpenSSH_9.2p1 Debian-2+deb12u6\n", 4),
            ("OpenSSH_10.0p2, OpenSSL 3.5.1\n", 4),
        ] {
            let client = Client::read(text);
            let later = client.later();
            assert_eq!(later.len(), count, "{text}");
            assert_eq!(client.of_master().len(), count.min(1), "{text}");
            assert!(!later.iter().any(|it| it.starts_with("IgnoreUnknown")), "{later:?}");
        }
        for text in ["", "ssh: unknown option -- V", "OpenSSH_for_Windows_9.5p1", "OpenSSH_9"] {
            assert_eq!(Client::read(text), Client::default(), "{text}");
        }
        assert_eq!(Client::default().later().len(), 5);
        assert_eq!(Client::default().of_master(), [IGNORED, "RemoteCommand=none"]);
    }
}
