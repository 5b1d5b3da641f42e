use opal_core::action::{Action, Conditions, Halt, Limit, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;
use opal_core::{Data, Duration, Type, Value};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "timeout",
    summary: "stop a block that takes too long",
    docs: "Sets a time limit for the whole block. When the block times out, everything it has \
           started gets the signal `TERM`; what still runs after the grace period is killed. The \
           step then fails with exit code 124.\n\n`finally` blocks inside still run. Around a \
           `@retry` it limits all attempts together, inside a `@retry` it limits each attempt.",
    params: &[
        Param {
            name: "duration",
            ty: Type::Duration,
            docs: "how long the block may take",
            ..Param::BASE
        },
        Param {
            name: "grace",
            ty: Type::Duration,
            presence: Presence::Default(Value::Duration(Duration::from_secs(10))),
            docs: "how long processes have to end by themselves before they are killed",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    capabilities: &[Capability::Clock, Capability::Processes],
    examples: &[
        Example {
            title: "do not wait forever",
            source: "fun test() {\n    @timeout(10m) {\n        cargo test\n    }\n}\n",
        },
        Example {
            title: "a limit for each attempt",
            source: "fun fetch() {\n    @retry(3) {\n        \
                     @timeout(30s, grace=2s) {\n            \
                     curl -fO https://example.com/data.tar.gz\n        }\n    }\n}\n",
        },
    ],
    action: Some(&Timeout),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Timeout;

impl Action for Timeout {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let length = |name| match inputs.data(name) {
            Some(Data::Duration(duration)) => *duration,
            _ => Duration::from_nanos(0),
        };
        let limit = Some(Limit { duration: length("duration"), grace: length("grace") });
        stage.block(&Conditions { limit, ..Conditions::default() }).map(|()| Data::Null)
    }
}
