//! How plans write the way to a target.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use crate::data::Data;
use crate::target::{Carrier, Engine, Hop, NewContainer, Pod, Program, Ssh, Via};
use crate::value::Value;

pub(super) fn write(hop: &Hop, add: &mut dyn FnMut(&str, Value)) {
    let text = |text: &str| Value::String(text.to_owned().into());
    match hop {
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
        Hop::Program(Carrier { program, has_agent }) => {
            add("connection", text("program"));
            add("program", program.to_value());
            if *has_agent {
                add("agent", Value::Bool(true));
            }
        }
        Hop::User { user, via } => {
            add("connection", text(via.as_str()));
            add("user", text(user.as_str()));
        }
    }
}

/// Reads what [`write`] wrote; none where it is something else.
pub(super) fn read(fields: &BTreeMap<String, Data>) -> Option<Hop> {
    let text = |name: &str| fields.get(name).and_then(Data::as_text);
    fn parsed<T: std::str::FromStr>(text: Option<&str>) -> Option<Option<T>> {
        text.map(str::parse).transpose().ok()
    }
    let via = |name: &str| Via::ALL.into_iter().find(|via| via.as_str() == name);
    Some(match text("connection")? {
        "local" => Hop::Local,
        "ssh" => {
            let port = match fields.get("port") {
                Some(Data::Int(port)) => Some(u16::try_from(*port).ok().and_then(NonZeroU16::new)?),
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
        "program" => Hop::Program(Carrier {
            program: Program::from_data(fields.get("program")?)?,
            has_agent: matches!(fields.get("agent"), Some(Data::Bool(true))),
        }),
        name => Hop::User { user: text("user")?.parse().ok()?, via: via(name)? },
    })
}
