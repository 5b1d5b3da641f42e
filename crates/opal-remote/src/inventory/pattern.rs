//! `web:&prod:!web3`: which hosts are meant, in Ansible's order.
//!
//! | pattern | hosts |
//! |---|---|
//! | `web` | of the group, or the host |
//! | `web*`, `db[!3]?` | of all groups and all hosts that match |
//! | `~web\d+` | the same, by a regular expression from the start of the name |
//! | `web[0]`, `web[-1]`, `web[1:3]`, `web[2:]` | by index, both ends included |
//! | `a:b`, `a,b` | of both |
//! | `a:&b`, `a:!b` | of `a` that are in `b` too, or not in `b` |

use std::collections::BTreeSet;

use opal_core::fleet::MAX_TARGETS;
use opal_core::suggest;
use opal_core::view::visible;
use regex::Regex;

use super::error::{Fault, InventoryError};
use super::groups::{ALL, Inventory};
use super::ranges;
use super::target::Target;

/// Patterns of one selection, and characters of a pattern, at most.
const MAX_PATTERNS: usize = 1_000;
const MAX_CHARS: usize = 10_000;

/// Targets, and patterns that match nothing: probably typos.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    pub targets: Vec<Target>,
    pub unmatched: Vec<String>,
}

/// Groups in a message.
const MAX_SHOWN: usize = 10;

impl Inventory {
    /// The targets that `select` means, and of these only those that `limit` means too. Each is checked.
    pub fn select(&self, select: &str, limit: Option<&str>) -> Result<Selected, InventoryError> {
        let (hosts, unmatched) = self.chosen(select, limit)?;
        if hosts.len() > MAX_TARGETS {
            return Err(InventoryError::new(Fault::TooManyTargets));
        }
        if hosts.is_empty() {
            let shown =
                limit.map_or_else(|| select.to_owned(), |it| format!("{select} --limit {it}"));
            return Err(self.nothing(select, shown));
        }
        let targets = hosts.into_iter().map(|host| Target::of(self, host));
        Ok(Selected { targets: targets.collect::<Result<_, _>>()?, unmatched })
    }

    /// No host matches: the nearest name, or the groups that there are.
    pub(super) fn nothing(&self, given: &str, pattern: String) -> InventoryError {
        let groups = || self.groups.iter().map(|group| group.name.as_str());
        let hosts = self.hosts.iter().map(|host| host.name.as_str());
        let help = match suggest::nearest(given, groups().chain(hosts)) {
            Some(near) => format!("did you mean `{}`?", visible::line(near)),
            None => {
                let shown = groups().take(MAX_SHOWN).map(|it| format!("`{}`", visible::line(it)));
                let more = if self.groups.len() > MAX_SHOWN { ", …" } else { "" };
                format!(
                    "the inventory has the groups {}{more}",
                    shown.collect::<Vec<_>>().join(", ")
                )
            }
        };
        InventoryError::new(Fault::NothingSelected { pattern, help })
    }

    /// The names that a pattern means, unchecked: for lists and completion.
    pub fn names(&self, select: &str) -> Result<Vec<&str>, InventoryError> {
        let (hosts, _) = self.chosen(select, None)?;
        Ok(hosts.into_iter().map(|host| self.hosts[host].name.as_str()).collect())
    }

    fn chosen(
        &self,
        select: &str,
        limit: Option<&str>,
    ) -> Result<(Vec<usize>, Vec<String>), InventoryError> {
        let mut unmatched = Vec::new();
        let mut hosts = self.evaluated(select, &mut unmatched)?;
        if let Some(limit) = limit {
            let within: BTreeSet<usize> =
                self.evaluated(limit, &mut unmatched)?.into_iter().collect();
            hosts.retain(|host| within.contains(host));
        }
        Ok((hosts, unmatched))
    }

    /// First those without a mark, then `&`, then `!`.
    fn evaluated(
        &self,
        text: &str,
        unmatched: &mut Vec<String>,
    ) -> Result<Vec<usize>, InventoryError> {
        let too_long = text.chars().count() > MAX_CHARS;
        let patterns = split(text);
        // For Ansible no pattern is all hosts. It is rather a variable that is empty.
        if patterns.is_empty() {
            return Err(InventoryError::new(Fault::NoPattern));
        }
        // Ansible leaves out what is not closed: `~[` would be all hosts, and `web:!` all of `web`.
        let is_open = patterns.iter().any(|it| is_bare(it)) || !is_closed(text);
        if too_long || is_open || patterns.len() > MAX_PATTERNS {
            return Err(InventoryError::new(Fault::Pattern(text.to_owned())));
        }
        let of = |mark: char| patterns.iter().filter(move |it| it.starts_with(mark));
        let regular = patterns.iter().filter(|it| !it.starts_with(['&', '!']));
        let mut regular: Vec<&str> = regular.map(String::as_str).collect();
        if regular.is_empty() {
            regular.push("all");
        }
        let mut hosts: Vec<usize> = Vec::new();
        for pattern in regular {
            let found = match self.host_of(pattern) {
                Some(host) => vec![host],
                None => self.matched(pattern, unmatched)?,
            };
            hosts.extend(found);
        }
        let mut known = BTreeSet::new();
        hosts.retain(|host| known.insert(*host));
        for (mark, keeps) in [('&', true), ('!', false)] {
            for pattern in of(mark) {
                let found = self.matched(&pattern[1..], unmatched)?;
                let found: BTreeSet<usize> = found.into_iter().collect();
                hosts.retain(|host| found.contains(host) == keeps);
            }
        }
        Ok(hosts)
    }

    fn matched(
        &self,
        pattern: &str,
        unmatched: &mut Vec<String>,
    ) -> Result<Vec<usize>, InventoryError> {
        let wrong = || InventoryError::new(Fault::Pattern(pattern.to_owned()));
        let (name, subscript) = match pattern.starts_with('~') {
            true => (pattern, None),
            false => subscript(pattern),
        };
        let matches = Matcher::new(name).ok_or_else(wrong)?;
        let mut hosts: Vec<usize> = Vec::new();
        let groups = (0..self.groups.len()).filter(|it| matches.matches(&self.groups[*it].name));
        let groups: Vec<usize> = groups.collect();
        for group in &groups {
            hosts.extend(self.members(*group));
        }
        if groups.is_empty() || name.starts_with('~') || name.contains(['.', '?', '*', '[']) {
            hosts.extend((0..self.hosts.len()).filter(|it| matches.matches(&self.hosts[*it].name)));
        }
        if hosts.is_empty() && groups.is_empty() && name != self.groups[ALL].name {
            unmatched.push(pattern.to_owned());
        }
        match subscript {
            Some(subscript) if !hosts.is_empty() => subscript
                .of(&hosts)
                .ok_or_else(|| InventoryError::new(Fault::Subscript(pattern.to_owned()))),
            _ => Ok(hosts),
        }
    }
}

/// Whether a pattern has marks, and nothing that they are for.
fn is_bare(pattern: &str) -> bool {
    matches!(pattern.trim_start_matches(['&', '!']), "" | "~")
}

/// Whether each bracket has its other one.
fn is_closed(text: &str) -> bool {
    // Each of a list is taken as it is.
    let mut rest = if text.contains(',') { "" } else { text };
    while let Some(at) = rest.find(['[', ']']) {
        let end = rest[at..].find(']').filter(|_| rest[at..].starts_with('['));
        let Some(end) = end else { return false };
        rest = &rest[at + end + 1..];
    }
    true
}

/// The single patterns of a text.
fn split(text: &str) -> Vec<String> {
    let all: Vec<String> = if text.contains(',') {
        text.split(',').map(str::to_owned).collect()
    } else if ranges::address(text).is_some() {
        vec![text.to_owned()]
    } else {
        pieces(text)
    };
    all.into_iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// What is between colons and blanks; what is in brackets stays together.
fn pieces(text: &str) -> Vec<String> {
    let (mut all, mut piece) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '[' => rest.find(']').map(|end| end + 1),
            ':' | ']' => None,
            c if c.is_whitespace() => None,
            c => Some(c.len_utf8()),
        };
        match length {
            Some(length) => piece.push_str(&rest[..length]),
            None => all.push(std::mem::take(&mut piece)),
        }
        rest = &rest[length.unwrap_or(c.len_utf8())..];
    }
    all.push(piece);
    all
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subscript {
    One(i64),
    /// Both included; without an end, to the last.
    Range(usize, Option<usize>),
}

impl Subscript {
    fn of(self, hosts: &[usize]) -> Option<Vec<usize>> {
        let count = hosts.len();
        match self {
            Self::One(index) => {
                let index = if index < 0 { index + count as i64 } else { index };
                Some(vec![*hosts.get(usize::try_from(index).ok()?)?])
            }
            // `[2:0]` is the host 2 for Ansible, too.
            Self::Range(start, Some(0)) => Some(vec![*hosts.get(start)?]),
            Self::Range(start, end) => {
                let end = end.unwrap_or(count - 1).saturating_add(1).min(count);
                Some(hosts.get(start.min(end)..end)?.to_vec())
            }
        }
    }
}

/// `web[0]` in two parts.
fn subscript(pattern: &str) -> (&str, Option<Subscript>) {
    let inside = pattern.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    let Some((name, inside)) = inside.filter(|(name, _)| !name.is_empty()) else {
        return (pattern, None);
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let found = if digits(inside.strip_prefix('-').unwrap_or(inside)) {
        inside.parse().ok().map(Subscript::One)
    } else {
        inside
            .split_once([':', '-'])
            .filter(|(start, end)| digits(start) && (digits(end) || end.is_empty()))
            .and_then(|(start, end)| {
                let end = if end.is_empty() { None } else { Some(end.parse().ok()?) };
                Some(Subscript::Range(start.parse().ok()?, end))
            })
    };
    if found.is_some() { (name, found) } else { (pattern, None) }
}

/// A name with wildcards, or a regular expression.
enum Matcher {
    Expression(Regex),
    Glob(Vec<Part>),
}

enum Part {
    One(char),
    Any,
    Star,
    /// Ranges of characters, and whether they are excluded.
    Set(Vec<(char, char)>, bool),
}

impl Matcher {
    fn new(pattern: &str) -> Option<Self> {
        match pattern.strip_prefix('~') {
            // Ansible matches from the start of the name, and not to its end.
            Some(expression) => {
                Regex::new(&format!("^(?:{expression})")).ok().map(Self::Expression)
            }
            None => Some(Self::Glob(glob(pattern))),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Expression(expression) => expression.is_match(name),
            Self::Glob(parts) => glob_matches(parts, &name.chars().collect::<Vec<_>>()),
        }
    }
}

/// Whether a name fits a pattern with `*`, `?` and `[…]`.
pub(super) fn glob_fits(pattern: &str, name: &str) -> bool {
    glob_matches(&glob(pattern), &name.chars().collect::<Vec<_>>())
}

fn glob(pattern: &str) -> Vec<Part> {
    let chars: Vec<char> = pattern.chars().collect();
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        match chars[at] {
            '*' => parts.push(Part::Star),
            '?' => parts.push(Part::Any),
            '[' => {
                let excludes = chars.get(at + 1) == Some(&'!');
                let first = at + 1 + usize::from(excludes);
                // A bracket right at the start belongs to the set.
                let end = chars.iter().skip(first + 1).position(|c| *c == ']');
                match end.map(|end| end + first + 1) {
                    Some(end) => {
                        parts.push(Part::Set(set(&chars[first..end]), excludes));
                        at = end;
                    }
                    None => parts.push(Part::One('[')),
                }
            }
            c => parts.push(Part::One(c)),
        }
        at += 1;
    }
    parts
}

fn set(chars: &[char]) -> Vec<(char, char)> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        if chars.get(at + 1) == Some(&'-') && at + 2 < chars.len() {
            ranges.push((chars[at], chars[at + 2]));
            at += 3;
        } else {
            ranges.push((chars[at], chars[at]));
            at += 1;
        }
    }
    ranges
}

/// One star is tried again at a time, so it takes no more than the product of both lengths.
fn glob_matches(parts: &[Part], name: &[char]) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while at < name.len() {
        let c = name[at];
        let fits = match parts.get(part) {
            Some(Part::Star) => {
                again = Some((part, at));
                part += 1;
                continue;
            }
            Some(Part::One(one)) => *one == c,
            Some(Part::Any) => true,
            Some(Part::Set(ranges, excludes)) => {
                ranges.iter().any(|(low, high)| *low <= c && c <= *high) != *excludes
            }
            None => false,
        };
        match (fits, again) {
            (true, _) => (part, at) = (part + 1, at + 1),
            (false, Some((star, from))) => {
                again = Some((star, from + 1));
                (part, at) = (star + 1, from + 1);
            }
            (false, None) => return false,
        }
    }
    parts[part..].iter().all(|rest| matches!(rest, Part::Star))
}
