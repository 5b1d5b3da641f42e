//! Lines of a Makefile that make starts without a shell.

use super::lexer::VALUE;

/// Characters that need a shell, outside single quotes.
const SPECIAL: &str = "#;\"*?[]&|<>(){}$`^~!";
/// Commands that need one.
const COMMANDS: [&str; 34] = [
    ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit",
    "export", "fc", "fg", "for", "getopts", "hash", "if", "jobs", "login", "logout", "read",
    "readonly", "return", "set", "shift", "times", "trap", "type", "ulimit", "umask", "unset",
    "wait",
];

/// Whether make reads the line itself. A value may have anything in it.
pub(super) fn is_direct(text: &str) -> bool {
    let mut is_quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => drop(chars.next()),
            VALUE => return false,
            c if SPECIAL.contains(c) && !is_quoted => return false,
            _ => {}
        }
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_loop = matches!(first, "while" | "unalias");
    !first.contains('=') && !is_loop && !COMMANDS.contains(&first)
}
