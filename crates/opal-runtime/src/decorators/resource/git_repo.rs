use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};

use crate::decorators::common::VERIFY_TIMEOUT;

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "git.repo",
    summary: "a clone of a git repository",
    docs: "Keeps a working copy with the given origin, on the given branch, at the commit that \
           the branch has on the server. Without `branch` it follows the one that the server \
           checks out by default.\n\n\
           `depth` fetches only the latest commits, which is quicker for large histories.",
    params: &[
        Param { name: "url", docs: "where the repository comes from", ..Param::BASE },
        Param { name: "destination", docs: "the directory of the working copy", ..Param::BASE },
        Param {
            name: "branch",
            presence: Presence::Optional,
            docs: "the branch to follow",
            ..Param::BASE
        },
        Param {
            name: "depth",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((1, 1_000_000)),
            docs: "how many commits of the history to fetch; without it all of them",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "repo", key: &["destination"] }),
    capabilities: &[
        Capability::FilesRead,
        Capability::FilesWrite,
        Capability::Network,
        Capability::Processes,
    ],
    examples: &[Example {
        title: "keep a tool up to date",
        source: "fun tools() {\n    \
                 @git.repo(\"https://example.com/tools.git\", \"/opt/tools\", \
                 branch=\"stable\", depth=1)\n}\n",
    }],
    ..Descriptor::BASE
};
