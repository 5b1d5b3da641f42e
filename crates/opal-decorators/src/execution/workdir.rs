use opal_core::Data;
use opal_core::action::{Action, Conditions, Directory, Halt, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param};
use opal_core::resolver::Inputs;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "workdir",
    summary: "run a block in another directory",
    docs: "Steps of the block start in this directory; the steps after the block start where they \
           did before. A relative path starts in the directory of the block, so blocks can be \
           nested, and a `cd` before the block counts too.\n\nIf the directory does not exist, \
           the step fails, unless `create=true` creates it with its parents.",
    params: &[
        Param::required("path", "the directory to run in; `~` is the home directory"),
        Param::flag("create", "create the directory if it does not exist"),
    ],
    block: Block::Required,
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "build a part of a project",
            source: "fun build() {\n    @workdir(\"web\") {\n        \
                     npm ci\n        npm run build\n    }\n}\n",
        },
        Example {
            title: "work in a separate directory",
            source: "fun bundle() {\n    @workdir(\"dist\", create=true) {\n        \
                     tar czf app.tar.gz ../target/release/app\n    }\n}\n",
        },
    ],
    action: Some(&Workdir),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Workdir;

impl Action for Workdir {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let path = inputs.text("path").unwrap_or_default().to_owned();
        let directory = Some(Directory { path, create: inputs.is_true("create") });
        stage.block(&Conditions { directory, ..Conditions::default() }).map(|()| Data::Null)
    }
}
