//! What comments say: the documentation of functions, and the headings of groups.

use opal_syntax::SyntaxKind::*;

use super::Lower;
use super::literals::token_at;

impl Lower<'_> {
    /// The comment lines directly above the token at `index`, without their markers, from a heading on.
    pub(super) fn docs(&self, index: usize) -> String {
        let tokens = self.parse.tokens();
        let mut lines: Vec<&str> = Vec::new();
        for at in (0..index).rev() {
            let text = self.slice(tokens.span(at));
            match tokens.kind(at) {
                Blank if text.bytes().filter(|byte| *byte == b'\n').count() <= 1 => {}
                Comment if heading(text).is_some() => break,
                Comment if !text.starts_with("/*") && self.begins_line(tokens.start(at)) => {
                    lines.push(text);
                }
                _ => break,
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        lines.reverse();
        let lines = lines.iter().flat_map(|comment| comment.lines()).map(|line| {
            let line = line.trim();
            let line = line.trim_start_matches(['/', '#']);
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        });
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    fn begins_line(&self, offset: u32) -> bool {
        let before = &self.text[..offset as usize];
        before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim().is_empty()
    }

    /// Reads the comments before the top-level node that has just begun: the last heading among them
    /// starts a group.
    pub(super) fn read_heading(&mut self) {
        let tokens = self.parse.tokens();
        let before = (0..token_at(tokens, self.start())).rev();
        let trivia = before.take_while(|at| tokens.kind(*at).is_trivia());
        let mut comments = trivia.filter(|at| tokens.kind(*at) == Comment);
        let found = comments.find_map(|at| {
            let found = heading(self.slice(tokens.span(at)))?;
            self.begins_line(tokens.start(at)).then_some(found)
        });
        if let Some(found) = found {
            self.group = Some(found.to_owned());
        }
    }
}

/// The text of `// # Heading`, or `# # Heading`. In `## text` all of it is the marker of a comment, as
/// Makefiles have it.
fn heading(comment: &str) -> Option<&str> {
    let marker = if comment.starts_with("//") { '/' } else { '#' };
    let text = comment.trim_start_matches(marker);
    let marked = text.strip_prefix([' ', '\t'])?.trim_start();
    let level = marked.bytes().take_while(|byte| *byte == b'#').count();
    let name = marked[level..].strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !name.is_empty() && !comment.starts_with("/*")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::heading;

    #[test]
    fn a_heading_has_its_own_mark_after_that_of_the_comment() {
        for (comment, expected) in [
            ("// # Release", Some("Release")),
            ("//  ## Release and more ##", Some("Release and more")),
            ("# # Release", Some("Release")),
            ("// ####### seven", None),
            ("// #hash", None),
            ("// Release", None),
            ("# Release", None),
            ("## Release", None),
            ("//# Release", None),
            ("// #", None),
            ("// # ", None),
            ("/* # Release */", None),
        ] {
            assert_eq!(heading(comment), expected, "{comment}");
        }
    }
}
