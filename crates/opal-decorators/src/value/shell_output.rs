use opal_core::Data;
use opal_core::decorator::{Capability, Cost, Descriptor, Effect, Example, Param, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Run, Trouble};

use super::reading::{absent, without_line_ends};
use crate::common::{DASH, PUBLIC, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "shell.output",
    summary: "the output of a command, at plan time",
    docs: "Runs a command while the plan is being made and gives its standard output without \
           trailing line ends. The value can be used in `if`, `when` and loops. A command that \
           fails also fails the plan.\n\nThe command should only read: it runs for every resolved \
           plan and every contract run, before anyone has approved anything. Quick plans do not \
           run it and show the value as deferred. For output that is needed after the steps have \
           begun, use `let.NAME = @shell(…)`.\n\nThe command runs where the task starts, like \
           every path that is read at plan time: a `@workdir` around it, or a `cd` before it, does \
           not count. For another directory, write `@shell.output(\"cd web && npm bin\")`.",
    params: &[
        Param { name: "cmd", shell: true, docs: "the command to run", ..Param::BASE },
        PUBLIC,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    cost: Cost::Expensive,
    capabilities: &[Capability::Processes],
    resolver: Some(&ShellOutput),
    examples: &[Example {
        title: "decide by the state of a cluster",
        source: "var NODES = @shell.output(\"kubectl get nodes --output=name\", public=true)\n\n\
                 fun test() {\n    for node in lines(NODES) {\n        \
                 kubectl describe @var.node\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct ShellOutput;

impl Resolver for ShellOutput {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let command = inputs.script("cmd").ok_or_else(|| absent("cmd"))?;
        let output = probe.run(&Run::Script(command))?;
        Ok(Data::Text(without_line_ends(&output)))
    }
}
