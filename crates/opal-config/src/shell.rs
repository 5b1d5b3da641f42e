//! Texts of a configuration as parts of shell text and of regular expressions.

use opal_core::{Registry, Span};
use opal_plan::Words;
use opal_plan::lower;

use super::config::Check;
use super::given::{Given, is_invisible};

/// Whether a string of the language, in a place for a command, compiles to exactly `text`.
///
/// It does for nearly every command. Indentation that matters, comments and what is not shell text
/// do not survive the reading of a step.
pub(super) fn reads_back(text: &str, registry: &Registry) -> bool {
    let literal = Given::Command { text: text.to_owned(), plain: true };
    let source = format!("@shell({literal})\n");
    let words = Words(registry);
    let parse = opal_syntax::parse(&source, &words);
    let place = Span::new("@shell(".len() as u32, source.len() as u32 - 2);
    let Some(literal) = lower::string_literal(&parse, &source, place) else { return false };
    let (compiled, errors) = lower::shell_literal(&literal, registry);
    parse.errors.is_empty() && errors.is_empty() && compiled.literal() == Some(text)
}

/// A regular expression without anything that would end `r"…"` or could not be seen in it.
pub(super) fn regex_literal(pattern: &str) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for c in pattern.chars() {
        if c == '"' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        if is_invisible(c) {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// The line of shell that finds out, and says what was expected where it does not hold.
pub(super) fn validation(check: &Check) -> String {
    let (test, expected) = match check {
        Check::CommandExists { command } => (
            format!("command -v -- {} >/dev/null", quoted(command)),
            format!("the command `{command}` is missing"),
        ),
        Check::FileExists { path } => {
            (format!("test -e {}", path_word(path)), format!("`{path}` does not exist"))
        }
        Check::PathContains { file, text } => (
            format!("grep -qsF -e {} -- {}", quoted(text), path_word(file)),
            format!("`{file}` does not contain `{text}`"),
        ),
    };
    format!("{test} || {{ printf '%s\\n' {} >&2; false; }}", quoted(&expected))
}

/// One word of shell that is this text, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same for a path, whose `~` is the home directory.
fn path_word(path: &str) -> String {
    match path.strip_prefix('~') {
        Some("") => "\"$HOME\"".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("\"$HOME\"{}", quoted(rest)),
        // A path that begins with a hyphen is not an option.
        _ if path.starts_with('-') => quoted(&format!("./{path}")),
        _ => quoted(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_cannot_be_left() {
        assert_eq!(quoted("a'; rm -rf ~ #"), r"'a'\''; rm -rf ~ #'");
        assert_eq!(path_word("~/a b"), "\"$HOME\"'/a b'");
        assert_eq!(path_word("-e"), "'./-e'");
    }

    #[test]
    fn a_quote_in_a_regex_is_escaped_once() {
        assert_eq!(regex_literal(r#"a"b\"c\\"d"#), r#"a\"b\"c\\\"d"#);
    }
}
