//! Where the cursor is, as far as the text before it tells: a text that is being typed has errors, and
//! completion must work in it all the same. Nothing here says what a name means.

use opal_core::Span;

use crate::positions::Text;

/// The path of a reference that is being typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Path<'t> {
    /// From its `@` to the cursor.
    pub(crate) span: Span,
    /// What is there after the `@`.
    pub(crate) typed: &'t str,
    /// What is before the `@` in its line.
    pub(crate) before: &'t str,
}

/// The call whose brackets the cursor is in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inside<'t> {
    /// What is called: `retry`, `cmd.build`, or the name of a function in an expression.
    pub(crate) path: &'t str,
    pub(crate) has_at: bool,
    /// Arguments before that of the cursor.
    pub(crate) index: usize,
    /// The names that are given, with `=`.
    pub(crate) named: Vec<&'t str>,
    /// The name of the argument that the cursor is in.
    pub(crate) name: Option<&'t str>,
    /// What is typed of the argument, or of its value after `name=`.
    pub(crate) typed: &'t str,
}

/// Lines that are searched for the beginning of a call.
const MOST_LINES: u32 = 30;

fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The reference that ends at the cursor.
pub(crate) fn path(text: &Text, at: u32) -> Option<Path<'_>> {
    let start = text.line_start(text.line_of(at)) as usize;
    let line = text.text.get(start..at as usize)?;
    let typed = line.bytes().rev().take_while(|byte| is_path(*byte)).count();
    let (before, typed) = line.split_at(line.len() - typed);
    let before = before.strip_suffix('@')?;
    if before.ends_with('\\') {
        return None;
    }
    let begin = (start + before.len()) as u32;
    Some(Path { span: Span::new(begin, at), typed, before })
}

/// The name that ends at the cursor, without an `@`.
pub(crate) fn word(text: &Text, at: u32) -> Span {
    let before = text.text.get(..at as usize).unwrap_or_default();
    let typed = before.bytes().rev().take_while(|byte| is_name(*byte)).count();
    Span::new(at - typed as u32, at)
}

/// The innermost call around the cursor.
pub(crate) fn inside(text: &Text, at: u32) -> Option<Inside<'_>> {
    let line = text.line_of(at);
    for first in (line.saturating_sub(MOST_LINES)..=line).rev() {
        if first < line && text.line(first).trim().is_empty() {
            return None;
        }
        let start = text.line_start(first) as usize;
        let before = text.text.get(start..at as usize)?;
        if let Some(found) = open_call(before) {
            return Some(found);
        }
    }
    None
}

#[derive(Debug)]
struct Open {
    /// The byte of the bracket.
    at: usize,
    bracket: u8,
    /// Where the arguments begin.
    starts: Vec<usize>,
}

fn open_call(before: &str) -> Option<Inside<'_>> {
    let bytes = before.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut in_string = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' if !open.is_empty() => in_string = !in_string,
            // A bracket in a string opens a call only after the path of a reference.
            b'(' if !in_string || is_called(before, at) => {
                open.push(Open { at, bracket: b'(', starts: vec![at + 1] });
                in_string = false;
            }
            byte @ (b'[' | b'{') if !in_string && !open.is_empty() => {
                open.push(Open { at, bracket: byte, starts: vec![at + 1] });
            }
            b')' | b']' | b'}' if !in_string => {
                open.pop();
            }
            b',' if !in_string => {
                if let Some(last) = open.last_mut() {
                    last.starts.push(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    let call = open
        .iter()
        .rev()
        .find(|it| it.bracket == b'(' && !name_before(before, it.at).is_empty())?;
    let path = name_before(before, call.at);
    let arguments: Vec<&str> = call
        .starts
        .iter()
        .enumerate()
        .map(|(index, start)| {
            let end = call.starts.get(index + 1).map_or(before.len(), |next| next - 1);
            before[*start..end].trim()
        })
        .collect();
    let (last, earlier) = arguments.split_last()?;
    let name = named(last);
    Some(Inside {
        has_at: before[..call.at - path.len()].ends_with('@'),
        path,
        index: earlier.len(),
        named: earlier.iter().filter_map(|argument| named(argument)).collect(),
        typed: match name {
            Some(name) => last[name.len()..].trim_start().trim_start_matches('=').trim_start(),
            None => last,
        },
        name,
    })
}

fn name_before(before: &str, at: usize) -> &str {
    let length = before.as_bytes()[..at].iter().rev().take_while(|byte| is_path(**byte)).count();
    &before[at - length..at]
}

fn is_called(before: &str, at: usize) -> bool {
    let name = name_before(before, at);
    !name.is_empty() && before[..at - name.len()].ends_with('@')
}

/// The name of an argument that is given with one.
fn named(argument: &str) -> Option<&str> {
    let (name, rest) = argument.split_once('=')?;
    let name = name.trim_end();
    let is_one = !name.is_empty() && name.bytes().all(is_name) && !rest.starts_with('=');
    is_one.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::Encoding;

    fn text(source: &str) -> (Text, u32) {
        let at = source.find("$0").unwrap() as u32;
        (Text::new(source.replace("$0", ""), Encoding::Utf8), at)
    }

    #[test]
    fn a_path_is_what_follows_an_at_that_is_not_escaped() {
        for (source, typed) in [
            ("echo @var.na$0", Some("var.na")),
            ("@$0", Some("")),
            ("a@b.c$0", Some("b.c")),
            ("echo \\@va$0", None),
            ("echo var$0", None),
        ] {
            let (text, at) = text(source);
            assert_eq!(path(&text, at).map(|it| it.typed), typed, "{source}");
        }
    }

    #[test]
    fn the_innermost_call_is_found_with_its_arguments() {
        for (source, expected) in [
            ("@retry($0", Some(("retry", 0, None, ""))),
            ("@retry(3, del$0", Some(("retry", 1, None, "del"))),
            ("@retry(3, delay=2$0", Some(("retry", 1, Some("delay"), "2"))),
            ("echo @file.read(\"a, b\", $0", Some(("file.read", 1, None, ""))),
            ("@retry(\n  3,\n  delay=$0", Some(("retry", 1, Some("delay"), ""))),
            ("@retry(3) $0", None),
            ("var x = join([1, 2], $0", Some(("join", 1, None, ""))),
            ("@log(\"a @file.read($0", Some(("file.read", 0, None, ""))),
            ("echo (a$0", None),
            ("@retry(3)\n\necho $0", None),
        ] {
            let (text, at) = text(source);
            let found = inside(&text, at);
            let found = found.as_ref().map(|it| (it.path, it.index, it.name, it.typed));
            assert_eq!(found, expected, "{source}");
        }
    }
}
