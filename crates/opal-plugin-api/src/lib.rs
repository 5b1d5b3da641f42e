//! What authors of plugins build against: the interfaces of `wit/plugin.wit`.
//!
//! Nothing of opal is here, so a plugin depends on nothing of it either. Within a major version
//! records, enums and variants never change: a plugin that was built once keeps working.

/// The interfaces between opal and a plugin.
pub const WIT: &str = include_str!("../wit/plugin.wit");

/// The version of the package in [`WIT`].
pub const VERSION: &str = "1.0.0";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use opal_core::protocol::Kind;
    use opal_core::protocol::call::{Function, INTERFACES};
    use opal_core::protocol::request::Service;
    use wit_parser::{Resolve, TypeDefKind, WorldKey};

    use super::*;

    fn resolve() -> Resolve {
        let mut resolve = Resolve::default();
        resolve.push_str("plugin.wit", WIT).unwrap();
        resolve
    }

    /// `value.resolve`, and `probe.env` for what a resource of `host` can do.
    fn functions(resolve: &Resolve) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (_, interface) in &resolve.interfaces {
            let name = interface.name.as_deref().unwrap();
            for (function, _) in &interface.functions {
                let method = function.strip_prefix("[method]").map(str::to_owned);
                found.insert(method.unwrap_or_else(|| format!("{name}.{function}")));
            }
        }
        found
    }

    #[test]
    fn the_protocol_has_every_function_of_the_interfaces() {
        let calls = Function::ALL.iter().map(|it| it.word().to_owned());
        let services = Service::ALL.iter().map(|it| it.word().to_owned());
        assert_eq!(functions(&resolve()), calls.chain(services).collect());
    }

    #[test]
    fn every_interface_has_a_world_and_a_name_in_the_protocol() {
        let resolve = resolve();
        let exported = |world: &wit_parser::World| {
            let names = world.exports.keys().map(|key| match key {
                WorldKey::Interface(id) => resolve.interfaces[*id].name.clone().unwrap(),
                WorldKey::Name(name) => name.clone(),
            });
            names.collect::<Vec<_>>()
        };
        let all: BTreeSet<String> =
            resolve.worlds.iter().flat_map(|(_, world)| exported(world)).collect();
        assert_eq!(all, INTERFACES.iter().map(|name| (*name).to_owned()).collect());
    }

    #[test]
    fn kinds_of_errors_are_those_of_the_protocol() {
        let resolve = resolve();
        let (_, kinds) =
            resolve.types.iter().find(|(_, it)| it.name.as_deref() == Some("error-kind")).unwrap();
        let TypeDefKind::Enum(kinds) = &kinds.kind else { panic!("not an enum") };
        let names: Vec<&str> = kinds.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, Kind::ALL.iter().map(|it| it.word()).collect::<Vec<_>>());
    }

    #[test]
    fn the_package_has_this_version() {
        let resolve = resolve();
        let names: Vec<String> =
            resolve.packages.iter().map(|(_, it)| it.name.to_string()).collect();
        assert_eq!(names, [format!("opal:plugin@{VERSION}")]);
    }
}
