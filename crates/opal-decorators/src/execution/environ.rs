use opal_core::action::{Action, Conditions, Halt, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example};
use opal_core::gather::Gather as _;
use opal_core::resolver::Inputs;
use opal_core::{Data, Secret, Type};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "environ",
    summary: "set environment variables for a block",
    docs: "Each `NAME=value` is an environment variable of every step in the block, but not of \
           the steps after it. It replaces `export`, whose effect ends with its step. Values are \
           strings; `str(8080)` converts a number.\n\nThis is also a good way to pass a secret to \
           a program, because other users of the machine can read the arguments of a process but \
           not its environment. A step that would evaluate a value in it, such as `eval \"$NAME\"`, \
           is refused.\n\n`@env` is not affected: it reads the environment that opal was started with.",
    open_params: Some(Type::String),
    block: Block::Required,
    capabilities: &[Capability::Environment],
    examples: &[
        Example {
            title: "settings of a test run",
            source: "fun test() {\n    @environ(RUST_LOG=\"debug\", CI=\"true\") {\n        \
                     cargo test\n    }\n}\n",
        },
        Example {
            title: "a secret that stays out of the argument list",
            source: "var PASSWORD = @secret.file(\"/run/secrets/db\")\n\n\
                     fun dump() {\n    @environ(PGPASSWORD=PASSWORD) {\n        \
                     pg_dump --host=db.example.com --file=app.sql app\n    }\n}\n",
        },
    ],
    action: Some(&Environ),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Environ;

impl Action for Environ {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let set = |(name, value): (&String, &Data)| match value {
            Data::Text(text) => Some((name.clone(), Secret::clone(text))),
            _ => None,
        };
        let environment = inputs.open.iter().filter_map(set).gathered();
        stage.block(&Conditions { environment, ..Conditions::default() }).map(|()| Data::Null)
    }
}
