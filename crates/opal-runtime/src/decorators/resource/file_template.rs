use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::types::TypeRef;

use crate::decorators::common::{NO, OCTAL, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.template",
    summary: "a file whose content comes from a template",
    docs: "Renders a Jinja template and keeps the destination equal to the result, in content \
           and, where `mode` is given, in permissions. A destination that differs is shown as a \
           diff and replaced as a whole.\n\n\
           The template sees what `vars` hands it and nothing else, unless `env=true` adds the \
           environment. A name it uses and nobody gave is an error, which keeps a typing mistake \
           from becoming an empty setting; `allow_missing=true` renders it as nothing.",
    params: &[
        Param { name: "source", docs: "the template", ..Param::BASE },
        Param {
            name: "destination",
            docs: "the file to keep in step with the template",
            ..Param::BASE
        },
        Param {
            name: "vars",
            ty: Type::Map(TypeRef::Static(&Type::Any)),
            presence: Presence::Optional,
            docs: "the values that the template can use, by name",
            ..Param::BASE
        },
        Param {
            name: "env",
            ty: Type::Bool,
            presence: NO,
            docs: "let the template use environment variables too; `vars` wins over them",
            ..Param::BASE
        },
        Param {
            name: "allow_missing",
            ty: Type::Bool,
            presence: NO,
            docs: "render names without a value as nothing",
            ..Param::BASE
        },
        Param {
            name: "mode",
            presence: Presence::Optional,
            pattern: Some(OCTAL),
            docs: "the permissions in octal, such as `0640`; without it they are left alone",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "template", key: &["destination"] }),
    capabilities: &[Capability::Environment, Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "a configuration file with two settings",
        source: "fun configure(port: Int = 8080) {\n    @file.template(\n        \
                 source=\"templates/app.conf.j2\",\n        \
                 destination=\"/etc/app.conf\",\n        \
                 vars={port: port, workers: 4},\n        mode=\"0640\",\n    )\n}\n",
    }],
    ..Descriptor::BASE
};
