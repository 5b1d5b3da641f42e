use opal_core::Data;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "os.name",
    summary: "the operating system",
    docs: "Gives the name of the operating system in lower case: `linux` or `macos`. The value \
           is public: plans show it in clear.",
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Public,
    resolver: Some(&OsName),
    examples: &[Example {
        title: "open a page with what the system offers",
        source: "fun docs() {\n    if @os.name == \"macos\" {\n        \
                 open target/doc/index.html\n    } else {\n        \
                 xdg-open target/doc/index.html\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct OsName;

impl Resolver for OsName {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        Ok(Data::text(probe.host().os))
    }
}
