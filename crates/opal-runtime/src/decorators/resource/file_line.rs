use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use crate::decorators::common::{NO, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.line",
    summary: "a line that a file has, or has not",
    docs: "Looks after a single line of a file that belongs to somebody else. The rest of the \
           file keeps its bytes, its line ends included. Without `match` the line is looked for \
           as it stands and added at the end; with it the line that matches is replaced, so a \
           setting changes its value instead of appearing twice.\n\n\
           With `state=\"absent\"` the line, or what matches, is removed. Several matches are \
           ambiguous: the step is blocked unless `on_multiple_matches` says which of them is \
           meant.",
    params: &[
        Param { name: "file", docs: "the file to look after", ..Param::BASE },
        Param {
            name: "line",
            pattern: Some("[^\\r\\n]*"),
            docs: "the line, without its line end",
            ..Param::BASE
        },
        Param {
            name: "state",
            ty: Type::OneOf(Choices::Static(&["present", "absent"])),
            presence: Presence::Default(Value::text("present")),
            docs: "whether the file should have the line",
            ..Param::BASE
        },
        Param {
            name: "match",
            ty: Type::Regex,
            presence: Presence::Optional,
            docs: "which line is meant, as a regular expression `r\"…\"` that matches any part \
                   of it",
            ..Param::BASE
        },
        Param {
            name: "on_multiple_matches",
            ty: Type::OneOf(Choices::Static(&["first", "all", "error"])),
            presence: Presence::Default(Value::text("error")),
            docs: "which line is meant where several match",
            ..Param::BASE
        },
        Param {
            name: "backup",
            ty: Type::Bool,
            presence: NO,
            docs: "keep a copy of the file as it was before the change",
            ..Param::BASE
        },
        Param {
            name: "backup_dir",
            presence: Presence::Optional,
            docs: "where the copy goes; without it beside the file",
            ..Param::BASE
        },
        Param {
            name: "encoding",
            ty: Type::OneOf(Choices::Static(&["utf-8", "latin-1", "windows-1252", "ascii"])),
            presence: Presence::Default(Value::text("utf-8")),
            docs: "how the file turns characters into bytes",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "line_in_file", key: &["file", "line"] }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "change a setting, and keep the old file",
            source: "fun harden() {\n    @file.line(\n        \
                     \"/etc/ssh/sshd_config\",\n        \"PermitRootLogin no\",\n        \
                     match=r\"^#?PermitRootLogin\",\n        backup=true,\n    )\n}\n",
        },
        Example {
            title: "remove a line",
            source: "fun forget() {\n    \
                     @file.line(\"/etc/hosts\", \"10.0.0.7 old-db\", state=\"absent\")\n}\n",
        },
    ],
    ..Descriptor::BASE
};
