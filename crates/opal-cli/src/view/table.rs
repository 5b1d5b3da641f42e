//! Columns that stand below each other.

/// Cells as they are shown, escape sequences of colours included.
pub(super) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
    /// A column that is left out where all its cells are empty.
    optional: Option<&'static str>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new(), optional: None }
    }

    /// Leaves out the column with this head where it would be empty.
    pub(super) fn optional(self, head: &'static str) -> Self {
        Self { optional: Some(head), ..self }
    }

    pub(super) fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    pub(super) fn finish(self, paint: impl Fn(&str) -> String) -> String {
        let is_empty = |at: &usize| self.rows.iter().all(|row| row[*at].is_empty());
        let optional = self.head.iter().position(|name| Some(*name) == self.optional);
        let omitted = optional.filter(is_empty);
        let head = self.head.map(|name| if name.is_empty() { String::new() } else { paint(name) });
        let rows: Vec<[String; N]> = std::iter::once(head).chain(self.rows).collect();
        let mut widths = [0; N];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        let mut out = String::new();
        for row in &rows {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
                if Some(at) == omitted {
                    continue;
                }
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - columns(cell) + 2));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Characters that are shown: all but the sequences that colour them.
fn columns(cell: &str) -> usize {
    let mut in_sequence = false;
    let shown = cell.chars().filter(|&c| {
        let counts = !in_sequence && c != '\x1b';
        in_sequence = c == '\x1b' || in_sequence && c != 'm';
        counts
    });
    shown.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_whatever_their_colours() {
        let mut table = Table::new(["A", "B", ""]);
        table.row(["\x1b[1mlong\x1b[0m".into(), "x".into(), String::new()]);
        table.row(["ü".into(), "yy".into(), "z".into()]);
        let out = table.finish(|head| format!("\x1b[2m{head}\x1b[0m"));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "\x1b[2mA\x1b[0m     \x1b[2mB\x1b[0m");
        assert_eq!(lines[1], "\x1b[1mlong\x1b[0m  x");
        assert_eq!(lines[2], "ü     yy  z");
    }
}
