use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example};
use opal_core::resolver::Inputs;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "to.display",
    summary: "pass text on with its secrets hidden",
    docs: "Use it at the end of a pipe: it passes on its input, with every known value replaced \
           by its placeholder, as on the terminal. Bytes between commands and into files are \
           otherwise unfiltered.\n\nRedirect it to keep a copy that can be shared, such as a bug \
           report or an artifact of a CI job.",
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
