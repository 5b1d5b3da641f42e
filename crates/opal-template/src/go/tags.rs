//! Where the tags of a template are, and which of them are in the Go spelling.

/// A tag, with what is between its marks.
#[derive(Debug)]
pub(super) struct Tag<'s> {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) inner: &'s str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{{ … }}`
    Value,
    /// `{% … %}`
    Statement,
    /// `{# … #}`
    Comment,
}

impl Kind {
    const fn close(self) -> &'static str {
        match self {
            Self::Value => "}}",
            Self::Statement => "%}",
            Self::Comment => "#}",
        }
    }
}

/// Every tag that has an end; what lies between `raw` and `endraw` is text.
pub(super) fn tags(source: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    let mut is_raw = false;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'{', source.as_bytes().get(at..)?)?;
            let kind = match source.as_bytes().get(start + 1) {
                Some(b'{') if !is_raw => Kind::Value,
                Some(b'%') => Kind::Statement,
                Some(b'#') if !is_raw => Kind::Comment,
                _ => {
                    at = start + 1;
                    continue;
                }
            };
            let following = &source[start + 2..];
            let Some(length) = length(following, kind) else {
                at = start + 2;
                continue;
            };
            let inner = &following[..length];
            let statement = inner.trim_matches(['-', '+']).trim();
            if is_raw && statement != "endraw" {
                at = start + 2;
                continue;
            }
            is_raw = kind == Kind::Statement && statement == "raw";
            at = start + 2 + length + kind.close().len();
            return Some(Tag { kind, start, end: at, inner });
        }
    })
}

/// How long the inside of a tag is. Texts in quotes and braces of maps do not end it.
fn length(following: &str, kind: Kind) -> Option<usize> {
    let close = kind.close();
    if kind == Kind::Comment {
        return following.find(close);
    }
    let body = following.trim_start_matches('-').trim_start();
    if kind == Kind::Value && body.starts_with("/*") {
        let comment = following.find("*/")? + 2;
        return following[comment..].find(close).map(|end| comment + end);
    }
    let mut depth = 0_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (index, byte) in following.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(b'"' | b'\''), b'\\') => is_escaped = true,
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, _)
                if depth == 0 && following.as_bytes()[index..].starts_with(close.as_bytes()) =>
            {
                return Some(index);
            }
            (None, b'{') => depth += 1,
            (None, b'}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}

/// Whether a value tag is in the Go spelling. `end` and `else` are also names, so they count only
/// where such a tag came before.
pub(super) fn is_go(inner: &str, came_before: bool) -> bool {
    let body = inner.trim_start_matches('-');
    let body = body.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    if body.starts_with(['.', '$']) || body.starts_with("/*") {
        return true;
    }
    let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    let has_rest = !rest.trim_end_matches('-').trim().is_empty();
    match word {
        "" => false,
        "if" => has_rest,
        "else" | "end" | "break" | "continue" => came_before && (!has_rest || word == "else"),
        "define" | "template" | "block" => rest.trim_start().starts_with('"'),
        _ => rest.starts_with(char::is_whitespace) && has_operand(rest),
    }
}

/// A `$name` or `${name}` that neither spelling has. Go has `$name`, and no `${name}`.
pub(super) fn dollar<'s>(tag: &Tag<'s>, is_go: bool) -> Option<&'s str> {
    if tag.kind == Kind::Comment || tag.inner.trim_start_matches('-').trim_start().starts_with("/*")
    {
        return None;
    }
    let mut quote = None;
    let mut chars = tag.inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match quote {
            Some(_) if c == '\\' => drop(chars.next()),
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if c == '$' && (!is_go || tag.inner[at + 1..].starts_with('{')) => {
                let rest = &tag.inner[at + 1..];
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = match rest.strip_prefix('{') {
                    Some(inner) => inner.find('}').map_or(rest.len(), |end| end + 2),
                    None => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
                };
                return Some(&tag.inner[at..at + 1 + end]);
            }
            None => {}
        }
    }
    None
}

/// Whether a word begins with `.` or `$`, which none of Jinja does.
fn has_operand(text: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for c in text.chars() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if matches!(c, '.' | '$') && (before.is_whitespace() || before == '(') => {
                return true;
            }
            None => {}
        }
        before = c;
    }
    false
}
