use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Param, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use super::reading;
use crate::common::{DASH, PUBLIC, TEXT, TRIM};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.read",
    summary: "the text of a file",
    docs: "Reads a UTF-8 text file at plan time. A file that does not exist or is not readable \
           fails the plan, and a contract is refused if the file has changed since.\n\nAfter `<` \
           it feeds the file, byte for byte, to the standard input of the step, and is read when \
           the step runs: a contract does not pin it. `@file.hash` alone on a line does.",
    params: &[
        Param::required("path", "the file to read; `~` is the home directory"),
        TRIM,
        PUBLIC,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    reads: true,
    capabilities: &[Capability::FilesRead],
    resolver: Some(&FileRead),
    examples: &[
        Example {
            title: "take the version from a file",
            source: "var VERSION = @file.read(\"VERSION\", public=true)\n\n\
                     fun build() {\n    docker build --tag app:@var.VERSION .\n}\n",
        },
        Example {
            title: "feed a file to a command",
            source: "fun migrate() {\n    psql app < @file.read(\"schema.sql\")\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileRead;

impl Resolver for FileRead {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        reading::file(inputs, probe).map(Data::Text)
    }
}
