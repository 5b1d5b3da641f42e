//! The pattern of `--limit`, as it is typed.

use opal_core::view::visible;

use crate::failure::Failure;

/// Without a pattern it would narrow nothing, where a script meant to and a variable of it was empty.
pub(super) fn checked(pattern: String) -> Result<String, Failure> {
    let separates = |c: char| matches!(c, ',' | ':') || c.is_whitespace();
    let is_bare = |it: &str| it.chars().all(|c| matches!(c, '!' | '&'));
    let mut pieces = pattern.split(separates).filter(|it| !it.is_empty()).peekable();
    if pieces.peek().is_some() && !pieces.any(is_bare) {
        return Ok(pattern);
    }
    let shown = visible::line(&pattern);
    Err(Failure::usage(
        format!("`--limit '{shown}'` has an empty pattern"),
        "name the targets, as in `--limit web1,web2`, or omit `--limit` for all of them",
    ))
}
