use opal_core::Data;
use opal_core::decorator::{Capability, Cost, Descriptor, Effect, Example, Exposure, Param};
use opal_core::resolver::{Inputs, Probe, Resolver, Run, Trouble};

use super::reading::{absent, without_line_ends};
use crate::common::{DASH, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "secret.cmd",
    summary: "a secret that a command prints",
    docs: "Queries a password manager or the command line of a vault: runs the command at plan \
           time and gives its standard output without trailing line ends. The value is hidden \
           everywhere and cannot be made public; the output of the command itself is never \
           shown.\n\nQuick plans do not run the command and show the value as deferred. A command \
           that fails also fails the plan, and so does a secret of fewer than four characters. The \
           command runs where the task starts, also inside `@workdir`.",
    params: &[
        Param {
            name: "cmd",
            shell: true,
            docs: "the command that prints the secret",
            ..Param::BASE
        },
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    cost: Cost::Expensive,
    exposure: Exposure::Secret,
    capabilities: &[Capability::Processes],
    resolver: Some(&SecretCmd),
    examples: &[Example {
        title: "query a password manager",
        source: "var PASSWORD = @secret.cmd(\"pass show production/database\")\n\n\
                 fun migrate() {\n    @environ(PGPASSWORD=PASSWORD) {\n        \
                 psql --host=db.example.com --file=schema.sql\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct SecretCmd;

impl Resolver for SecretCmd {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let command = inputs.script("cmd").ok_or_else(|| absent("cmd"))?;
        let output = probe.run(&Run::Script(command))?;
        Ok(Data::Text(without_line_ends(&output)))
    }
}
