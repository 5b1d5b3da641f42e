//! Secrets that no sign joins to a name: in a table, before a host, in parts with numbers.

use opal_core::class::name::{SHARED_KEYS, Says as Key, in_text as key};

use super::plain;
use super::scan::{Between, Scan};
use super::values::{Until, is_blank, is_name, is_one_of, is_quote};

/// A password and a host are no longer.
const LONGEST: usize = 128;

/// What an image has before its digest.
const DIGESTS: &str = "sha256 sha512";

impl Scan<'_> {
    /// `DB_PASSWORD   …` in a table. Gives where to go on.
    pub(super) fn cell(&mut self, start: usize, end: usize) -> usize {
        let name = &self.text[start..end];
        let at = self.skip_blanks(end);
        let is_wide = at > end + 1 || self.text[end..].starts_with(b"\t");
        let is_capital = name.iter().all(|byte| !byte.is_ascii_lowercase());
        let is_compound = is_capital || name.iter().skip(1).any(|byte| b"_-".contains(byte));
        if !is_wide || !is_compound || name.starts_with(b"-") || key(name, false).is_none() {
            return end;
        }
        let to = Until::Word.end(self.text, at, self.goes_on);
        let value = &self.text[at..to];
        if plain::looks_drawn(value) && !plain::is_plain(value) {
            self.find(start, at..to, Until::Word, true);
            return to;
        }
        if to == self.text.len() {
            self.perhaps(start, at);
        }
        end
    }

    /// `Unseal Key 1: …`, as Vault says it once.
    pub(super) fn share(&mut self, start: usize, name: &[u8], end: usize) -> Option<usize> {
        if !name.eq_ignore_ascii_case(b"key") {
            return None;
        }
        let before = self.text[..start].trim_ascii_end();
        let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let what = &before[before.len() - letters..];
        let number = self.skip_blanks(end);
        let digits = self.text[number..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let colon = number + digits;
        let is_share = digits > 0 && is_one_of(what, SHARED_KEYS);
        if !is_share || !self.text[colon..].starts_with(b":") {
            return None;
        }
        let between = Between { key: start, sign: b':', value: colon + 1, is_tight: false };
        Some(self.assign(start, Key::Secret, &between))
    }

    /// `bob:…@db:5432`: no image, which has a digest there, and no address of mail, which has no
    /// port.
    pub(super) fn user_and_host(&mut self, start: usize, between: &Between) -> Option<usize> {
        let text = self.text;
        let begins = |byte: &u8| is_blank(*byte) || is_quote(*byte) || b"=(,".contains(byte);
        if !between.is_tight || !text[..start].last().is_none_or(begins) {
            return None;
        }
        let from = between.value;
        let ends = |byte: &u8| is_blank(*byte) || is_quote(*byte) || b"/\\<>,;".contains(byte);
        let near = &text[from..text.len().min(from + LONGEST)];
        let near = &near[..near.iter().position(ends).unwrap_or(near.len())];
        if self.goes_on && from + near.len() == text.len() {
            self.perhaps(start, from);
            return None;
        }
        let password = memchr::memrchr(b'@', near)?;
        let rest = &near[password + 1..];
        let host = rest.iter().take_while(|byte| is_name(**byte)).count();
        let port = rest[host..].strip_prefix(b":")?;
        let is_port = (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
        // A login by a key, after a word of a log.
        let is_login = port == b"22";
        let is_host = host > 0 && !is_one_of(&rest[..host], DIGESTS) && is_port && !is_login;
        let value = &near[..password];
        if !is_host || !plain::looks_random(value) || plain::is_plain(value) {
            return None;
        }
        self.find(start, from..from + password, Until::Word, true);
        Some(from + password)
    }
}
