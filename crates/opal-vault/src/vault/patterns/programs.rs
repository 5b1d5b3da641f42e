//! Programs that take a secret in an option which says nothing of it: `curl -u`, `mysql -p`.

use super::plain;
use super::scan::Scan;
use super::values::{Until, is_blank, is_one_of, is_quote, opening};

pub(super) struct Program {
    names: &'static str,
    options: &'static str,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// After the option, with or without a blank between.
    Either,
    /// Without one: what follows a blank is something else.
    Joined,
    /// A user, a colon, and the secret.
    User,
}

const PROGRAMS: [Program; 3] = [
    Program { names: "curl", options: "-u --user -U --proxy-user", form: Form::User },
    Program { names: "sshpass", options: "-p", form: Form::Either },
    Program {
        names: "mariadb mariadb-admin mariadb-dump mysql mysqladmin mysqldump mysqlimport",
        options: "-p",
        form: Form::Joined,
    },
];

/// For an option whose program is in a line before.
const ANY: Program = Program { names: "", options: "--user", form: Form::User };

/// A user is no longer.
const LONGEST_USER: usize = 256;

pub(super) fn named(word: &[u8]) -> Option<&'static Program> {
    let may_be = matches!(word, [b'c' | b'm' | b's', _, _, _, ..]);
    PROGRAMS.iter().filter(|_| may_be).find(|program| is_one_of(word, program.names))
}

/// Whether another command begins in what is between two words.
pub(super) fn ends(gap: &[u8]) -> bool {
    gap.contains(&b'|') || gap.windows(2).any(|here| here == b"&&")
}

impl Scan<'_> {
    /// The secret in an option, and gives where to go on after it.
    pub(super) fn option(&mut self, start: usize, end: usize) -> Option<usize> {
        let word = &self.text[start..end];
        if !word.starts_with(b"-") {
            return None;
        }
        let program = self.program.unwrap_or(&ANY);
        let length = program.option(word)?;
        let at = self.argument(start, start + length, program.form)?;
        let (until, inside) = opening(self.text, at).unwrap_or((Until::Word, at));
        let secret = match program.form {
            Form::User => self.after_user(inside)?,
            Form::Either | Form::Joined => inside,
        };
        let end = until.end(self.text, inside, self.goes_on);
        let value = self.text.get(secret..end)?;
        let is_sure = self.program.is_some() || plain::looks_drawn(value);
        if !is_sure || plain::is_plain(value) {
            if end == self.text.len() {
                self.perhaps(start, secret);
            }
            return None;
        }
        self.find(start, secret..end, until, true);
        Some(until.after(self.text, end))
    }

    /// Where the argument of an option begins.
    fn argument(&self, start: usize, at: usize, form: Form) -> Option<usize> {
        let text = self.text;
        let is_listed = text[..start].last().is_some_and(|byte| is_quote(*byte));
        match text.get(at)? {
            b'=' => Some(at + 1),
            // A list of arguments.
            byte if is_listed && is_quote(*byte) => {
                let comma = self.skip_blanks(at + 1);
                let next = self.skip_blanks(comma + 1);
                let is_next = text[comma..].starts_with(b",") && form != Form::Joined;
                (is_next && opening(text, next).is_some()).then_some(next)
            }
            byte if is_blank(*byte) => {
                let next = self.skip_blanks(at);
                let is_none =
                    form == Form::Joined || next == text.len() || self.is_not_an_argument(next);
                (!is_none).then_some(next)
            }
            _ => Some(at),
        }
    }

    /// Where the secret after a user begins.
    fn after_user(&self, at: usize) -> Option<usize> {
        let near = &self.text[at..self.text.len().min(at + LONGEST_USER)];
        let colon =
            near.iter().position(|byte| *byte == b':' || is_blank(*byte) || is_quote(*byte))?;
        // The numbers of a user and a group.
        let is_number = near[..colon].iter().all(u8::is_ascii_digit) && colon > 0;
        (near[colon] == b':' && !is_number).then_some(at + colon + 1)
    }
}

impl Program {
    /// How long the option is that `word` is, or begins with.
    fn option(&self, word: &[u8]) -> Option<usize> {
        let is_it = |option: &&str| match option.as_bytes() {
            [b'-', b'-', ..] => word == option.as_bytes(),
            short => word.starts_with(short),
        };
        self.options.split(' ').find(is_it).map(str::len)
    }
}
