//! Just enough of Rust's lexer: names, `::` and single characters, without comments, texts and lifetimes.

/// The tokens of a file. A text or a character is an empty token.
pub(super) fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        tokens.extend(token);
        rest = &rest[length..];
    }
    tokens
}

/// The token that a text begins with, if it is one, and how many bytes to go on.
fn next(rest: &str, first: char) -> (Option<&str>, usize) {
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, comment(rest));
    }
    if let Some(length) = raw_text(rest) {
        return (Some(""), length);
    }
    if let Some(raw) = rest.strip_prefix("r#").filter(|raw| raw.starts_with(is_name)) {
        let length = name(raw);
        return (Some(&raw[..length]), 2 + length);
    }
    match first {
        '"' => (Some(""), quoted(rest, '"')),
        'b' if rest.starts_with("b\"") => (Some(""), 1 + quoted(&rest[1..], '"')),
        'b' if rest.starts_with("b'") => (Some(""), 1 + quoted(&rest[1..], '\'')),
        '\'' => {
            let mut after = rest.chars().skip(1);
            let (one, two) = (after.next(), after.next());
            let is_character = one == Some('\\') || two == Some('\'');
            match is_character {
                true => (Some(""), quoted(rest, '\'')),
                false => (None, 1 + name(&rest[1..]).max(1)),
            }
        }
        _ if is_name(first) => {
            let length = name(rest);
            (Some(&rest[..length]), length)
        }
        ':' if rest.starts_with("::") => (Some("::"), 2),
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(&rest[..first.len_utf8()]), first.len_utf8()),
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name(rest: &str) -> usize {
    rest.find(|c| !is_name(c)).unwrap_or(rest.len())
}

/// The length of a comment, which may hold others.
fn comment(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if here.starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at.min(rest.len())
}

/// The length of `r"…"`, `r#"…"#` and `br"…"`.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    let text = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = text.find(&end).map_or(text.len(), |at| at + end.len());
    Some(rest.len() - text.len() + length)
}

/// The length of a text in quotes, in which `\` takes the next character along.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}
