use opal_core::Data;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "os.hostname",
    summary: "the name of the machine",
    docs: "Gives the host name as the system knows it, which may or may not include the domain. \
           The value is public: plans show it in clear.\n\n\
           A contract that uses it runs only on machines of that name.",
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Public,
    resolver: Some(&OsHostname),
    examples: &[Example {
        title: "name the sender of a message",
        source: "fun notify() {\n    logger --tag opal \"deployed from @os.hostname\"\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct OsHostname;

impl Resolver for OsHostname {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        Ok(Data::text(probe.host().name))
    }
}
