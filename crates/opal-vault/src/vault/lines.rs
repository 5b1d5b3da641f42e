//! What is shown of the lines of a whole text, each for itself.
//!
//! A value of several lines is found in the text, where no sign precedes its lines, and what takes
//! its place is given out to them: whoever shows the lines has as many as before.

use std::ops::Range;

use super::{Hidden, Vault};

impl Vault {
    /// For each line of a whole text what is shown of it, if it is not shown as it is.
    #[must_use]
    pub fn scrub_lines(&self, text: &str) -> Vec<Option<String>> {
        let mut replaced = Vec::new();
        let mut lines = Vec::new();
        let mut hidden = self.hidden_in(text).into_iter().peekable();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            while let Some(part) = hidden.next_if(|part| part.range.start < end) {
                give_out(text, &part, &mut replaced);
            }
            let line = at..at + line.strip_suffix('\n').unwrap_or(line).len();
            // What is given out to later lines stays for them.
            let own = replaced.iter().take_while(|(range, _)| range.start < end).count();
            lines.push(render(text, line, replaced.drain(..own)));
            at = end;
        }
        lines
    }
}

/// One stretch of a line, and what takes its place.
type Replaced = (Range<usize>, String);

/// What takes the place of a part, line by line: as many lines of the label as are the same at
/// both ends, and all of the rest for each line between.
fn give_out(text: &str, part: &Hidden, to: &mut Vec<Replaced>) {
    let mut stretches = Vec::new();
    let mut at = part.range.start;
    for line in text[part.range.clone()].split_inclusive('\n') {
        let begin = at + (line.len() - line.trim_start().len());
        let range = begin..begin + line.trim().len();
        stretches.extend(Some(range).filter(|range| !range.is_empty()));
        at += line.len();
    }
    let label: Vec<&str> =
        part.label.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let most = label.len().min(stretches.len());
    let is_same = |label: &str, stretch: &Range<usize>| label == &text[stretch.clone()];
    let first = (0..most).take_while(|index| is_same(label[*index], &stretches[*index])).count();
    let last = (1..=most - first)
        .take_while(|back| is_same(label[label.len() - back], &stretches[stretches.len() - back]))
        .count();
    let inner = first..label.len() - last;
    let is_for_each = inner.len() == stretches.len() - first - last;
    let whole = match inner.is_empty() {
        true => label.join(" "),
        false => label[inner.clone()].join(" "),
    };
    let ends = stretches.len() - last;
    for (index, stretch) in stretches.into_iter().enumerate() {
        let is_between = (first..ends).contains(&index);
        if is_between {
            let shown = if is_for_each { label[index].to_owned() } else { whole.clone() };
            to.push((stretch, shown));
        }
    }
}

fn render(
    text: &str,
    line: Range<usize>,
    replaced: impl Iterator<Item = Replaced>,
) -> Option<String> {
    let mut at = line.start;
    let mut shown = String::new();
    for (range, with) in replaced {
        shown.push_str(&text[at..range.start]);
        shown.push_str(&with);
        at = range.end;
    }
    (at > line.start).then(|| shown + &text[at..line.end])
}

#[cfg(test)]
mod tests {
    use opal_core::Data;

    use super::*;

    #[test]
    fn what_is_hidden_keeps_the_lines_of_a_text() {
        for (value, label, text, shown) in [
            ("canary-1", "<1>", "a\npw=canary-1 x\nb\n", "a\npw=<1> x\nb\n"),
            // Lines too short to be hidden by themselves.
            ("1234\n5678\n9012", "<1>", "a\n1234\n5678\n9012\nb\n", "a\n<1>\n<1>\n<1>\nb\n"),
            ("1234\n\n9012", "<1>", "k=1234\n\n9012;", "k=<1>\n\n<1>;"),
            // A label with lines of its own.
            ("a=1\nt=canary-1\n", "a=1\nt=<1>\n", "a=1\nt=canary-1\n", "a=1\nt=<1>\n"),
            ("a=1\n12\n34\nb=2", "a=1\n<1>\nb=2", "a=1\n12\n34\nb=2", "a=1\n<1>\n<1>\nb=2"),
            ("a=1\n12\n34\nb=2\n", "a=1\n<1>", "a=1\n12\n34\nb=2\n", "a=1\n<1>\n<1>\n<1>\n"),
            // Wrapped, as `base64` prints it.
            (
                "correct horse battery staple",
                "<1>",
                "k: Y29ycmVjdCBob3\n  JzZSBiYXR0ZXJ5\n  IHN0YXBsZQ==\nz\n",
                "k: <1>\n  <1>\n  <1>\nz\n",
            ),
            ("canary-1", "<1>", "canary-1canary-1\ncanary-1\n", "<1>\n<1>\n"),
        ] {
            let vault = Vault::new();
            vault.register(&Data::text(value), label);
            let lines = vault.scrub_lines(text);
            let raw = text.split_inclusive('\n');
            assert_eq!(lines.len(), raw.clone().count());
            let made: String = raw
                .zip(lines)
                .map(|(raw, shown)| match shown {
                    Some(shown) => shown + &raw[raw.trim_end_matches('\n').len()..],
                    None => raw.to_owned(),
                })
                .collect();
            assert_eq!(made, shown, "{value:?}");
        }
    }
}
