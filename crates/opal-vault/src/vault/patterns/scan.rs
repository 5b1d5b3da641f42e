//! One line, word by word: tokens, URLs, keys and what is between them and their values.
//!
//! What follows a key is in `assign`; what a key is, how far a value goes and what is not a secret
//! are each decided elsewhere. Each byte is read a bounded number of times.

use opal_core::class::name::{Says as Key, in_text as key};
use opal_core::class::tokens::Tokens;

use super::line::Kind;
use super::named::Holder;
use super::programs::{self, Program};
use super::values::{Until, is_blank, is_name, is_quote, opening};
use super::{pem, plain};

/// Something to hide in a text.
pub(super) struct Find {
    /// Where that begins which makes it a secret: a key, or itself.
    pub(super) from: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) until: Until,
    /// If not, more of the line may make it a secret.
    pub(super) is_sure: bool,
}

pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    /// More of the line may follow, and what that would decide is not decided.
    pub(super) goes_on: bool,
    pub(super) finds: Vec<Find>,
    /// The lines below belong to what this one begins.
    pub(super) below: Option<Kind>,
    /// The name that a value may still follow.
    pub(super) holder: Option<Holder>,
    /// So many braces are open.
    pub(super) depth: usize,
    /// Whose options are being read.
    pub(super) program: Option<&'static Program>,
    tokens: Tokens,
}

/// What is between a key and its value.
pub(super) struct Between {
    /// Where the key begins.
    pub(super) key: usize,
    /// A blank where there is no sign.
    pub(super) sign: u8,
    /// Where the value may begin.
    pub(super) value: usize,
    /// As in `name:tag`.
    pub(super) is_tight: bool,
}

/// A password in a URL that has a slash in it is no longer.
const LONGEST_USER: usize = 256;

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t [u8], goes_on: bool) -> Self {
        let (finds, tokens) = Default::default();
        let (below, holder, program) = (None, None, None);
        Self { text, goes_on, finds, below, holder, depth: 0, program, tokens }
    }

    /// Finds all there is from `at` on.
    pub(super) fn run(&mut self, mut at: usize) {
        let (whole, goes_on) = (self.text, self.goes_on);
        while let Some(begin) = pem::begin(whole, at) {
            (self.text, self.goes_on) = (&whole[..begin.start], false);
            self.words(at);
            (self.text, self.goes_on) = (whole, goes_on);
            let end = match pem::end(whole, begin.end) {
                Some(end) => end,
                // All of it in one line of JSON, and cut.
                None if whole[begin.end..].starts_with(b"\\") => {
                    Until::Line.end(whole, begin.end, goes_on)
                }
                None => {
                    self.below = Some(Kind::Pem);
                    whole.len()
                }
            };
            self.find(begin.start, begin.start..end, Until::Line, true);
            at = end;
        }
        self.words(at);
        self.hold_back();
    }

    pub(super) fn find(
        &mut self,
        from: usize,
        std::ops::Range { start, end }: std::ops::Range<usize>,
        until: Until,
        is_sure: bool,
    ) {
        self.finds.push(Find { from, start, end, until, is_sure });
    }

    /// Notes a candidate that ends where the text does, if more may follow.
    pub(super) fn perhaps(&mut self, from: usize, start: usize) {
        if self.goes_on {
            self.find(from, start..self.text.len(), Until::Word, false);
        }
    }

    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        at + self.text[at..].iter().take_while(|byte| is_blank(**byte)).count()
    }

    fn words(&mut self, mut at: usize) {
        while let Some(found) = self.text[at..].iter().position(|byte| is_name(*byte)) {
            let found = at + found;
            self.braces(at..found);
            self.program.take_if(|_| programs::ends(&self.text[at..found]));
            // The letter of an escape is not one of the word after it.
            let is_escape =
                b"nrt".contains(&self.text[found]) && self.text[..found].ends_with(b"\\");
            let start = found + usize::from(is_escape);
            let length = self.text[start..].iter().take_while(|byte| is_name(**byte)).count();
            at = self.word(start, start + length);
        }
        self.braces(at..self.text.len());
    }

    /// Checks a word, and gives where to go on.
    fn word(&mut self, start: usize, end: usize) -> usize {
        if let Some(token) = self.tokens.find(self.text, start..end, self.goes_on) {
            self.find(token.start, token.start..token.end, Until::Word, token.is_sure);
            return token.end;
        }
        if let Some(authority) = self.authority(end) {
            return self.user(start, authority);
        }
        let word = &self.text[start..end];
        let dashes = word.iter().take_while(|byte| **byte == b'-').count();
        let name = &word[dashes..];
        if name.eq_ignore_ascii_case(b"bearer") {
            return self.bearer(start, end);
        }
        if let Some(on) = self.option(start, end).or_else(|| self.share(start, name, end)) {
            return on;
        }
        self.program = programs::named(word).or(self.program);
        if self.text[..start].ends_with(b"<") && self.text[end..].starts_with(b">") {
            return self.element(start, name, end + 1);
        }
        let Some(between) = self.between(start, end, dashes > 0 && name.len() > 1) else {
            return self.cell(start, end);
        };
        let before = &self.text[..start];
        // The end of a path, of a name in code, or of one of many parts: what follows is about it.
        let is_path = between.sign == b':' && before.ends_with(b"/") || before.ends_with(b"::");
        let is_part = before.last().is_some_and(|byte| b":@".contains(byte));
        if is_path || between.is_tight && is_part {
            return end;
        }
        match key(name, before.ends_with(b"?") || before.ends_with(b"&")) {
            Some(key) => self.assign(start, key, &between),
            None => {
                let on = self.pair(start, name, &between);
                on.or_else(|| self.user_and_host(start, &between)).unwrap_or(end)
            }
        }
    }

    /// What follows a word that ends at `end`, if it may be a key.
    fn between(&self, key: usize, end: usize, is_flag: bool) -> Option<Between> {
        let text = self.text;
        let quoted = opening(text, end).map(|(_, after)| after);
        let closed = match quoted {
            Some(after) if text[after..].starts_with(b"]") => after + 1,
            Some(after) => after,
            None => end,
        };
        let at = self.skip_blanks(closed);
        let (sign, length) = match &text[at..] {
            [] if self.goes_on => (b' ', 0),
            [b'=', b'=' | b'>', ..] => (b'=', 2),
            [b'=', ..] => (b'=', 1),
            [b':', b':', ..] => return None,
            [b':' | b'+' | b'?', b'=', ..] => (b'=', 2),
            [b':', ..] => (b':', 1),
            [b'%', b'3', b'D' | b'd', ..] => (b'%', 3),
            // A list of arguments.
            [b',', ..] if is_flag && quoted.is_some() => {
                let value = self.skip_blanks(at + 1);
                opening(text, value)?;
                (b',', 1)
            }
            // More blanks precede the description of a flag.
            [_, ..] if is_flag && at == closed + 1 => (b' ', 0),
            _ => return None,
        };
        let value = at + length;
        let is_open = |byte: u8| is_blank(byte) || is_quote(byte) || b"\\[{".contains(&byte);
        let is_tight =
            sign == b':' && at == end && !text.get(value).is_none_or(|byte| is_open(*byte));
        Some(Between { key, sign, value, is_tight })
    }

    /// Where the user and the host of a URL are, if `end` is the end of its scheme.
    fn authority(&self, end: usize) -> Option<usize> {
        let signs = [&b"://"[..], b":\\/\\/"];
        let found = signs.into_iter().find(|signs| self.text[end..].starts_with(signs))?;
        Some(end + found.len())
    }

    /// The password of a URL.
    fn user(&mut self, start: usize, authority: usize) -> usize {
        let rest = &self.text[authority..];
        let ends = |byte: &u8| is_blank(*byte) || is_quote(*byte) || b"<>\\".contains(byte);
        let stop = rest.iter().position(|byte| ends(byte) || b"/?#".contains(byte));
        let mut within = &rest[..stop.unwrap_or(rest.len())];
        let Some(colon) = memchr::memchr(b':', within) else { return authority };
        let is_port = within[colon + 1..].iter().all(u8::is_ascii_digit);
        if !is_port && !within.starts_with(b"[") && !within.contains(&b'@') {
            // Not as it should be written, and written all the same.
            let longer = rest.iter().take(LONGEST_USER).take_while(|byte| !ends(byte)).count();
            within = &rest[..longer];
        }
        let password = authority + colon + 1;
        match memchr::memrchr(b'@', within) {
            // An image with its digest.
            Some(at) if rest[at + 1..].starts_with(b"sha256:") => {}
            Some(at) if at > colon => {
                if !plain::is_plain(&within[colon + 1..at]) {
                    self.find(start, password..authority + at, Until::Word, true);
                }
                return authority + at;
            }
            _ if stop.is_none() => self.perhaps(start, password),
            _ => {}
        }
        authority
    }

    /// A token after `Bearer`, wherever that is.
    fn bearer(&mut self, start: usize, end: usize) -> usize {
        let at = self.skip_blanks(end);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        let length = self.text[at..].iter().take_while(|byte| is_part(byte)).count();
        let token = &self.text[at..at + length];
        if at == end {
            return end;
        }
        if length >= 8 && plain::looks_random(token) {
            self.find(start, at..at + length, Until::Word, true);
        } else if at + length == self.text.len() {
            self.perhaps(start, at);
        } else {
            return at;
        }
        at + length
    }

    /// `<password>…</password>`.
    fn element(&mut self, start: usize, name: &[u8], at: usize) -> usize {
        let rest = &self.text[at..];
        let end = memchr::memchr(b'<', rest);
        let is_key =
            matches!(key(name, false), Some(Key::Password | Key::Passphrase | Key::Secret));
        match end {
            _ if !is_key => return at,
            None => self.perhaps(start, at),
            Some(end) if end + 1 == rest.len() => self.perhaps(start, at),
            Some(end) if !rest[end..].starts_with(b"</") || plain::is_plain(&rest[..end]) => {}
            Some(end) => {
                self.find(start, at..at + end, Until::Word, true);
                return at + end;
            }
        }
        at
    }
}
