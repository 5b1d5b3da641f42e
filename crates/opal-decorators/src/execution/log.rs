use opal_core::action::{Action, Halt, Level, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;
use opal_core::types::Choices;
use opal_core::{Data, Secret, Type, Value};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "log",
    summary: "write a line to the log of the run",
    docs: "Prints the message to standard error when its turn comes, and keeps it in the record \
           of the run with its level. Standard output is for the commands, so a message never \
           ends up in a pipe. Values in it are hidden as everywhere.\n\nIt is a step like any \
           other and always succeeds, even with `level=\"error\"`.",
    params: &[
        Param::required("message", "the text to write"),
        Param {
            name: "level",
            ty: Type::OneOf(Choices::Static(&["debug", "info", "warn", "error"])),
            presence: Presence::Default(Value::text("info")),
            docs: "the severity of the message",
            ..Param::BASE
        },
    ],
    capabilities: &[Capability::Terminal],
    examples: &[Example {
        title: "report progress",
        source: "fun release() {\n    @log(\"building the release of @git.commit\")\n    \
                 cargo build --release\n    \
                 @log(\"the binary is not signed yet\", level=\"warn\")\n}\n",
    }],
    action: Some(&Log),
    speaks: true,
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Log;

impl Action for Log {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let level = match inputs.text("level") {
            Some("debug") => Level::Debug,
            Some("warn") => Level::Warn,
            Some("error") => Level::Error,
            _ => Level::Info,
        };
        let message = Secret::new(inputs.text("message").unwrap_or_default());
        stage.log(level, &message).map(|()| Data::Null)
    }
}
