use opal_core::decorator::{
    Capability, Descriptor, Effect, Example, Exposure, Param, Returns, Site,
};
use opal_core::files::EntryKind;
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};
use opal_core::{Data, Type};

use super::reading::{kind_at, required};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.exists",
    summary: "whether a file or directory exists",
    docs: "Gives `true` if the path names a file, a directory or anything else, and `false` if \
           there is nothing, like `test -e`. A symlink counts if its target exists; a path that \
           ends in `/` must be a directory. If a directory on the way cannot be searched, the \
           plan fails.\n\nopal checks the path when it makes the plan: a file that a step creates \
           does not exist yet. The value is public: plans show it in clear, and a contract is \
           refused if it has changed.",
    params: &[Param::required("path", "the path to check; `~` is the home directory")],
    returns: Some(Returns { version: "1.0.0", ty: Type::Bool }),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Public,
    capabilities: &[Capability::FilesRead],
    resolver: Some(&FileExists),
    examples: &[Example {
        title: "install what the lock file says, if there is one",
        source: "fun install() {\n    if @file.exists(\"package-lock.json\") {\n        \
                 npm ci\n    } else {\n        npm install\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileExists;

impl Resolver for FileExists {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let path = required(inputs, "path")?;
        if path.is_empty() {
            return Ok(Data::Bool(false));
        }
        let found = kind_at(probe, &probe.place(path)?)?;
        // The place has no slash at its end any more.
        let needs_directory = path.ends_with('/') || path.ends_with("/.");
        let exists = found.is_some_and(|kind| !needs_directory || kind == EntryKind::Directory);
        Ok(Data::Bool(exists))
    }
}
