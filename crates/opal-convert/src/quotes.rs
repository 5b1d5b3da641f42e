//! Where in shell text a place is: the quotes and brackets around it.
//!
//! Only a judgement of where a value is pasted; the result is parsed again, so a wrong one costs a
//! task and never its meaning.

/// What a place is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Bare,
    Double,
    Single,
    /// `$'…'`.
    Dollar,
    /// The body of a heredoc whose word is quoted, or not.
    Heredoc {
        quoted: bool,
    },
    Comment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Frame {
    Double,
    Single,
    Dollar,
    Tick,
    /// `(`, `$(`, `${` and what closes it.
    Bracket(char),
    Comment,
    Heredoc {
        word: String,
        quoted: bool,
        tabs: bool,
    },
}

/// Reads shell text character by character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotes {
    frames: Vec<Frame>,
    /// Heredocs that begin on the next line.
    waiting: Vec<Frame>,
    escaped: bool,
    /// The characters of the line so far.
    line: String,
    before: Option<char>,
}

const MAX_FRAMES: usize = 64;

impl Quotes {
    pub(crate) fn place(&self) -> Place {
        match self.frames.last() {
            Some(Frame::Double) => Place::Double,
            Some(Frame::Single) => Place::Single,
            Some(Frame::Dollar) => Place::Dollar,
            Some(Frame::Comment) => Place::Comment,
            Some(Frame::Heredoc { quoted, .. }) => Place::Heredoc { quoted: *quoted },
            _ => Place::Bare,
        }
    }

    /// Whether a word can begin here.
    pub(crate) fn is_word_start(&self) -> bool {
        self.before.is_none_or(|c| c.is_whitespace() || ";|&()".contains(c)) && !self.escaped
    }

    /// A value is here.
    pub(crate) fn value(&mut self) {
        self.before = Some('x');
        self.line.push('x');
        self.escaped = false;
    }

    pub(crate) fn text(&mut self, text: &str) {
        text.chars().for_each(|c| self.next(c));
    }

    fn next(&mut self, c: char) {
        if c == '\n' {
            return self.newline();
        }
        self.line.push(c);
        if std::mem::take(&mut self.escaped) {
            self.before = Some('x');
            return;
        }
        match self.frames.last() {
            Some(Frame::Single) if c == '\'' => self.pop(),
            Some(Frame::Single | Frame::Comment | Frame::Heredoc { .. }) => {}
            Some(Frame::Dollar) if c == '\\' => self.escaped = true,
            Some(Frame::Dollar) if c == '\'' => self.pop(),
            Some(Frame::Dollar) => {}
            Some(Frame::Double) => match c {
                '"' => self.pop(),
                '\\' => self.escaped = true,
                '`' => self.push(Frame::Tick),
                '(' if self.before == Some('$') => self.push(Frame::Bracket(')')),
                '{' if self.before == Some('$') => self.push(Frame::Bracket('}')),
                _ => {}
            },
            _ => self.bare(c),
        }
        self.before = Some(c);
    }

    fn bare(&mut self, c: char) {
        match c {
            '\\' => self.escaped = true,
            '\'' if self.before == Some('$') => self.push(Frame::Dollar),
            '\'' => self.push(Frame::Single),
            '"' => self.push(Frame::Double),
            '`' if self.frames.last() == Some(&Frame::Tick) => self.pop(),
            '`' => self.push(Frame::Tick),
            '(' => self.push(Frame::Bracket(')')),
            '{' if self.before == Some('$') => self.push(Frame::Bracket('}')),
            '#' if self.is_word_start() => self.push(Frame::Comment),
            c if self.frames.last() == Some(&Frame::Bracket(c)) => self.pop(),
            _ => {}
        }
    }

    fn newline(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.before = Some('\n');
        self.escaped = false;
        if let Some(Frame::Heredoc { word, tabs, .. }) = self.frames.last() {
            let ends = if *tabs { line.trim_start_matches('\t') } else { &line };
            if ends == word {
                self.pop();
            }
            return;
        }
        if self.frames.last() == Some(&Frame::Comment) {
            self.pop();
        }
        if self.place() == Place::Bare {
            self.waiting.extend(heredocs(&line));
            self.waiting.reverse();
            while let Some(frame) = self.waiting.pop() {
                self.frames.insert(self.frames.len(), frame);
            }
        }
    }

    fn push(&mut self, frame: Frame) {
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(frame);
        }
    }

    fn pop(&mut self) {
        self.frames.pop();
    }
}

/// The heredocs that a line announces.
fn heredocs(line: &str) -> Vec<Frame> {
    let mut found = Vec::new();
    for part in line.split("<<").skip(1) {
        if part.starts_with('<') {
            continue;
        }
        let tabs = part.starts_with('-');
        let part = part.trim_start_matches(['-', ' ']);
        let quoted = part.starts_with(['\'', '"', '\\']);
        let part = part.trim_start_matches(['\'', '"', '\\']);
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
        if end > 0 {
            found.push(Frame::Heredoc { word: part[..end].to_owned(), quoted, tabs });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_inside_the_quotes_that_are_open() {
        for (text, expected) in [
            ("echo ", Place::Bare),
            ("echo \"", Place::Double),
            ("echo '", Place::Single),
            ("echo $'a\\'", Place::Dollar),
            ("echo \"$(", Place::Bare),
            ("echo \"$(x '", Place::Single),
            ("echo \"$(x) ", Place::Double),
            ("echo '\"' ", Place::Bare),
            ("echo \\\" ", Place::Bare),
            ("x # it's ", Place::Comment),
            ("x # it's\ny ", Place::Bare),
            ("cat <<EOF\na ", Place::Heredoc { quoted: false }),
            ("cat <<'EOF'\na ", Place::Heredoc { quoted: true }),
            ("cat <<EOF\na\nEOF\n", Place::Bare),
            ("cat <<-EOF\na\n\tEOF\n", Place::Bare),
            ("echo a#b ", Place::Bare),
        ] {
            let mut quotes = Quotes::default();
            quotes.text(text);
            assert_eq!(quotes.place(), expected, "{text}");
        }
    }
}
