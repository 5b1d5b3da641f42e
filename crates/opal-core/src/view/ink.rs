//! Text on its way to the reader: colours, and bars in front of continued lines.

use super::visible;

#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    Plain,
    /// What belongs to the drawing.
    Dim,
    /// Decorators and constructs.
    Bold,
    /// What stands for a value.
    Value,
    /// What is not known yet.
    Open,
}

impl Style {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dim => Some("\x1b[2m"),
            Self::Bold => Some("\x1b[1m"),
            Self::Value => Some("\x1b[36m"),
            Self::Open => Some("\x1b[33m"),
        }
    }
}

#[derive(Debug)]
enum Paper {
    /// Every character as it is.
    Exact,
    /// Characters that act on a terminal are replaced.
    Terminal { colour: bool },
    /// As on a terminal with colours, with the line feeds of the text.
    Page,
}

#[derive(Debug)]
pub(super) struct Ink {
    out: String,
    paper: Paper,
    /// What each further line of the item begins with.
    pub(super) bars: String,
}

impl Ink {
    pub(super) fn exact() -> Self {
        Self { out: String::new(), paper: Paper::Exact, bars: String::new() }
    }

    pub(super) fn terminal(colour: bool) -> Self {
        Self { out: String::new(), paper: Paper::Terminal { colour }, bars: String::new() }
    }

    pub(super) fn page() -> Self {
        Self { out: String::new(), paper: Paper::Page, bars: String::new() }
    }

    pub(super) fn write(&mut self, text: &str) {
        self.styled(Style::Plain, text);
    }

    /// Text that may have several lines, each after its bars.
    pub(super) fn styled(&mut self, style: Style, text: &str) {
        if matches!(self.paper, Paper::Exact) {
            return self.out.push_str(text);
        }
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.out.push('\n');
                if !matches!(self.paper, Paper::Page) {
                    self.drawn(&format!("{}{CONTINUED}", self.bars));
                }
            }
            self.inline(style, line);
        }
    }

    /// Text that stays on its line, whatever is in it.
    pub(super) fn inline(&mut self, style: Style, text: &str) {
        let colour = matches!(self.paper, Paper::Terminal { colour: true } | Paper::Page);
        let code = style.code().filter(|_| colour && !text.is_empty());
        self.out.push_str(code.unwrap_or_default());
        self.out.extend(text.chars().map(visible::character));
        self.out.push_str(code.map_or("", |_| RESET));
    }

    /// A part of the drawing, with nothing of the plan in it.
    pub(super) fn drawn(&mut self, bars: &str) {
        if bars.is_empty() {
            return;
        }
        match self.paper {
            Paper::Terminal { colour: true } => {
                self.out.extend([Style::Dim.code().unwrap_or_default(), bars, RESET]);
            }
            _ => self.out.push_str(bars),
        }
    }

    /// The end of an item.
    pub(super) fn end_line(&mut self) {
        self.out.push('\n');
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

const RESET: &str = "\x1b[0m";

/// In front of each further line of a step. Without it a step could draw other steps below itself.
const CONTINUED: &str = "┊ ";
