//! The keys that are not a resource's: those of the file, of every step, of the settings and of the
//! validations. Reading and the JSON Schema use the same tables.

use opal_core::decorator::{Param, Presence};
use opal_core::resource;
use opal_core::{Type, Value};

/// What a file has besides `settings`, `steps` and `validations`.
pub(super) static FILE: [Param; 3] = [
    Param {
        name: "version",
        pattern: Some(r"1|1\.0|1\.0\.0"),
        docs: "the version of this format: 1",
        ..Param::BASE
    },
    Param::optional("name", "the name of the configuration, for people"),
    Param::optional("description", "the purpose of the configuration, for people"),
];

/// The keys of the file whose values have keys of their own.
pub(super) const SECTIONS: [&str; 5] = ["providers", "settings", "steps", "validations", "vars"];

pub(super) static SETTINGS: [Param; 5] = [
    Param {
        name: "parallel",
        ty: Type::Int,
        presence: Presence::Default(Value::Int(4)),
        range: Some((1, 32)),
        docs: "how many steps run at the same time",
        ..Param::BASE
    },
    Param {
        name: "timeout",
        ty: Type::Duration,
        presence: Presence::Optional,
        docs: "how long a step may take",
        ..Param::BASE
    },
    Param::flag("continue_on_error", "continue with the steps that do not depend on a failed step"),
    Param::flag("dry_run", "only report what would change"),
    Param::flag("verbose", "show the differences in full"),
];

/// What a step has besides the parameters of its resource. A parameter of the same name is meant
/// before it: `enabled` of a `service` is whether it starts with the machine.
pub(super) static STEP: [Param; 1] = [Param {
    name: "enabled",
    ty: Type::Bool,
    presence: Presence::Default(Value::Bool(true)),
    docs: "`false` skips the step",
    ..Param::BASE
}];

/// What a step has of a program: its condition, and the list it is repeated for.
pub(super) const PROGRAM: [(&str, &str); 2] = [
    ("when", "an expression over `@var`, `@os` and `@env`: the step is skipped if it is false"),
    ("for_each", "a list: the step is repeated for each element, which is `@var.item`"),
];

/// The long form of an element of `packages`.
pub(super) static PACKAGE: [Param; 2] = [
    Param { name: "name", pattern: Some("[^=]+"), docs: "the package", ..Param::BASE },
    Param {
        name: "version",
        presence: Presence::Optional,
        pattern: Some(".+"),
        docs: "the version to install; any version if omitted",
        ..Param::BASE
    },
];

/// A type of validation.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) docs: &'static str,
    pub(super) params: &'static [Param],
}

/// A validation becomes a line of shell, in which what cannot be seen could be anything.
pub(super) const ONE_LINE: &str = r"[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+";

pub(super) static VALIDATIONS: [Form; 3] = [
    Form {
        name: "command_exists",
        docs: "the command is in PATH",
        params: &[Param {
            name: "command",
            pattern: Some(ONE_LINE),
            docs: "the name of the command",
            ..Param::BASE
        }],
    },
    Form {
        name: "file_exists",
        docs: "a file or directory exists",
        params: &[Param {
            name: "path",
            pattern: Some(ONE_LINE),
            docs: "the path that must exist",
            ..Param::BASE
        }],
    },
    Form {
        name: "path_contains",
        docs: "a file contains a text",
        params: &[
            Param {
                name: "file",
                alias: Some("path"),
                pattern: Some(ONE_LINE),
                docs: "the file to search",
                ..Param::BASE
            },
            Param {
                name: "text",
                pattern: Some(ONE_LINE),
                docs: "the text to find",
                ..Param::BASE
            },
        ],
    },
];

/// Whether nothing is something to say: a path or a list of packages that is empty describes nothing.
pub(super) fn may_be_empty(param: &Param) -> bool {
    !resource::is_placed(param.name) && param.name != "packages"
}
