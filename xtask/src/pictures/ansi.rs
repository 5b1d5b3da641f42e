//! What a terminal shows, with its colours, to styled text. The terminal has done everything that
//! moves the cursor: only colours are left.

/// Text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// One of the 16 colours.
    pub(super) colour: Option<u8>,
    pub(super) is_bold: bool,
    pub(super) is_faint: bool,
}

/// The lines of a screen.
pub(super) fn lines(text: &str) -> Vec<Vec<Span>> {
    let mut style = Style::default();
    text.lines().map(|line| spans(line.trim_end(), &mut style)).collect()
}

fn spans(line: &str, style: &mut Style) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(sequence) = rest.strip_prefix("\u{1b}[")
            && let Some(end) = sequence.find(|c: char| c.is_ascii_alphabetic())
        {
            if sequence[end..].starts_with('m') {
                style.set(&sequence[..end]);
            }
            rest = &sequence[end + 1..];
            continue;
        }
        // A lone escape is passed over.
        let from = usize::from(rest.starts_with('\u{1b}'));
        let end = rest[from..].find('\u{1b}').map_or(rest.len(), |at| from + at);
        if from < end {
            spans.push(Span { text: rest[from..end].to_owned(), style: *style });
        }
        rest = &rest[end..];
    }
    spans
}

impl Style {
    fn set(&mut self, numbers: &str) {
        for number in numbers.split(';') {
            match number.parse().unwrap_or(0_u8) {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_faint = true,
                22 => (self.is_bold, self.is_faint) = (false, false),
                number @ 30..=37 => self.colour = Some(number - 30),
                39 => self.colour = None,
                number @ 90..=97 => self.colour = Some(number - 90 + 8),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_hold_until_they_are_reset() {
        let found = lines("a\u{1b}[1;31mb\u{1b}[0mc\n\u{1b}[2md\ne\u{1b}[39;22mf");
        let plain = Style::default();
        let span = |text: &str, style| Span { text: text.to_owned(), style };
        let red = Style { colour: Some(1), is_bold: true, ..plain };
        let faint = Style { is_faint: true, ..plain };
        assert_eq!(found[0], [span("a", plain), span("b", red), span("c", plain)]);
        assert_eq!(found[1], [span("d", faint)]);
        assert_eq!(found[2], [span("e", faint), span("f", plain)]);
    }
}
