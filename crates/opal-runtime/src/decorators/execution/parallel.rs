use opal_core::action::{Action, Halt, OnFailure, Stage};
use opal_core::decorator::{Block, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "parallel",
    summary: "run the parts of a block at the same time",
    docs: "Every statement of the block is a branch of its own, and so is every round of a loop. \
           Branches start in the same directory, get no input from the terminal and cannot see \
           each other's `let` bindings. To keep steps in order within a branch, put them into a \
           plain block or a function.\n\n\
           The output of each branch is printed in one piece, in the order of the source, \
           whichever ends first. The block fails when one of its branches does.",
    params: &[
        Param {
            name: "max",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((1, 1000)),
            docs: "how many branches run at a time; without it all of them",
            ..Param::BASE
        },
        Param {
            name: "on_failure",
            ty: Type::OneOf(Choices::Static(&["cancel", "wait"])),
            presence: Presence::Default(Value::text("cancel")),
            docs: "what the first failure means for the other branches: `cancel` stops them, \
                   `wait` lets every branch run to its end",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    examples: &[
        Example {
            title: "all checks, whatever fails",
            source: "fun test() {\n    @parallel(on_failure=\"wait\") {\n        \
                     cargo fmt --check\n        cargo clippy\n        cargo test\n    }\n}\n",
        },
        Example {
            title: "a few at a time",
            source: "var SERVICES = [\"api\", \"web\", \"worker\", \"mailer\"]\n\n\
                     fun restart() {\n    @parallel(max=2) {\n        \
                     for service in SERVICES {\n            \
                     kubectl rollout restart deployment/@var.service\n        }\n    }\n}\n",
        },
    ],
    action: Some(&Parallel),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Parallel;

impl Action for Parallel {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let most = match inputs.data("max") {
            Some(Data::Int(most)) => usize::try_from(*most).ok(),
            _ => None,
        };
        let on_failure = match inputs.text("on_failure") {
            Some("wait") => OnFailure::Wait,
            _ => OnFailure::Cancel,
        };
        stage.branches(most, on_failure).map(|()| Data::Null)
    }
}
