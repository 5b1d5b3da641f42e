use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};

use crate::decorators::common::{NO, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.absent",
    summary: "a path where nothing is",
    docs: "Removes a file, a link or an empty directory, and is content where there is none. Of \
           a link only the link is removed, whatever it points to.\n\n\
           A directory that still holds something blocks the step, so that a wrong path does not \
           cost a tree of files; `recursive=true` removes it with all that is in it.",
    params: &[
        Param {
            name: "path",
            docs: "what should not be there; `~` is the home directory",
            ..Param::BASE
        },
        Param {
            name: "recursive",
            ty: Type::Bool,
            presence: NO,
            docs: "remove a directory that is not empty",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "absent", key: &["path"] }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "remove what an old version left behind",
        source: "fun clean() {\n    @file.absent(\"/etc/nginx/sites-enabled/default\")\n    \
                 @file.absent(\"/var/cache/app\", recursive=true)\n}\n",
    }],
    ..Descriptor::BASE
};
