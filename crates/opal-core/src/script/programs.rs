//! How programs take their options, and which run another program.

mod listed;

use listed::PROGRAMS;
use listed::Shape::{Declares, Remote, Shell, Wraps};
pub(super) use listed::{Program, Shape};

use super::cases::{At, CASES, Case, Kinds, ROWS, Role};
use super::words::Word;

/// A name of the table, with what the lexer asks for at every word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: &'static str,
    /// Its index among the programs.
    program: u8,
    /// Its rows among the cases, a bit for each.
    rows: [u64; 4],
    /// What those rows are about.
    kinds: Kinds,
    /// The same for all names with this program and these rows.
    reader: u8,
}

const NAME_COUNT: usize = {
    let (mut program, mut count) = (0, 0);
    while program < PROGRAMS.len() {
        count += PROGRAMS[program].names.len();
        program += 1;
    }
    count
};

/// All names, those with the same first byte beside each other.
#[expect(long_running_const_eval, reason = "every name is compared with every row, once")]
static ENTRIES: [Entry; NAME_COUNT] = {
    let kinds = Kinds::NONE;
    let mut entries = [Entry { name: "", program: 0, rows: [0; 4], kinds, reader: 0 }; NAME_COUNT];
    let (mut first, mut at) = (0, 0);
    while first < 128 {
        let mut program = 0;
        while program < PROGRAMS.len() {
            let names = PROGRAMS[program].names;
            let mut index = 0;
            while index < names.len() {
                if names[index].as_bytes()[0] == first {
                    let (rows, kinds) = rows_of(names[index]);
                    let (name, program) = (names[index], program as u8);
                    let reader = reader_of(&entries, at, program, &rows);
                    entries[at] = Entry { name, program, rows, kinds, reader };
                    at += 1;
                }
                index += 1;
            }
            program += 1;
        }
        first += 1;
    }
    entries
};

/// The number of the names before `end` with this program and these rows, or the next one.
const fn reader_of(entries: &[Entry], end: usize, program: u8, rows: &[u64; 4]) -> u8 {
    let (mut at, mut next) = (0, ReadBy::UNLISTED.0 + 1);
    while at < end {
        let entry = &entries[at];
        let is_same = entry.rows[0] == rows[0]
            && entry.rows[1] == rows[1]
            && entry.rows[2] == rows[2]
            && entry.rows[3] == rows[3];
        if entry.program == program && is_same {
            return entry.reader;
        }
        if entry.reader >= next {
            next = entry.reader + 1;
        }
        at += 1;
    }
    assert!(next < ReadBy::LIMIT, "a place in shell text has eight bits for it");
    next
}

/// A program that reads words, or one of several that read them in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBy(u8);

impl ReadBy {
    /// A program that the table does not name.
    pub const UNLISTED: Self = Self(0);
    const LIMIT: u8 = 240;

    #[must_use]
    pub(crate) fn number(self) -> u8 {
        self.0
    }

    #[must_use]
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        u8::try_from(number).ok().map(Self)
    }

    /// Whether an option or another word of it can be code.
    pub(super) fn has_rows(self) -> bool {
        self.called().is_some_and(|called| {
            matches!(called.program.shape, Wraps(_) | Shell | Remote)
                || called.cases().next().is_some()
        })
    }

    /// Whether a word that several values make up can be an option or a setting that is code.
    pub(super) fn joins(self) -> bool {
        self.called().is_some_and(|called| {
            let is_option =
                |case: &'static Case| case.refuses() && matches!(case.at, At::Option(_));
            matches!(called.program.shape, Wraps(_) | Shell | Remote)
                || called.name != "git" && !called.is_container() && called.cases().any(is_option)
        })
    }

    /// None for a program that the table does not name.
    pub(super) fn called(self) -> Option<Called> {
        let is_it = |entry: &&Entry| self != Self::UNLISTED && entry.reader == self.0;
        ENTRIES.iter().find(is_it).map(Called::new)
    }
}

const _: () = assert!(NAME_COUNT < 1 << 16 && PROGRAMS.len() < 256, "the indices are small");

/// Where the names with each first byte begin.
static STARTS: [u16; 129] = {
    let mut starts = [0; 129];
    let (mut first, mut at) = (0, 0);
    while first < 129 {
        while at < NAME_COUNT && (ENTRIES[at].name.as_bytes()[0] as usize) < first {
            at += 1;
        }
        starts[first] = at as u16;
        first += 1;
    }
    starts
};

const fn rows_of(name: &str) -> ([u64; 4], Kinds) {
    let (mut rows, mut kinds) = ([0; 4], Kinds::NONE);
    let mut row = 0;
    while row < ROWS.len() {
        let programs = ROWS[row].programs;
        let mut index = 0;
        while index < programs.len() {
            if is_same(programs[index].as_bytes(), name.as_bytes()) {
                rows[row / 64] |= 1 << (row % 64);
                kinds = kinds.or(ROWS[row].at.kinds());
            }
            index += 1;
        }
        row += 1;
    }
    (rows, kinds)
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether programs would take a name for the beginning of that of a long option.
fn is_abbreviation(name: &[u8]) -> bool {
    name.len() > 2 && name.starts_with(b"--")
}

/// A program by the name it is called by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) program: &'static Program,
    pub(super) name: &'static str,
    entry: &'static Entry,
    pub(super) reader: ReadBy,
}

/// The program of a name, as it is called without its folder. A version at its end does not count.
pub(super) fn find(name: &[u8]) -> Option<Called> {
    if name.is_empty() || name.len() > 32 {
        return None;
    }
    exact(name).or_else(|| {
        let end = name.iter().rposition(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-'))? + 1;
        let bare = &name[..end];
        let bare = bare.strip_suffix(b".exe").unwrap_or(bare);
        if bare.len() < name.len() { exact(bare) } else { None }
    })
}

fn exact(name: &[u8]) -> Option<Called> {
    let first = name.first().map(|byte| *byte as usize).filter(|first| *first < 128)?;
    if LENGTHS[first] >> name.len().min(63) & 1 == 0 {
        return None;
    }
    let is_it = |entry: &&Entry| {
        let known = entry.name.as_bytes();
        known.len() == name.len() && known.last() == name.last() && known == name
    };
    beginning_as(name).iter().find(is_it).map(Called::new)
}

/// How long the names with each first byte are, a bit for each length. Most words of a command can be
/// left out by it, and are not compared with a name.
static LENGTHS: [u64; 128] = {
    let mut lengths = [0; 128];
    let mut at = 0;
    while at < NAME_COUNT {
        let name = ENTRIES[at].name.as_bytes();
        assert!(name.len() < 63, "a length has a bit of its own");
        lengths[name[0] as usize] |= 1 << name.len();
        at += 1;
    }
    lengths
};

/// The names with the same first byte.
fn beginning_as(name: &[u8]) -> &'static [Entry] {
    let Some(first) = name.first().map(|byte| *byte as usize).filter(|first| *first < 128) else {
        return &[];
    };
    &ENTRIES[STARTS[first] as usize..STARTS[first + 1] as usize]
}

/// Whether a name that begins so can be that of a program whose words matter.
pub(super) fn may_begin(prefix: &[u8]) -> bool {
    let begins = |entry: &Entry| entry.name.as_bytes().starts_with(prefix);
    prefix.is_empty() || beginning_as(prefix).iter().any(begins)
}

/// Whether the program evaluates words, or runs a program that does: a value must not name it where
/// other values are among its words.
pub(super) fn evaluates(name: &[u8]) -> bool {
    find(name).is_some_and(|called| {
        matches!(called.program.shape, Wraps(_) | Shell | Remote | Declares)
            // `@var.engine build @var.folder`: people choose between them.
            || !called.is_container() && called.cases().any(|case| case.role != Role::Warn)
    })
}

impl Called {
    fn new(entry: &'static Entry) -> Self {
        let program = &PROGRAMS[entry.program as usize];
        Self { program, name: entry.name, entry, reader: ReadBy(entry.reader) }
    }

    /// Its rows of the table, in their order.
    pub(super) fn cases(self) -> impl Iterator<Item = &'static Case> {
        // Every word of a command asks several times, so this is a plain loop.
        let (rows, mut at) = (&self.entry.rows, 0);
        let mut left = rows[0];
        std::iter::from_fn(move || {
            while left == 0 {
                at += 1;
                left = *rows.get(at)?;
            }
            let row = at * 64 + left.trailing_zeros() as usize;
            left &= left - 1;
            CASES.get(row)
        })
    }

    /// Whether it has a row of one of these kinds.
    #[inline]
    pub(super) fn has(self, kinds: Kinds) -> bool {
        self.entry.kinds.has_any(kinds)
    }

    /// Those rows, in their order.
    #[inline]
    pub(super) fn rows(self, kinds: Kinds) -> impl Iterator<Item = &'static Case> {
        let all = self.has(kinds).then(|| self.cases());
        all.into_iter().flatten().filter(move |case| case.at.kinds().has_any(kinds))
    }

    /// The row for the value of an option: a letter alone, or a long name with its dashes, which may
    /// be abbreviated.
    pub(super) fn option(self, name: &[u8]) -> Option<&'static Case> {
        let is_long = is_abbreviation(name);
        self.rows(Kinds::OPTION).find(|case| match case.at {
            At::Option(names) => names.iter().any(|known| {
                // The filters are options of a script, which takes none that is abbreviated.
                let may_be_short = is_long && !(self.name == "git" && case.role == Role::Code);
                known.as_bytes() == name || may_be_short && known.as_bytes().starts_with(name)
            }),
            _ => false,
        })
    }

    /// Whether a long option, perhaps abbreviated, takes the next word.
    pub(super) fn takes_word(self, name: &[u8]) -> bool {
        let is_it = |known: &&str| {
            known.as_bytes() == name
                || is_abbreviation(name) && known.as_bytes().starts_with(name)
                // bash takes its long options with one dash too.
                || self.program.shape == Shell && known.as_bytes()[1..] == *name
        };
        self.program.long.iter().any(is_it)
    }

    /// Operands that do not count: `yq eval FILTER`, and `sed -i '' SCRIPT` of BSD.
    pub(super) fn passes_over(self, word: &Word<'_>) -> bool {
        let text = word.text.as_ref();
        word.whole
            && match self.name {
                "yq" => matches!(text, b"e" | b"ea" | b"eval" | b"eval-all"),
                "sed" => text.is_empty(),
                "sg" => text == b"-",
                _ => false,
            }
    }

    /// `run` of it starts a command.
    pub(super) fn is_container(self) -> bool {
        matches!(self.name, "docker" | "podman" | "nerdctl")
    }

    /// Whether `NAME=VALUE` before the command sets a variable.
    pub(super) fn sets(self) -> bool {
        matches!(self.name, "env" | "sudo" | "doas")
    }

    /// Whether a word can give the one after it a meaning, wherever they are.
    pub(super) fn is_read_everywhere(self) -> bool {
        self.has(Kinds::EVERYWHERE)
    }

    /// The row for a place in the words of this program.
    pub(super) fn case(self, at: At) -> Option<&'static Case> {
        self.rows(at.kinds()).find(|case| case.at == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_the_table_has_a_shape() {
        for case in &CASES {
            for name in case.programs {
                let program = find(name.as_bytes());
                assert!(program.is_some_and(|it| it.name == *name), "{name}");
            }
        }
    }

    #[test]
    fn a_version_is_not_part_of_a_name() {
        for name in ["bash", "bash-5.2", "python3.11", "ksh93", "zsh-5.9"] {
            assert!(find(name.as_bytes()).is_some(), "{name}");
        }
        assert!(find(b"bashful").is_none());
    }
}
