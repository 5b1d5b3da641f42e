//! What a rest parameter is where it is not given.

use super::{Scope, Why};
use crate::emit::shape::{Shape, shape};
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
        self.names.reserve(&given);
        let local = self.names.variable(name);
        self.prelude.push(format!("var {local} = {given}"));
        self.prelude.push(format!("if {given}.length == 0 {{\n{local} = {words}\n}}"));
        if let Some((_, written)) = self.params.iter_mut().find(|(param, _)| param.name == name) {
            *written = local;
        }
        Ok(())
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
