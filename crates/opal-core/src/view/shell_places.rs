//! Where data is in shell text, from the text around it.
//!
//! A plan knows the place from the lexer, its file does not: so that both read alike, a view checks
//! the text, which both have. It looks for quotes, brackets and heredocs only, which is enough to
//! show a constant; execution goes by the lexer.

use crate::context::{Context, Place};

/// What the text so far has opened.
#[derive(Debug, Default)]
pub(super) struct Around {
    open: Vec<Open>,
    /// Heredocs whose bodies begin with the next line.
    announced: Vec<Heredoc>,
    /// The line of a heredoc's body, as far as it has been read.
    line: String,
    /// What is directly before.
    last: Option<char>,
}

#[derive(Debug)]
enum Open {
    /// `$( … )`, `( … )`, `` ` … ` ``.
    Commands,
    Quote,
    /// `' … '`; `$' … '` has escapes.
    RawQuote {
        escapes: bool,
    },
    /// `${ … }`.
    Expansion,
    /// `$(( … ))`: one for each parenthesis.
    Arithmetic,
    Heredoc(Heredoc),
}

#[derive(Debug)]
struct Heredoc {
    end: String,
    /// `<<-`: the line that ends it may be indented with tabs.
    tabs: bool,
    /// Its end is quoted, so that nothing in it means anything.
    raw: bool,
}

impl Around {
    /// The place of data that is here, in front of `next`.
    pub(super) fn place(&self, next: Option<char>) -> Context {
        let place = match self.open.last() {
            None | Some(Open::Commands) => {
                let alone = ends_word(self.last) && ends_word(next);
                return Context::new(Place::Word).whole_word(alone);
            }
            Some(Open::Quote) => Place::Quoted,
            Some(Open::Heredoc(Heredoc { raw: false, .. })) => Place::Heredoc,
            Some(Open::Expansion | Open::RawQuote { .. } | Open::Heredoc(_)) => Place::Expansion,
            Some(Open::Arithmetic) => Place::Arithmetic,
        };
        Context::new(place)
    }

    /// Goes past something that is data, whatever it holds.
    pub(super) fn pass(&mut self) {
        self.last = Some('_');
        self.line.push('_');
    }

    /// Goes past text.
    pub(super) fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if c == '\n' {
                self.end_line();
            }
            let in_body = matches!(self.open.last(), Some(Open::Heredoc(_)));
            let read = match self.open.last() {
                Some(Open::RawQuote { escapes }) => raw_quote(*escapes, rest, &mut self.open),
                Some(Open::Heredoc(Heredoc { raw: true, .. })) => None,
                None | Some(Open::Commands) => self.command(rest),
                Some(_) => self.inner(rest),
            };
            let length = read.unwrap_or(c.len_utf8());
            if in_body && c != '\n' {
                self.line.push_str(&rest[..length]);
            }
            self.last = rest[..length].chars().next_back();
            rest = &rest[length..];
        }
    }

    /// Where commands are: what has a meaning here, and how long it is.
    fn command(&mut self, rest: &str) -> Option<usize> {
        let begins_word = ends_word(self.last);
        if rest.starts_with('#') && begins_word {
            return Some(rest.find('\n').unwrap_or(rest.len()));
        }
        if begins_word && rest.starts_with("((") {
            self.open.extend([Open::Arithmetic, Open::Arithmetic]);
            return Some(2);
        }
        if rest.starts_with("<<<") {
            return Some(3);
        }
        if let Some(after) = rest.strip_prefix("<<") {
            let (heredoc, after) = heredoc(after);
            self.announced.push(heredoc);
            return Some(rest.len() - after.len());
        }
        match rest.as_bytes()[0] {
            b'\'' => self.open.push(Open::RawQuote { escapes: false }),
            b'$' if rest[1..].starts_with('\'') => {
                self.open.push(Open::RawQuote { escapes: true });
                return Some(2);
            }
            b'(' => self.open.push(Open::Commands),
            // The patterns of a `case` close what nothing opened.
            b')' => drop(self.open.pop()),
            b'\n' if !self.announced.is_empty() => {
                self.line.clear();
                self.open.extend(self.announced.drain(..).rev().map(Open::Heredoc));
            }
            _ => return self.inner(rest),
        }
        Some(1)
    }

    /// What has a meaning between quotes, in brackets and in a heredoc as well.
    fn inner(&mut self, rest: &str) -> Option<usize> {
        if let Some(after) = rest.strip_prefix('\\') {
            return Some(1 + after.chars().next().map_or(0, char::len_utf8));
        }
        if rest.starts_with("$((") {
            self.open.extend([Open::Arithmetic, Open::Arithmetic]);
            return Some(3);
        }
        for (opener, opened) in [("$(", Open::Commands), ("${", Open::Expansion)] {
            if rest.starts_with(opener) {
                self.open.push(opened);
                return Some(2);
            }
        }
        match (rest.as_bytes()[0], self.open.last()) {
            (b'"', Some(Open::Heredoc(_))) => return None,
            (b'"', Some(Open::Quote)) => drop(self.open.pop()),
            (b'"', _) => self.open.push(Open::Quote),
            (b'`', Some(Open::Commands)) => drop(self.open.pop()),
            (b'`', _) => self.open.push(Open::Commands),
            (b'}', Some(Open::Expansion)) => drop(self.open.pop()),
            (b'(', Some(Open::Arithmetic)) => self.open.push(Open::Arithmetic),
            (b')', Some(Open::Arithmetic)) => drop(self.open.pop()),
            _ => return None,
        }
        Some(1)
    }

    /// Notices the line that ends a heredoc.
    fn end_line(&mut self) {
        let Some(Open::Heredoc(heredoc)) = self.open.last() else { return };
        let line = if heredoc.tabs { self.line.trim_start_matches('\t') } else { &self.line };
        if line == heredoc.end {
            self.open.pop();
        }
        self.line.clear();
    }
}

fn raw_quote(escapes: bool, rest: &str, open: &mut Vec<Open>) -> Option<usize> {
    if escapes && let Some(after) = rest.strip_prefix('\\') {
        return Some(1 + after.chars().next().map_or(0, char::len_utf8));
    }
    if rest.starts_with('\'') {
        open.pop();
    }
    None
}

/// What follows `<<`, and the text after it.
fn heredoc(after: &str) -> (Heredoc, &str) {
    let dashed = after.strip_prefix('-');
    let after = dashed.unwrap_or(after).trim_start_matches([' ', '\t']);
    let length = after.find(|c| ends_word(Some(c))).unwrap_or(after.len());
    let (word, after) = after.split_at(length);
    let quotes = ['\'', '"', '\\'];
    let heredoc = Heredoc {
        end: word.replace(quotes, ""),
        tabs: dashed.is_some(),
        raw: word.contains(quotes),
    };
    (heredoc, after)
}

/// Whether a word of the shell ends here: at a blank, at an operator, and where nothing is.
fn ends_word(c: Option<char>) -> bool {
    c.is_none_or(|c| c.is_whitespace() || ";|&<>()`".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the data is that `@` stands for, each followed by what is after it.
    fn places(text: &str) -> Vec<(Place, bool)> {
        let mut around = Around::default();
        let mut found = Vec::new();
        let mut parts = text.split('@');
        around.read(parts.next().unwrap_or_default());
        for part in parts {
            let place = around.place(part.chars().next());
            found.push((place.place(), place.is_whole_word()));
            around.pass();
            around.read(part);
        }
        found
    }

    #[test]
    fn quotes_brackets_and_heredocs_tell_the_place() {
        use Place::{Arithmetic, Expansion, Heredoc, Quoted, Word};
        for (text, expected) in [
            ("rm @ -@ @", vec![(Word, true), (Word, false), (Word, true)]),
            ("echo \"a @\" @", vec![(Quoted, false), (Word, true)]),
            ("echo 'it \"' @ \"@\"", vec![(Word, true), (Quoted, false)]),
            ("echo $'it\\'s \"' @", vec![(Word, true)]),
            ("echo it\\'s \\\" @ \"\\\"@\"", vec![(Word, true), (Quoted, false)]),
            ("echo \"$(cat @ \"@\") @\"", vec![(Word, true), (Quoted, false), (Quoted, false)]),
            ("a `b @` \"`c @`@\"", vec![(Word, true), (Word, true), (Quoted, false)]),
            ("a ${x:-@} $((1 + (@) * @)) @", {
                vec![(Expansion, false), (Arithmetic, false), (Arithmetic, false), (Word, true)]
            }),
            ("((x = @)); a @", vec![(Arithmetic, false), (Word, true)]),
            ("a # it's\nb @", vec![(Word, true)]),
            ("a <<E @\n\"@\nEE\n@\nE\n@", {
                vec![(Word, true), (Heredoc, false), (Heredoc, false), (Word, true)]
            }),
            ("a <<-'E' <<F\n@\n\tE\n@\nF\n\"@\"", {
                vec![(Expansion, false), (Heredoc, false), (Quoted, false)]
            }),
            ("a <<E\n@E\nE@\nE\n@", vec![(Heredoc, false), (Heredoc, false), (Word, true)]),
            ("a <<E\n$(b\nc)E\n@\n$(d \"@\")\nE\n@", {
                vec![(Heredoc, false), (Quoted, false), (Word, true)]
            }),
            ("a <<< \"@\"", vec![(Quoted, false)]),
            ("case x in a) b @;; esac; (c @) > @", vec![(Word, true); 3]),
        ] {
            assert_eq!(places(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "[@$(){}\"'`\\\\<#\n\tEä -]{0,80}") {
            places(&text);
        }
    }
}
