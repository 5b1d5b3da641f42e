//! Which names are opal's own.

pub(crate) use opal_core::reserved::{RESERVED, is_reserved};

/// Every name that `opal self` reaches.
pub(crate) const NAMES: [&str; 28] = [
    "add",
    "adopt",
    "apply",
    "audit",
    "blueprint",
    "check",
    "completions",
    "convert",
    "doc",
    "explain",
    "fmt",
    "help",
    "init",
    "keys",
    "list",
    "lsp",
    "man",
    "mcp",
    "module",
    "pick",
    "plan",
    "plugin",
    "run",
    "runs",
    "self",
    "ui",
    "verify",
    "watch",
];

/// The commands that are in `opal-commands`: few runs need them.
const OF_REST: [&str; 16] = [
    "add",
    "adopt",
    "audit",
    "blueprint",
    "completions",
    "convert",
    "doc",
    "explain",
    "init",
    "keys",
    "man",
    "module",
    "pick",
    "plugin",
    "runs",
    "watch",
];

/// The words that `opal plan` keeps for itself; `opal plan -- NAME` plans a function of that name.
const RESERVED_BY_PLAN: [&str; 7] =
    ["approve", "diff", "inbox", "reject", "show", "submit", "verify"];

/// Whether it is a command of opal, which may yield to a function.
pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether it is a command of `opal-commands`.
pub(crate) fn is_of_rest(name: &str) -> bool {
    OF_REST.contains(&name)
}

/// Whether `opal plan NAME` means a command of `plan`, and never a function.
pub(crate) fn is_reserved_by_plan(name: &str) -> bool {
    RESERVED_BY_PLAN.contains(&name)
}
