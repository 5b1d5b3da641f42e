//! Names of functions that opal keeps for itself.

/// Names that always mean opal, whatever functions a file has: these commands promise to change
/// nothing, or start-up files and tools call them, so reading a stranger's repository never runs
/// it.
pub const RESERVED: [&str; 24] = [
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

/// Whether `opal NAME` means opal, and never a function.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}
