//! Files of variables and of Terraform: as much of them as is needed to find every value.
//!
//! A `$` is a character like any other: a credential is data, and nothing is put in its place.

use std::collections::BTreeSet;

use opal_core::dotenv::{self, DotenvError, Variable};

use super::leaves::Leaf;

const UNCLOSED: &str = "this quote has no closing one";

/// The variables of a file that a shell or `docker` reads.
pub(super) fn variables(text: &str) -> Result<Vec<Leaf>, String> {
    let mut reader = dotenv::Reader::new(text);
    let mut leaves = Vec::new();
    let told = |error: DotenvError| format!("{}, in line {}", error.message, error.place.0);
    while let Some(Variable { name, value, at }) = reader.next(None).map_err(told)? {
        if value.contains('\0') {
            return Err(format!(
                "no variable can hold a NUL character, in line {}",
                reader.place(at).0
            ));
        }
        leaves.push(Leaf::new(name, value));
    }
    Ok(leaves)
}

/// What a file of Terraform says.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    /// Every text, number and heredoc, with the name before its `=` or `:`.
    pub(super) leaves: Vec<Leaf>,
    /// The variables that get a value, and not an empty one.
    pub(super) names: BTreeSet<String>,
}

pub(super) fn terraform(text: &str) -> Result<Assignments, String> {
    let mut cursor = Cursor::new(text);
    let Assignments { mut leaves, mut names } = Assignments::default();
    let mut depth = 0_usize;
    let mut name = String::new();
    // A text or word may turn out to be a name.
    let mut last = String::new();
    while let Some(first) = cursor.peek() {
        let start = cursor.at;
        if cursor.rest().starts_with("//") || first == '#' {
            cursor.skip(|c| c != '\n');
        } else if cursor.rest().starts_with("/*") {
            let length = cursor.rest().find("*/");
            cursor.at += length.ok_or_else(|| cursor.fault(start, "this comment has no end"))? + 2;
        } else if cursor.rest().starts_with("<<") {
            let body = cursor.heredoc();
            let body = body.ok_or_else(|| cursor.fault(start, "this text has no end"))?;
            leaves.push(Leaf::new(name.as_str(), body));
        } else if first == '"' {
            last = cursor.quoted().ok_or_else(|| cursor.fault(start, UNCLOSED))?;
            let is_name = matches!(cursor.rest().trim_start().chars().next(), Some('=' | ':'));
            if !is_name {
                leaves.push(Leaf::new(name.as_str(), last.as_str()));
            }
        } else if first.is_alphanumeric() || first == '_' {
            last = cursor.skip(|c| c.is_alphanumeric() || "_-.".contains(c)).to_owned();
            if first.is_ascii_digit() {
                leaves.push(Leaf::new(name.as_str(), last.as_str()));
            }
        } else {
            cursor.at += first.len_utf8();
            match first {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth = depth.saturating_sub(1),
                '=' | ':' => {
                    name = std::mem::take(&mut last);
                    if depth == 0 && !cursor.is_before_nothing() {
                        names.insert(name.clone());
                    }
                }
                _ => {}
            }
        }
    }
    Ok(Assignments { leaves, names })
}

#[derive(Debug)]
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        Self { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault(&self, at: usize, why: &str) -> String {
        format!("{why}, in line {}", self.text[..at].matches('\n').count() + 1)
    }

    /// Whether a value follows that is none: `""` or `null`.
    fn is_before_nothing(&self) -> bool {
        let rest = self.rest().trim_start();
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        rest.is_empty() || rest.starts_with("\"\"") || word == Some("null")
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    /// What is passed while `over` holds.
    fn skip(&mut self, over: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !over(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// What is in double quotes; none where they are never closed. A `\` stays where it escapes nothing.
    fn quoted(&mut self) -> Option<String> {
        self.at += 1;
        let mut value = String::new();
        let mut letters = self.rest().char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter == '"' {
                self.at += at + 1;
                return Some(value);
            }
            if letter != '\\' {
                value.push(letter);
                continue;
            }
            match letters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            }
        }
        None
    }

    /// The lines from `<<END` or `<<-END` to the one that is `END`.
    fn heredoc(&mut self) -> Option<String> {
        self.at += 2;
        self.eat('-');
        let end = self.skip(|c| c.is_alphanumeric() || c == '_');
        self.skip(|c| c != '\n');
        self.eat('\n');
        let mut length = 0;
        for line in self.rest().split_inclusive('\n') {
            if line.trim() == end && !end.is_empty() {
                let body = self.rest()[..length].to_owned();
                self.at += length + line.trim_end().len();
                return Some(body);
            }
            length += line.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(leaves: Result<Vec<Leaf>, String>) -> Option<Vec<String>> {
        let leaves = leaves.ok()?;
        Some(leaves.iter().map(|leaf| leaf.value.expose().to_owned()).collect())
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\n]{0,40}|[A=\"'#<\\\\\n\t{}/*é]{0,30}|\\PC{0,30}") {
            let _ = (variables(&text), terraform(&text));
        }

        #[test]
        fn a_value_in_quotes_comes_out_as_it_went_in(value in "[^\0\r]{0,30}") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            let expected = Some(vec![value.clone()]);
            prop_assert_eq!(values(variables(&format!("A=\"{escaped}\" # note\n"))), expected.clone());
            let read = terraform(&format!("a = \"{escaped}\" # note\n"));
            prop_assert_eq!(values(read.map(|read| read.leaves)), expected);
        }
    }

    #[test]
    fn a_variable_of_terraform_has_a_name_wherever_its_value_is_no_leaf() {
        let text = "a = true\n\"b\"=[]\nc = {\n  inner = 1\n}\nd = \"\"\ne = null\nf = nullable\ng=<<E\nh = 1\nE\n# i = 1\nj =";
        let names = terraform(text).unwrap().names;
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b", "c", "f", "g"]);
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        let fault = |text| variables(text).map(|_| ()).unwrap_err();
        assert_eq!(
            fault("A=b\n\nC\n"),
            "`=` is expected here, behind the name of a variable, in line 3"
        );
        assert_eq!(fault("A=b\nC='d\n"), "this quote has no closing one, in line 2");
    }
}
