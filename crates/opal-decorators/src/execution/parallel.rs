use opal_core::action::{Action, BranchOutput, Halt, OnFailure, Stage};
use opal_core::decorator::{Block, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "parallel",
    summary: "run the parts of a block at the same time",
    docs: "Every statement of the block is a separate branch, and so is every iteration of a \
           loop. Branches start in the same directory, get no input from the terminal and cannot \
           see each other's `let` bindings. To keep steps in order within a branch, put them in a \
           plain block or a function.\n\nOn a terminal the branches print live, line by line, and \
           each line begins with the name of its branch. Otherwise the output of each branch is \
           printed in one piece, in plan order. `output` selects one of the two, and `--output` \
           on the command line overrides it. The block fails if one of its branches fails.",
    params: &[
        Param {
            name: "max",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((1, 1000)),
            docs: "how many branches run at a time; all of them by default",
            ..Param::BASE
        },
        Param {
            name: "on_failure",
            ty: Type::OneOf(Choices::Static(&["cancel", "wait"])),
            presence: Presence::Default(Value::text("cancel")),
            docs: "what to do with the other branches at the first failure: `cancel` stops them, \
                   `wait` lets every branch finish",
            ..Param::BASE
        },
        Param {
            name: "output",
            ty: Type::OneOf(Choices::Static(BranchOutput::NAMES)),
            presence: Presence::Optional,
            docs: "how the output is shown: `prefixed` prints each line at once, after the name \
                   of its branch; `grouped` prints one branch after the other. By default \
                   `prefixed` on a terminal and `grouped` otherwise",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    examples: &[
        Example {
            title: "all checks, even if one fails",
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
        Example {
            title: "two servers in parallel, also in a log file",
            source: "fun dev() {\n    @parallel(output=\"prefixed\") {\n        \
                     npm run dev\n        cargo run --bin api\n    }\n}\n",
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
        let output = inputs.text("output").and_then(BranchOutput::named);
        stage.branches(most, on_failure, output).map(|()| Data::Null)
    }
}
