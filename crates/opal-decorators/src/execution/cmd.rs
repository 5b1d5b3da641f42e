use opal_core::action::{Action, Conditions, Halt, Stage};
use opal_core::decorator::{Descriptor, Example, Subject};
use opal_core::resolver::Inputs;
use opal_core::{Data, Type};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "cmd",
    summary: "call a function of this file",
    docs: "Inserts the steps of another function, with its parameters bound to the arguments: \
           positional ones first, then `name=value`. The call is expanded when the plan is made, \
           so the plan lists every step. Recursive calls are an error that shows the \
           cycle.\n\nThe called function starts in the directory of the call. Calls can be joined \
           with `&&`, `||`, `|` and `;` like commands.",
    subject: Subject::Required("function"),
    open_params: Some(Type::Any),
    examples: &[
        Example {
            title: "a function made of others",
            source: "fun build() {\n    cargo build --release\n}\n\n\
                     fun test() {\n    cargo test\n}\n\n\
                     fun release() {\n    @cmd.test && @cmd.build\n}\n",
        },
        Example {
            title: "the same steps for several values",
            source: "fun deploy(service: String, replicas: Int = 2) {\n    \
                     kubectl scale --replicas=@var.replicas deployment/@var.service\n}\n\n\
                     fun all() {\n    @cmd.deploy(\"api\", replicas=3)\n    \
                     @cmd.deploy(\"web\")\n}\n",
        },
    ],
    action: Some(&Cmd),
    ..Descriptor::BASE
};

#[derive(Debug)]
pub(super) struct Cmd;

impl Action for Cmd {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let project = inputs.open.get("directory").and_then(Data::as_text).map(str::to_owned);
        stage.block(&Conditions { project, ..Conditions::default() }).map(|()| Data::Null)
    }
}
