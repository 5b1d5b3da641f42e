//! What is known about the target that a block runs on.

use opal_core::Data;
use opal_core::Type;
use opal_core::crossing::Facts;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Returns, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};

use crate::common::TEXT;

const ON_TARGET: &str = "fun report() {\n    @ssh.hosts(hosts=[\"web1\", \"web2\"]) {\n        \
                         echo \"@target.index: @target.name at @target.host\"\n    }\n}\n";

const BASE: Descriptor = Descriptor {
    effect: Effect::Read,
    exposure: Exposure::Public,
    site: Site::Facts,
    examples: &[Example { title: "which target this is", source: ON_TARGET }],
    ..Descriptor::BASE
};

pub(crate) static NAME: Descriptor = Descriptor {
    path: "target.name",
    summary: "the name of the target that the block runs on",
    docs: "Gives the name of the current target, as the block or its inventory calls it. The value \
           is public: plans show it in clear.",
    returns: Some(TEXT),
    resolver: Some(&Name),
    ..BASE
};

pub(crate) static HOST: Descriptor = Descriptor {
    path: "target.host",
    summary: "the address of the target that the block runs on",
    docs: "Gives the address that opal connects to: what the inventory says, or the name of the \
           host. The value is public: plans show it in clear.",
    returns: Some(TEXT),
    resolver: Some(&Host),
    ..BASE
};

pub(crate) static INDEX: Descriptor = Descriptor {
    path: "target.index",
    summary: "the number of the target that the block runs on, from 0",
    docs: "Gives the position of the current target among the targets of its block, from 0. The \
           value is public: plans show it in clear.",
    returns: Some(Returns { version: "1.0.0", ty: Type::Int }),
    resolver: Some(&Index),
    ..BASE
};

fn facts(inputs: &Inputs) -> Result<&Facts, Trouble> {
    inputs.target.as_deref().ok_or_else(|| {
        let message = "`@target` is used outside a block that runs on a target";
        let help = "use it inside `@ssh.host`, `@ssh.hosts` or `@container.exec`";
        Trouble::new(TroubleKind::Invalid, message, help)
    })
}

#[derive(Debug)]
struct Name;

impl Resolver for Name {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        facts(inputs).map(|facts| Data::text(&facts.name))
    }
}

#[derive(Debug)]
struct Host;

impl Resolver for Host {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        facts(inputs).map(|facts| Data::text(&facts.host))
    }
}

#[derive(Debug)]
struct Index;

impl Resolver for Index {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        facts(inputs).map(|facts| Data::Int(i64::try_from(facts.index).unwrap_or(i64::MAX)))
    }
}
