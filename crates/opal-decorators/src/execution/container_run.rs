use opal_core::boundary::{Boundary, Member};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::target::{Engine, Hop, Image, Mount, Name, NewContainer};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

use super::crossings::{self, ENV, FILES, LOST, OnOne};
use crate::common::STRINGS;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "container.run",
    summary: "run a block in a new container",
    docs: "Creates a container of the image, runs the steps of the block in it, and removes it. Its first \
           process is opal's helper, which opal copies into it, so any image will do; commands need a \
           `sh` in it. The container is removed with the end of the block, and also if opal is killed. \
           The engine may be on another machine.\n\nThe block starts in the working directory of the \
           image, with its environment. A relative path in `mounts` begins in the directory of the \
           source; inside `@ssh.host`, in the home directory of the host. What is in the container exists only \
           while the block runs, so a plan reads no value of it, and `opal verify` reports its resources \
           as unknown.",
    params: &[
        Param::required("image", "the image, which the engine pulls if it does not have it"),
        Param {
            name: "mounts",
            ty: STRINGS,
            presence: Presence::Optional,
            docs: "paths or volumes of the engine's machine, and where they are in the container: \
                   `[\"./src:/src\", \"cache:/var/cache:ro\"]`",
            ..Param::BASE
        },
        Param::optional(
            "network",
            "the network, such as `none` or `host`; by default the engine's",
        ),
        Param {
            name: "engine",
            ty: Type::OneOf(Choices::Static(&["auto", "docker", "podman"])),
            presence: Presence::Default(Value::text("auto")),
            docs: "the program to use; `auto` takes the first of `docker` and `podman` that has the image, \
                   and otherwise the first that is installed",
            ..Param::BASE
        },
        ENV,
        FILES,
        LOST,
    ],
    block: Block::Required,
    capabilities: &[Capability::Network, Capability::Processes],
    boundary: Some(&ContainerRun),
    examples: &[Example {
        title: "a build in a clean environment",
        source: "fun build() {\n    @container.run(\"docker.io/library/rust:1\", mounts=[\".:/src\"]) {\n        \
                 cd /src\n        cargo build --release\n    }\n}\n",
    }],
    action: Some(&OnOne),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct ContainerRun;

impl Boundary for ContainerRun {
    fn targets(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let text = inputs.text("image").unwrap_or_default();
        let image: Image = text.parse().map_err(crossings::invalid)?;
        let engine = Engine::ALL.into_iter().find(|it| Some(it.as_str()) == inputs.text("engine"));
        let network: Option<Name> =
            inputs.text("network").map(|it| it.parse().map_err(crossings::invalid)).transpose()?;
        let mounts = match inputs.data("mounts") {
            Some(Data::Array(mounts)) => {
                let mounts =
                    mounts.iter().map(|it| mount(it.as_text().unwrap_or_default(), inputs));
                mounts.collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        let target = called(&image).parse().map_err(crossings::invalid)?;
        let engine = engine.unwrap_or(Engine::Auto);
        let hop = Hop::NewContainer(NewContainer { engine, image, mounts, network });
        Ok(vec![crossings::member(target, text, hop, None)])
    }

    fn steering(&self) -> &'static [&'static str] {
        &["image", "mounts", "network", "engine"]
    }
}

/// What is relative begins in the directory of the file that names it. On a target nobody knows that
/// directory: there it begins at home.
fn mount(text: &str, inputs: &Inputs) -> Result<Mount, Trouble> {
    let mut mount: Mount = text.parse().map_err(crossings::invalid)?;
    let is_relative = mount.is_path() && !mount.source.starts_with('/');
    if let Some(project) =
        inputs.project.as_ref().filter(|_| is_relative && inputs.target.is_none())
    {
        mount.source = format!("{project}/{}", mount.source);
    }
    Ok(mount)
}

/// `rust` of `docker.io/library/rust:1`.
fn called(image: &Image) -> &str {
    let last = image.as_str().rsplit('/').next().unwrap_or_default();
    last.split([':', '@']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_called_like_its_image() {
        for (image, name) in [
            ("alpine", "alpine"),
            ("docker.io/library/rust:1", "rust"),
            ("localhost:5000/app@sha256:00", "app"),
        ] {
            assert_eq!(called(&image.parse().unwrap()), name);
        }
    }
}
