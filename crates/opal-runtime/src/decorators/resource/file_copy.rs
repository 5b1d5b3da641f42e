use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};

use crate::decorators::common::{NO, VERIFY_TIMEOUT, YES};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.copy",
    summary: "a copy of a file or a directory",
    docs: "Keeps the destination equal to the source, compared by content and permissions and \
           not by times. A destination that is there and differs is somebody's work, so it is \
           replaced only with `overwrite=true`; otherwise the step is blocked and says what \
           differs.\n\n\
           A directory needs `recursive=true`. Files of the destination that the source does \
           not have are left alone.",
    params: &[
        Param { name: "source", docs: "the file or directory to copy", ..Param::BASE },
        Param {
            name: "destination",
            docs: "where the copy is, by its full name and not the directory above it",
            ..Param::BASE
        },
        Param {
            name: "overwrite",
            ty: Type::Bool,
            presence: NO,
            docs: "replace a destination that differs",
            ..Param::BASE
        },
        Param {
            name: "recursive",
            ty: Type::Bool,
            presence: NO,
            docs: "copy a directory with all that is in it",
            ..Param::BASE
        },
        Param {
            name: "preserve_mode",
            ty: Type::Bool,
            presence: YES,
            docs: "give the copy the permissions of the source",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "copy", key: &["destination"] }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "install a unit file",
            source: "fun install() {\n    \
                     @file.copy(\"app.service\", \"/etc/systemd/system/app.service\", \
                     overwrite=true)\n}\n",
        },
        Example {
            title: "publish a directory",
            source: "fun publish() {\n    \
                     @file.copy(\"dist\", \"/srv/www\", recursive=true, overwrite=true)\n}\n",
        },
    ],
    ..Descriptor::BASE
};
