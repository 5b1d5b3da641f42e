//! What follows a key: a value, a list of them, a header, or the beginning of lines.

use opal_core::class::name::{Says as Key, in_text as key};

use super::line::Kind;
use super::margin::Margin;
use super::named::Place;
use super::plain;
use super::scan::{Between, Scan};
use super::values::{Until, is_blank, is_name, is_one_of, is_quote, opening};

/// Where a value is.
pub(super) struct Extent {
    /// After it, and after its quote.
    after: usize,
    pub(super) hides: bool,
}

/// Of a value that may be a setting, at most this much is read: a longer value is not one.
const LONGEST_SETTING: usize = 256;

/// What ends a heredoc is no longer.
const LONGEST_WORD: usize = 64;

/// What the value of an `Authorization` begins with, where one word follows.
const SCHEMES: &str = "apikey basic bearer geniekey negotiate ntlm ssws token";
/// The same, where the rest of the line does.
const LONG_SCHEMES: &str = "aws4-hmac-sha256 digest hawk oauth";

/// What YAML may have before a value.
const TAGS: [&[u8]; 4] = [b"!!binary ", b"!!str ", b"!unsafe ", b"!vault "];

/// What follows a flag in a sentence about it.
const PROSE: &str = "\
    and argument can cannot expects flag for from has if in instead is may must needs option \
    or requires should to was when with";

impl Scan<'_> {
    /// Finds the value of a key that begins at `from`, and gives where to go on.
    pub(super) fn assign(&mut self, from: usize, key: Key, between: &Between) -> usize {
        let mut at = self.skip_blanks(between.value);
        if let Some(tag) = TAGS.iter().find(|tag| self.text[at..].starts_with(tag)) {
            at = self.skip_blanks(at + tag.len());
        }
        let is_flag = between.sign == b' ';
        match &self.text[at..] {
            [] if self.goes_on => self.perhaps(from, at),
            [] if between.sign == b':' && !is_header(key) => {
                self.hold(between.key, key, Place::Below);
            }
            [] => {}
            // The end of a line, in text that is written in one.
            [b'\\', b'n' | b'r', ..] => {}
            _ if is_flag && self.is_not_an_argument(at) => {}
            _ if is_header(key) => return self.header(from, key, at),
            [b'<', b'<', ..] if self.heredoc(from, at) => return self.text.len(),
            [b'[', ..] => return self.list(from, key, at + 1, between),
            [b'{', inner @ ..] if begins_map(inner) => self.hold(between.key, key, Place::Inside),
            rest => {
                let is_block = between.sign == b':' && matches!(rest, [b'|' | b'>', ..]);
                if let Some(on) = is_block.then(|| self.block(from, at, between)).flatten() {
                    return on;
                }
                let is_spaced = at > between.value && !is_flag;
                let until = match key {
                    _ if between.sign == b'%' => Until::Code,
                    Key::Passphrase if is_spaced => Until::Line,
                    _ => Until::Word,
                };
                return self.values(from, key, at, until, between.is_tight);
            }
        }
        at
    }

    /// A value, and what Terraform says it changes to.
    fn values(&mut self, from: usize, key: Key, at: usize, bare: Until, is_tight: bool) -> usize {
        let mut extent = self.value(from, key, at, bare, is_tight);
        let mut hides = extent.hides;
        loop {
            let arrow = self.skip_blanks(extent.after);
            if arrow == extent.after || !self.text[arrow..].starts_with(b"-> ") {
                return if hides { extent.after } else { at };
            }
            extent = self.value(from, key, self.skip_blanks(arrow + 3), bare, false);
            hides |= extent.hides;
        }
    }

    pub(super) fn value(
        &mut self,
        from: usize,
        key: Key,
        at: usize,
        bare: Until,
        is_tight: bool,
    ) -> Extent {
        let text = self.text;
        if let Some(length) = plain::at_start(&text[at..]) {
            if at + length == text.len() {
                self.perhaps(from, at);
            }
            return Extent { after: at + length, hides: false };
        }
        let (until, start) = opening(text, at).unwrap_or((bare, at));
        let must_look_random = key == Key::Perhaps || key == Key::Secret && is_tight;
        if must_look_random {
            let near = &text[..text.len().min(start + LONGEST_SETTING)];
            let end = until.end(near, start, self.goes_on);
            let is_whole = end < near.len() || near.len() == text.len();
            if is_whole && !plain::looks_random(&text[start..end]) {
                if end == text.len() {
                    self.perhaps(from, start);
                }
                return Extent { after: until.after(text, end), hides: false };
            }
        }
        let end = until.end(text, start, self.goes_on);
        let hides = !plain::is_plain(&text[start..end]);
        if hides {
            self.find(from, start..end, until, true);
        } else if end == text.len() {
            self.perhaps(from, start);
        }
        Extent { after: until.after(text, end), hides }
    }

    /// Values up to a bracket. What is not a plain value is read as if there were no list.
    fn list(&mut self, from: usize, key: Key, mut at: usize, between: &Between) -> usize {
        loop {
            let rest = &self.text[at..];
            at += rest.iter().take_while(|byte| is_blank(**byte) || **byte == b',').count();
            match self.text.get(at) {
                None if self.goes_on => {
                    self.perhaps(from, at);
                    return at;
                }
                None => {
                    self.hold(between.key, key, Place::Below);
                    return at;
                }
                Some(b']' | b'[' | b'{') => return at,
                Some(_) => {}
            }
            let after = self.value(from, key, at, Until::Word, false).after;
            if after == at {
                return at;
            }
            at = after;
        }
    }

    fn header(&mut self, from: usize, key: Key, at: usize) -> usize {
        let text = self.text;
        let at = at + usize::from(text[at..].starts_with(b"["));
        let (quote, mut start) = opening(text, at).map_or((None, at), |(q, at)| (Some(q), at));
        let mut until = if key == Key::Cookie { Until::Line } else { Until::Word };
        let scheme = text[start..].iter().take(20).take_while(|byte| !is_blank(**byte)).count();
        let scheme = &text[start..start + scheme];
        let is_long = is_one_of(scheme, LONG_SCHEMES);
        if key == Key::Authorization && (is_long || is_one_of(scheme, SCHEMES)) {
            start = self.skip_blanks(start + scheme.len());
            until = if is_long { Until::Line } else { Until::Word };
        }
        let until = quote.unwrap_or(until);
        let plain = plain::at_start(&text[start..]).filter(|_| until == Until::Word);
        if let Some(length) = plain {
            if start + length == text.len() {
                self.perhaps(from, start);
            }
            return start;
        }
        let end = until.end(text, start, self.goes_on);
        if !plain::is_plain(&text[start..end]) {
            self.find(from, start..end, until, true);
            return until.after(text, end);
        }
        if end == text.len() {
            self.perhaps(from, start);
        }
        start
    }

    /// `key: |`, with its lines below, in the same line of JSON, or in the items after it. Gives
    /// where to go on.
    fn block(&mut self, from: usize, at: usize, between: &Between) -> Option<usize> {
        let text = self.text;
        let rest = &text[at + 1..];
        let more = rest.iter().take(2).take_while(|byte| b"0123456789+-".contains(byte)).count();
        let start = at + 1 + more;
        match text[start..].trim_ascii_start() {
            [] | [b'#', ..] if self.goes_on => self.perhaps(from, at),
            [] | [b'#', ..] => self.below = Some(Kind::Block(Margin::of(text, between.key))),
            [b'\\', b'n' | b'r', ..] => {
                let end = Until::Line.end(text, start, self.goes_on);
                self.find(from, at..end, Until::Line, true);
                return Some(end);
            }
            _ => return self.items(from, between.key, start),
        }
        Some(text.len())
    }

    /// `key = <<EOT`.
    fn heredoc(&mut self, from: usize, at: usize) -> bool {
        let rest = &self.text[at + 2..];
        let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"~")).unwrap_or(rest);
        let word = rest.trim_ascii_end();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if word.is_empty() || word.len() > LONGEST_WORD || !word.iter().all(is_part) {
            return false;
        }
        match self.goes_on {
            true => self.perhaps(from, at),
            false => self.below = Some(Kind::Heredoc(word.to_vec())),
        }
        true
    }

    /// Whether what follows a flag and a blank is another flag, or words about it.
    pub(super) fn is_not_an_argument(&self, at: usize) -> bool {
        let word = &self.text[at..Until::Word.end(self.text, at, self.goes_on)];
        if self.goes_on && at + word.len() == self.text.len() {
            return false;
        }
        let is_name = word.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
        word.starts_with(b"-") || is_one_of(word, PROSE) || is_name && key(word, false).is_some()
    }
}

fn is_header(key: Key) -> bool {
    matches!(key, Key::Authorization | Key::Cookie)
}

/// Whether there are keys after a brace, and not the rest of a value.
fn begins_map(inner: &[u8]) -> bool {
    let name = inner.iter().take(LONGEST_WORD).take_while(|byte| is_name(**byte)).count();
    match inner.get(name) {
        None => name == 0,
        Some(b'=' | b':') => name > 0,
        Some(byte) => name == 0 && (is_blank(*byte) || is_quote(*byte) || b"}\\".contains(byte)),
    }
}
