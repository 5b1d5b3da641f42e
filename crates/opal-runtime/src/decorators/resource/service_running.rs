use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use crate::decorators::common::VERIFY_TIMEOUT;

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "service.running",
    summary: "a system service that runs",
    docs: "Starts a systemd service that is not running, or, with `state=\"stopped\"`, stops one \
           that is. A service that is as described is left alone: this does not restart it, not \
           even after its configuration has changed.\n\n\
           Whether it also starts with the machine is a second question, which is looked at only \
           where `enabled` answers it.",
    params: &[
        Param { name: "name", docs: "the service, with or without `.service`", ..Param::BASE },
        Param {
            name: "enabled",
            ty: Type::Bool,
            presence: Presence::Optional,
            docs: "whether the service starts with the machine; without it that is left alone",
            ..Param::BASE
        },
        Param {
            name: "state",
            ty: Type::OneOf(Choices::Static(&["running", "stopped"])),
            presence: Presence::Default(Value::text("running")),
            docs: "whether the service runs now",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "service", key: &["name"] }),
    capabilities: &[Capability::Processes, Capability::Services],
    examples: &[
        Example {
            title: "run a service now and after a restart",
            source: "fun serve() {\n    @service.running(\"nginx\", enabled=true)\n}\n",
        },
        Example {
            title: "turn a service off",
            source: "fun quiet() {\n    \
                     @service.running(\"cups\", enabled=false, state=\"stopped\")\n}\n",
        },
    ],
    ..Descriptor::BASE
};
