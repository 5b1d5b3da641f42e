//! What a step printed, as lines of text in the colours that it chose.

use opal_vault::{Piece, Sequences};

use crate::text::lines as visible;

/// How a part of a line looks: the classes of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Of eight colours.
    colour: Option<u8>,
    bold: bool,
    faint: bool,
    underlined: bool,
}

/// One line: parts that look alike.
pub(crate) type Line = Vec<(Look, String)>;

impl Look {
    /// The names of its classes; none where it is plain.
    pub(crate) fn classes(self) -> String {
        let colour = self.colour.map(|colour| format!("c{colour}"));
        let flags = [(self.bold, "b"), (self.faint, "d"), (self.underlined, "u")];
        let flags = flags.iter().filter(|(is_so, _)| *is_so).map(|(_, name)| (*name).to_owned());
        colour.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
    }

    /// What `ESC [ … m` says. Other colours than the sixteen are left out.
    fn change(&mut self, parameters: &[u8]) {
        let text = String::from_utf8_lossy(parameters);
        let mut numbers = text.split([';', ':']).map(|number| number.parse::<u16>().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                4 => self.underlined = true,
                22 => (self.bold, self.faint) = (false, false),
                24 => self.underlined = false,
                30..=37 => self.colour = u8::try_from(number - 30).ok(),
                90..=97 => self.colour = u8::try_from(number - 90).ok(),
                39 => self.colour = None,
                // A colour by number, or by its three parts.
                38 | 48 => match numbers.next() {
                    Some(5) => drop(numbers.next()),
                    Some(2) => drop(numbers.by_ref().take(3).count()),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// The lines. Of one that was written over, what a terminal shows in the end.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut drawing = Drawing::default();
    let mut sequences = Sequences::default();
    for byte in bytes {
        sequences.push(*byte, &mut |piece| drawing.piece(piece));
    }
    drawing.finish()
}

/// The same as plain text.
pub(crate) fn plain(bytes: &[u8]) -> Vec<String> {
    let text = |line: Line| line.into_iter().map(|(_, text)| text).collect::<String>();
    lines(bytes).into_iter().map(text).collect()
}

#[derive(Default)]
struct Drawing {
    look: Look,
    lines: Vec<Vec<(Look, Vec<u8>)>>,
    line: Vec<(Look, Vec<u8>)>,
    /// A carriage return: what comes next begins the line again, unless the line ends.
    is_at_start: bool,
}

impl Drawing {
    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(b'\n') => {
                self.is_at_start = false;
                self.lines.push(std::mem::take(&mut self.line));
            }
            Piece::Text(b'\r') => self.is_at_start = true,
            Piece::Text(byte) => {
                if std::mem::take(&mut self.is_at_start) {
                    self.line.clear();
                }
                match self.line.last_mut().filter(|(look, _)| *look == self.look) {
                    Some((_, text)) => text.push(byte),
                    None => self.line.push((self.look, vec![byte])),
                }
            }
            Piece::Control(parameters, b'm') => self.look.change(parameters),
            Piece::Control(..) | Piece::Other => {}
        }
    }

    fn finish(mut self) -> Vec<Line> {
        if !self.line.is_empty() {
            self.lines.push(self.line);
        }
        let part =
            |(look, bytes): (Look, Vec<u8>)| (look, visible(&String::from_utf8_lossy(&bytes)));
        self.lines.into_iter().map(|line| line.into_iter().map(part).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_classes_and_everything_else_is_text() {
        let printed =
            b"\x1b[1;31mred\x1b[0m and \x1b[38;5;7mplain\x1b[m\r\n\x1b]0;t\x07\x1b[2Jx\x00\n";
        let lines = lines(printed);
        assert_eq!(lines[0][0].0.classes(), "c1 b");
        assert_eq!(lines[0][0].1, "red");
        assert_eq!(lines[0][1], (Look::default(), " and plain".to_owned()));
        assert_eq!(plain(printed), ["red and plain", "x\u{2400}"]);
    }

    #[test]
    fn of_a_line_that_was_written_over_the_last_state_is_kept() {
        assert_eq!(plain(b"10%\r50%\r100%\r\ndone"), ["100%", "done"]);
        assert_eq!(plain(b""), Vec::<String>::new());
        assert_eq!(plain(b"a\n\nb\n"), ["a", "", "b"]);
    }
}
