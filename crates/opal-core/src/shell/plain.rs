//! Commands that leave a shell nothing to do: plain words, quoted words, values.
//!
//! What is said here must be what every shell would make of the text. So it is a short list of what
//! is known to be harmless; anything else is for the shell.

use crate::Secret;
use crate::context::Place;
use crate::resolver::ScriptPart;
use crate::wiped::Wiped;

/// A command as a row of words.
#[derive(Debug)]
pub struct Plain {
    /// The first word. It is text of the program, and never a value.
    name: String,
    arguments: Vec<Secret>,
    is_constant: bool,
}

/// Whether a text is such a row, and which; its values have no other effect than to be words.
#[must_use]
pub fn plain(parts: &[ScriptPart]) -> Option<Plain> {
    let words = words(parts)?;
    let is_constant = !parts.iter().any(|part| matches!(part, ScriptPart::Data(..)));
    let (name, arguments) = words.split_first()?;
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_./+-".contains(&byte);
    if !name.is_constant || name.text.is_empty() || !name.text.bytes().all(is_usual) {
        return None;
    }
    if words.iter().any(|word| word.is_tilde) {
        return None;
    }
    let arguments = arguments.iter().map(|word| Secret::new(word.text.as_str())).collect();
    Some(Plain { name: name.text.to_string(), arguments, is_constant })
}

impl Plain {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn arguments(&self) -> &[Secret] {
        &self.arguments
    }

    /// Whether there is no value among the words.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }
}

/// A word, unquoted.
pub(super) struct Word {
    pub(super) text: Wiped<String>,
    pub(super) is_constant: bool,
    /// It begins with a `~` that means the home directory.
    pub(super) is_tilde: bool,
}

/// The words of a text that has nothing but words.
pub(super) fn words(parts: &[ScriptPart]) -> Option<Vec<Word>> {
    let mut reader = Reader::default();
    for part in parts {
        match part {
            ScriptPart::Text(text) => reader.text(text)?,
            ScriptPart::Raw(_) => return None,
            ScriptPart::Data(data, context) => {
                let values = super::words(data, *context).ok()?;
                match (context.place(), reader.quote) {
                    (Place::Word, Quote::None) | (Place::Quoted, Quote::Double) => {}
                    _ => return None,
                }
                reader.data(values, context.is_whole_word())?;
            }
        }
    }
    reader.end()
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Quote {
    #[default]
    None,
    Single,
    Double,
}

#[derive(Default)]
struct Reader {
    words: Vec<Word>,
    word: Option<Word>,
    quote: Quote,
    /// After a row of values, where only a blank may follow.
    is_closed: bool,
}

impl Reader {
    fn text(&mut self, text: &str) -> Option<()> {
        for (index, c) in text.char_indices() {
            match (self.quote, c) {
                (_, '\0') => return None,
                (Quote::Single, '\'') | (Quote::Double, '"') => self.quote = Quote::None,
                (Quote::Single, _) => self.word()?.text.push(c),
                (Quote::Double, '$' | '`' | '\\' | '!') => return None,
                (Quote::Double, _) => self.word()?.text.push(c),
                (Quote::None, ' ' | '\t') => self.close(),
                (Quote::None, '\'' | '"') => {
                    self.word()?;
                    self.quote = if c == '"' { Quote::Double } else { Quote::Single };
                }
                (Quote::None, '~') => self.tilde(text.as_bytes().get(index + 1))?,
                (Quote::None, _) => {
                    // `NAME=value` is an assignment until there is a command.
                    let is_sign = c == '=' && !self.words.is_empty();
                    if !c.is_ascii_alphanumeric() && !"_@%+,./:-".contains(c) && !is_sign {
                        return None;
                    }
                    self.word()?.text.push(c);
                }
            }
        }
        Some(())
    }

    fn tilde(&mut self, next: Option<&u8>) -> Option<()> {
        if self.word.is_some() || !matches!(next, None | Some(b'/' | b' ' | b'\t')) {
            return None;
        }
        let word = self.word()?;
        word.text.push('~');
        word.is_tilde = true;
        Some(())
    }

    fn data(&mut self, values: Vec<Secret>, is_whole: bool) -> Option<()> {
        if values.iter().any(|value| value.expose().contains('\0')) {
            return None;
        }
        if let [value] = values.as_slice() {
            let word = self.word()?;
            word.text.push_str(value.expose());
            word.is_constant = false;
            return Some(());
        }
        if !is_whole || self.word.is_some() || self.is_closed {
            return None;
        }
        self.words.extend(values.iter().map(|value| Word {
            text: Wiped::new(value.expose().to_owned()),
            is_constant: false,
            is_tilde: false,
        }));
        self.is_closed = true;
        Some(())
    }

    fn word(&mut self) -> Option<&mut Word> {
        if self.is_closed {
            return None;
        }
        let empty = || Word { text: Wiped::new(String::new()), is_constant: true, is_tilde: false };
        Some(self.word.get_or_insert_with(empty))
    }

    fn close(&mut self) {
        self.is_closed = false;
        self.words.extend(self.word.take());
    }

    fn end(mut self) -> Option<Vec<Word>> {
        self.close();
        (self.quote == Quote::None).then_some(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_plain(parts: &[ScriptPart]) -> bool {
        plain(parts).is_some()
    }
    use crate::Data;
    use crate::context::Context;

    fn text(text: &str) -> ScriptPart {
        ScriptPart::Text(text.to_owned())
    }

    fn split(parts: &[ScriptPart]) -> Option<Vec<String>> {
        let plain = plain(parts)?;
        let words = plain.arguments.iter().map(|word| word.expose().to_owned());
        Some(std::iter::once(plain.name.clone()).chain(words).collect())
    }

    #[test]
    fn quotes_are_taken_off_and_empty_words_stay() {
        let words = split(&[text("  git commit\t-m 'a $b'\"c d\"e '' x=y ")]).unwrap();
        assert_eq!(words, ["git", "commit", "-m", "a $bc de", "", "x=y"]);
    }

    #[test]
    fn whatever_a_shell_might_read_differently_is_left_to_it() {
        let shells = [
            "a=b c",
            "a; b",
            "a & b",
            "a | b",
            "a|b",
            "a && b",
            "a > b",
            "a < b",
            "(a)",
            "{ a; }",
            "a $b",
            "a `b`",
            "a \\b",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "a ~",
            "a ~/b",
            "a b~c",
            "a # b",
            "! a",
            "a \"$b\"",
            "a \"\\b\"",
            "a \"!b\"",
            "a 'b",
            "a \"b",
            "a^b",
            "ä b",
            "a\nb",
            "a\rb",
            "%1",
            "@x",
            "'a b' c",
            "''",
            "",
        ];
        for shell in shells {
            assert!(!is_plain(&[text(shell)]), "{shell:?}");
        }
        assert!(!is_plain(&[text("a "), ScriptPart::Raw(Secret::new("b"))]));
    }

    #[test]
    fn values_are_words_or_parts_of_words_and_never_the_command() {
        let at = |place| ScriptPart::Data(Data::text("; x '\""), Context::new(place));
        let parts = [text("a --b="), at(Place::Word), text(" \"c"), at(Place::Quoted), text("\"")];
        assert_eq!(split(&parts).unwrap(), ["a", "--b=; x '\"", "c; x '\""]);
        assert!(!is_plain(&[at(Place::Word), text(" a")]));
        assert!(!is_plain(&[text("a"), at(Place::Word)]));
        assert!(!is_plain(&[text("a "), at(Place::Heredoc)]));
        assert!(!is_plain(&[text("a '"), at(Place::Word), text("'")]));
    }

    #[test]
    fn a_row_of_values_is_alone() {
        let whole = Context::new(Place::Word).whole_word(true);
        let row = |items: &[&str]| {
            ScriptPart::Data(Data::Array(items.iter().map(|it| Data::text(*it)).collect()), whole)
        };
        assert_eq!(split(&[text("a "), row(&[]), text(" b")]).unwrap(), ["a", "b"]);
        assert_eq!(split(&[text("a "), row(&["x", ""]), text(" b")]).unwrap(), ["a", "x", "", "b"]);
        assert!(!is_plain(&[text("a "), row(&["x", "y"]), text("b")]));
    }
}
