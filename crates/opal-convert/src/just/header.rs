//! The first line of a recipe.

use super::expr::{Cursor, Fault};
use super::file::{Header, RecipeParam};
use crate::form::{Expr, Param};

/// What follows the name of a recipe, up to the end of its line.
pub(super) fn header(cursor: &mut Cursor<'_>) -> Result<Header, Fault> {
    let mut header = Header::default();
    while !cursor.eat(":") {
        let plus = cursor.eat("+");
        let star = !plus && cursor.eat("*");
        let is_exported = cursor.eat("$");
        let name = cursor.name().ok_or("a parameter that is not understood")?.to_owned();
        let default = match cursor.eat("=") {
            true => {
                // A value: operators need parentheses.
                Some(cursor.value()?)
            }
            false => None,
        };
        let param = Param { name, default, rest: plus || star, ..Param::default() };
        header.params.push(RecipeParam { param, is_required_rest: plus, is_exported });
    }
    let mut is_after = false;
    loop {
        cursor.blanks();
        let rest = cursor.rest();
        if rest.is_empty() || rest.starts_with(['\n', '\r', '#']) {
            return Ok(header);
        }
        if cursor.eat("&&") {
            is_after = true;
            continue;
        }
        let call = dependency(cursor)?;
        if is_after { &mut header.after } else { &mut header.before }.push(call);
    }
}

fn dependency(cursor: &mut Cursor<'_>) -> Result<(String, Vec<Expr>), Fault> {
    let is_call = cursor.eat("(");
    let name = path(cursor)?;
    let mut args = Vec::new();
    while is_call && !cursor.eat(")") {
        cursor.blanks();
        if cursor.rest().starts_with(['\n', '\r']) {
            cursor.at += 1;
            continue;
        }
        args.push(cursor.expression()?);
    }
    Ok((name, args))
}

fn path(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let mut name = cursor.name().ok_or("a dependency that is not understood")?.to_owned();
    while cursor.rest().starts_with("::") {
        cursor.at += 2;
        name.push_str("::");
        name.push_str(cursor.name().unwrap_or_default());
    }
    Ok(name)
}
