use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use crate::decorators::common::{NO, STRINGS, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "pkg.install",
    summary: "packages of the operating system that are installed",
    docs: "Asks the package manager which of the packages are there and installs the others in \
           one go. A name alone accepts any version; `name=version` wants exactly that one, \
           written so for every manager.\n\n\
           `manager=\"auto\"` takes the one that the machine has. The lists of available \
           packages are refreshed only with `update=true`, and only when something has to be \
           installed.",
    params: &[
        Param {
            name: "packages",
            ty: STRINGS,
            docs: "the packages, each as `name` or `name=version`",
            ..Param::BASE
        },
        Param {
            name: "manager",
            ty: Type::OneOf(Choices::Static(&["auto", "apt", "dnf", "apk", "brew", "pacman"])),
            presence: Presence::Default(Value::text("auto")),
            docs: "the package manager to use",
            ..Param::BASE
        },
        Param {
            name: "update",
            ty: Type::Bool,
            presence: NO,
            docs: "refresh the lists of available packages before installing",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "package", key: &["packages"] }),
    capabilities: &[Capability::Network, Capability::Packages, Capability::Processes],
    examples: &[Example {
        title: "what a web server needs",
        source: "fun setup() {\n    \
                 @pkg.install([\"nginx\", \"certbot\"], manager=\"apt\", update=true)\n}\n",
    }],
    ..Descriptor::BASE
};
