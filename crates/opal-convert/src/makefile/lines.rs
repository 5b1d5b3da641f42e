//! Logical lines of a Makefile.

/// A line, with those that `\` joins to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
    /// It begins with a tab.
    pub(super) is_recipe: bool,
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        let ends = goes_on_after(line);
        match lines.last_mut() {
            Some(before) if goes_on => {
                if before.is_recipe {
                    before.text.push('\n');
                    before.text.push_str(line.strip_prefix('\t').unwrap_or(line));
                } else {
                    before.text.truncate(before.text.trim_end_matches('\\').trim_end().len());
                    before.text.push(' ');
                    before.text.push_str(line.trim_start());
                }
            }
            _ => {
                let is_recipe = line.starts_with('\t');
                let text = if is_recipe { &line[1..] } else { line };
                lines.push(Line { number: index + 1, text: text.to_owned(), is_recipe });
            }
        }
        goes_on = ends;
    }
    if goes_on && let Some(last) = lines.last_mut() {
        last.text.truncate(last.text.trim_end_matches('\\').len());
    }
    lines
}

/// An odd number of `\` at the end.
fn goes_on_after(line: &str) -> bool {
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

/// Without the comment at its end.
pub(super) fn without_comment(line: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (index, c) in line.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '#' if before != '\\' && depth == 0 => {
                return (&line[..index], Some(line[index..].trim_start_matches('#').trim()));
            }
            _ => {}
        }
        before = c;
    }
    (line, None)
}

/// Where a character is outside `$(…)`.
pub(super) fn find_outside(text: &str, fits: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (index, c) in text.char_indices() {
        match c {
            '(' | '{' if before == '$' || depth > 0 => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            _ if depth == 0 && fits(&text[index..]) => return Some(index),
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_as_make_joins_them() {
        let found = lines("A = b \\\n   c\nx:\n\techo a \\\n\t  b\n");
        let texts: Vec<_> =
            found.iter().map(|it| (it.number, it.text.as_str(), it.is_recipe)).collect();
        assert_eq!(
            texts,
            [(1, "A = b c", false), (3, "x:", false), (4, "echo a \\\n  b", true), (6, "", false)]
        );
        assert_eq!(without_comment("a: b ## Build it."), ("a: b ", Some("Build it.")));
        assert_eq!(without_comment("X = $(shell echo '#')"), ("X = $(shell echo '#')", None));
        assert_eq!(find_outside("$(x:a=b): c", |it| it.starts_with(':')), Some(8));
    }
}
