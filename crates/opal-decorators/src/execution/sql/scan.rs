//! Where a text in SQL uses variables of its client, and whether they are replaced there.
//!
//! A text for psql can make variables of its own. What a value has gone into is treated as the value.

use std::collections::BTreeMap;
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
    /// What the text itself has put into the variable before.
    pub(super) holds: Option<Holds>,
}

/// What a text has put into a variable of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    /// Nothing but what the text says.
    Constant,
    /// A value, as a literal or a name of SQL: it is one there, and not elsewhere.
    Literal,
    /// A value as it is, or what a query or a person gave.
    Value,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// psql's `:name`: the value becomes SQL.
    Pasted,
    /// As data.
    Replaced,
    /// SQLite's other variables, which nobody sets.
    Unset,
    /// Text inside quotes, which the client leaves alone.
    Quoted(&'static str),
    /// An argument of a command of the client, which may be code there.
    Command(String),
}

/// Every use of a variable, in order. `is_text` is whether the value of a variable could be
/// code; none where the text has the variable from elsewhere.
pub(super) fn uses<'t>(
    dialect: Dialect,
    text: &'t str,
    is_text: &dyn Fn(&str) -> Option<bool>,
) -> Vec<Use<'t>> {
    let mut scan = Scan {
        dialect,
        text,
        at: 0,
        found: Vec::new(),
        is_text,
        made: BTreeMap::new(),
        results: Vec::new(),
        statement: 0,
    };
    while scan.at < text.len() {
        scan.next();
    }
    scan.found
}

struct Scan<'t, 'f> {
    dialect: Dialect,
    text: &'t str,
    at: usize,
    found: Vec<Use<'t>>,
    is_text: &'f dyn Fn(&str) -> Option<bool>,
    /// The variables that the text has made so far.
    made: BTreeMap<&'t str, Holds>,
    /// The statements whose columns `\gset` has made variables of.
    results: Vec<&'t str>,
    /// Where the statement begins.
    statement: usize,
}

/// Functions that quote what they put together.
const QUOTING: [&str; 4] = ["format(", "quote_ident(", "quote_literal(", "quote_nullable("];

/// Commands of psql whose arguments are shown or decided on, and nothing else.
const HARMLESS: [&str; 8] =
    ["\\echo", "\\qecho", "\\warn", "\\if", "\\elif", "\\set", "\\gset", "\\prompt"];

impl<'t> Scan<'t, '_> {
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
            b';' => {
                self.skip(1);
                self.statement = self.at;
            }
            b':' if is_psql => self.colon(),
            b'@' if !is_psql => self.at_sign(),
            b'[' if dialect == Dialect::Sqlite => {
                let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                self.inside(end, |_| How::Quoted("[…]"));
            }
            b':' | b'$' | b'?' if dialect == Dialect::Sqlite => self.unset(),
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
        let from = self.at;
        let before = self.found.len();
        self.inside(end, |_| How::Command(name.to_owned()));
        let inner = if is_harmless { self.found.split_off(before) } else { Vec::new() };
        if self.dialect == Dialect::Psql {
            self.makes(name, &self.text[from..from + end], &inner);
        }
    }

    /// What a command of psql puts into variables, of what it is given.
    fn makes(&mut self, name: &str, line: &'t str, given: &[Use<'t>]) {
        let mut words = line.split_whitespace().skip(1);
        match name {
            "\\gset" => self.results.push(&self.text[self.statement..self.at]),
            "\\gexec" => self.executes(),
            "\\prompt" => {
                self.made.extend(words.last().map(|made| (made, Holds::Value)));
            }
            "\\getenv" => {
                self.made.extend(words.next().map(|made| (made, Holds::Value)));
            }
            "\\set" => {
                let Some(made) = words.next() else { return };
                let holds = given.iter().map(|it| self.given(it)).max();
                let holds = match line.contains('`') {
                    true => Holds::Value,
                    false => holds.unwrap_or(Holds::Constant),
                };
                self.made.insert(made, holds);
            }
            _ => {}
        }
    }

    /// What a variable that gets this holds.
    fn given(&self, given: &Use<'t>) -> Holds {
        let is_value = match self.holds(given.name) {
            None => (self.is_text)(given.name) == Some(true),
            Some(holds) => holds == Holds::Value,
        };
        let is_quoted = self.text[given.at.clone()].ends_with(['\'', '"']);
        match (is_value, is_quoted) {
            (true, false) => Holds::Value,
            (true, true) => Holds::Literal,
            (false, _) => self.holds(given.name).unwrap_or(Holds::Constant),
        }
    }

    fn holds(&self, name: &str) -> Option<Holds> {
        let made = self.made.get(name).copied();
        let is_result = || match (self.is_text)(name) {
            None => !self.results.is_empty(),
            // A column of its name replaces the value that opal gave.
            Some(_) => self.results.iter().any(|statement| names(statement, name)),
        };
        made.or_else(|| is_result().then_some(Holds::Value))
    }

    /// What a query gives runs as SQL: what went into it must have been quoted there.
    fn executes(&mut self) {
        let statement = &self.text[self.statement..self.at];
        if QUOTING.iter().any(|function| statement.contains(function)) {
            return;
        }
        let start = self.statement;
        for found in self.found.iter_mut().filter(|it| it.at.start >= start) {
            if found.how == How::Replaced {
                found.how = How::Command("\\gexec".to_owned());
            }
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
                let holds = self.holds(name);
                self.found.push(Use { name, at, how: how(name), holds });
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
        let holds = self.holds(name);
        self.found.push(Use { name, at: self.at..end, how, holds });
        self.at = end;
    }

    /// `:name`, `$name`, `?`, `?1`.
    fn unset(&mut self) {
        let rest = self.rest();
        let is_number = rest.starts_with('?');
        let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
        let name = if is_number { &rest[1..=digits] } else { name(&rest[1..]) };
        if (is_number || !name.is_empty()) && !self.follows_word() {
            let at = self.at..self.at + 1 + name.len();
            self.found.push(Use { name, at, how: How::Unset, holds: None });
        }
        self.skip(1 + name.len());
    }

    fn at_sign(&mut self) {
        let name = name(&self.rest()[1..]);
        if self.rest().starts_with("@@") {
            return self.skip(2);
        }
        if !name.is_empty() && !self.follows_word() {
            let at = self.at..self.at + 1 + name.len();
            self.found.push(Use { name, at, how: How::Replaced, holds: None });
        }
        self.skip(1 + name.len());
    }
}

/// Whether a statement has the word, not as a variable.
fn names(statement: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    statement.match_indices(word).any(|(at, _)| {
        let before = statement[..at].trim_end_matches(['\'', '"']).chars().next_back();
        let after = statement[at + word.len()..].chars().next();
        before.is_none_or(|c| c != ':' && !is_part(c)) && after.is_none_or(|c| !is_part(c))
    })
}

fn name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => "",
        false => &text[..end],
    }
}
