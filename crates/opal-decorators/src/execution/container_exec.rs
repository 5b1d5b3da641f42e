use opal_core::boundary::{Boundary, Member};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::target::{Engine, Hop, Name};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use super::crossings::{self, ENV, FILES, LOST, OnOne};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "container.exec",
    summary: "run a block in a running container",
    docs: "The steps of the block run in the container, by `docker exec` or `podman exec`: one for \
           the whole block, whatever the number of steps. The image needs nothing but a `sh`. What \
           the block has started ends with it.",
    params: &[
        Param::required("name", "the name or the id of the container"),
        Param {
            name: "engine",
            ty: Type::OneOf(Choices::Static(&["auto", "docker", "podman"])),
            presence: Presence::Default(Value::text("auto")),
            docs: "the program to use; `auto` takes the first of `docker` and `podman` that has a \
                   container of this name",
            ..Param::BASE
        },
        ENV,
        FILES,
        LOST,
    ],
    block: Block::Required,
    capabilities: &[Capability::Processes],
    boundary: Some(&ContainerExec),
    examples: &[Example {
        title: "a migration in the container of the application",
        source: "fun migrate() {\n    @container.exec(\"app\") {\n        \
                 ./manage.py migrate --no-input\n        ./manage.py check --deploy\n    }\n}\n",
    }],
    action: Some(&OnOne),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct ContainerExec;

impl Boundary for ContainerExec {
    fn targets(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let text = inputs.text("name").unwrap_or_default();
        let name: Name = text.parse().map_err(crossings::invalid)?;
        let engine = Engine::ALL.into_iter().find(|it| Some(it.as_str()) == inputs.text("engine"));
        let target = name.as_str().parse().map_err(crossings::invalid)?;
        let hop = Hop::Container { engine: engine.unwrap_or(Engine::Auto), name };
        Ok(vec![crossings::member(target, text, hop, None)])
    }

    fn steering(&self) -> &'static [&'static str] {
        &["name", "engine"]
    }
}
