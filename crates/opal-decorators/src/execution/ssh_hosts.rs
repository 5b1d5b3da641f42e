use opal_core::action::BranchOutput;
use opal_core::boundary::{Boundary, Member};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::hosts::{self, Wanted};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::target::{Hop, Ssh};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

use super::crossings::{
    self, AS, CONNECT_TIMEOUT, ENV, FILES, HELPER, LOGIN, LOST, OnMany, PASSWORD,
};
use crate::common::STRINGS;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "ssh.hosts",
    summary: "run a block on many hosts, over SSH",
    docs: "The block runs on every host as in `@ssh.host`, several hosts at a time. A plan has the \
           block once, with the names of its hosts; if a value of a host decides what runs there, \
           the plan shows each variant with the hosts that it is for. `@target.name`, \
           `@target.host`, `@target.index`, `@target.groups` and `@target.vars` are those of the host at \
           hand.\n\n`batch` starts with \
           a part of the hosts: the next batch begins when the one before has ended. If more hosts \
           than `tolerate` fail or cannot be reached, no further host starts and the block fails \
           with the exit code of the first failed host. At the end a table says how each host \
           ended.\n\nOn a terminal the hosts print live, and each line begins with the name of its \
           host; otherwise one host is printed after the other.",
    params: &[
        Param {
            name: "hosts",
            ty: STRINGS,
            presence: Presence::Optional,
            docs: "the hosts, each as `ssh` knows it: `[\"web1\", \"deploy@web2:2222\"]`",
            ..Param::BASE
        },
        Param::optional(
            "inventory",
            "an inventory of Ansible instead: an INI or YAML file, or a directory of them; `ssh` for \
             the hosts of your SSH configuration; `cmd:PROGRAM` for a program that prints Ansible's \
             `--list` JSON",
        ),
        Param {
            name: "select",
            presence: Presence::Default(Value::text("all")),
            docs: "which hosts of the inventory: a pattern of Ansible, such as `web:&prod:!web3`",
            ..Param::BASE
        },
        Param {
            name: "connections",
            ty: STRINGS,
            presence: Presence::Optional,
            docs: "connections other than SSH that hosts of the inventory may have: `local`, \
                   `docker`, `podman`",
            ..Param::BASE
        },
        Param {
            name: "max_concurrency",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(20)),
            range: Some((1, 1000)),
            docs: "how many hosts are at work at a time",
            ..Param::BASE
        },
        Param {
            name: "batch",
            ty: Type::Any,
            presence: Presence::Optional,
            docs: "the size of a batch: a number, a part of all hosts (`\"25%\"`), or a list of both \
                   whose last element repeats; all hosts at once by default",
            ..Param::BASE
        },
        Param {
            name: "tolerate",
            ty: Type::Any,
            presence: Presence::Default(Value::Int(0)),
            docs: "how many hosts may fail: a number, or a part of all hosts (`\"10%\"`)",
            ..Param::BASE
        },
        Param {
            name: "on_failure",
            ty: Type::OneOf(Choices::Static(&["wait", "cancel"])),
            presence: Presence::Default(Value::text("wait")),
            docs: "what to do with the hosts at work when too many have failed: `wait` lets them \
                   finish, `cancel` stops them",
            ..Param::BASE
        },
        Param::flag("preflight", "connect to all hosts before the first step runs on any of them"),
        Param {
            name: "output",
            ty: Type::OneOf(Choices::Static(BranchOutput::FLEET_NAMES)),
            presence: Presence::Optional,
            docs: "how the output is shown: `prefixed` prints each line at once, after the name of \
                   its host; `grouped` prints one host after the other; `folded` prints equal outputs \
                   of a step once, when all hosts have ended. By default `prefixed` on a terminal \
                   and `grouped` otherwise",
            ..Param::BASE
        },
        AS,
        PASSWORD,
        ENV,
        FILES,
        LOGIN,
        Param::flag(
            "forward_agent",
            "let the hosts use your SSH agent: whoever controls one can sign with your keys",
        ),
        CONNECT_TIMEOUT,
        LOST,
        HELPER,
    ],
    one_of: &["hosts", "inventory"],
    block: Block::Required,
    capabilities: &[Capability::Network, Capability::Processes],
    boundary: Some(&SshHosts),
    examples: &[
        Example {
            title: "the same command everywhere",
            source: "fun uptime() {\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"]) {\n        \
                     uptime\n    }\n}\n",
        },
        Example {
            title: "hosts of an inventory, two at a time",
            source: "fun update() {\n    @ssh.hosts(inventory=\"hosts.ini\", select=\"web:!web3\", \
                     batch=2) {\n        sudo apt-get -q update\n    }\n}\n",
        },
        Example {
            title: "one host first, then the rest, and one of them may fail",
            source: "var HOSTS = [\"web1\", \"web2\", \"web3\", \"web4\"]\n\nfun restart() {\n    \
                     @ssh.hosts(HOSTS, batch=[1, \"50%\"], tolerate=1, as=\"root\") {\n        \
                     systemctl restart app\n        curl -fsS http://localhost:8080/health\n    \
                     }\n}\n",
        },
    ],
    action: Some(&OnMany),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct SshHosts;

impl Boundary for SshHosts {
    fn targets(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        crossings::check_helper(inputs)?;
        let members = match inputs.text("inventory") {
            Some(inventory) => of_inventory(inventory, inputs, probe)?,
            None => named(inputs)?,
        };
        crossings::policy(inputs, members.len())?;
        crossings::fleet(members)
    }

    fn steering(&self) -> &'static [&'static str] {
        &["hosts", "inventory", "select", "connections", "as", "helper", "login"]
    }

    fn is_expensive(&self, inputs: &Inputs) -> bool {
        let inventory = inputs.text("inventory").zip(hosts::reader().ok());
        inventory.is_some_and(|(inventory, reader)| reader.is_expensive(inventory))
    }

    fn is_fleet(&self, _: &Inputs) -> bool {
        true
    }
}

/// The hosts that the block names itself.
fn named(inputs: &Inputs) -> Result<Vec<Member>, Trouble> {
    let role = crossings::role(inputs)?;
    let Some(Data::Array(hosts)) = inputs.data("hosts") else { return Ok(Vec::new()) };
    let mut members = Vec::new();
    for host in hosts {
        let ssh: Ssh = host.as_text().unwrap_or_default().parse().map_err(crossings::invalid)?;
        let (name, address) = ((&ssh.host).into(), ssh.host.to_string());
        members.push(crossings::member(name, &address, Hop::Ssh(ssh), role.clone()));
    }
    Ok(members)
}

fn of_inventory(
    inventory: &str,
    inputs: &Inputs,
    probe: &dyn Probe,
) -> Result<Vec<Member>, Trouble> {
    let connections = match inputs.data("connections") {
        Some(Data::Array(names)) => names.iter().filter_map(Data::as_text).collect(),
        _ => Vec::new(),
    };
    let select = inputs.text("select").unwrap_or("all");
    let wanted = Wanted { inventory, select, connections, role: inputs.text("as") };
    hosts::reader()?.members(&wanted, probe)
}
