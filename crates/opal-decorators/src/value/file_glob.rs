use opal_core::Data;
use opal_core::decorator::{
    Capability, Descriptor, Effect, Example, Exposure, Param, Returns, Site,
};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use super::globbing;
use super::reading::required;
use crate::common::{DASH, STRINGS};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.glob",
    summary: "the paths that match a pattern",
    docs: "Gives the files and directories that match, sorted by their bytes; an empty array if \
           nothing matches. Each path begins as the pattern does: `k8s/*.yaml` gives \
           `k8s/app.yaml`. `*` matches any text inside one name, `?` and `[a-z]` one byte, which \
           is an ASCII character, `{a,b}` one or the other, `**` any number of directories, and a \
           `/` at the end matches directories only. As in a shell, a name that begins with `.` \
           matches only if the pattern has the dot. `**` does not follow symlinks.\n\nThe limits \
           are 10,000 paths, 100,000 names checked and 100 directories below each other; a \
           pattern that needs more fails the plan, and so does a directory that cannot be read. \
           The value is public: plans show it in clear, and a contract is refused if it has \
           changed.",
    params: &[
        Param::required("pattern", "the pattern; `~` at its beginning is the home directory"),
        DASH,
    ],
    returns: Some(Returns { version: "1.0.0", ty: STRINGS }),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Public,
    capabilities: &[Capability::FilesRead],
    resolver: Some(&FileGlob),
    examples: &[
        Example {
            title: "a step for each manifest",
            source: "fun deploy() {\n    for manifest in @file.glob(\"k8s/*.yaml\") {\n        \
                     kubectl apply -f @var.manifest\n    }\n}\n",
        },
        Example {
            title: "one command for all of them",
            source: "fun lint() {\n    shellcheck -- @file.glob(\"scripts/**/*.sh\")\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileGlob;

impl Resolver for FileGlob {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let found = globbing::find(required(inputs, "pattern")?, probe)?;
        Ok(Data::Array(found.into_iter().map(Data::text).collect()))
    }
}
