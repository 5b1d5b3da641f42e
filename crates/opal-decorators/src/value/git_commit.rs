use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use super::git;
use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "git.commit",
    summary: "the full id of the commit that is checked out",
    docs: "Gives the commit of the repository that the steps start in, in full. Uncommitted \
           changes do not affect it, and neither do variables such as `GIT_DIR` that a git hook \
           sets. Outside a repository, and before the first commit, the plan \
           fails.\n\nThe value is public: plans show it in clear.",
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Public,
    capabilities: &[Capability::FilesRead, Capability::Processes],
    resolver: Some(&GitCommit),
    examples: &[Example {
        title: "tag an image with the commit",
        source: "fun build() {\n    docker build --tag app:@git.commit .\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct GitCommit;

impl Resolver for GitCommit {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let words = ["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"];
        let nothing = "no commit here: there is no git repository, or it has no commit yet";
        git::ask(probe, &words, nothing).map(Data::Text)
    }
}
