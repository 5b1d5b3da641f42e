//! What is known about the target that a block runs on.

use opal_core::Data;
use opal_core::Type;
use opal_core::crossing::Facts;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Param, Returns, Site, Subject};
use opal_core::message;
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::target::INSIDE_A_TARGET;

use crate::common::{DASH, PUBLIC, SECRET, STRINGS, TEXT};

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

pub(crate) static GROUPS: Descriptor = Descriptor {
    path: "target.groups",
    summary: "the groups of the target that the block runs on",
    docs: "Gives the groups of the inventory that the current target belongs to, sorted; none \
           without an inventory. The value is public: plans show it in clear.",
    returns: Some(Returns { version: "1.0.0", ty: STRINGS }),
    resolver: Some(&Groups),
    examples: &[Example {
        title: "only where a group says so",
        source: "fun update() {\n    @ssh.hosts(inventory=\"hosts.ini\") {\n        \
                 if contains(@target.groups, \"canary\") {\n            echo canary\n        }\n        \
                 uptime\n    }\n}\n",
    }],
    ..BASE
};

pub(crate) static VARS: Descriptor = Descriptor {
    path: "target.vars",
    summary: "a variable of the inventory, for the target that the block runs on",
    docs: "Gives a variable that the inventory sets for the current target or one of its groups. It \
           follows the rules of `@env`: a value whose name or content suggests a secret is one. A \
           value that Ansible Vault has encrypted, or that is a template, cannot be used.",
    subject: Subject::Required("variable"),
    params: &[
        Param::optional("default", "the value to use if the inventory does not set the variable"),
        PUBLIC,
        SECRET,
        DASH,
    ],
    returns: Some(Returns { version: "1.0.0", ty: Type::Any }),
    exposure: Exposure::Plain,
    resolver: Some(&Vars),
    examples: &[Example {
        title: "a port that the inventory knows",
        source: "fun health() {\n    @ssh.hosts(inventory=\"hosts.ini\") {\n        \
                 var port = @target.vars.http_port(default=\"80\")\n        \
                 curl -fsS \"http://localhost:@var.port/health\"\n    }\n}\n",
    }],
    ..BASE
};

fn facts(inputs: &Inputs) -> Result<&Facts, Trouble> {
    inputs.target.as_deref().ok_or_else(|| {
        let message = "`@target` is used outside a block that runs on a target";
        Trouble::new(TroubleKind::Invalid, message, INSIDE_A_TARGET)
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

#[derive(Debug)]
struct Groups;

impl Resolver for Groups {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        let groups = |facts: &Facts| facts.groups.iter().map(Data::text).collect();
        facts(inputs).map(|facts| Data::Array(groups(facts)))
    }
}

#[derive(Debug)]
struct Vars;

impl Resolver for Vars {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        let name = inputs.subject.as_deref().unwrap_or_default();
        let facts = facts(inputs)?;
        if let Some(found) = facts.vars.get(name) {
            return found.clone();
        }
        if let Some(unread) = &facts.unread {
            return Err(unread.clone());
        }
        inputs.data("default").cloned().ok_or_else(|| {
            let message =
                message!("the inventory has no variable `", name, "` for `", facts.name, "`");
            let help = message!("add it, or say what to use: `@target.vars.", name, "(default=…)`");
            Trouble::new(TroubleKind::Missing, message, help)
        })
    }
}
