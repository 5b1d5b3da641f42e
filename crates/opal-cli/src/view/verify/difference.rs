//! A difference, line by line. What is printed here is still one that `patch` accepts.

use opal_core::view::visible::character;

/// All of it.
pub(crate) fn whole(text: &str, colour: bool) -> String {
    bounded(text, colour, usize::MAX, "")
}

/// At most `most` lines, and how many there are more; each begins with `indent`.
pub(crate) fn bounded(text: &str, colour: bool, most: usize, indent: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_terminator('\n');
    for line in lines.by_ref().take(most) {
        let code = code(line).filter(|_| colour);
        out.push_str(indent);
        out.push_str(code.unwrap_or_default());
        // `patch` needs the line ends as they are; people have to see what differs.
        let (line, end) = match line.strip_suffix('\r') {
            Some(line) if !colour => (line, "\r"),
            _ => (line, ""),
        };
        out.extend(line.chars().map(|c| if c == '\t' { c } else { character(c) }));
        out.push_str(end);
        out.push_str(if code.is_some() { "\x1b[0m\n" } else { "\n" });
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("{indent}… {}\n", crate::view::counted(more, "more line"))),
    }
    out
}

fn code(line: &str) -> Option<&'static str> {
    if line.starts_with("--- ") || line.starts_with("+++ ") {
        return Some("\x1b[1m");
    }
    match line.as_bytes().first() {
        Some(b'-') => Some("\x1b[31m"),
        Some(b'+') => Some("\x1b[32m"),
        Some(b'@') => Some("\x1b[36m"),
        _ => None,
    }
}
