//! Styled text to a picture: a window of a terminal as SVG, whose text can be selected and searched.

use std::fmt::Write as _;

use super::ansi::{Span, Style};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Dark,
    Light,
}

/// Of one character, in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 19.0;
const FONT: f64 = 14.0;
/// Around the text.
const MARGIN: f64 = 18.0;

const FAMILY: &str = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

impl Theme {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }

    const fn background(self) -> &'static str {
        match self {
            Self::Dark => "#16181d",
            Self::Light => "#fbfbfa",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Dark => "#d7dae0",
            Self::Light => "#24292f",
        }
    }

    const fn border(self) -> &'static str {
        match self {
            Self::Dark => "#2c313a",
            Self::Light => "#d5d7da",
        }
    }

    /// The 16 colours: those of a usual dark or light terminal.
    const fn colour(self, index: u8) -> &'static str {
        const DARK: [&str; 8] = [
            "#5c6370", "#f2777a", "#7ecb7e", "#e5c07b", "#7aa6f5", "#c88fe0", "#5fc3d6", "#d7dae0",
        ];
        const LIGHT: [&str; 8] = [
            "#24292f", "#c4262e", "#1a7f37", "#8a6100", "#0b5cc4", "#8a3ab9", "#0d7685", "#57606a",
        ];
        let index = (index % 8) as usize;
        match self {
            Self::Dark => DARK[index],
            Self::Light => LIGHT[index],
        }
    }
}

/// A picture that is as wide as the terminal was.
pub(super) fn picture(lines: &[Vec<Span>], columns: usize, theme: Theme) -> String {
    let width = columns as f64 * WIDTH + 2.0 * MARGIN;
    let height = lines.len() as f64 * HEIGHT + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"{FAMILY}\" font-size=\"{FONT}\">\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" fill=\"{}\" \
         stroke=\"{}\"/>\n",
        width - 1.0,
        height - 1.0,
        theme.background(),
        theme.border(),
    );
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + row as f64 * HEIGHT + FONT;
        let mut column = 0;
        for span in line {
            let columns: usize = span.text.chars().map(columns_of).sum();
            if !span.text.trim().is_empty() {
                text(&mut svg, span, (MARGIN + column as f64 * WIDTH, y), columns, theme);
            }
            column += columns;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn text(svg: &mut String, span: &Span, (x, y): (f64, f64), columns: usize, theme: Theme) {
    let Style { colour, is_bold, is_faint } = span.style;
    let fill = colour.map_or(theme.text(), |index| theme.colour(index));
    let weight = if is_bold { " font-weight=\"bold\"" } else { "" };
    let faint = if is_faint { " opacity=\"0.65\"" } else { "" };
    // The length keeps columns under each other, whatever font there is.
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\" fill=\"{fill}\"{weight}{faint}>{}</text>",
        columns as f64 * WIDTH,
        escaped(&span.text)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Emoji take two columns.
fn columns_of(c: char) -> usize {
    if (0x1f300..=0x1faff).contains(&u32::from(c)) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_where_its_column_is_and_never_markup() {
        let span = |text: &str, is_bold| Span {
            text: text.to_owned(),
            style: Style { is_bold, colour: Some(1), is_faint: false },
        };
        let line = vec![span("<a> ", false), span("&b", true)];
        let svg = picture(&[line], 80, Theme::Dark);
        assert!(svg.contains(">&lt;a&gt; </text>"), "{svg}");
        let bold = "x=\"51.6\" y=\"32.0\" textLength=\"16.8\"";
        assert!(svg.contains(bold) && svg.contains("font-weight=\"bold\">&amp;b</text>"), "{svg}");
    }
}
