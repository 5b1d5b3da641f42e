use opal_core::Data;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "os.arch",
    summary: "the processor architecture",
    docs: "Gives the architecture of the machine, spelled the same on every system: `x86_64`, \
           `aarch64`. It is not translated for tools that say `amd64` or `arm64`; a `when` does \
           that. The value is public: plans show it in clear.",
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Public,
    resolver: Some(&OsArch),
    examples: &[Example {
        title: "build for this machine",
        source: "fun image() {\n    when @os.arch {\n        \
                 \"aarch64\" -> docker build --platform linux/arm64 .\n        \
                 else -> docker build --platform linux/amd64 .\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct OsArch;

impl Resolver for OsArch {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        Ok(Data::text(probe.host().arch))
    }
}
