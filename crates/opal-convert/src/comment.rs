//! Text of the input as a comment.

/// The lines of `text` as comment lines. Characters that could end a comment or that cannot be seen
/// are written as numbers.
pub(crate) fn comment(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let shown = escaped(line);
        let shown = shown.trim_end();
        out.push_str(indent);
        out.push('#');
        if !shown.is_empty() {
            out.push(' ');
            out.push_str(shown);
        }
        out.push('\n');
    }
    out
}

/// The same on one line.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\t' => out.push('\t'),
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Control characters, line ends of other alphabets, marks that change the direction of text or have
/// no width.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_the_input_ends_a_comment() {
        assert_eq!(
            comment("a\u{2028}b\rc\n\nd\x1b[1m", ""),
            "# a\\u{2028}b\\u{d}c\n#\n# d\\u{1b}[1m\n"
        );
        assert_eq!(comment("\u{202e}x", "    "), "    # \\u{202e}x\n");
    }
}
