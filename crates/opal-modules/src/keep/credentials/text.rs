//! The values of files of variables and of Terraform.
//!
//! A credential is data: nothing is put in the place of a `$`.

use std::collections::BTreeSet;

use opal_core::dotenv::{self, DotenvError, Variable};

use super::leaves::Leaf;
use crate::hcl::{Token, Tokens, plain};

/// The variables of a file that a shell or `docker` reads.
pub(super) fn variables(text: &str) -> Result<Vec<Leaf>, String> {
    let mut reader = dotenv::Reader::new(text);
    let mut leaves = Vec::new();
    let reported = |error: DotenvError| format!("{}, in line {}", error.message, error.place.0);
    while let Some(Variable { name, value, at }) = reader.next(None).map_err(reported)? {
        if value.contains('\0') {
            return Err(format!("NUL character in line {}", reader.place(at).0));
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
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tokens = Tokens::of(text);
    let Assignments { mut leaves, mut names } = Assignments::default();
    let mut depth = 0_usize;
    let mut name = String::new();
    // A text or word may turn out to be a name.
    let mut last = String::new();
    while let Some((token, _)) = tokens.next() {
        match token {
            Token::Lines(lines) => leaves.push(Leaf::new(name.as_str(), lines)),
            Token::Number(number) => leaves.push(Leaf::new(name.as_str(), number)),
            Token::Word(word) => last = word.to_owned(),
            Token::Text(written) => {
                // What Terraform would refuse is hidden as it is written.
                last = plain(written).unwrap_or_else(|| written.to_owned());
                if !tokens.rest().trim_start().starts_with(['=', ':']) {
                    leaves.push(Leaf::new(name.as_str(), last.as_str()));
                }
            }
            Token::Sign(b'{' | b'[' | b'(') => depth += 1,
            Token::Sign(b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            Token::Sign(b'=' | b':') => {
                name = std::mem::take(&mut last);
                if depth == 0 && !is_nothing(tokens.rest()) {
                    names.insert(name.clone());
                }
            }
            Token::Sign(_) | Token::LineEnd => {}
        }
    }
    match tokens.unclosed {
        Some((at, what)) => {
            Err(format!("{what}, in line {}", text[..at].matches('\n').count() + 1))
        }
        None => Ok(Assignments { leaves, names }),
    }
}

/// Whether a value is none: `""` or `null`.
fn is_nothing(rest: &str) -> bool {
    let rest = rest.trim_start();
    let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    rest.is_empty() || rest.starts_with("\"\"") || word == Some("null")
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
            let escaped = escaped.replace('\n', "\\n").replace("${", "$${").replace("%{", "%%{");
            let read = terraform(&format!("a = \"{escaped}\" # note\n"));
            prop_assert_eq!(values(read.map(|read| read.leaves)), expected);
        }
    }

    #[test]
    fn a_variable_of_terraform_has_a_name_wherever_its_value_is_not_a_leaf() {
        let text = "a = true\n\"b\"=[]\nc = {\n  inner = 1\n}\nd = \"\"\ne = null\nf = nullable\ng=<<E\nh = 1\nE\n# i = 1\nj =";
        let names = terraform(text).unwrap().names;
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b", "c", "f", "g"]);
    }

    #[test]
    fn a_fault_is_reported_with_its_line() {
        let fault = |text| variables(text).map(|_| ()).unwrap_err();
        assert_eq!(fault("A=b\n\nC\n"), "expected `=` after the name of a variable, in line 3");
        assert_eq!(fault("A=b\nC='d\n"), "unterminated quote, in line 2");
    }
}
