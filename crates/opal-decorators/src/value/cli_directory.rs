use opal_core::Data;
use opal_core::decorator::{Descriptor, Effect, Example, Exposure};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};

use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "cli.directory",
    summary: "the directory in which opal was called",
    docs: "Gives the directory in which opal was called, as an absolute path without symlinks; with \
           `-C DIR` that is `DIR`. The steps of a task start beside its file, wherever opal was called; \
           this is where the person was. The value is public: plans show it in clear.\n\n\
           A contract that uses it runs only in that directory.",
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Public,
    resolver: Some(&CliDirectory),
    examples: &[Example {
        title: "format what is below the directory of the call",
        source: "fun lint() {\n    prettier --check @cli.directory\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct CliDirectory;

impl Resolver for CliDirectory {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let caller = probe.caller();
        caller.to_str().map(Data::text).ok_or_else(|| {
            let message = "the name of the directory in which opal was called is not UTF-8";
            Trouble::new(TroubleKind::NotText, message, "call opal in another directory")
        })
    }
}
