//! The keys of values, as the language writes them.

/// `@env.HOME`; an expression over such names is `@(…)`.
pub(in crate::view) fn reference(key: &str) -> String {
    // In a plan of a fleet: of each target.
    let key = key.strip_prefix("*/").unwrap_or(key);
    if is_single(key) { format!("@{key}") } else { format!("@({key})") }
}

/// Whether a key needs no brackets around it: it begins with a letter or a bracket, every blank in
/// it is inside of brackets or quotes, and a bracket that it begins with is closed at its end.
fn is_single(key: &str) -> bool {
    let bracketed = key.starts_with('(');
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (index, c) in key.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if bracketed && depth == 0 && index + 1 < key.len() {
                    return false;
                }
            }
            c if c.is_whitespace() && depth == 0 => return false,
            _ => {}
        }
    }
    bracketed || key.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_one_thing_gets_an_at_and_an_expression_brackets() {
        assert_eq!(reference("env.HOME"), "@env.HOME");
        assert_eq!(reference(r#"file.read(path="a b", x=1)"#), r#"@file.read(path="a b", x=1)"#);
        assert_eq!(reference(r#""v" + env.TAG"#), r#"@("v" + env.TAG)"#);
        assert_eq!(reference("!env.CI"), "@(!env.CI)");
        assert_eq!(reference(r#"("v" + env.TAG)"#), r#"@("v" + env.TAG)"#);
        assert_eq!(reference(r#"(")" + env.TAG)"#), r#"@(")" + env.TAG)"#);
        assert_eq!(reference("(env.A)+(env.B)"), "@((env.A)+(env.B))");
        assert_eq!(reference("(env.A).b"), "@((env.A).b)");
        assert_eq!(reference("env.A(x) + env.B(y)"), "@(env.A(x) + env.B(y))");
    }
}
