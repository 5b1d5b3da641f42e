use opal_core::boundary::{Boundary, Member};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::target::{Hop, Ssh};

use super::crossings::{
    self, AS, CONNECT_TIMEOUT, ENV, FILES, HELPER, LOGIN, LOST, OnOne, PASSWORD,
};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "ssh.host",
    summary: "run a block on another host, over SSH",
    docs: "The steps of the block run on the host: commands in its shell, resources on its files, and \
           `@env`, `@file.read`, `@file.hash`, `@shell.output` and `@os` read it. Opal uses the \
           system's `ssh` with your own configuration, keys and agent, and sends a small helper \
           program over the connection: the host needs no agent, no Python and no open port.\n\n\
           The block starts in the home directory of the user. Nothing of opal's environment \
           crosses, except what `env` names. Values reach the commands as data, as on this machine: \
           they are never in the arguments or the environment of `ssh`.\n\nIf the connection is \
           lost, the helper ends everything that the block has started, and the step fails with \
           exit code 69. `@file.copy` and `@file.template` read their source on opal's machine and \
           write to the host.",
    params: &[
        Param::required(
            "host",
            "the host, as `ssh` knows it: `web1`, `deploy@web1`, `web1:2222`, `[::1]:22`",
        ),
        AS,
        PASSWORD,
        ENV,
        FILES,
        LOGIN,
        Param::flag(
            "forward_agent",
            "let the host use your SSH agent: whoever controls the host can sign with your keys",
        ),
        CONNECT_TIMEOUT,
        LOST,
        HELPER,
    ],
    block: Block::Required,
    capabilities: &[Capability::Network, Capability::Processes],
    boundary: Some(&SshHost),
    examples: &[
        Example {
            title: "restart a service",
            source: "fun restart() {\n    @ssh.host(\"deploy@web1.example.com\", as=\"root\") {\n        \
                     systemctl restart app\n        systemctl is-active app\n    }\n}\n",
        },
        Example {
            title: "a file and a command that needs it",
            source: "fun configure() {\n    @ssh.host(\"web1.example.com\") {\n        \
                     @file.copy(\"app.conf\", \"/etc/app/app.conf\", mode=\"0640\")\n        \
                     app --check-config\n    }\n}\n",
        },
    ],
    action: Some(&OnOne),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct SshHost;

impl Boundary for SshHost {
    fn targets(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        crossings::check_helper(inputs)?;
        let host = inputs.text("host").unwrap_or_default();
        let ssh: Ssh = host.parse().map_err(crossings::invalid)?;
        let (name, address) = ((&ssh.host).into(), ssh.host.to_string());
        let role = crossings::role(inputs)?;
        Ok(vec![crossings::member(name, &address, Hop::Ssh(ssh), role)])
    }

    fn steering(&self) -> &'static [&'static str] {
        &["host", "as", "helper", "login"]
    }
}
