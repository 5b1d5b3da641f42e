use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param};
use opal_core::resolver::Inputs;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "confirm",
    summary: "ask before anything runs",
    docs: "Asks the person at the terminal a question. All questions of a plan are asked before \
           its first step, in the order of the plan, never halfway through. Any answer but yes \
           ends the run with exit code 130, before anything has run.\n\n`--yes` answers all \
           questions. Without a terminal and without `--yes` the run does not start and ends with \
           exit code 2.",
    params: &[Param::required("message", "the question")],
    capabilities: &[Capability::Terminal],
    examples: &[Example {
        title: "think twice before deleting",
        source: "fun wipe() {\n    @confirm(\"Delete every preview environment?\")\n    \
                 kubectl delete namespace preview\n}\n",
    }],
    action: Some(&Confirm),
    speaks: true,
    ..Descriptor::BASE
};

/// It was asked before the first step, and the answer was yes.
#[derive(Debug)]
struct Confirm;

impl Action for Confirm {
    fn act(&self, _: &Inputs, _: &mut dyn Stage) -> Result<Data, Halt> {
        Ok(Data::Null)
    }
}
