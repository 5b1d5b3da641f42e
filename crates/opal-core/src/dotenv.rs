//! Files of variables: from the text to names and values, with the place of what is wrong.
//!
//! | line | what it sets |
//! |---|---|
//! | `NAME=some text # note` | `some text`: blanks at both ends go, ` #` begins a comment |
//! | `NAME='a $b'` | what is between the quotes, as it is |
//! | `NAME="a\n$B ${C}"` | with `\n` `\r` `\t` `\"` `\\` `\$`, and what `B` and `C` hold |
//! | `export NAME=…` | the same |
//!
//! Quoted text may go over several lines. Messages name places and rules, never the text of a file:
//! a line that is not `NAME=value` may be the next line of a key.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::Code;
use crate::script::interpreted;

/// The variable that names the key of whoever runs opal: nothing in a file sets or reads it.
pub const IDENTITY: &str = "OPAL_IDENTITY";

/// Bytes that all variables of one file may have together, once names in them are replaced.
const MAX_EXPANDED_BYTES: usize = 4 * 1024 * 1024;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct DotenvError {
    /// Line and column, from 1, in characters.
    pub place: (usize, usize),
    /// Holds no value.
    pub message: String,
    pub help: &'static str,
}

/// What is wrong with a file, and its code.
#[derive(Debug)]
pub struct InvalidFile {
    pub code: Code,
    pub error: DotenvError,
}

impl From<DotenvError> for InvalidFile {
    fn from(error: DotenvError) -> Self {
        Self { code: Code::VariablesFile, error }
    }
}

/// What files set, one on top of the other, and what names hold outside them.
pub struct Variables<'o> {
    own: &'o dyn Fn(&str) -> Option<OsString>,
    pub added: BTreeMap<String, String>,
}

impl std::fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").finish_non_exhaustive()
    }
}

impl<'o> Variables<'o> {
    #[must_use]
    pub const fn new(own: &'o dyn Fn(&str) -> Option<OsString>) -> Self {
        Self { own, added: BTreeMap::new() }
    }

    /// Reads one file on top of the earlier ones.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), InvalidFile> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                return Err(not_text(bytes, error.valid_up_to(), "invalid UTF-8").into());
            }
        };
        if let Some(at) = text.find('\0') {
            return Err(not_text(bytes, at, "a variable cannot contain a NUL character").into());
        }
        let mut reader = Reader::new(text);
        loop {
            let look_up = |name: &str| match (self.own)(name) {
                _ if name == IDENTITY => None,
                // It is there, but perhaps not as text.
                Some(value) => value.into_string().ok(),
                None => self.added.get(name).cloned(),
            };
            let Some(Variable { name, value, at }) = reader.next(Some(&look_up))? else {
                return Ok(());
            };
            if let Some(row) = interpreted(&name) {
                let message = format!("`{name}` cannot be set in a file of variables: {}", row.why);
                let help = match name.as_str() {
                    IDENTITY => "set it in the environment, or name the key with `--identity`",
                    _ => "set it in the environment, or for single steps with `@environ`",
                };
                let error = DotenvError { place: reader.place(at), message, help };
                return Err(InvalidFile { code: Code::InterpretedVariable, error });
            }
            self.added.insert(name, value);
        }
    }
}

fn not_text(bytes: &[u8], at: usize, message: &'static str) -> DotenvError {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let help = "save the file as UTF-8 text";
    DotenvError { place: place(&before, before.len()), message: message.into(), help }
}

/// What a name holds. Without one, a `$` is a character like any other.
type LookUp<'l> = Option<&'l dyn Fn(&str) -> Option<String>>;

/// A variable that a file sets.
#[derive(Debug)]
pub struct Variable {
    pub name: String,
    pub value: String,
    /// Where its name begins.
    pub at: usize,
}

#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    expanded: usize,
}

impl<'t> Reader<'t> {
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, expanded: 0 }
    }

    /// Line and column of a byte, from 1.
    #[must_use]
    pub fn place(&self, at: usize) -> (usize, usize) {
        place(self.text, at)
    }

    /// The next variable.
    pub fn next(&mut self, look_up: LookUp<'_>) -> Result<Option<Variable>, DotenvError> {
        loop {
            self.skip(|c| c.is_ascii_whitespace());
            match self.peek() {
                None => return Ok(None),
                Some('#') => self.skip(|c| c != '\n'),
                Some(_) => break,
            }
        }
        let mut start = self.at;
        let mut name = self.name()?;
        if name == "export" && self.skip_blanks() && self.peek() != Some('=') {
            start = self.at;
            name = self.name()?;
        }
        self.skip_blanks();
        if self.peek() != Some('=') {
            return Err(self.mistake(
                self.at,
                "expected `=` after the name of a variable".to_owned(),
                "write `NAME=value`, or a comment that begins with `#`; a value of several lines \
                 needs quotes",
            ));
        }
        self.at += 1;
        self.skip_blanks();
        let value = match self.peek() {
            Some('\'') => self.single()?,
            Some('"') => self.double(look_up)?,
            _ => self.bare(look_up)?,
        };
        Ok(Some(Variable { name: name.to_owned(), value, at: start }))
    }

    fn name(&mut self) -> Result<&'t str, DotenvError> {
        let start = self.at;
        self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = &self.text[start..self.at];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.mistake(
                start,
                "expected the name of a variable".to_owned(),
                "a name has letters, digits and `_`, and does not begin with a digit",
            ));
        }
        Ok(name)
    }

    fn single(&mut self) -> Result<String, DotenvError> {
        let open = self.at;
        self.at += 1;
        let Some(end) = self.text[self.at..].find('\'') else { return Err(self.unclosed(open)) };
        let value = self.text[self.at..self.at + end].replace("\r\n", "\n");
        self.at += end + 1;
        self.end_of_line()?;
        Ok(value)
    }

    fn double(&mut self, look_up: LookUp<'_>) -> Result<String, DotenvError> {
        let open = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let from = self.at;
            self.skip(|c| !matches!(c, '"' | '\\' | '\r') && (c != '$' || look_up.is_none()));
            value.push_str(&self.text[from..self.at]);
            match self.peek() {
                None => return Err(self.unclosed(open)),
                Some('"') => break,
                Some('$') => self.reference(look_up, &mut value)?,
                Some('\r') => {
                    self.at += 1;
                    if self.peek() != Some('\n') {
                        value.push('\r');
                    }
                }
                Some(_) => self.escape(&mut value),
            }
        }
        self.at += 1;
        self.end_of_line()?;
        Ok(value)
    }

    /// A `\` that escapes nothing stays.
    fn escape(&mut self, value: &mut String) {
        self.at += 1;
        let escaped = match self.peek() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c @ ('"' | '\\' | '$')) => c,
            _ => return value.push('\\'),
        };
        self.at += 1;
        value.push(escaped);
    }

    /// Up to the end of the line, or to a `#` after a blank.
    fn bare(&mut self, look_up: LookUp<'_>) -> Result<String, DotenvError> {
        let mut value = String::new();
        // What a name stands for keeps its blanks.
        let mut kept = 0;
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            let after_blank = self.text[..self.at].ends_with([' ', '\t']);
            match c {
                '#' if after_blank => {
                    self.skip(|c| c != '\n');
                    break;
                }
                '$' if look_up.is_some() => {
                    self.reference(look_up, &mut value)?;
                    kept = value.len();
                }
                _ => {
                    value.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        let end = value[kept..].trim_end_matches([' ', '\t', '\r']).len();
        value.truncate(kept + end);
        Ok(value)
    }

    /// `$NAME` or `${NAME}`. A `$` before anything else is one.
    fn reference(&mut self, look_up: LookUp<'_>, value: &mut String) -> Result<(), DotenvError> {
        let start = self.at;
        self.at += 1;
        let braced = self.peek() == Some('{');
        if !braced && !self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            value.push('$');
            return Ok(());
        }
        self.at += usize::from(braced);
        let name = self.name()?;
        if braced && self.peek() != Some('}') {
            return Err(self.mistake(
                self.at,
                "expected `}` after the name in `${…}`".to_owned(),
                "write `${NAME}`; for a literal `$`, write `\\$` in double quotes, or use single \
                 quotes",
            ));
        }
        self.at += usize::from(braced);
        let Some(found) = look_up.and_then(|look_up| look_up(name)) else {
            return Err(self.mistake(
                start,
                "the variable after `$` is neither in the environment as text nor set above"
                    .to_owned(),
                "set it; for a literal `$`, write `\\$` in double quotes, or use single quotes",
            ));
        };
        self.expanded += found.len();
        if self.expanded > MAX_EXPANDED_BYTES {
            return Err(self.mistake(
                start,
                "the variables exceed 4 MiB here".to_owned(),
                "variables that contain other variables grow quickly: write the value out",
            ));
        }
        value.push_str(&found);
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<(), DotenvError> {
        self.skip(|c| matches!(c, ' ' | '\t' | '\r'));
        match self.peek() {
            None | Some('\n') => Ok(()),
            Some('#') => {
                self.skip(|c| c != '\n');
                Ok(())
            }
            Some(_) => Err(self.mistake(
                self.at,
                "expected the end of the line after the closing quote".to_owned(),
                "write `\\\"` for a quote inside double quotes; a comment begins with `#`",
            )),
        }
    }

    fn unclosed(&self, open: usize) -> DotenvError {
        self.mistake(
            open,
            "unterminated quote".to_owned(),
            "close it, or use the other kind of quotes",
        )
    }

    fn mistake(&self, at: usize, message: String, help: &'static str) -> DotenvError {
        DotenvError { place: place(self.text, at), message, help }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Goes on while `over` holds.
    fn skip(&mut self, over: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !over(c)).unwrap_or(rest.len());
    }

    /// Whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let from = self.at;
        self.skip(|c| matches!(c, ' ' | '\t'));
        self.at > from
    }
}

/// Line and column of a byte of `text`, from 1.
#[must_use]
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}
