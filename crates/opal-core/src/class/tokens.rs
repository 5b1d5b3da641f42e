//! Tokens that say what they are: they begin as their issuer has all of them begin.

/// How one kind of token is written.
struct Token {
    begins: &'static [u8],
    goes_on: Letters,
    shape: Shape,
}

/// What may follow the beginning.
#[derive(Clone, Copy)]
enum Letters {
    /// `A` to `Z` and digits.
    Capitals,
    /// Letters and digits.
    Plain,
    /// Also `_`, `-` and the `=` that fill up base64.
    Joined,
    /// Also dots.
    Dotted,
    /// Also slashes.
    Path,
}

/// What must follow for the beginning to be no accident.
#[derive(Clone, Copy)]
enum Shape {
    AtLeast(usize),
    Exactly(usize),
    /// So many letters and digits in a row, with a digit among all.
    Row(usize),
    /// Three parts or more with dots between, the first two of some length.
    Parts,
}

const fn token(begins: &'static str, goes_on: Letters, shape: Shape) -> Token {
    Token { begins: begins.as_bytes(), goes_on, shape }
}

use Letters::{Capitals, Dotted, Joined, Path, Plain};
use Shape::{AtLeast, Exactly, Parts, Row};

/// Sorted.
const TOKENS: [Token; 66] = [
    token("AGE-SECRET-KEY-1", Plain, AtLeast(40)),
    token("AGE-SECRET-KEY-PQ-1", Plain, AtLeast(40)),
    token("AIza", Joined, AtLeast(35)),
    token("AKIA", Capitals, Exactly(16)),
    token("ASIA", Capitals, Exactly(16)),
    token("ATATT3x", Joined, AtLeast(40)),
    token("ATCTT3x", Joined, AtLeast(40)),
    token("NRAK-", Plain, AtLeast(20)),
    token("PMAK-", Joined, AtLeast(40)),
    token("SG.", Dotted, AtLeast(40)),
    token("atlasv1.", Joined, AtLeast(40)),
    token("dapi", Plain, Exactly(32)),
    token("dckr_oat_", Joined, AtLeast(16)),
    token("dckr_pat_", Joined, AtLeast(16)),
    token("discord.com/api/webhooks/", Path, AtLeast(40)),
    token("doo_v1_", Plain, AtLeast(40)),
    token("dop_v1_", Plain, AtLeast(40)),
    token("dor_v1_", Plain, AtLeast(40)),
    token("dp.pt.", Plain, AtLeast(30)),
    token("dp.st.", Dotted, AtLeast(30)),
    token("eyJ", Dotted, Parts),
    token("figd_", Joined, AtLeast(30)),
    token("gho_", Plain, AtLeast(20)),
    token("ghp_", Plain, AtLeast(20)),
    token("ghr_", Plain, AtLeast(20)),
    token("ghs_", Dotted, AtLeast(20)),
    token("ghu_", Plain, AtLeast(20)),
    token("github_pat_", Joined, AtLeast(20)),
    token("glagent-", Dotted, AtLeast(20)),
    token("glcbt-", Dotted, AtLeast(16)),
    token("gldt-", Dotted, AtLeast(16)),
    token("glpat-", Dotted, AtLeast(16)),
    token("glptt-", Dotted, AtLeast(16)),
    token("glrt-", Dotted, AtLeast(16)),
    token("glsa_", Joined, AtLeast(32)),
    token("hf_", Plain, AtLeast(30)),
    token("hooks.slack.com/services/", Path, AtLeast(24)),
    token("hvb.", Joined, AtLeast(20)),
    token("hvr.", Joined, AtLeast(20)),
    token("hvs.", Joined, AtLeast(20)),
    token("lin_api_", Plain, AtLeast(30)),
    token("npm_", Plain, AtLeast(30)),
    token("pul-", Plain, AtLeast(40)),
    token("pypi-", Joined, AtLeast(40)),
    token("rk_live_", Plain, AtLeast(16)),
    token("rk_test_", Plain, AtLeast(16)),
    token("rubygems_", Plain, AtLeast(40)),
    token("shpat_", Plain, AtLeast(30)),
    token("shpca_", Plain, AtLeast(30)),
    token("shppa_", Plain, AtLeast(30)),
    token("shpss_", Plain, AtLeast(30)),
    token("sk-", Joined, Row(16)),
    token("sk_live_", Plain, AtLeast(16)),
    token("sk_test_", Plain, AtLeast(16)),
    token("sntrys_", Joined, AtLeast(30)),
    token("tskey-", Joined, AtLeast(20)),
    token("whsec_", Plain, AtLeast(20)),
    token("xapp-", Joined, AtLeast(20)),
    token("xoxa-", Joined, AtLeast(10)),
    token("xoxb-", Joined, AtLeast(10)),
    token("xoxe", Dotted, AtLeast(20)),
    token("xoxo-", Joined, AtLeast(10)),
    token("xoxp-", Joined, AtLeast(10)),
    token("xoxr-", Joined, AtLeast(10)),
    token("xoxs-", Joined, AtLeast(10)),
    token("ya29.", Joined, AtLeast(20)),
];

/// Which of them begin with a letter: from here to there.
const BY_FIRST: [(usize, usize); 128] = {
    let mut ranges = [(0, 0); 128];
    let mut index = 0;
    while index < TOKENS.len() {
        let first = TOKENS[index].begins[0] as usize;
        if ranges[first].1 == 0 {
            ranges[first].0 = index;
        }
        ranges[first].1 = index + 1;
        index += 1;
    }
    ranges
};

/// Looks for tokens in one text, from its beginning to its end.
#[derive(Debug, Default)]
pub struct Tokens {
    /// For each kind, up to where none begins: what goes on to the same place was too short.
    /// Nothing while none was.
    none_before: Vec<usize>,
}

#[derive(Debug)]
pub struct Found {
    pub start: usize,
    pub end: usize,
    /// It is one. If not, it may become one when more follows.
    pub is_sure: bool,
}

impl Tokens {
    /// The first token that begins in a word of `text`. `goes_on`: more may follow the text.
    pub fn find(
        &mut self,
        text: &[u8],
        word: std::ops::Range<usize>,
        goes_on: bool,
    ) -> Option<Found> {
        let start = word.start;
        // The code of a sign in a URL is not part of what follows it.
        let after_code = text[..start].ends_with(b"%").then_some(start + 2);
        let after_signs = memchr::memchr3_iter(b'_', b'-', b'.', &text[word.clone()]);
        let places = std::iter::once(start)
            .chain(after_code)
            .chain(after_signs.map(|sign| start + sign + 1))
            .filter(|at| *at < word.end);
        let found = places.into_iter().find_map(|at| self.at(text, at, goes_on))?;
        let is_middle = text[found.start..].starts_with(b"atlasv1.");
        Some(Found { start: if is_middle { start } else { found.start }, ..found })
    }

    fn at(&mut self, text: &[u8], at: usize, goes_on: bool) -> Option<Found> {
        let (from, to) = BY_FIRST.get(usize::from(text[at])).copied()?;
        for (index, token) in TOKENS.iter().enumerate().take(to).skip(from) {
            let none_before = self.none_before.get(index).copied().unwrap_or(0);
            if none_before > at || !text[at..].starts_with(token.begins) {
                continue;
            }
            let body = &text[at + token.begins.len()..];
            let length = body.iter().take_while(|byte| token.goes_on.have(**byte)).count();
            let end = text.len() - body.len() + length;
            let is_sure = token.shape.fits(&body[..length]);
            if is_sure || goes_on && end == text.len() {
                return Some(Found { start: at, end, is_sure });
            }
            self.none_before.resize(TOKENS.len(), 0);
            self.none_before[index] = end;
        }
        None
    }
}

impl Letters {
    fn have(self, byte: u8) -> bool {
        match self {
            Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Plain => byte.is_ascii_alphanumeric(),
            Joined => Plain.have(byte) || matches!(byte, b'_' | b'-' | b'='),
            Dotted => Joined.have(byte) || byte == b'.',
            Path => Dotted.have(byte) || byte == b'/',
        }
    }
}

impl Shape {
    fn fits(self, body: &[u8]) -> bool {
        match self {
            AtLeast(length) => body.len() >= length,
            Exactly(length) => body.len() == length,
            Row(length) => {
                let mut rows = body.split(|byte| !byte.is_ascii_alphanumeric());
                rows.any(|row| row.len() >= length) && body.iter().any(u8::is_ascii_digit)
            }
            Parts => {
                let mut parts = body.split(|byte| *byte == b'.').map(<[u8]>::len);
                let mut long = || parts.next().is_some_and(|length| length >= 8);
                long() && long() && parts.next().is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginnings_are_in_order() {
        assert!(TOKENS.is_sorted_by_key(|token| token.begins));
    }
}
