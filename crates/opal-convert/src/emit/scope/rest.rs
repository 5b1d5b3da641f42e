//! What a rest parameter is where it is not given.

use super::{Scope, Why};
use crate::emit::shape::{Lookup, Shape, shape};
use crate::form::Expr;

impl Scope<'_> {
    /// A rest parameter without arguments gets the words of its default.
    pub(in crate::emit) fn default_of_rest(
        &mut self,
        name: &str,
        default: &Expr,
    ) -> Result<(), Why> {
        let words = match shape(default, self) {
            Shape::Words(words) if words.is_empty() => return Ok(()),
            Shape::Words(_) => self.list(default)?,
            _ => match default {
                Expr::Text(text) => self.quoted_list(name, text)?,
                _ => format!("[{}]", self.expr(default)?),
            },
        };
        let given = self.param_name(name).unwrap_or_default().to_owned();
        let local = self.given_or(&given, name, &words);
        self.given.insert(name.to_owned(), given);
        if let Some((_, written)) = self.params.iter_mut().find(|(param, _)| param.name == name) {
            *written = local;
        }
        Ok(())
    }

    /// A rest parameter as arguments of a script: its default is one argument, whatever is in it.
    pub(in crate::emit) fn positional(&mut self, name: &str) -> Result<String, Why> {
        let default = self.param(name).and_then(|it| it.default.clone());
        let given = self.given.get(name).cloned();
        let given = given.or_else(|| self.param_name(name).map(str::to_owned)).unwrap_or_default();
        let Some(default) = default else { return Ok(self.name(name)?.0) };
        let default = format!("[{}]", self.expr(&default)?);
        let key = format!("{given}, or {default}");
        if let Some(local) = self.hoisted.get(&key) {
            return Ok(local.clone());
        }
        let local = self.given_or(&given, name, &default);
        self.hoisted.insert(key, local.clone());
        Ok(local)
    }

    /// A variable with the arguments that were given, or other words where none were.
    fn given_or(&mut self, given: &str, name: &str, words: &str) -> String {
        self.names.reserve(given);
        let local = self.names.variable(name);
        self.prelude.push(format!("var {local} = {given}"));
        self.prelude.push(format!("if {given}.length == 0 {{\n{local} = {words}\n}}"));
        local
    }

    /// The words of a text, some of them in quotes.
    fn quoted_list(&mut self, name: &str, text: &str) -> Result<String, Why> {
        let Some(words) = quoted_words(text) else {
            self.differs(format!("the default of `{name}` is one word, which no shell reads"));
            return Ok(format!("[{}]", self.expr(&Expr::text(text))?));
        };
        let words: Result<Vec<_>, Why> =
            words.iter().map(|it| self.expr(&Expr::text(it))).collect();
        Ok(format!("[{}]", words?.join(", ")))
    }
}

/// As a shell splits them; none where it would do more than remove quotes.
fn quoted_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\') => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, c) if c.is_alphanumeric() || "-_./:=,+@%".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            (None, _) => return None,
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}
