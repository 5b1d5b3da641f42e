//! The lines of a recipe.

use crate::form::Piece;

/// Lines without the indentation that all of them share.
pub(super) fn dedented(lines: &[&str]) -> Vec<String> {
    let indentation = |line: &&str| {
        let end = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..end].to_owned()
    };
    let written = lines.iter().filter(|line| !line.trim().is_empty());
    let common = written.map(indentation).reduce(|common, next| {
        let same = common.bytes().zip(next.bytes()).take_while(|(a, b)| a == b).count();
        common[..same].to_owned()
    });
    let common = common.unwrap_or_default();
    let strip = |line: &&str| line.strip_prefix(&common).unwrap_or_else(|| line.trim()).to_owned();
    lines.iter().map(strip).collect()
}

/// The logical lines of a body: those that end in `\` go on in the next one.
///
/// just joins them without the blanks at the start of the next line. The line end after a `\` is
/// kept for people; the shell reads both in the same way, except inside quotes, where they are
/// joined here.
pub(super) fn logical(lines: &[String]) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim_end_matches('\r');
        match out.last_mut() {
            Some((_, before)) if goes_on => {
                if is_quoted(before) {
                    before.truncate(before.len() - 1);
                    before.push_str(line.trim_start());
                } else {
                    before.push('\n');
                    before.push_str(line);
                }
            }
            _ => out.push((index, line.to_owned())),
        }
        goes_on = line.ends_with('\\') && !line.trim_start().starts_with('#');
        goes_on |= line.ends_with('\\') && out.last().is_some_and(|(_, it)| it.contains('\n'));
    }
    if goes_on && let Some((_, last)) = out.last_mut() {
        last.truncate(last.len() - 1);
    }
    out
}

/// Whether the end of a text is inside quotes of the shell.
fn is_quoted(text: &str) -> bool {
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            _ => {}
        }
    }
    quote.is_some()
}

/// Whether a body is a script, which one interpreter runs as a whole.
pub(super) fn shebang(body: &[String]) -> Option<&str> {
    body.first().and_then(|line| line.strip_prefix("#!"))
}

pub(super) fn piece_text(pieces: &[Piece]) -> String {
    let text = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.as_str(),
        Piece::Value(_) => "",
    });
    text.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_go_on_are_one() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        for (source, expected) in [
            ("a \\\n  b\nc", vec!["a \\\n  b", "c"]),
            ("echo 'a \\\n   b'", vec!["echo 'a b'"]),
            ("a \\", vec!["a "]),
        ] {
            let found: Vec<_> = logical(&lines(source)).into_iter().map(|(_, it)| it).collect();
            assert_eq!(found, expected, "{source}");
        }
    }
}
