//! Parameters and types that several descriptors share, so that they mean the same everywhere.

use opal_core::decorator::{Param, Presence, Returns};
use opal_core::types::TypeRef;
use opal_core::{Type, Value};

/// Permission bits as `chmod` takes them, without signs or letters.
pub(super) const OCTAL: &str = "[0-7]{3,4}";

/// Permissions, owner and group of what a resource keeps.
pub(super) const MODE: Param = Param {
    name: "mode",
    presence: Presence::Optional,
    pattern: Some(OCTAL),
    docs: "the permissions in octal, such as `0640`",
    ..Param::BASE
};
pub(super) const OWNER: Param = Param::optional("owner", "the owner, by user name or number");
pub(super) const GROUP: Param = Param::optional("group", "the group, by name or number");

pub(super) const STRINGS: Type = Type::Array(TypeRef::Static(&Type::String));
pub(super) const STRING_MAP: Type = Type::Map(TypeRef::Static(&Type::String));

pub(super) const YES: Presence = Presence::Default(Value::Bool(true));

pub(super) const TEXT: Returns = Returns { version: "1.0.0", ty: Type::String };

/// For values that are not secrets by default.
pub(super) const SECRET: Param =
    Param::flag("secret", "hide the value everywhere, whatever its name and content");

/// For every value that is a placeholder by default.
pub(super) const PUBLIC: Param =
    Param::flag("public", "show the value everywhere: in plans, contracts, output and records");

/// For every value whose text can begin with a hyphen.
pub(super) const DASH: Param = Param::flag(
    "dash",
    "let the value begin a word of a command with `-`, which a program may read as an option",
);

/// For values that come out of a file.
pub(super) const TRIM: Param = Param {
    name: "trim",
    ty: Type::Bool,
    presence: YES,
    docs: "remove blanks and line ends at both ends of the text",
    ..Param::BASE
};

/// For every resource.
pub(super) const ID: Param = Param {
    name: "id",
    presence: Presence::Optional,
    pattern: Some("[A-Za-z0-9_][A-Za-z0-9_.-]*"),
    docs: "a name that is unique in the plan; the path of the step by default",
    ..Param::BASE
};

/// For every resource that is not about something with a name of its own.
pub(super) const NAME: Param =
    Param::optional("name", "a name for reports, in addition to the `id`");

/// For every resource.
pub(super) const DEPENDS_ON: Param = Param {
    name: "depends_on",
    ty: STRINGS,
    presence: Presence::Optional,
    docs: "the `id`s of resources that must be in the desired state first",
    ..Param::BASE
};

/// For every resource.
pub(super) const VERIFY_TIMEOUT: Param = Param {
    name: "verify_timeout",
    ty: Type::Duration,
    presence: Presence::Optional,
    docs: "the time limit of the verification, after which the step counts as blocked; \
           30s unless the command line says otherwise",
    ..Param::BASE
};
