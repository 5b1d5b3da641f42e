//! What is wrong with a file of rules. All messages about it are here.

use std::fmt;
use std::path::PathBuf;

use opal_core::duration::DurationError;
use opal_core::suggest;
use opal_vault::root::{RootError, Why};

#[derive(Debug)]
pub struct PolicyError {
    pub file: PathBuf,
    /// From 1; none where the file as a whole is meant.
    pub line: Option<usize>,
    pub why: PolicyFault,
}

#[derive(Debug)]
pub enum PolicyFault {
    Unusable(RootError),
    /// The symlink on the way to it.
    LeadsNowhere(PathBuf),
    NotUtf8,
    /// What the parser says.
    Toml(String),
    UnknownKey {
        name: String,
        known: &'static [&'static str],
    },
    WrongValue {
        setting: Setting,
        found: &'static str,
    },
    InvalidKey,
    InvalidAge(DurationError),
    InvalidPersist(DurationError),
    NoAge,
    Contradiction,
    /// An entry of `by` or `makers`.
    InvalidApprover,
    /// A rule that needs people, and names none.
    NoApprovers,
    TooFewApprovers {
        needed: usize,
        people: usize,
    },
    /// `not_maker` without `makers`.
    NoMakers,
    /// An entry of `environment`.
    InvalidVariable,
    /// One that a shell, a loader or opal interprets.
    VariableNeedsValue(String),
    /// A project's `environment` sets a value.
    ValueOfProject,
}

/// What a file of rules can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    Name,
    Policy,
    RequireSignature,
    RequireExpiry,
    TrustedKeys,
    Dispatchers,
    Queue,
    QueueServer,
    QueueCreds,
    QueuePools,
    MaxAge,
    Randomness,
    Direct,
    Approval,
    Targets,
    By,
    Makers,
    Except,
    Needed,
    Presence,
    NotMaker,
    Once,
    PublicValues,
    Limit,
    Tree,
    Environment,
    Ssh,
    Persist,
    Otlp,
    Plugins,
    Verification,
    Sources,
    Publishers,
    Native,
    Providers,
    Mirror,
    Shell,
    Registries,
    Keys,
    Sigstore,
    Deny,
    Mcp,
    McpProjects,
    McpTools,
    McpResolve,
}

impl Setting {
    /// Its name, what it expects, and how to write it.
    const fn about(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Name => ("name", "a text", "write the project's name, such as `name = \"shop\"`"),
            Self::Policy => {
                ("policy", "a table", "write it as a table: `[policy]` on its own line")
            }
            Self::RequireSignature => {
                ("require_signature", "true or false", "write `require_signature = true`")
            }
            Self::RequireExpiry => {
                ("require_expiry", "true or false", "write `require_expiry = true`")
            }
            Self::TrustedKeys => (
                "trusted_keys",
                "a list of keys",
                "write `trusted_keys = [\"ed25519:…\"]`; `opal keys show NAME` prints one",
            ),
            Self::Dispatchers => (
                "dispatchers",
                "a list of keys",
                "write `dispatchers = [\"ed25519:…\"]`; `opal keys show NAME` prints one",
            ),
            Self::MaxAge => {
                ("max_age", "a duration", "write a duration, such as `max_age = \"24h\"`")
            }
            Self::Randomness => {
                ("randomness", "`contract` or `any`", "write `randomness = \"contract\"`")
            }
            Self::Direct => ("direct", "`refuse` or `allow`", "write `direct = \"refuse\"`"),
            Self::Approval => (
                "approval",
                "a list of tables",
                "write each rule as a table: `[[approval]]` on its own line",
            ),
            Self::Targets => (
                "targets",
                "a list of names",
                "write `targets = [\"deploy\"]`; `*` matches any characters",
            ),
            Self::Ssh => ("ssh", "a table", "write it as a table: `[ssh]` on its own line"),
            Self::Persist => (
                "persist",
                "a duration of at most 24h",
                "write a duration, such as `persist = \"60s\"`; `0s` turns it off",
            ),
            Self::Otlp => {
                ("otlp", "true or false", "write `otlp = true`, in the table `[telemetry]`")
            }
            Self::Queue | Self::QueueServer | Self::QueueCreds | Self::QueuePools => {
                self.about_queue()
            }
            other => other.about_approvals(),
        }
    }

    /// The same of `[queue]`.
    const fn about_queue(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::QueueServer => {
                ("server", "an address", "write `server = \"tls://queue.example:4222\"`")
            }
            Self::QueueCreds => {
                ("creds", "an absolute path", "write `creds = \"/etc/opal/queue.creds\"`")
            }
            Self::QueuePools => (
                "queue.pools",
                "a list of runners for each pool",
                "write `eu = [\"age1… ed25519:…\"]` below `[queue.pools]`; `opal runner --keys` prints \
                 the text of a runner",
            ),
            _ => ("queue", "a table", "write it as a table: `[queue]` on its own line"),
        }
    }

    /// The same of `[[approval]]`.
    const fn about_approvals(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::By => ("by", "a list of keys", "write `by = [\"ssh-ed25519 AAAA… ann\"]`"),
            Self::Makers => ("makers", "a list of keys", "write `makers = [\"ed25519:… ci\"]`"),
            Self::Except => ("except", "a list of names", "write `except = [\"test\"]`"),
            Self::Needed => (
                "needed",
                "a number from 0 to 100",
                "write how many people must approve, such as `needed = 2`",
            ),
            Self::Presence => ("presence", "true or false", "write `presence = true`"),
            Self::NotMaker => ("not_maker", "true or false", "write `not_maker = true`"),
            Self::Once => ("once", "true or false", "write `once = true`"),
            Self::PublicValues => {
                ("public_values", "true or false", "write `public_values = true`")
            }
            Self::Limit => ("limit", "`refuse` or `allow`", "write `limit = \"refuse\"`"),
            Self::Tree => ("tree", "`commit` or `any`", "write `tree = \"commit\"`"),
            Self::Environment => (
                "environment",
                "a list of variables",
                "write `environment = [\"HOME\", \"PATH=/usr/bin:/bin\"]`",
            ),
            other => other.about_plugins(),
        }
    }

    /// The same of `[plugins]`.
    const fn about_plugins(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Verification => {
                ("verification", "`passed` or `any`", "write `verification = \"passed\"`")
            }
            Self::Sources => (
                "sources",
                "a list of sources",
                "write `sources = [\"local\", \"registry:reg.example\"]`",
            ),
            Self::Publishers => {
                ("publishers", "a list of publishers", "write `publishers = [\"ed25519:…\"]`")
            }
            Self::Mirror => (
                "terraform.mirror",
                "tables with `path` or `url`",
                "write `[[terraform.mirror]]` on its own line, and `path = \"/srv/mirror\"` below it",
            ),
            Self::Providers => {
                ("providers", "`refuse` or `accepted`", "write `providers = \"refuse\"`")
            }
            Self::Native => {
                ("native", "`refuse`, `confined` or `unconfined`", "write `native = \"refuse\"`")
            }
            Self::Shell => ("shell", "`refuse` or `accepted`", "write `shell = \"refuse\"`"),
            Self::Registries => (
                "registries",
                "an address for each namespace",
                "write `[plugins.registries]` on its own line, and `acme = \"https://…\"` below it",
            ),
            Self::Keys => (
                "keys",
                "a key for the address of each registry",
                "write `[plugins.keys]` on its own line, and `\"https://…\" = \"ed25519:…\"` below it",
            ),
            Self::Sigstore => (
                "sigstore",
                "a list of files, with their whole paths",
                "write `sigstore = [\"/etc/opal/sigstore.json\"]`, a `trusted_root.json` of Sigstore",
            ),
            Self::Deny => (
                "deny",
                "a list of names, versions and checksums",
                "write `deny = [\"acme/house@1.0.0\", \"sha256:…\"]`",
            ),
            Self::Mcp => ("mcp", "a table", "write it as a table: `[mcp]` on its own line"),
            Self::McpProjects => {
                ("projects", "a list of absolute paths", "write `projects = [\"/srv/shop\"]`")
            }
            Self::McpTools => (
                "tools",
                "a list of tools",
                "write `tools = [\"tasks\", \"plan\", \"contract\"]`; `opal mcp --help` lists all",
            ),
            Self::McpResolve => ("resolve", "true or false", "write `resolve = false`"),
            _ => ("plugins", "a table", "write it as a table: `[plugins]` on its own line"),
        }
    }

    const fn help(self) -> &'static str {
        self.about().2
    }
}

impl PolicyError {
    /// Another user could have written the file.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        matches!(&self.why, PolicyFault::Unusable(error) if error.is_unsafe())
    }

    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        let help = match &self.why {
            PolicyFault::Unusable(RootError { why: Why::Foreign(_), .. }) => {
                return format!("check its content, then run `chown root {}`", self.file.display());
            }
            PolicyFault::Unusable(error) => return error.help(),
            PolicyFault::UnknownKey { name, known } => {
                return match suggest::nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("expected one of: `{}`", known.join("`, `")),
                };
            }
            PolicyFault::LeadsNowhere(_) => "create what it points to, or remove the symlink",
            PolicyFault::NotUtf8 => "save it as UTF-8",
            PolicyFault::Toml(_) => "fix the TOML",
            PolicyFault::WrongValue { setting, .. } => setting.help(),
            PolicyFault::InvalidKey => Setting::TrustedKeys.help(),
            PolicyFault::InvalidAge(_) | PolicyFault::NoAge => Setting::MaxAge.help(),
            PolicyFault::InvalidPersist(_) => Setting::Persist.help(),
            PolicyFault::Contradiction => "remove one of the two",
            PolicyFault::InvalidApprover => {
                "copy the line of a public key, such as that in `~/.ssh/id_ed25519.pub`, or write \
                 `ed25519:… NAME`"
            }
            PolicyFault::NoApprovers => {
                "name the people: `by = [\"ssh-ed25519 AAAA… ann\"]`; or write `needed = 0`, to require \
                 a contract without approvals"
            }
            PolicyFault::TooFewApprovers { .. } => {
                "name more people in `by`, each with a name of their own, or lower `needed`"
            }
            PolicyFault::NoMakers => "name who makes contracts: `makers = [\"ed25519:… ci\"]`",
            PolicyFault::InvalidVariable | PolicyFault::VariableNeedsValue(_) => {
                Setting::Environment.help()
            }
            PolicyFault::ValueOfProject => {
                "name the variable only; a value belongs in the policy of the machine"
            }
        };
        help.into()
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It names the file.
        if let PolicyFault::Unusable(error) = &self.why {
            return error.fmt(f);
        }
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        match &self.why {
            PolicyFault::Unusable(error) => error.fmt(f),
            PolicyFault::LeadsNowhere(link) => {
                let link = link.display();
                write!(f, "the file cannot be read: the symlink `{link}` leads nowhere")
            }
            PolicyFault::NotUtf8 => f.write_str("the file is not UTF-8"),
            PolicyFault::Toml(message) => f.write_str(message),
            PolicyFault::UnknownKey { name, .. } => write!(f, "unknown key `{name}`"),
            PolicyFault::WrongValue { setting, found } => {
                let (name, expected, _) = setting.about();
                write!(f, "`{name}` expects {expected}, got {found}")
            }
            PolicyFault::InvalidKey => f.write_str("invalid public key"),
            PolicyFault::InvalidAge(error) => write!(f, "`max_age`: {error}"),
            PolicyFault::InvalidPersist(error) => write!(f, "`persist`: {error}"),
            PolicyFault::NoAge => f.write_str("`max_age` must be longer than zero"),
            PolicyFault::Contradiction => f.write_str(
                "`require_signature = false` contradicts `trusted_keys`, which require a signature",
            ),
            PolicyFault::InvalidApprover => f.write_str(
                "expected a public key `ssh-ed25519`, `sk-ssh-ed25519@openssh.com` or `ed25519:…`, and a name",
            ),
            PolicyFault::NoApprovers => f.write_str("the rule needs approvals, and `by` names nobody"),
            PolicyFault::TooFewApprovers { needed, people } => {
                write!(f, "`needed` is {needed}, and `by` names {people}")
            }
            PolicyFault::NoMakers => f.write_str("`not_maker` needs `makers`"),
            PolicyFault::InvalidVariable => {
                f.write_str("expected the name of a variable, or `NAME=VALUE`")
            }
            PolicyFault::VariableNeedsValue(name) => {
                write!(f, "`{name}` needs a value here: a shell, a loader or opal interprets it")
            }
            PolicyFault::ValueOfProject => {
                f.write_str("`environment` of a project cannot set a value")
            }
        }
    }
}

impl std::error::Error for PolicyError {}
