use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};

use super::git;
use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "git.branch",
    summary: "the name of the branch that is checked out",
    docs: "Gives the current branch of the repository that the steps start in, without \
           `refs/heads/`. With a detached HEAD, which is common in CI, there is no branch and the \
           plan fails.\n\nThe value is public: plans show it in clear.",
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Public,
    capabilities: &[Capability::FilesRead, Capability::Processes],
    resolver: Some(&GitBranch),
    examples: &[Example {
        title: "choose the environment by the branch",
        source: "fun deploy() {\n    when @git.branch {\n        \
                 \"main\" -> kubectl apply -f k8s/production\n        \
                 else -> kubectl apply -f k8s/preview\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct GitBranch;

impl Resolver for GitBranch {
    fn resolve(&self, _: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let nothing = "no git repository here, or git does not trust it";
        let branch = git::ask(probe, &["branch", "--show-current"], nothing)?;
        if branch.expose().is_empty() {
            return Err(Trouble::new(
                TroubleKind::Missing,
                "no branch is checked out: detached HEAD",
                "check out a branch, or use `@git.commit`",
            ));
        }
        Ok(Data::Text(branch))
    }
}
