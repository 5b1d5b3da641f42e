//! Where a text in SQL uses variables of its client, and whether they are replaced there.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Psql,
    Sqlite,
    Mysql,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use<'t> {
    pub(super) name: &'t str,
    pub(super) at: Range<usize>,
    pub(super) how: How,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// psql's `:name`: the value becomes SQL.
    Pasted,
    /// As data.
    Replaced,
    /// Text inside quotes, which the client leaves alone.
    Quoted(&'static str),
    /// An argument of a command of the client, which may be code there.
    Command(String),
}

/// Every use of a variable, in order.
pub(super) fn uses(dialect: Dialect, text: &str) -> Vec<Use<'_>> {
    let mut scan = Scan { dialect, text, at: 0, found: Vec::new() };
    while scan.at < text.len() {
        scan.next();
    }
    scan.found
}

struct Scan<'t> {
    dialect: Dialect,
    text: &'t str,
    at: usize,
    found: Vec<Use<'t>>,
}

/// Commands of psql whose arguments are shown or decided on, and nothing else.
const HARMLESS: [&str; 8] =
    ["\\echo", "\\qecho", "\\warn", "\\if", "\\elif", "\\set", "\\gset", "\\prompt"];

impl<'t> Scan<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn follows_word(&self) -> bool {
        self.before().is_some_and(|c| c.is_alphanumeric() || c == '_')
    }

    fn begins_line(&self) -> bool {
        let line = self.text[..self.at].rsplit('\n').next().unwrap_or_default();
        line.trim().is_empty()
    }

    fn next(&mut self) {
        let (rest, dialect) = (self.rest(), self.dialect);
        let is_psql = dialect == Dialect::Psql;
        let comment = rest.starts_with("--") || dialect == Dialect::Mysql && rest.starts_with('#');
        match rest.as_bytes()[0] {
            _ if comment => self.skip_line(),
            b'/' if rest.starts_with("/*") => self.comment(),
            b'\'' => self.quoted('\'', "'…'"),
            b'"' => self.quoted('"', "\"…\""),
            b'`' if !is_psql => self.quoted('`', "`…`"),
            b'$' if is_psql && !self.follows_word() => self.dollars(),
            b'\\' if is_psql => self.command(),
            b'.' if dialect == Dialect::Sqlite && self.begins_line() => self.command(),
            b':' if is_psql => self.colon(),
            b'@' if !is_psql => self.at_sign(),
            _ => self.skip(1),
        }
    }

    /// At least so many bytes, on the boundary of a character.
    fn skip(&mut self, bytes: usize) {
        self.at = self.text.ceil_char_boundary(self.at + bytes);
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
    }

    /// Comments of PostgreSQL may have others in them.
    fn comment(&mut self) {
        let (mut depth, start) = (0_usize, self.at);
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            if rest.starts_with("/*") && (self.dialect == Dialect::Psql || self.at == start) {
                depth += 1;
                self.skip(2);
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
                if depth == 0 {
                    return;
                }
            } else {
                self.skip(1);
            }
        }
    }

    fn quoted(&mut self, quote: char, shown: &'static str) {
        let is_escape_string = self.dialect == Dialect::Psql
            && quote == '\''
            && matches!(self.before(), Some('e' | 'E'));
        let escapes = is_escape_string || self.dialect == Dialect::Mysql && quote != '`';
        let mut end = self.rest().len();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((index, c)) = chars.next() {
            if c == '\\' && escapes {
                chars.next();
            } else if c == quote {
                // A doubled one belongs to the text.
                if chars.peek().is_some_and(|(_, next)| *next == quote) {
                    chars.next();
                } else {
                    end = index + 1;
                    break;
                }
            }
        }
        self.inside(end, |_| How::Quoted(shown));
    }

    /// `$$…$$`, `$tag$…$tag$`.
    fn dollars(&mut self) {
        let rest = self.rest();
        let is_tag = |c: char| c.is_alphanumeric() || c == '_';
        let tag = rest[1..].find('$').map(|end| &rest[..end + 2]);
        let tag = tag.filter(|tag| {
            let name = &tag[1..tag.len() - 1];
            name.chars().all(is_tag) && !name.starts_with(|c: char| c.is_ascii_digit())
        });
        let Some(tag) = tag else { return self.skip(1) };
        let end = rest[tag.len()..].find(tag).map_or(rest.len(), |end| end + 2 * tag.len());
        self.inside(end, |_| How::Quoted("$$…$$"));
    }

    /// A command of the client, to the end of its line; of psql possibly to a `\\`.
    fn command(&mut self) {
        if self.rest().starts_with("\\\\") {
            return self.skip(2);
        }
        let line = self.rest().split('\n').next().unwrap_or_default();
        let name = line.split([' ', '\t']).next().unwrap_or_default();
        // `\!ls` is `\!` too.
        let name = if line.starts_with("\\!") { "\\!" } else { name };
        let is_whole = ["\\copy", "\\!"].contains(&name);
        let end = if is_whole { None } else { line[1..].find("\\\\").map(|end| end + 1) };
        let end = end.unwrap_or(line.len()).max(1);
        let is_harmless = HARMLESS.contains(&name) && !line[..end].contains('`');
        match is_harmless {
            true => self.at += end,
            false => self.inside(end, |_| How::Command(name.to_owned())),
        }
    }

    /// Notes what looks like a variable in the next bytes, and passes them.
    fn inside(&mut self, length: usize, how: impl Fn(&str) -> How) {
        let end = self.at + length;
        let mark = if self.dialect == Dialect::Psql { ':' } else { '@' };
        while self.at < end {
            let Some(next) = self.text[self.at..end].find(mark) else { break };
            self.at += next;
            let is_mark = self.before() != Some(mark) && !self.follows_word();
            let after = &self.text[self.at + 1..end];
            let quote = after.chars().next().filter(|c| mark == ':' && matches!(c, '\'' | '"'));
            let shift = 1 + usize::from(quote.is_some());
            let name = name(&self.text[self.at + shift..end]);
            if is_mark && !name.is_empty() {
                let at = self.at..self.at + shift + name.len() + usize::from(quote.is_some());
                self.found.push(Use { name, at, how: how(name) });
            }
            self.at += shift;
        }
        self.at = end;
    }

    fn colon(&mut self) {
        let rest = self.rest();
        if rest.starts_with("::") || rest.starts_with(":=") {
            return self.skip(2);
        }
        let quote = rest[1..].chars().next().filter(|c| matches!(c, '\'' | '"'));
        let shift = 1 + usize::from(quote.is_some());
        let name = name(&rest[shift..]);
        let is_closed = quote.is_none_or(|quote| rest[shift + name.len()..].starts_with(quote));
        if name.is_empty() || !is_closed {
            return self.skip(1);
        }
        let end = self.at + shift + name.len() + usize::from(quote.is_some());
        let how = if quote.is_some() { How::Replaced } else { How::Pasted };
        self.found.push(Use { name, at: self.at..end, how });
        self.at = end;
    }

    fn at_sign(&mut self) {
        let name = name(&self.rest()[1..]);
        if self.rest().starts_with("@@") {
            return self.skip(2);
        }
        if !name.is_empty() && !self.follows_word() {
            let at = self.at..self.at + 1 + name.len();
            self.found.push(Use { name, at, how: How::Replaced });
        }
        self.skip(1 + name.len());
    }
}

fn name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => "",
        false => &text[..end],
    }
}
