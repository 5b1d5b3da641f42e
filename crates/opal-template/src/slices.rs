//! A template without slices, to know which names it uses: the engine does not look for names in what
//! is sliced, `NAME[:9]`.

/// The same template with an operator for each colon of a slice: `NAME[0~9]`. It uses the same names.
/// None if there is no slice in it.
pub(super) fn joined(source: &str) -> Option<String> {
    let mut out = String::with_capacity(source.len() + 8);
    let mut rest = source;
    let mut found = false;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let (text, code) = rest.split_at(at + 2);
        out.push_str(text);
        rest = &code[expression(code, &mut out, &mut found)..];
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Writes what is between two marks, and gives its length.
fn expression(code: &str, out: &mut String, found: &mut bool) -> usize {
    let mut open = Vec::new();
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in code.char_indices() {
        let rest = &code[at..];
        if let Some(end) = quote {
            let is_over = c == end && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            quote = quote.filter(|_| !is_over);
            out.push(c);
            continue;
        }
        if open.is_empty() && (rest.starts_with("}}") || rest.starts_with("%}")) {
            return at;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
        if c != ':' || open.last() != Some(&'[') {
            out.push(c);
            continue;
        }
        *found = true;
        // A side of a slice may be left out.
        let is_first = out.trim_end().ends_with('[');
        let is_last = rest[1..].trim_start().starts_with([':', ']']);
        out.push_str(if is_first { "0~" } else { "~" });
        out.push_str(if is_last { "0" } else { "" });
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_colon_of_a_slice_is_an_operator() {
        for (source, expected) in [
            ("{{ a[:9] }}:{{ b[1:] }}", Some("{{ a[0~9] }}:{{ b[1~0] }}")),
            ("{{ a[ : ] }}{{ a[::2] }}", Some("{{ a[ 0~0 ] }}{{ a[0~0~2] }}")),
            ("{% if a[b[:2]:c] %}[:]", Some("{% if a[b[0~2]~c] %}[:]")),
            ("{{ {'a': {'b': x[:1]}}['a'] }}", Some("{{ {'a': {'b': x[0~1]}}['a'] }}")),
            (r#"{{ "[:" ~ '\'[:' }}{{ x["a:b"] }}"#, None),
            ("[:9] {{ a }} {{ {'a': 1} }} {{", None),
        ] {
            assert_eq!(joined(source).as_deref(), expected, "{source}");
        }
    }
}
