//! A `terragrunt.hcl` that says nothing but where the files are and what their inputs are.
//!
//! Whatever else it says is for Terragrunt. There is no evaluation here: a reference, a call or a
//! template in a text is not a literal.

use serde_json::{Map, Number, Value};

use crate::hcl::{Token, Tokens, plain};

/// As deep as a document can be.
const MOST_LEVELS: usize = 64;

/// What is said, as far as it is literal.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Config {
    /// The first thing that only Terragrunt can do.
    pub(super) needs: Option<String>,
    pub(super) source: Option<String>,
    pub(super) inputs: Map<String, Value>,
}

/// Reads a `terragrunt.hcl`.
pub(super) fn config(text: &str) -> Config {
    let mut config = Config::default();
    let mut reader = Reader { tokens: Tokens::of(text).map(|(token, _)| token).collect(), at: 0 };
    if let Err(needs) = reader.file(&mut config) {
        config = Config { needs: Some(needs), ..Config::default() };
    }
    config
}

/// The names of all blocks at the top of a file.
pub(super) fn blocks(text: &str) -> Vec<&str> {
    let (mut names, mut level, mut head) = (Vec::new(), 0_usize, None);
    for (token, _) in Tokens::of(text) {
        match token {
            Token::Sign(b'{') => {
                names.extend(head.take().filter(|_| level == 0));
                level += 1;
            }
            Token::Sign(b'}') => level = level.saturating_sub(1),
            Token::Sign(b'=') | Token::LineEnd => head = None,
            Token::Word(word) if level == 0 && head.is_none() => head = Some(word),
            _ => {}
        }
    }
    names
}

/// Stops with what only Terragrunt can do.
type Reads<T> = Result<T, String>;

struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn file(&mut self, config: &mut Config) -> Reads<()> {
        while let Some(token) = self.past_lines() {
            let Token::Word(name) = token else { return Err("its syntax".to_owned()) };
            let needs = || format!("`{name}`");
            match (name, self.next()) {
                ("terraform", Some(Token::Sign(b'{'))) => self.terraform(config)?,
                ("inputs", Some(Token::Sign(b'='))) => {
                    let Some(Value::Object(inputs)) = self.value(0) else { return Err(needs()) };
                    config.inputs = inputs;
                }
                _ => return Err(needs()),
            }
        }
        Ok(())
    }

    /// `{ source = "./modules/a" }`, after its brace.
    fn terraform(&mut self, config: &mut Config) -> Reads<()> {
        loop {
            match self.past_lines() {
                Some(Token::Sign(b'}')) => return Ok(()),
                Some(Token::Word("source")) if self.next() == Some(Token::Sign(b'=')) => {
                    let Some(Value::String(source)) = self.value(0) else {
                        return Err("`source`".to_owned());
                    };
                    config.source = Some(source);
                }
                Some(Token::Word(name)) => return Err(format!("`{name}` of `terraform`")),
                _ => return Err("its syntax".to_owned()),
            }
        }
    }

    /// A literal; `None` where it is none.
    fn value(&mut self, level: usize) -> Option<Value> {
        if level == MOST_LEVELS {
            return None;
        }
        let value = match self.next()? {
            Token::Word("true") => Value::Bool(true),
            Token::Word("false") => Value::Bool(false),
            Token::Word("null") => Value::Null,
            Token::Text(text) => Value::String(plain(text)?),
            Token::Number(digits) => number(digits)?,
            Token::Sign(b'-') => match self.next()? {
                Token::Number(digits) => number(&format!("-{digits}"))?,
                _ => return None,
            },
            Token::Sign(b'[') => Value::Array(self.items(level)?),
            Token::Sign(b'{') => Value::Object(self.fields(level)?),
            _ => return None,
        };
        // An operator, a call or an index after it would make it something else.
        let is_whole = matches!(
            self.tokens.get(self.at),
            None | Some(Token::LineEnd | Token::Sign(b',' | b']' | b'}'))
        );
        is_whole.then_some(value)
    }

    fn items(&mut self, level: usize) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        loop {
            match self.past_lines()? {
                Token::Sign(b']') => return Some(items),
                Token::Sign(b',') if !items.is_empty() => {}
                _ => {
                    self.at -= 1;
                    items.push(self.value(level + 1)?);
                }
            }
        }
    }

    fn fields(&mut self, level: usize) -> Option<Map<String, Value>> {
        let mut fields = Map::new();
        loop {
            let key = match self.past_lines()? {
                Token::Sign(b'}') => return Some(fields),
                Token::Sign(b',') if !fields.is_empty() => continue,
                Token::Word(key) if !key.contains('.') => key.to_owned(),
                Token::Text(key) => plain(key)?,
                _ => return None,
            };
            let (Token::Sign(b'=') | Token::Sign(b':')) = self.next()? else { return None };
            fields.insert(key, self.value(level + 1)?);
        }
    }

    fn next(&mut self) -> Option<Token<'t>> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn past_lines(&mut self) -> Option<Token<'t>> {
        loop {
            match self.next() {
                Some(Token::LineEnd) => {}
                other => return other,
            }
        }
    }
}

fn number(digits: &str) -> Option<Value> {
    let number: Number = digits.parse().ok()?;
    Some(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_literal_is_read() {
        let text = r#"
            # where the files are
            terraform {
              source = "./modules/hello" // here
            }
            inputs = {
              name = "a \"b\" $${c} \u00e9", "size" : -3,
              list = [1.5, true, null,
                "x"]
              nested = { a = {} }
            }
        "#;
        let inputs = json!({
            "name": "a \"b\" ${c} é", "size": -3, "list": [1.5, true, null, "x"], "nested": {"a": {}},
        });
        let found = config(text);
        assert_eq!(found.needs, None);
        assert_eq!(found.source.as_deref(), Some("./modules/hello"));
        assert_eq!(Value::Object(found.inputs), inputs);
        assert_eq!(config(""), Config::default());
    }

    #[test]
    fn what_only_terragrunt_can_do_is_named() {
        for (text, needs) in [
            ("include \"root\" {\n path = \"root.hcl\"\n}\n", "`include`"),
            ("dependency \"a\" {}\n", "`dependency`"),
            ("remote_state {\n backend = \"s3\"\n}", "`remote_state`"),
            ("generate \"a\" {}", "`generate`"),
            ("locals { a = 1 }", "`locals`"),
            ("terraform {\n extra_arguments \"a\" {}\n}", "`extra_arguments` of `terraform`"),
            ("terraform {\n source = \"${get_env(\"A\")}\"\n}", "`source`"),
            ("terraform {\n source = local.a\n}", "`source`"),
            ("inputs = { a = get_env(\"A\") }", "`inputs`"),
            ("inputs = { a = 1 + 1 }", "`inputs`"),
            ("inputs = { a = \"%{ if true }x%{ endif }\" }", "`inputs`"),
            ("inputs = { a = <<EOF\nx\nEOF\n}", "`inputs`"),
            ("inputs = { (a) = 1 }", "`inputs`"),
            ("inputs = local.a", "`inputs`"),
            ("inputs = merge({}, {})", "`inputs`"),
            ("inputs = {} inputs", "`inputs`"),
            ("prevent_destroy = true", "`prevent_destroy`"),
            ("} {", "its syntax"),
            ("terraform {", "its syntax"),
        ] {
            let found = config(text);
            assert_eq!(found.needs.as_deref(), Some(needs), "{text}");
            assert!(found.inputs.is_empty() && found.source.is_none(), "{text}");
        }
    }

    #[test]
    fn depth_has_a_limit_and_no_text_is_too_broken() {
        let deep = format!("inputs = {{ a = {} }}", "[".repeat(100_000));
        assert_eq!(config(&deep).needs.as_deref(), Some("`inputs`"));
        for text in
            ["inputs = {", "inputs = { a", "inputs = { a =", "inputs", "terraform", "\"", "="]
        {
            assert!(config(text).needs.is_some(), "{text}");
        }
    }

    #[test]
    fn blocks_are_seen_and_attributes_are_not() {
        let text = "generate \"a\" {\n contents = <<EOF\nremote_state {}\nEOF\n}\n\
                    inputs = { generate = { a = 1 } }\nremote_state {\n}\n# include {}\n";
        assert_eq!(blocks(text), ["generate", "remote_state"]);
    }
}
