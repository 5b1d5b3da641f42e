use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};

use crate::decorators::common::{OCTAL, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.directory",
    summary: "a directory with its owner and permissions",
    docs: "Makes the directory, and those above it, where it is absent. Permissions, owner and \
           group are looked at and corrected only where they are given, and only for the \
           directory itself, never for what is in it.\n\n\
           Where something else has that name the step is blocked: nothing is deleted to make \
           room.",
    params: &[
        Param { name: "path", docs: "the directory; `~` is the home directory", ..Param::BASE },
        Param {
            name: "mode",
            presence: Presence::Optional,
            pattern: Some(OCTAL),
            docs: "the permissions in octal, such as `0750`",
            ..Param::BASE
        },
        Param {
            name: "owner",
            presence: Presence::Optional,
            docs: "the user it belongs to, by name or number",
            ..Param::BASE
        },
        Param {
            name: "group",
            presence: Presence::Optional,
            docs: "the group it belongs to, by name or number",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "directory", key: &["path"] }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "a place for the data of a service",
        source: "fun prepare() {\n    \
                 @file.directory(\"/var/lib/app\", mode=\"0750\", owner=\"app\", \
                 group=\"app\")\n}\n",
    }],
    ..Descriptor::BASE
};
