//! The paths that match a pattern.
//!
//! A pattern is split at `/`, and each part is matched against the names of one directory: only
//! directories that can hold a match are read.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use opal_core::files::EntryKind;
use opal_core::message;
use opal_core::message::Message;
use opal_core::resolver::{MAX_VALUE_BYTES, Probe, Trouble, TroubleKind};

use super::reading::kind_at;

const MAX_PATTERN_BYTES: usize = 4096;
/// Patterns that the `{a,b}` of one pattern stand for.
const MAX_ALTERNATIVES: usize = 256;
const MAX_FOUND: usize = 10_000;
/// Names and directories that are checked for one pattern.
const MAX_CHECKED: usize = 100_000;
/// Directories below each other that `**` goes down.
const MAX_DEPTH: usize = 100;

/// The paths that match, sorted by their bytes.
pub(super) fn find(pattern: &str, probe: &dyn Probe) -> Result<BTreeSet<String>, Trouble> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
        return Err(invalid(pattern));
    }
    let mut search = Search { probe, pattern, checked: 0, bytes: 0, found: BTreeSet::new() };
    for alternative in alternatives(pattern)? {
        search.start(&alternative)?;
    }
    Ok(search.found)
}

/// The patterns without `{a,b}` that a pattern stands for.
fn alternatives(pattern: &str) -> Result<Vec<String>, Trouble> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(next) = open.pop() {
        match braces(&next) {
            None => done.push(next),
            Some(Braces { start, commas, end }) => {
                let ends = commas.iter().copied().chain([end]);
                let starts = [start].into_iter().chain(commas.iter().copied());
                open.extend(starts.zip(ends).map(|(from, to)| {
                    format!("{}{}{}", &next[..start], &next[from + 1..to], &next[end + 1..])
                }));
            }
        }
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return Err(too_large(pattern, "expands to too many patterns"));
        }
    }
    Ok(done)
}

/// Where the first braces and the commas between them are.
struct Braces {
    start: usize,
    commas: Vec<usize>,
    end: usize,
}

/// None where there are no braces, or they are not closed: then the pattern is invalid.
fn braces(pattern: &str) -> Option<Braces> {
    let (mut start, mut commas, mut depth) = (None, Vec::new(), 0_usize);
    let mut bytes = pattern.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, start) {
            (b'\\', _) => drop(bytes.next()),
            (b'{', None) => start = Some(at),
            (b'{', Some(_)) => depth += 1,
            (b',', Some(_)) if depth == 0 => commas.push(at),
            (b'}', Some(start)) if depth == 0 => return Some(Braces { start, commas, end: at }),
            (b'}', Some(_)) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What the names of one directory must look like.
enum Part {
    /// Exactly this.
    Name(String),
    Glob {
        matcher: GlobMatcher,
        has_dot: bool,
    },
    /// `**`
    Directories,
    /// A `/` at the end.
    Slash,
}

impl Part {
    fn of(part: &str) -> Option<Self> {
        if part == "**" {
            return Some(Self::Directories);
        }
        if !part.contains(['*', '?', '[', ']', '{', '}', '\\']) {
            return Some(Self::Name(part.to_owned()));
        }
        // Classes are matched byte by byte.
        if has_wide_class(part) {
            return None;
        }
        let glob = GlobBuilder::new(part).literal_separator(true).backslash_escape(true).build();
        let has_dot = part.starts_with('.') || part.starts_with("\\.");
        Some(Self::Glob { matcher: glob.ok()?.compile_matcher(), has_dot })
    }
}

struct Search<'a> {
    probe: &'a dyn Probe,
    pattern: &'a str,
    checked: usize,
    bytes: usize,
    found: BTreeSet<String>,
}

impl Search<'_> {
    /// Adds the paths that match a pattern without braces.
    fn start(&mut self, pattern: &str) -> Result<(), Trouble> {
        let is_home = pattern == "~" || pattern.starts_with("~/");
        if pattern.starts_with('~') && !is_home {
            // The home directory of someone else is refused, as in every path.
            self.probe.place(pattern)?;
        }
        let rest = if is_home { &pattern[1..] } else { pattern };
        let mut parts = Vec::new();
        for part in rest.split('/').filter(|part| !part.is_empty()) {
            let part = Part::of(part).ok_or_else(|| invalid(self.pattern))?;
            if !matches!((parts.last(), &part), (Some(Part::Directories), Part::Directories)) {
                parts.push(part);
            }
        }
        if rest.ends_with('/') {
            parts.push(Part::Slash);
        }
        let (base, written) = match (is_home, rest.starts_with('/')) {
            (true, _) => {
                let home = self.probe.place("~")?;
                let written = text(home.as_os_str())?.to_owned();
                (home, written)
            }
            (false, true) => (self.probe.place("/")?, "/".to_owned()),
            (false, false) => (self.probe.place(".")?, String::new()),
        };
        self.down(&base, &written, &parts)
    }

    /// Adds the paths below `place` that match. `written` is how the result names `place`.
    fn down(&mut self, place: &Path, written: &str, parts: &[Part]) -> Result<(), Trouble> {
        match parts {
            [] => self.add(written.to_owned()),
            [Part::Slash, ..] => match kind_at(self.probe, place)? {
                Some(EntryKind::Directory) if !written.is_empty() => self.add(joined(written, "")),
                _ => Ok(()),
            },
            [Part::Name(name), rest @ ..] => {
                self.check(1)?;
                if kind_at(self.probe, place)? != Some(EntryKind::Directory) {
                    return Ok(());
                }
                let inner = place.join(name);
                match self.probe.stat(&inner)? {
                    Some(_) => self.down(&inner, &joined(written, name), rest),
                    None => Ok(()),
                }
            }
            [Part::Glob { matcher, has_dot }, rest @ ..] => {
                for name in self.names(place)? {
                    if (*has_dot || !is_hidden(&name)) && matcher.is_match(&name) {
                        self.down(&place.join(&name), &joined(written, text(&name)?), rest)?;
                    }
                }
                Ok(())
            }
            [Part::Directories, rest @ ..] => self.through(place, written, rest, 0),
        }
    }

    /// As [`Self::down`], in `place` and in all directories below it.
    fn through(
        &mut self,
        place: &Path,
        written: &str,
        rest: &[Part],
        depth: usize,
    ) -> Result<(), Trouble> {
        if depth > MAX_DEPTH {
            return Err(too_large(self.pattern, "goes down too many directories"));
        }
        if !rest.is_empty() {
            self.down(place, written, rest)?;
        }
        for name in self.names(place)? {
            if is_hidden(&name) {
                continue;
            }
            let inner = place.join(&name);
            let is_directory =
                self.probe.stat(&inner)?.is_some_and(|it| it.kind == EntryKind::Directory);
            if !rest.is_empty() && !is_directory {
                continue;
            }
            let written = joined(written, text(&name)?);
            if is_directory {
                self.through(&inner, &written, rest, depth + 1)?;
            }
            if rest.is_empty() {
                self.add(written)?;
            }
        }
        Ok(())
    }

    /// The names in a directory; none if it is something else.
    fn names(&mut self, place: &Path) -> Result<Vec<OsString>, Trouble> {
        self.check(1)?;
        if kind_at(self.probe, place)? != Some(EntryKind::Directory) {
            return Ok(Vec::new());
        }
        let names = self.probe.list(place)?;
        self.check(names.len())?;
        Ok(names)
    }

    fn check(&mut self, more: usize) -> Result<(), Trouble> {
        self.checked += more;
        if self.checked > MAX_CHECKED {
            let message = message!("needs more than ", MAX_CHECKED, " names to be checked");
            return Err(too_large(self.pattern, message));
        }
        Ok(())
    }

    fn add(&mut self, path: String) -> Result<(), Trouble> {
        self.bytes += path.len();
        self.found.insert(path);
        if self.found.len() > MAX_FOUND {
            let message = message!("matches more than ", MAX_FOUND, " paths");
            return Err(too_large(self.pattern, message));
        }
        if self.bytes as u64 > MAX_VALUE_BYTES {
            let message = message!("matches paths of more than ", MAX_VALUE_BYTES >> 20, " MiB");
            return Err(too_large(self.pattern, message));
        }
        Ok(())
    }
}

/// Whether something that is not ASCII is between `[` and `]`.
fn has_wide_class(part: &str) -> bool {
    let mut in_class = false;
    let mut chars = part.chars();
    while let Some(next) = chars.next() {
        match next {
            '\\' => drop(chars.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            other if in_class && !other.is_ascii() => return true,
            _ => {}
        }
    }
    false
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn joined(written: &str, name: &str) -> String {
    let slash = if written.is_empty() || written.ends_with('/') { "" } else { "/" };
    format!("{written}{slash}{name}")
}

fn text(name: &OsStr) -> Result<&str, Trouble> {
    name.to_str().ok_or_else(|| {
        Trouble::new(
            TroubleKind::NotText,
            message!("the name `", Path::new(name), "` matches and is not UTF-8 text"),
            "rename it, or write a pattern that does not match it",
        )
    })
}

fn too_large(pattern: &str, what: impl Into<Message>) -> Trouble {
    Trouble::new(
        TroubleKind::TooLarge,
        message!("the pattern `", pattern, "` ", what.into()),
        "write a pattern that matches less, for example with a directory at its beginning",
    )
}

fn invalid(pattern: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        message!("invalid pattern `", pattern, "`"),
        message!(
            "write 1 to ",
            MAX_PATTERN_BYTES,
            " bytes, close every `[` before the next `/` and \
             every `{`, and use only ASCII between `[` and `]`"
        ),
    )
}
