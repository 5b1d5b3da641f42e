//! What a package may call its decorators.

use opal_core::{Code, Diagnostic, Registry, Span};

/// Whether a package may call a decorator so: at least two segments, and none that a built-in begins with.
pub(super) fn path_problem(path: &str, span: Span, built_in: &Registry) -> Option<Diagnostic> {
    let is_segment = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.len() <= 64
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let error = |message: String, help: &str| {
        Some(Diagnostic::new(Code::PackagePath, span, message).help(help))
    };
    if !path.contains('.') || path.split('.').count() > 8 || !path.split('.').all(is_segment) {
        let help = "write segments of lower case letters, digits and `_`, with dots between them: \
                    `house.check`";
        return error(format!("`{path}` is not a path of a decorator"), help);
    }
    let first = path.split('.').next().unwrap_or(path);
    if built_in.is_reserved(first) {
        let help = "begin all paths of the package with a segment of its own";
        return error(format!("the built-in decorators use `{first}`"), help);
    }
    None
}
