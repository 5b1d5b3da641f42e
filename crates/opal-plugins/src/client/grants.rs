//! What a package was granted: every check of a capability is here.

use std::path::{Component, Path, PathBuf};

use opal_core::protocol::{Kind, Refusal};

use super::reserved::Reserved;
use super::web::Address;
use crate::capability::{self, Capability, Scope, Service};

/// The capabilities of a package, after the lock, the acceptance, `allow` and the policy.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    all: Vec<Capability>,
    /// Open scopes cover every host: only in the pretended world of a test.
    is_pretended: bool,
    /// What no plugin reads or writes.
    reserved: Reserved,
}

/// What a plugin does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// How a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Ask,
    Run,
    /// To reach a target.
    Transport,
}

impl Grants {
    /// With the runtime root; an empty path where there is none.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = Capability>, root: &Path) -> Self {
        let reserved = Reserved::new(root);
        Self { all: all.into_iter().collect(), is_pretended: false, reserved }
    }

    /// What the manifest asks for, in a world that answers from a test: nothing is reached.
    pub(crate) fn pretended(all: impl IntoIterator<Item = Capability>) -> Self {
        Self { is_pretended: true, ..Self::new(all, Path::new("")) }
    }

    pub(crate) const fn reserved(&self) -> &Reserved {
        &self.reserved
    }

    /// Whether it may read the text of secrets, and so has a process of its own.
    #[must_use]
    pub fn has_secrets(&self) -> bool {
        self.all.contains(&Capability::Secrets)
    }

    pub(crate) fn secrets(&self) -> Result<(), Refusal> {
        self.demand(self.has_secrets(), || "secrets".to_owned())
    }

    pub(crate) fn clock(&self) -> Result<(), Refusal> {
        self.demand(self.all.contains(&Capability::Clock), || "clock".to_owned())
    }

    pub(crate) fn env(&self, name: &str) -> Result<(), Refusal> {
        let is_granted = self.all.iter().any(|it| match it {
            Capability::Env { name: start, is_prefix: true } => name.starts_with(start),
            Capability::Env { name: only, is_prefix: false } => name == only,
            _ => false,
        });
        self.demand(is_granted, || format!("env:{name}"))
    }

    /// Whether programs of the plugin may use the keys of the user's agent.
    pub(crate) fn has_agent(&self) -> bool {
        self.env("SSH_AUTH_SOCK").is_ok()
    }

    pub(crate) fn set(&self, name: &str) -> Result<(), Refusal> {
        let is_granted = self.all.iter().any(|it| matches!(it, Capability::Set(of) if of == name));
        self.demand(is_granted, || format!("set:{name}"))
    }

    /// A program with arguments that begin as granted.
    pub(crate) fn command(&self, how: Use, program: &str, args: &[&str]) -> Result<(), Refusal> {
        let begins = |granted: &capability::Command| {
            granted.program == program
                && args.len() >= granted.arguments.len()
                && granted.arguments.iter().zip(args).all(|(granted, given)| granted == given)
        };
        let is_granted = self.all.iter().any(|it| match (it, how) {
            (Capability::Ask(granted), Use::Ask)
            | (Capability::Run(granted), Use::Run)
            | (Capability::Transport(granted), Use::Transport) => begins(granted),
            _ => false,
        });
        let word = match how {
            Use::Ask => "ask",
            Use::Run => "run",
            Use::Transport => "transport",
        };
        self.demand(is_granted, || format!("{word}:{program}"))
    }

    /// A login by ssh: to a host as granted, label by label, and as a user as granted.
    pub(crate) fn ssh(&self, user: Option<&str>, host: &str) -> Result<(), Refusal> {
        let labels =
            |host: &str| -> Vec<String> { host.split('.').map(str::to_ascii_lowercase).collect() };
        let is_granted = self.all.iter().any(|it| match it {
            Capability::Ssh(login) => {
                let is_user = login.user.is_none() || login.user.as_deref() == user;
                let (pattern, host) = (labels(&login.host), labels(host));
                let mut pairs = pattern.iter().zip(&host);
                is_user
                    && pattern.len() == host.len()
                    && pairs.all(|(one, of)| covers_name(one.as_bytes(), of.as_bytes()))
            }
            _ => false,
        });
        let user = user.map_or(String::new(), |user| format!("{user}@"));
        self.demand(is_granted, || format!("ssh:{user}{host}"))
    }

    /// Whether a host may be asked so; whether its address may be private.
    pub(crate) fn host(&self, to: &Address, method: &str, acts: bool) -> Result<bool, Refusal> {
        let is_same = |granted: &capability::Service| {
            let usual = if granted.is_plain { 80 } else { 443 };
            granted.host == to.host
                && granted.is_plain == to.is_plain
                && granted.port.unwrap_or(usual) == to.port
        };
        let granted = self.all.iter().filter_map(|it| match it {
            Capability::Net(granted) => {
                (acts || ["GET", "HEAD"].contains(&method)).then_some(granted)
            }
            Capability::Query(granted) => {
                (acts || ["GET", "HEAD", "POST"].contains(&method)).then_some(granted)
            }
            _ => None,
        });
        let granted: Vec<_> = granted.filter(|granted| is_same(granted)).collect();
        let is_query = method == "POST" && !acts;
        let reads = acts || ["GET", "HEAD"].contains(&method);
        let is_open = self.is_pretended
            && (self.all.contains(&Capability::Open(Scope::Query)) && (reads || is_query)
                || self.all.contains(&Capability::Open(Scope::Net)) && reads);
        self.demand(!granted.is_empty() || is_open, || {
            let (host, is_plain) = (to.host.clone(), to.is_plain);
            let of = Service { host, is_plain, port: Some(to.port), is_private: false };
            let missing = if is_query { Capability::Query(of) } else { Capability::Net(of) };
            missing.to_string()
        })?;
        Ok(granted.iter().any(|granted| granted.is_private))
    }

    /// A whole path without symlinks. `place` makes patterns whole.
    pub(crate) fn path(
        &self,
        access: Access,
        path: &Path,
        place: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Result<(), Refusal> {
        if self.reserved.has(path) {
            let message = format!("`{}` is never for plugins", path.display());
            return Err(Refusal::new(Kind::Denied, message));
        }
        let is_granted = self.all.iter().any(|it| match (it, access) {
            (Capability::Read(pattern), Access::Read)
            | (Capability::Write(pattern), Access::Write) => {
                place(pattern).is_some_and(|pattern| covers(&pattern, path))
            }
            _ => false,
        });
        let word = if access == Access::Read { "read" } else { "write" };
        self.demand(is_granted, || format!("{word}:{}", path.display()))
    }

    fn demand(&self, is_granted: bool, what: impl Fn() -> String) -> Result<(), Refusal> {
        if is_granted {
            return Ok(());
        }
        let what: String = what().chars().filter(|c| !c.is_control()).take(200).collect();
        let refusal = Refusal::new(Kind::Denied, format!("the plugin was not granted `{what}`"));
        Err(refusal.with_help(
            "its manifest must ask for it, or leave the host to `allow` in opal.mod, and a person must \
             accept it",
        ))
    }
}

/// Whether a pattern covers a path, part by part: `**` is any number of parts, `*` and `?` stay in one.
fn covers(pattern: &Path, path: &Path) -> bool {
    let words = |path: &Path| -> Option<Vec<String>> {
        let parts = path.components().filter(|it| !matches!(it, Component::RootDir));
        parts.map(|it| it.as_os_str().to_str().map(str::to_owned)).collect()
    };
    match (words(pattern), words(path)) {
        (Some(pattern), Some(path)) => covers_parts(&pattern, &path),
        _ => false,
    }
}

fn covers_parts(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            (0..=path.len()).any(|skipped| covers_parts(rest, &path[skipped..]))
        }
        (Some((first, rest)), Some((name, names))) => {
            covers_name(first.as_bytes(), name.as_bytes()) && covers_parts(rest, names)
        }
        _ => false,
    }
}

fn covers_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            (0..=name.len()).any(|skipped| covers_name(rest, &name[skipped..]))
        }
        (Some((b'?', rest)), Some((_, names))) => covers_name(rest, names),
        (Some((one, rest)), Some((other, names))) => one == other && covers_name(rest, names),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(all: &[&str]) -> Grants {
        Grants::new(all.iter().map(|it| it.parse().unwrap()), Path::new("/home/u/.opal"))
    }

    #[test]
    fn arguments_begin_as_granted() {
        let grants = grants(&["ask:git status", "run:make"]);
        assert!(grants.command(Use::Ask, "git", &["status", "-s"]).is_ok());
        assert!(grants.command(Use::Run, "make", &[]).is_ok());
        for (how, program, args) in [
            (Use::Ask, "git", &["-c", "core.pager=sh", "status"][..]),
            (Use::Ask, "git", &["stat"]),
            (Use::Ask, "git", &[]),
            (Use::Run, "git", &["status"]),
            (Use::Ask, "make", &[]),
            (Use::Run, "/bin/make", &[]),
        ] {
            assert!(grants.command(how, program, args).is_err(), "{program} {args:?}");
        }
    }

    #[test]
    fn a_login_is_granted_label_by_label() {
        let grants = grants(&["ssh:deploy@*.example", "ssh:web-*", "transport:tool connect"]);
        assert!(grants.ssh(Some("deploy"), "a.example").is_ok());
        assert!(grants.ssh(None, "WEB-1").is_ok() && grants.ssh(Some("root"), "web-2").is_ok());
        for (user, host) in [
            (None, "a.example"),
            (Some("root"), "a.example"),
            (Some("deploy"), "a.b.example"),
            (Some("deploy"), "example"),
            (Some("deploy"), "a.example.evil"),
            (None, "web-1.evil"),
            (None, "-oProxyCommand=x"),
        ] {
            assert!(grants.ssh(user, host).is_err(), "{user:?} {host}");
        }
        assert!(grants.command(Use::Transport, "tool", &["connect", "x"]).is_ok());
        assert!(grants.command(Use::Transport, "sh", &["-c", "x"]).is_err());
        assert!(grants.command(Use::Run, "tool", &["connect"]).is_err());
    }

    #[test]
    fn variables_are_granted_by_name_or_beginning() {
        let grants = grants(&["env:AWS_*", "env:HOME", "set:TOKEN"]);
        assert!(grants.env("AWS_REGION").is_ok() && grants.env("HOME").is_ok());
        for name in ["HOMER", "AWS", "PATH", ""] {
            assert!(grants.env(name).is_err(), "{name}");
        }
        assert!(grants.set("TOKEN").is_ok());
        assert!(grants.set("LD_PRELOAD").is_err() && grants.set("HOME").is_err());
    }

    #[test]
    fn paths_are_covered_part_by_part() {
        let place = |pattern: &str| Some(Path::new("/work/project").join(pattern));
        let grants = grants(&["read:data/**", "read:*.txt", "write:/tmp/out-?", "read:/**"]);
        let read = |path: &str| grants.path(Access::Read, Path::new(path), &place).is_ok();
        let write = |path: &str| grants.path(Access::Write, Path::new(path), &place).is_ok();
        assert!(read("/work/project/data/a/b") && read("/work/project/a.txt") && read("/etc/motd"));
        assert!(write("/tmp/out-1"));
        for path in ["/tmp/out-12", "/tmp/out-", "/tmp/out-1/x", "/work/project/data/a"] {
            assert!(!write(path), "{path}");
        }
        for path in [
            "/home/u/.opal/credentials/key",
            "/etc/opal/policy.toml",
            "/proc/self/environ",
            "/work/project/.git/config",
            "/work/project/opal.mod",
            "/work/project/opal.lock",
            "/work/project/commands.opl",
            "/dev/sda",
        ] {
            assert!(!read(path), "{path}");
        }
    }

    #[test]
    fn without_a_grant_everything_is_denied() {
        let none = Grants::default();
        for refused in [none.clock(), none.secrets(), none.env("A"), none.set("A")] {
            assert_eq!(refused.unwrap_err().kind, Kind::Denied);
        }
    }
}
