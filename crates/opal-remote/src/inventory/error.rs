//! What is wrong with an inventory.

use std::fmt;

use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::target::NameError;
use opal_core::view::visible::line as visible;

use super::variable::Place;
use super::{MAX_FILE_BYTES, MAX_FILES, MAX_HOSTS, MAX_LEVELS};
use opal_core::fleet::MAX_TARGETS;

/// A fault, and the line that it is in.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryError {
    pub place: Option<Place>,
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    // Of the text.
    NotText,
    TooLarge,
    TooManyFiles,
    Syntax(String),
    Section(String),
    UndefinedGroup(String),
    NotAssignment(String),
    Range(String),
    Structure(String),
    Tag(String),
    Plugin,
    Toml,
    Program,
    NotDirectory,
    // Of groups and hosts.
    Cycle { parent: String, child: String },
    TooDeep,
    TooManyHosts,
    TooManyTargets,
    // Of a selection.
    Pattern(String),
    NoPattern,
    Subscript(String),
    NothingSelected { pattern: String, help: String },
    // Of a selected host.
    Name { host: String, error: NameError },
    NotValid { name: String, expects: &'static str },
    Vault(String),
    VaultFile,
    Template(String),
    Setting { name: String, instead: &'static str },
    TwoNames { name: &'static str, other: String },
    ConnectionUnknown(String),
    ConnectionRefused { host: String, connection: &'static str },
    BecomeRefused { host: String },
    // Of a program.
    Failed { program: String, code: i32 },
    NotListing(String),
}

impl InventoryError {
    pub(super) fn at(place: &Place, fault: Fault) -> Self {
        Self { place: Some(place.clone()), fault }
    }

    pub(super) fn new(fault: Fault) -> Self {
        Self { place: None, fault }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.fault {
            Fault::NotText => "save it as UTF-8".into(),
            Fault::TooLarge | Fault::TooManyFiles | Fault::TooManyHosts => {
                "split the inventory, and name the part that is needed".into()
            }
            Fault::TooManyTargets => "select fewer hosts with `select=`".into(),
            Fault::Syntax(_) | Fault::Structure(_) => {
                "`ansible-inventory --list` shows how Ansible reads it".into()
            }
            Fault::Section(_) => "write `[group]`, `[group:vars]` or `[group:children]`".into(),
            Fault::UndefinedGroup(name) => format!("add a section `[{}]`", visible(name)),
            Fault::NotAssignment(_) => "write `name=value`".into(),
            Fault::Range(_) => "write `[1:20]`, `[01:20]`, `[a:f]` or `[1:20:2]`".into(),
            Fault::Tag(_) => "write the value without the tag".into(),
            Fault::Plugin | Fault::Toml => {
                "write what it gives to a file with `ansible-inventory --list --yaml`".into()
            }
            Fault::Program => "name the program: `inventory=\"cmd:PROGRAM\"`".into(),
            Fault::NotDirectory => "name a file or a directory".into(),
            Fault::Cycle { .. } | Fault::TooDeep => "remove one of the `children`".into(),
            Fault::Pattern(_) => "write names, `*`, `[0]`, `:&group` and `:!group`".into(),
            Fault::NoPattern => "write `all` for every host".into(),
            Fault::Subscript(_) => "the first host of a group has the index 0".into(),
            Fault::NothingSelected { help, .. } => help.clone(),
            Fault::Name { .. } => "rename the host, and give its address in `ansible_host`".into(),
            Fault::NotValid { .. } => "correct the value".into(),
            Fault::Vault(_) | Fault::VaultFile => {
                "give the value to opal in another way: `@env`, `@file.read` or `--env-file`".into()
            }
            Fault::Template(_) => "write the value out: opal does not compute Jinja here".into(),
            Fault::Setting { instead, .. } => (*instead).to_owned(),
            Fault::TwoNames { name, .. } => format!("keep `{name}`"),
            Fault::ConnectionUnknown(_) => "opal knows ssh, local, docker and podman".into(),
            Fault::ConnectionRefused { connection, .. } => {
                format!("if that is intended, write `connections=[\"{connection}\"]` at the block")
            }
            Fault::BecomeRefused { .. } => {
                "write `as=\"root\"` at the block, or `as=\"inventory\"` for its `become_user`"
                    .into()
            }
            Fault::Failed { program, .. } => {
                format!("run `{} --list` to see its messages", visible(program))
            }
            Fault::NotListing(_) => "the program must print the JSON of Ansible's `--list`".into(),
        }
    }
}

impl fmt::Display for InventoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}: ", visible(&place.to_string()))?;
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| {
            let short: String = text.chars().take(80).collect();
            format!("`{}`", visible(&short))
        };
        match self {
            Self::NotText => f.write_str("the inventory is not a text in UTF-8"),
            Self::TooLarge => {
                write!(f, "a file of an inventory has at most {} MiB", MAX_FILE_BYTES >> 20)
            }
            Self::TooManyFiles => write!(f, "an inventory has at most {MAX_FILES} files"),
            Self::Syntax(why) => write!(f, "invalid YAML: {}", visible(why)),
            Self::Section(line) => write!(f, "invalid section {}", quoted(line)),
            Self::UndefinedGroup(name) => write!(f, "undefined group {}", quoted(name)),
            Self::NotAssignment(text) => write!(f, "expects `name=value`, got {}", quoted(text)),
            Self::Range(text) => write!(f, "invalid range in {}", quoted(text)),
            Self::Structure(what) => write!(f, "{}", visible(what)),
            Self::Tag(tag) => write!(f, "unknown tag {}", quoted(tag)),
            Self::Plugin => f.write_str("configuration of an inventory plugin"),
            Self::Toml => f.write_str("inventories in TOML are not supported"),
            Self::Program => f.write_str("the inventory is a program"),
            Self::NotDirectory => f.write_str("the inventory is neither a file nor a directory"),
            Self::Cycle { parent, child } => {
                write!(f, "group {} cannot be a child of {}: cycle", quoted(child), quoted(parent))
            }
            Self::TooDeep => write!(f, "groups have at most {MAX_LEVELS} levels"),
            Self::TooManyHosts => write!(f, "an inventory has at most {MAX_HOSTS} hosts"),
            Self::TooManyTargets => write!(f, "a fleet has at most {MAX_TARGETS} targets"),
            Self::Pattern(text) => write!(f, "invalid pattern {}", quoted(text)),
            Self::NoPattern => f.write_str("the pattern for hosts is empty"),
            Self::Subscript(text) => write!(f, "no host has the index of {}", quoted(text)),
            Self::NothingSelected { pattern, .. } => {
                write!(f, "no host matches {}", quoted(pattern))
            }
            Self::Name { host, error } => write!(f, "host {}: {error}", quoted(host)),
            Self::NotValid { name, expects } => write!(f, "`{name}` expects {expects}"),
            Self::Vault(name) => write!(f, "{} is encrypted by Ansible Vault", quoted(name)),
            Self::VaultFile => f.write_str("the file is encrypted by Ansible Vault"),
            Self::Template(name) => write!(f, "{} is a Jinja template", quoted(name)),
            Self::Setting { name, .. } => write!(f, "opal does not read {}", quoted(name)),
            Self::TwoNames { name, other } => {
                write!(f, "`{name}` and {} have different values", quoted(other))
            }
            Self::ConnectionUnknown(name) => write!(f, "unknown connection {}", quoted(name)),
            Self::ConnectionRefused { host, connection } => {
                write!(f, "the inventory gives {} the connection `{connection}`", quoted(host))
            }
            Self::BecomeRefused { host } => {
                write!(f, "the inventory gives {} the rights of another user", quoted(host))
            }
            Self::Failed { program, code } => {
                write!(f, "{} failed with exit code {code}", quoted(program))
            }
            Self::NotListing(why) => write!(f, "invalid inventory: {}", visible(why)),
        }
    }
}

impl std::error::Error for InventoryError {}

impl From<InventoryError> for Trouble {
    fn from(error: InventoryError) -> Self {
        Self::new(TroubleKind::Invalid, error.to_string(), error.help())
    }
}
