use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example};
use opal_core::resolver::Inputs;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "to.display",
    summary: "pass text on with its secrets hidden",
    docs: "Stands at the end of a pipe and passes on what it reads, with every known value \
           replaced by its placeholder, as on the terminal. Between commands and into files \
           bytes flow untouched; this puts the filter where you want it.\n\n\
           Redirect it to keep a copy that can be handed on: in a bug report, as a file of a CI \
           job.",
    capabilities: &[Capability::Terminal],
    examples: &[
        Example {
            title: "show a file without the secrets in it",
            source: "cat app.log | @to.display()\n",
        },
        Example {
            title: "keep a clean copy of a report",
            source: "fun report() {\n    \
                     kubectl get pods --output=yaml | @to.display() > report.yaml\n}\n",
        },
    ],
    action: Some(&ToDisplay),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct ToDisplay;

impl Action for ToDisplay {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        stage.pass_on().map(|()| Data::Null)
    }
}
