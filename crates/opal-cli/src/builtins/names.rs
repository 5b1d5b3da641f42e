//! Which names are opal's own.

/// Every name that `opal self` reaches.
pub(crate) const NAMES: [&str; 26] = [
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
    "man",
    "mcp",
    "module",
    "pick",
    "plan",
    "plugin",
    "run",
    "runs",
    "self",
    "verify",
    "watch",
];

/// Names that always mean opal, whatever functions a file has: these commands promise to change
/// nothing, or start-up files and tools call them, so reading a stranger's repository never runs
/// it. Those that are not in [`NAMES`] are kept for later versions.
pub(crate) const RESERVED: [&str; 24] = [
    "adopt",
    "apply",
    "audit",
    "blueprint",
    "check",
    "completions",
    "convert",
    "dispatch",
    "explain",
    "fmt",
    "help",
    "keys",
    "list",
    "lsp",
    "mcp",
    "module",
    "plan",
    "plugin",
    "run",
    "runner",
    "runs",
    "self",
    "ui",
    "verify",
];

/// The words that `opal plan` keeps for itself; `opal plan -- NAME` plans a function of that name.
const RESERVED_BY_PLAN: [&str; 7] =
    ["approve", "diff", "inbox", "reject", "show", "submit", "verify"];

/// Whether it is a command of opal, which may yield to a function.
pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether `opal NAME` means opal, and never a function.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Whether `opal plan NAME` means a command of `plan`, and never a function.
pub(crate) fn is_reserved_by_plan(name: &str) -> bool {
    RESERVED_BY_PLAN.contains(&name)
}
