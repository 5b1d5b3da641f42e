use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};

use crate::decorators::common::{STRINGS, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "user.present",
    summary: "a user account of the machine",
    docs: "Creates the account where it is absent, and corrects those of its properties that \
           are given. What is not given keeps the value it has, or gets the system's default \
           for a new account.\n\n\
           `groups` are the groups the user must be in besides the main one; other memberships \
           are kept. A new account has no password and can be entered only by other means, such \
           as a key.",
    params: &[
        Param {
            name: "name",
            pattern: Some("[a-z_][a-z0-9_-]{0,31}"),
            docs: "the login name",
            ..Param::BASE
        },
        Param {
            name: "uid",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((0, 4_294_967_294)),
            docs: "the number of the user",
            ..Param::BASE
        },
        Param {
            name: "groups",
            ty: STRINGS,
            presence: Presence::Optional,
            docs: "groups that the user is in, besides the main one",
            ..Param::BASE
        },
        Param {
            name: "home",
            presence: Presence::Optional,
            docs: "the home directory",
            ..Param::BASE
        },
        Param {
            name: "shell",
            presence: Presence::Optional,
            docs: "the program that a login starts",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "user", key: &["name"] }),
    capabilities: &[Capability::Processes, Capability::Users],
    examples: &[Example {
        title: "an account for a service",
        source: "fun account() {\n    \
                 @user.present(\"app\", home=\"/var/lib/app\", shell=\"/usr/sbin/nologin\")\n}\n",
    }],
    ..Descriptor::BASE
};
