//! A host as a target: its connection variables, checked.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::str::FromStr;

use opal_core::Value;
use opal_core::target::{Host, Name, NameError, TargetName, User};

use super::error::{Fault, InventoryError};
use super::groups::{Inventory, Layer};
use super::variable::{Place, Variable, Variables};

/// A selected host of an inventory.
#[derive(Clone, Debug)]
pub struct Target {
    pub name: TargetName,
    pub address: Address,
    pub port: Option<NonZeroU16>,
    pub user: Option<User>,
    /// A path on opal's machine, as it is written.
    pub key_file: Option<String>,
    pub become_user: Option<Become>,
    /// Sorted; without `all`.
    pub groups: Vec<String>,
    pub vars: Variables,
    /// Where the host is written.
    pub place: Place,
    sealed: Vec<Place>,
}

/// What a target is reached by, and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Ssh(Host),
    Local,
    Docker(Name),
    Podman(Name),
}

/// Who the steps of a target run as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Become {
    Root,
    User(User),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Connection {
    Ssh,
    Local,
    Docker,
    Podman,
}

/// What a block says about the rights of its targets: `as=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Nothing: a host with `become` is an error.
    None,
    /// This user, for all targets.
    User(User),
    /// `as="inventory"`: the `become_user` of each host, nobody else for hosts without `become`.
    Inventory,
}

/// What a block permits its inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// `connections=`; `ssh` needs none.
    pub connections: Vec<Connection>,
    pub privilege: Privilege,
}

impl Connection {
    pub const ALL: [Self; 4] = [Self::Ssh, Self::Local, Self::Docker, Self::Podman];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Local => "local",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    fn named(text: &str) -> Option<Self> {
        Some(match text {
            "ssh" | "smart" | "ansible.builtin.ssh" => Self::Ssh,
            "local" | "ansible.builtin.local" => Self::Local,
            "docker" | "community.docker.docker" | "community.general.docker" => Self::Docker,
            "podman" | "containers.podman.podman" => Self::Podman,
            _ => return None,
        })
    }
}

impl Address {
    #[must_use]
    pub fn connection(&self) -> Connection {
        match self {
            Self::Ssh(_) => Connection::Ssh,
            Self::Local => Connection::Local,
            Self::Docker(_) => Connection::Docker,
            Self::Podman(_) => Connection::Podman,
        }
    }
}

/// Connection variables that opal does not read, and what to write instead.
const SETTINGS: &[(&str, &str)] = &[
    ("ansible_password", "use a key, or `password=` of the block"),
    ("ansible_ssh_pass", "use a key, or `password=` of the block"),
    ("ansible_ssh_password", "use a key, or `password=` of the block"),
    ("ansible_ssh_password_mechanism", "use a key, or `password=` of the block"),
    ("ansible_sshpass_prompt", "use a key, or `password=` of the block"),
    ("ansible_become_password", "write `@as(\"root\", password=…) { … }` in the block"),
    ("ansible_become_pass", "write `@as(\"root\", password=…) { … }` in the block"),
    ("ansible_sudo_pass", "write `@as(\"root\", password=…) { … }` in the block"),
    ("ansible_become_exe", "write `@as(\"root\") { … }` in the block"),
    ("ansible_become_flags", "write `@as(\"root\") { … }` in the block"),
    (
        "ansible_become_method",
        "write `@as(\"root\", via=\"doas\") { … }` for `doas`; opal uses `sudo`",
    ),
    ("ansible_ssh_common_args", "write its options to `~/.ssh/config`, such as `ProxyJump`"),
    ("ansible_ssh_extra_args", "write its options to `~/.ssh/config`"),
    ("ansible_ssh_args", "write its options to `~/.ssh/config`"),
    ("ansible_sftp_extra_args", "remove it: opal does not use sftp"),
    ("ansible_scp_extra_args", "remove it: opal does not use scp"),
    ("ansible_ssh_executable", "remove it: opal uses the `ssh` of the system"),
    ("ansible_ssh_private_key", "write a path to `ansible_ssh_private_key_file`"),
    ("ansible_private_key", "write a path to `ansible_ssh_private_key_file`"),
    ("ansible_ssh_private_key_passphrase", "load the key into `ssh-agent`"),
    ("ansible_private_key_passphrase", "load the key into `ssh-agent`"),
    ("ansible_ssh_pkcs11_provider", "write `PKCS11Provider` to `~/.ssh/config`"),
    ("ansible_host_key_checking", "write `StrictHostKeyChecking` to `~/.ssh/config`"),
    ("ansible_ssh_host_key_checking", "write `StrictHostKeyChecking` to `~/.ssh/config`"),
    ("ansible_control_path", "write `ControlPath` to `~/.ssh/config`"),
    ("ansible_control_path_dir", "write `ControlPath` to `~/.ssh/config`"),
    ("ansible_ssh_timeout", "write `ConnectTimeout` to `~/.ssh/config`"),
    ("ansible_timeout", "write `ConnectTimeout` to `~/.ssh/config`"),
    ("ansible_ssh_retries", "write `ConnectionAttempts` to `~/.ssh/config`"),
    ("ansible_docker_extra_args", "set `DOCKER_HOST`, or choose a context with `docker context`"),
    ("ansible_docker_host", "set `DOCKER_HOST`, or choose a context with `docker context`"),
    ("ansible_docker_user", "write `@as(USER) { … }` in the block"),
    ("ansible_podman_extra_args", "set `CONTAINER_HOST`"),
];

impl Target {
    pub(super) fn of(inventory: &Inventory, host: usize) -> Result<Self, InventoryError> {
        let Layer { vars, sealed } = inventory.variables(host);
        let host_of = &inventory.hosts[host];
        let reader = Reader { vars: &vars, host: &host_of.name, place: &host_of.place };
        reader.settings()?;
        let name = reader.name::<TargetName>(&host_of.name, &host_of.place)?;
        let key_file = reader.text(["ansible_ssh_private_key_file", "ansible_private_key_file"])?;
        Ok(Self {
            name,
            address: reader.address()?,
            port: reader.port()?,
            user: reader.named::<User>(["ansible_user", "ansible_ssh_user"])?,
            key_file: key_file.map(|(path, _)| path.to_owned()),
            become_user: reader.becomes()?,
            groups: inventory.group_names(host),
            place: host_of.place.clone(),
            vars,
            sealed,
        })
    }

    /// A variable; none where no file has it. Encrypted and computed ones are errors.
    pub fn var(&self, name: &str) -> Result<Option<&Value>, InventoryError> {
        match (self.vars.get(name), self.sealed.first()) {
            (Some(variable), _) => variable.value(name).map(Some),
            // It may be in there.
            (None, Some(sealed)) => Err(InventoryError::at(sealed, Fault::VaultFile)),
            (None, None) => Ok(None),
        }
    }

    /// Who the steps run as, where the block permits what the inventory says.
    pub fn permitted(&self, permissions: &Permissions) -> Result<Option<Become>, InventoryError> {
        let host = || self.name.to_string();
        let connection = self.address.connection();
        if connection != Connection::Ssh && !permissions.connections.contains(&connection) {
            let fault = Fault::ConnectionRefused { host: host(), connection: connection.as_str() };
            return Err(InventoryError::at(&self.place, fault));
        }
        match (&permissions.privilege, &self.become_user) {
            (Privilege::None, None) => Ok(None),
            (Privilege::None, Some(_)) => {
                Err(InventoryError::at(&self.place, Fault::BecomeRefused { host: host() }))
            }
            (Privilege::User(user), _) => Ok(Some(Become::User(user.clone()))),
            (Privilege::Inventory, own) => Ok(own.clone()),
        }
    }
}

struct Reader<'v> {
    vars: &'v BTreeMap<String, Variable>,
    host: &'v str,
    place: &'v Place,
}

impl<'v> Reader<'v> {
    fn settings(&self) -> Result<(), InventoryError> {
        for (name, instead) in SETTINGS {
            if let Some(variable) = self.vars.get(*name) {
                let is_sudo = *name == "ansible_become_method"
                    && matches!(variable.value(name), Ok(Value::String(text)) if text == "sudo");
                if !is_sudo {
                    let fault = Fault::Setting { name: (*name).to_owned(), instead };
                    return Err(InventoryError::at(&variable.place, fault));
                }
            }
        }
        Ok(())
    }

    /// A value and its place, by any of its names.
    fn any(
        &self,
        names: [&'static str; 2],
    ) -> Result<Option<(&'static str, &'v Value, &'v Place)>, InventoryError> {
        let mut found: Option<(&'static str, &'v Value, &'v Place)> = None;
        for name in names {
            let Some(variable) = self.vars.get(name) else { continue };
            let value = variable.value(name)?;
            match found {
                Some((first, other, _)) if other != value => {
                    let fault = Fault::TwoNames { name: first, other: name.to_owned() };
                    return Err(InventoryError::at(&variable.place, fault));
                }
                Some(_) => {}
                None => found = Some((name, value, &variable.place)),
            }
        }
        Ok(found)
    }

    fn text(
        &self,
        names: [&'static str; 2],
    ) -> Result<Option<(&'v str, &'v Place)>, InventoryError> {
        match self.any(names)? {
            None => Ok(None),
            Some((_, Value::String(text), place)) => Ok(Some((text.as_ref(), place))),
            Some((name, _, place)) => Err(not_valid(name, "a text", place)),
        }
    }

    fn name<T: FromStr<Err = NameError>>(
        &self,
        text: &str,
        place: &Place,
    ) -> Result<T, InventoryError> {
        text.parse().map_err(|error| {
            InventoryError::at(place, Fault::Name { host: self.host.to_owned(), error })
        })
    }

    fn named<T: FromStr<Err = NameError>>(
        &self,
        names: [&'static str; 2],
    ) -> Result<Option<T>, InventoryError> {
        let found = self.text(names)?;
        found.map(|(text, place)| self.name(text, place)).transpose()
    }

    fn address(&self) -> Result<Address, InventoryError> {
        let connection = match self.text(["ansible_connection", "ansible_ssh_connection"])? {
            None => Connection::Ssh,
            Some((name, place)) => Connection::named(name).ok_or_else(|| {
                InventoryError::at(place, Fault::ConnectionUnknown(name.to_owned()))
            })?,
        };
        let (name, place) = match self.text(["ansible_host", "ansible_ssh_host"])? {
            Some(found) => found,
            None => (self.host, self.place),
        };
        Ok(match connection {
            Connection::Local => Address::Local,
            Connection::Ssh => Address::Ssh(self.name(name, place)?),
            Connection::Docker => Address::Docker(self.name(name, place)?),
            Connection::Podman => Address::Podman(self.name(name, place)?),
        })
    }

    fn port(&self) -> Result<Option<NonZeroU16>, InventoryError> {
        let Some((name, value, place)) = self.any(["ansible_port", "ansible_ssh_port"])? else {
            return Ok(None);
        };
        let port = match value {
            Value::Int(port) => u16::try_from(*port).ok(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let port = port.and_then(NonZeroU16::new);
        port.map(Some).ok_or_else(|| not_valid(name, "a port between 1 and 65535", place))
    }

    fn becomes(&self) -> Result<Option<Become>, InventoryError> {
        let Some((name, value, place)) = self.any(["ansible_become", "ansible_sudo"])? else {
            return Ok(None);
        };
        let becomes = match value {
            Value::Bool(truth) => *truth,
            Value::Int(number @ (0 | 1)) => *number == 1,
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "yes" | "true" | "on" | "y" | "t" | "1" => true,
                "no" | "false" | "off" | "n" | "f" | "0" => false,
                _ => return Err(not_valid(name, "yes or no", place)),
            },
            _ => return Err(not_valid(name, "yes or no", place)),
        };
        let user = self.named::<User>(["ansible_become_user", "ansible_sudo_user"])?;
        let user = user.filter(|user| user.as_str() != "root");
        Ok(becomes.then(|| user.map_or(Become::Root, Become::User)))
    }
}

fn not_valid(name: &str, expects: &'static str, place: &Place) -> InventoryError {
    InventoryError::at(place, Fault::NotValid { name: name.to_owned(), expects })
}
