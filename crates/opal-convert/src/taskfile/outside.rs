//! Variables that come from outside the file.

use crate::form::Expr;
use crate::limits::MAX_WEIGHT;

/// The rest parameter for `CLI_ARGS`.
pub(super) const CLI_ARGS: &str = "cli_args";

/// A variable whose value mentions its own name means the one that was given from outside.
pub(super) fn without_itself(name: &str, value: Expr, outer: Option<&Expr>) -> Expr {
    let mentions = value.mentions(name);
    if mentions == 0 {
        return value;
    }
    if outer.is_some_and(|outer| mentions * outer.weight() > MAX_WEIGHT) {
        return Expr::Unsupported(format!("the variable `{name}`, which is too long,"));
    }
    match value {
        // `{{.X | default "y"}}`.
        Expr::Choice(_, then, otherwise)
            if outer.is_none() && *then == Expr::Name(name.to_owned()) =>
        {
            Expr::Env(name.to_owned(), Some(otherwise))
        }
        value => value.with_names(&|other| {
            (other == name).then(|| outer.cloned().unwrap_or_else(|| outside(name)))
        }),
    }
}

/// A variable that nothing in the file defines comes from the environment, and is empty otherwise.
pub(super) fn outside(name: &str) -> Expr {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(is_first) && name.chars().all(is_name) {
        true => Expr::Env(name.to_owned(), Some(Box::new(Expr::text("")))),
        false => Expr::text(""),
    }
}
