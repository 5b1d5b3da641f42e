//! Blocks that run elsewhere: the targets of a block, and what crosses to them.
//!
//! A decorator whose block runs elsewhere is a [`Boundary`](crate::boundary::Boundary): the planner
//! asks it for its targets once, and the plan has them as the argument [`TARGETS`]. Everybody else
//! reads them from there, so a run and a verification can have no other targets than the plan.

mod settings;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;

use crate::data::Data;
use crate::resolver::Trouble;
use crate::target::{Engine, Hop, NewContainer, Pod, Ssh, TargetName, User, Via};
use crate::value::Value;

pub use settings::{HelperUse, Settings};

/// What plans call the targets of a block; no parameter has this name.
pub const TARGETS: &str = "targets";

/// What plans call the places of the targets that `--limit` has left, of all that the block has:
/// batches and shares are those of the whole fleet.
pub const PLACES: &str = "places";

/// The places of the targets that are left, of so many.
#[must_use]
pub fn places_of(places: impl Iterator<Item = usize>, total: usize) -> Value {
    let int = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let at = Value::Array(places.map(int).collect());
    Value::Map(BTreeMap::from([("at".to_owned(), at), ("of".to_owned(), int(total))]))
}

/// Reads what [`places_of`] wrote.
#[must_use]
pub fn places(data: &Data) -> Option<(Vec<usize>, usize)> {
    let Data::Map(fields) = data else { return None };
    let int = |data: &Data| match data {
        Data::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    let Some(Data::Array(at)) = fields.get("at") else { return None };
    Some((at.iter().map(int).collect::<Option<_>>()?, int(fields.get("of")?)?))
}

/// The key of a value of one member of a fleet. In the steps, which are the same for all members, its
/// key has `*` where this has the name of the member.
#[must_use]
pub fn member_key(member: &str, key: &str) -> Arc<str> {
    match key.strip_prefix("*/") {
        Some(rest) => format!("{member}/{rest}").into(),
        // What is computed with an operator has brackets of its own.
        None if is_bracketed(key) => format!("{member}/{key}").into(),
        None => format!("{member}/({key})").into(),
    }
}

/// Whether one pair of brackets is around all of a key. What is not in brackets has no operator, so two keys
/// never become one.
fn is_bracketed(key: &str) -> bool {
    let inner = key.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return false };
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for byte in inner.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted && depth == 0 => return false,
            b')' if !is_quoted => depth -= 1,
            _ => {}
        }
    }
    !is_quoted && depth == 0
}

/// A target, as a plan has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub name: TargetName,
    pub hop: Hop,
    /// The user that the block runs as there, where it is another than the one that opal logs in as.
    pub role: Option<Role>,
    /// The key to log in with, as the inventory names it: a file of opal's machine.
    pub key_file: Option<String>,
}

/// Another user on a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    pub user: User,
    pub via: Via,
}

/// What `@target` gives.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub name: String,
    /// The address that opal connects to.
    pub host: String,
    /// Among the targets of the block, from 0.
    pub index: usize,
    pub groups: Vec<String>,
    /// Variables of the inventory, or why one cannot be read.
    pub vars: BTreeMap<String, Result<Data, Trouble>>,
    /// Why a variable that is not among them may be there after all.
    pub unread: Option<Trouble>,
}

/// One crossing: from a machine to a target.
#[derive(Clone, Debug)]
pub struct Crossing {
    pub target: Target,
    pub settings: Arc<Settings>,
    /// Tells the targets apart that are made for one run of a block; 0 for all others.
    pub visit: u64,
}

impl Crossing {
    /// The hops of this crossing: to the target, and to another user there.
    pub fn hops(&self) -> impl Iterator<Item = Hop> + use<> {
        let Target { hop, role, .. } = self.target.clone();
        let role = role.map(|Role { user, via }| Hop::User { user, via });
        std::iter::once(hop).chain(role)
    }
}

impl Target {
    /// As plans write it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let text = |text: &str| Value::String(text.to_owned().into());
        let mut fields = BTreeMap::from([("name".to_owned(), text(self.name.as_str()))]);
        let mut add = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        match &self.hop {
            Hop::Local => add("connection", text("local")),
            Hop::Ssh(Ssh { host, port, user }) => {
                add("connection", text("ssh"));
                add("address", text(host.as_str()));
                port.iter().for_each(|port| add("port", Value::Int(port.get().into())));
                user.iter().for_each(|user| add("user", text(user.as_str())));
            }
            Hop::Container { engine, name } => {
                add("connection", text("container"));
                add("address", text(name.as_str()));
                add("engine", text(engine.as_str()));
            }
            Hop::NewContainer(NewContainer { engine, image, mounts, network }) => {
                add("connection", text("new container"));
                add("address", text(image.as_str()));
                add("engine", text(engine.as_str()));
                network.iter().for_each(|it| add("network", text(it.as_str())));
                if !mounts.is_empty() {
                    let mounts = mounts.iter().map(|mount| text(&mount.to_string()));
                    add("mounts", Value::Array(mounts.collect()));
                }
            }
            Hop::Pod(Pod { name, namespace, container, context }) => {
                add("connection", text("kubectl"));
                add("address", text(name.as_str()));
                namespace.iter().for_each(|it| add("namespace", text(it.as_str())));
                container.iter().for_each(|it| add("container", text(it.as_str())));
                context.iter().for_each(|it| add("context", text(it.as_str())));
            }
            Hop::User { user, via } => {
                add("connection", text(via.as_str()));
                add("user", text(user.as_str()));
            }
        }
        if let Some(key_file) = &self.key_file {
            add("key_file", text(key_file));
        }
        if let Some(Role { user, via }) = &self.role {
            add("as", text(user.as_str()));
            add("via", text(via.as_str()));
        }
        Value::Map(fields)
    }

    /// How it is reached, in one text that no other way of reaching it has: `ssh web1 port=2222`.
    #[must_use]
    pub fn transport(&self) -> String {
        let Value::Map(mut fields) = self.to_value() else { return String::new() };
        let plain = |value: Value| match value {
            Value::String(text) => text.to_string(),
            other => other.to_string(),
        };
        // Names have no `=`.
        let main = ["connection", "address"].into_iter().filter_map(|it| fields.remove(it));
        let mut words: Vec<String> = main.map(plain).collect();
        let is_more = |name: &str| !matches!(name, "name" | "key_file");
        let more = fields.into_iter().filter(|(name, _)| is_more(name));
        words.extend(more.map(|(name, value)| format!("{name}={}", plain(value))));
        words.join(" ")
    }

    /// Reads what [`Self::to_value`] wrote; none where it is something else.
    #[must_use]
    pub fn from_data(data: &Data) -> Option<Self> {
        let Data::Map(fields) = data else { return None };
        let text = |name: &str| fields.get(name).and_then(Data::as_text);
        fn parsed<T: std::str::FromStr>(text: Option<&str>) -> Option<Option<T>> {
            text.map(str::parse).transpose().ok()
        }
        let via = |name: &str| Via::ALL.into_iter().find(|via| via.as_str() == name);
        let hop = match text("connection")? {
            "local" => Hop::Local,
            "ssh" => {
                let port = match fields.get("port") {
                    Some(Data::Int(port)) => {
                        Some(u16::try_from(*port).ok().and_then(NonZeroU16::new)?)
                    }
                    Some(_) => return None,
                    None => None,
                };
                let host = text("address")?.parse().ok()?;
                Hop::Ssh(Ssh { host, port, user: parsed(text("user"))? })
            }
            "container" => {
                let engine = text("engine")?;
                Hop::Container {
                    engine: Engine::ALL.into_iter().find(|it| it.as_str() == engine)?,
                    name: text("address")?.parse().ok()?,
                }
            }
            "new container" => {
                let engine = text("engine")?;
                let mounts = match fields.get("mounts") {
                    Some(Data::Array(mounts)) => {
                        let read = |mount: &Data| mount.as_text()?.parse().ok();
                        mounts.iter().map(read).collect::<Option<_>>()?
                    }
                    Some(_) => return None,
                    None => Vec::new(),
                };
                Hop::NewContainer(NewContainer {
                    engine: Engine::ALL.into_iter().find(|it| it.as_str() == engine)?,
                    image: text("address")?.parse().ok()?,
                    mounts,
                    network: parsed(text("network"))?,
                })
            }
            "kubectl" => Hop::Pod(Pod {
                name: text("address")?.parse().ok()?,
                namespace: parsed(text("namespace"))?,
                container: parsed(text("container"))?,
                context: parsed(text("context"))?,
            }),
            name => Hop::User { user: text("user")?.parse().ok()?, via: via(name)? },
        };
        let role = match text("as") {
            Some(user) => Some(Role { user: user.parse().ok()?, via: via(text("via")?)? }),
            None => None,
        };
        let key_file = text("key_file").map(str::to_owned);
        Some(Self { name: text("name")?.parse().ok()?, hop, role, key_file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_members_have_one_pair_of_brackets() {
        for (key, own) in [
            ("*/env.X", "web1/env.X"),
            ("*/app/env.X", "web1/app/env.X"),
            ("(*/env.X + \"a\")", "web1/(*/env.X + \"a\")"),
            ("((*/env.X + \"a\") + \")(\")", "web1/((*/env.X + \"a\") + \")(\")"),
            ("lower(*/env.X)", "web1/(lower(*/env.X))"),
            ("(a) + (b)", "web1/((a) + (b))"),
        ] {
            assert_eq!(&*member_key("web1", key), own);
        }
    }

    #[test]
    fn a_target_is_read_as_it_was_written() {
        let hops = [
            Hop::Local,
            Hop::Ssh("web1".parse().unwrap()),
            Hop::Ssh("deploy@[::1]:2222".parse().unwrap()),
            Hop::Container { engine: Engine::Podman, name: "db".parse().unwrap() },
            Hop::Pod(Pod {
                name: "api-0".parse().unwrap(),
                namespace: Some("prod".parse().unwrap()),
                container: None,
                context: Some("admin@cluster:6443/x".parse().unwrap()),
            }),
            Hop::User { user: "root".parse().unwrap(), via: Via::Doas },
            Hop::NewContainer(NewContainer {
                engine: Engine::Auto,
                image: "ghcr.io/a/b:1@sha256:0".parse().unwrap(),
                mounts: vec!["./src:/src:ro".parse().unwrap(), "cache:/c".parse().unwrap()],
                network: Some("none".parse().unwrap()),
            }),
        ];
        let roles = [None, Some(Role { user: "root".parse().unwrap(), via: Via::Sudo })];
        for hop in hops {
            for role in &roles {
                let (hop, role) = (hop.clone(), role.clone());
                let key_file = Some("~/.ssh/id".to_owned());
                let target = Target { name: "it".parse().unwrap(), hop, role, key_file };
                let read = Target::from_data(&Data::from(&target.to_value()));
                assert_eq!(read, Some(target));
            }
        }
    }

    #[test]
    fn a_transport_says_everything_but_the_name_and_the_key() {
        let role = Some(Role { user: "root".parse().unwrap(), via: Via::Sudo });
        let hop = Hop::Ssh("deploy@web1:2222".parse().unwrap());
        let key_file = Some("~/.ssh/id".to_owned());
        let target = Target { name: "it".parse().unwrap(), hop, role, key_file };
        assert_eq!(target.transport(), "ssh web1 as=root port=2222 user=deploy via=sudo");
        let hop = Hop::Container { engine: Engine::Podman, name: "db".parse().unwrap() };
        let target = Target { hop, role: None, ..target };
        assert_eq!(target.transport(), "container db engine=podman");
    }

    #[test]
    fn what_is_not_a_target_is_not_read_as_one() {
        let target = |pairs: &[(&str, Data)]| {
            let pairs = pairs.iter().map(|(name, data)| ((*name).to_owned(), data.clone()));
            Target::from_data(&Data::Map(pairs.collect()))
        };
        let [name, ssh] = [("name", Data::text("a")), ("connection", Data::text("ssh"))];
        let address = ("address", Data::text("a"));
        assert!(target(&[name.clone(), ssh.clone(), address.clone()]).is_some());
        assert!(target(&[name.clone(), ssh.clone()]).is_none());
        let hostile = ("address", Data::text("-oProxyCommand=x"));
        assert!(target(&[name.clone(), ssh.clone(), hostile]).is_none());
        for port in [Data::Int(0), Data::Int(65_536), Data::text("22")] {
            let port = ("port", port);
            assert!(target(&[name.clone(), ssh.clone(), address.clone(), port]).is_none());
        }
        assert!(target(&[name, ("connection", Data::text("winrm")), address]).is_none());
    }
}
