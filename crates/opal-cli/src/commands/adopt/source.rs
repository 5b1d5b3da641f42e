//! Steps as source text. Whatever a state says is a literal or a comment, and never anything else.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use opal_core::Registry;
use opal_core::data::Data;
use opal_core::value::{Text, Value};
use opal_core::view::visible;
use opal_plan::Words;
use opal_plugins::provider::adopt::AdoptedStep;
use opal_syntax::Style;

use crate::view::adopt::Left;

/// Characters of a line of source; longer steps have a line for each argument.
const WIDTH: usize = 100;

/// Characters of a comment, and of the name of a variable.
const LONGEST: usize = 200;

/// The names of variables that steps read secrets from.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

/// A step as text.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    /// Each variable, with the path of the argument that it is for.
    pub(super) secrets: Vec<(String, String)>,
}

impl Names {
    /// A name that no other secret has: `LOCAL_FILE_MOTD_CONTENT`.
    fn fresh(&mut self, words: &str) -> String {
        let mut name = String::new();
        for c in words.chars().take(LONGEST) {
            match c.is_ascii_alphanumeric() {
                true => name.push(c.to_ascii_uppercase()),
                false if !name.ends_with('_') => name.push('_'),
                false => {}
            }
        }
        let name = name.trim_matches('_');
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut all = std::iter::once(name.to_owned()).chain(numbered);
        let fresh = all.find(|it| !self.0.contains(it)).unwrap_or_default();
        self.0.insert(fresh.clone());
        fresh
    }
}

/// The step for an object.
pub(super) fn step(
    path: &str,
    (of, address): (&str, &str),
    step: &AdoptedStep,
    names: &mut Names,
) -> Result<Written, Left> {
    // The address begins with its module, and a name should begin with the type.
    let object = address.rfind(of).map_or(address, |at| &address[at..]);
    let mut writing = Writing { object, hidden: &step.secrets, names, secrets: Vec::new() };
    let mut args = Vec::new();
    for (name, data) in &step.args {
        args.push(format!("{name}={}", writing.literal(data, name)?));
    }
    if let Some(adopt) = &step.adopt {
        args.push(format!("adopt={}", plain(adopt)));
    }
    let line = format!("@{path}({})", args.join(", "));
    let text = match line.chars().count() <= WIDTH {
        true => line,
        false => format!("@{path}(\n{},\n)", args.join(",\n")),
    };
    Ok(Written { text, secrets: writing.secrets })
}

/// The whole file, in its one form.
pub(super) fn file(state: &Path, steps: &[(String, String)], registry: &Registry) -> String {
    let name = state.file_name().unwrap_or_default().to_string_lossy();
    let mut out = format!("# Objects of {}, by `opal adopt`.\nfun infra() {{\n", comment(&name));
    for (address, text) in steps {
        let _ = writeln!(out, "# {}\n{text}", comment(address));
    }
    out.push_str("}\n");
    opal_syntax::format(&out, &Words(registry), Style::default()).unwrap_or(out)
}

/// Text on one line, in which everything can be seen.
fn comment(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(LONGEST) {
        match visible::is_hidden(c) {
            true => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
            false => out.push(c),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

struct Writing<'w> {
    /// What the names of its variables begin with.
    object: &'w str,
    hidden: &'w [String],
    names: &'w mut Names,
    secrets: Vec<(String, String)>,
}

impl Writing<'_> {
    fn literal(&mut self, data: &Data, path: &str) -> Result<String, Left> {
        match data {
            Data::Array(items) => {
                let mut all = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    all.push(self.literal(item, &format!("{path}[{at}]"))?);
                }
                Ok(format!("[{}]", all.join(", ")))
            }
            Data::Map(fields) => {
                let mut all = Vec::new();
                for (name, item) in fields {
                    let value = self.literal(item, &format!("{path}.{name}"))?;
                    all.push(format!("{}: {value}", string(name)));
                }
                Ok(format!("{{{}}}", all.join(", ")))
            }
            Data::Text(_) if self.is_hidden(path) => {
                let name = self.names.fresh(&format!("{}_{path}", self.object));
                let written = format!("@secret.env.{name}");
                self.secrets.push((name, path.to_owned()));
                Ok(written)
            }
            Data::Null => Ok(Value::Null.to_string()),
            _ if self.is_hidden(path) => {
                let why = format!("`{path}` is secret and is not a String");
                let help = "write its step yourself".to_owned();
                Err(Left { code: None, why, help: Some(help) })
            }
            data => Ok(plain(data)),
        }
    }

    /// Whether a path is one of those that are secret, or below one.
    fn is_hidden(&self, path: &str) -> bool {
        self.hidden.iter().any(|hidden| {
            let rest = path.strip_prefix(hidden.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }
}

fn string(text: &str) -> String {
    Value::String(Text::Owned(text.to_owned())).to_string()
}

/// A value that is not secret.
fn plain(data: &Data) -> String {
    fn value(data: &Data) -> Value {
        match data {
            Data::Null => Value::Null,
            Data::Bool(it) => Value::Bool(*it),
            Data::Int(it) => Value::Int(*it),
            Data::Float(it) => Value::Float(*it),
            Data::Duration(it) => Value::Duration(*it),
            Data::Text(it) => Value::String(Text::Owned(it.expose().to_owned())),
            Data::Array(items) => Value::Array(items.iter().map(value).collect()),
            Data::Map(fields) => {
                Value::Map(fields.iter().map(|(name, it)| (name.clone(), value(it))).collect())
            }
        }
    }
    value(data).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opal_core::data::Secret;
    use opal_core::protocol::call::Found;

    use super::*;

    fn adopted(args: &[(&str, Data)], secrets: &[&str]) -> AdoptedStep {
        AdoptedStep {
            args: args.iter().map(|(name, data)| ((*name).to_owned(), data.clone())).collect(),
            adopt: None,
            secrets: secrets.iter().map(|it| (*it).to_owned()).collect(),
            unread: Vec::new(),
            status: Found::Satisfied,
            message: Secret::new(""),
        }
    }

    fn map(fields: &[(&str, Data)]) -> Data {
        let fields = fields.iter().map(|(name, data)| ((*name).to_owned(), data.clone()));
        Data::Map(fields.collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn values_are_literals_secrets_are_variables_and_an_id_names_the_object() {
        let args = [
            ("list", Data::Array(vec![Data::Int(-7), Data::Float(1.5), Data::Null])),
            ("tags", map(&[("a b", Data::text("@env.X")), ("key", Data::text("canary"))])),
        ];
        let mut one = adopted(&args, &["tags.key"]);
        one.adopt = Some(map(&[("id", Data::text("vpc-\"1"))]));
        let mut names = Names::default();
        let object = ("aws_vpc", r#"module.m.aws_vpc.main["é"]"#);
        let written = step("aws.vpc", object, &one, &mut names).unwrap();
        assert_eq!(
            written.text,
            "@aws.vpc(\nlist=[-7, 1.5, null],\ntags={\"a b\": \"\\@env.X\", \"key\": \
             @secret.env.AWS_VPC_MAIN_TAGS_KEY},\nadopt={\"id\": \"vpc-\\\"1\"},\n)"
        );
        let expected = [("AWS_VPC_MAIN_TAGS_KEY".to_owned(), "tags.key".to_owned())];
        assert_eq!(written.secrets, expected);
        // Another object of the same name has another variable.
        let written = step("aws.vpc", object, &one, &mut names).unwrap();
        assert_eq!(written.secrets[0].0, "AWS_VPC_MAIN_TAGS_KEY_2");
    }

    #[test]
    fn a_secret_that_no_variable_can_hold_is_not_written() {
        for secret in [Data::Int(4711), Data::Bool(true), Data::Array(vec![Data::Float(47.5)])] {
            let one = adopted(&[("pin", secret)], &["pin"]);
            let left = step("a.b", ("a_b", "a_b.c"), &one, &mut Names::default()).unwrap_err();
            assert!(left.why.contains("is secret and is not a String"), "{left:?}");
        }
    }

    #[test]
    fn a_comment_has_one_line_in_which_everything_can_be_seen() {
        let text = comment("a\nb\rc\u{2028}d\u{85}e\u{202e}f\u{1b}[1m");
        assert_eq!(text, "a\\u{a}b\\u{d}c\\u{2028}d\\u{85}e\\u{202e}f\\u{1b}[1m");
        assert_eq!(comment(&"x".repeat(9999)).chars().count(), LONGEST + 1);
    }
}
