//! Inventories, as blocks of the language ask for them.

use std::collections::BTreeSet;

use opal_core::Data;
use opal_core::boundary::Member;
use opal_core::crossing::{self, Facts, Role};
use opal_core::gather::Gather as _;
use opal_core::hosts::{Inventories, Wanted};
use opal_core::resolver::{Probe, Trouble, TroubleKind};
use opal_core::target::{Engine, Hop, Ssh, Via};

use super::groups::Inventory;
use super::target::{Address, Become, Connection, Permissions, Privilege, Target};
use super::{Source, read};

/// The user that `ansible_become` means without a name.
const ROOT: &str = "root";

/// Reads inventories on opal's machine.
#[derive(Clone, Copy, Debug)]
pub struct Reader;

impl Inventories for Reader {
    fn members(&self, wanted: &Wanted<'_>, probe: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let permissions = permissions(wanted)?;
        let inventory = read(&Source::parse(wanted.inventory), probe)?;
        let selected = inventory.select(wanted.select, None)?;
        if let Some(pattern) = selected.unmatched.first() {
            return Err(inventory.nothing(pattern, pattern.clone()).into());
        }
        selected.targets.into_iter().map(|target| member(target, &permissions)).collect()
    }

    fn limited(
        &self,
        pattern: &str,
        members: &[(&str, &[String])],
    ) -> Result<BTreeSet<String>, Trouble> {
        let mut inventory = Inventory::default();
        for (name, groups) in members {
            inventory.add_member(name, groups)?;
        }
        let names = inventory.names(pattern)?;
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn is_expensive(&self, inventory: &str) -> bool {
        Source::parse(inventory).is_expensive()
    }
}

fn permissions(wanted: &Wanted<'_>) -> Result<Permissions, Trouble> {
    let named = |name: &&str| Connection::ALL.into_iter().find(|it| it.as_str() == *name);
    let privilege = match wanted.role {
        None => Privilege::None,
        Some("inventory") => Privilege::Inventory,
        Some(user) => Privilege::User(user.parse().map_err(|error| {
            let help = "write the name of a user, or `as=\"inventory\"`";
            Trouble::new(TroubleKind::Invalid, format!("{error}"), help)
        })?),
    };
    Ok(Permissions {
        connections: wanted.connections.iter().filter_map(named).collect(),
        privilege,
    })
}

fn member(target: Target, permissions: &Permissions) -> Result<Member, Trouble> {
    let role = target.permitted(permissions)?.map(|user| {
        let user = match user {
            Become::Root => ROOT.parse(),
            Become::User(user) => Ok(user),
        };
        user.map(|user| Role { user, via: Via::Sudo })
    });
    let role = role.transpose().map_err(|error: opal_core::target::NameError| {
        Trouble::new(TroubleKind::Invalid, error.to_string(), "this is a bug in opal")
    })?;
    let facts = facts(&target);
    let Target { name, address, port, user, key_file, .. } = target;
    let hop = match address {
        Address::Ssh(host) => Hop::Ssh(Ssh { host, port, user }),
        Address::Local => Hop::Local,
        Address::Docker(name) => Hop::Container { engine: Engine::Docker, name },
        Address::Podman(name) => Hop::Container { engine: Engine::Podman, name },
    };
    Ok(Member {
        target: crossing::Target { role, key_file, ..crossing::Target::new(name, hop) },
        facts,
    })
}

fn facts(target: &Target) -> Facts {
    let value = |name: &str| match target.var(name) {
        Ok(value) => Ok(value.map_or(Data::Null, Data::from)),
        Err(error) => Err(Trouble::from(error)),
    };
    let vars = target.vars.keys().map(|name| (name.clone(), value(name)));
    Facts {
        name: target.name.to_string(),
        host: match &target.address {
            Address::Ssh(host) => host.to_string(),
            Address::Local => "localhost".to_owned(),
            Address::Docker(name) | Address::Podman(name) => name.to_string(),
        },
        index: 0,
        groups: target.groups.clone(),
        vars: vars.gathered(),
        // A file that is encrypted as a whole may set any of them.
        unread: target.var("").err().map(Trouble::from),
    }
}
