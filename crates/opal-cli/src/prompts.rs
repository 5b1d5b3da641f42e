//! Asks for arguments on the terminal: by type, closed sets as a menu.

use std::collections::BTreeMap;

use opal_core::Value;
use opal_core::parameter::read_word;

use crate::context::Context;
use crate::failure::{Failure, Stopped};
use crate::tasks::{Task, TaskParam};
use crate::view::diagnostics::visible;
use crate::view::tty::Tty;
use crate::view::tty::menu::{Item, Menu};

/// Which parameters are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Those without a default.
    Missing,
    All,
}

/// Whether somebody can be asked.
pub(crate) fn can_ask(context: &Context<'_>) -> bool {
    context.ambient.is_interactive() && context.ambient.can_redraw()
}

/// The terminal to ask on. What is typed ahead counts as long as it is open.
pub(crate) fn terminal(context: &Context<'_>) -> Result<Tty, Failure> {
    Tty::open(context.ambient.stderr_colour(context.typed.colour))
}

/// Asks a question whose answer is yes or no; whoever ends the question says no. Only what is typed after the
/// question is an answer.
pub(crate) fn confirm(context: &Context<'_>, label: &str) -> Result<bool, Failure> {
    let mut tty = Tty::open_afresh(context.ambient.stderr_colour(context.typed.colour))?;
    let read = |text: &str| match text.trim() {
        "y" | "yes" => Ok(true),
        "" | "n" | "no" => Ok(false),
        _ => Err("answer yes or no".to_owned()),
    };
    match tty.text(label, &[], &read) {
        Ok((true, _)) => {
            tty.answered(format!("{label}yes"));
            Ok(true)
        }
        Ok((false, _)) | Err(Stopped::Ended(_)) => Ok(false),
        Err(Stopped::Failed(failure)) => Err(failure),
    }
}

/// Asks for what is not given.
pub(crate) fn ask(
    tty: &mut Tty,
    task: &Task,
    asks: Asks,
    given: &mut BTreeMap<String, Value>,
) -> Result<(), Stopped> {
    let is_asked = |param: &&TaskParam| {
        let is_optional = param.default.is_some() || param.rest;
        (asks == Asks::All || !is_optional) && !given.contains_key(&param.name)
    };
    let params: Vec<&TaskParam> = task.params.iter().filter(is_asked).collect();
    for param in params {
        let value = match param.rest {
            true => Some(Value::Array(rest(tty, param)?)),
            false => one(tty, param)?,
        };
        if let Some(value) = value {
            given.insert(param.name.clone(), value);
        }
    }
    Ok(())
}

/// A value for one parameter; none where its default is accepted.
fn one(tty: &mut Tty, param: &TaskParam) -> Result<Option<Value>, Stopped> {
    let (value, shown) = match options(param) {
        Some(options) => chosen(tty, param, &options)?,
        None => typed(tty, param)?,
    };
    let label = tty.dye("1", &visible(&param.name));
    tty.answered(format!("{label}: {}", visible(&shown)));
    Ok(value)
}

/// The words of a rest, one after the other; an empty line ends them.
fn rest(tty: &mut Tty, param: &TaskParam) -> Result<Vec<Value>, Stopped> {
    let name = tty.dye("1", &visible(&param.name));
    let mut facts = vec![visible(&param.ty.to_string())];
    facts.extend(param.docs.iter().map(|docs| visible(docs)));
    facts.push("one at a time; an empty line ends them".to_owned());
    let about = [tty.dye("2", &facts.join("; "))];
    let read = |text: &str| match text {
        "" => Ok(None),
        _ => match read_word(&param.ty, text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(format!("`{}` {error}", param.name)),
        },
    };
    let mut values = Vec::new();
    while let (Some(value), text) = tty.text(&format!("{name}: "), &about, &read)? {
        tty.answered(format!("{name}: {}", visible(&text)));
        values.push(value);
    }
    Ok(values)
}

/// What can be chosen, with the words for it.
fn options(param: &TaskParam) -> Option<Vec<(String, Value)>> {
    if param.is_bool {
        let both = [("yes", true), ("no", false)];
        return Some(both.map(|(word, value)| (word.to_owned(), Value::Bool(value))).into());
    }
    let choices = param.choices.iter();
    let all: Vec<(String, Value)> =
        choices.map(|text| (text.clone(), Value::String(text.clone().into()))).collect();
    (!all.is_empty()).then_some(all)
}

fn chosen(
    tty: &mut Tty,
    param: &TaskParam,
    options: &[(String, Value)],
) -> Result<(Option<Value>, String), Stopped> {
    let item = |(word, _): &(String, Value)| Item { name: visible(word), note: String::new() };
    let mut items: Vec<Item> = options.iter().map(item).collect();
    if let Some(default) = &param.default {
        let name = format!("{} (default)", visible(default));
        items.insert(0, Item { name, note: String::new() });
    }
    let label = format!("{}: ", tty.dye("1", &visible(&param.name)));
    let docs: Vec<String> = param.docs.iter().map(|docs| visible(docs)).collect();
    let about = |_: usize| docs.clone();
    let at =
        tty.choose(Menu { label: &label, items: &items, typed: String::new(), about: &about })?;
    let with_default = usize::from(param.default.is_some());
    Ok(match at.checked_sub(with_default).and_then(|at| options.get(at)) {
        Some((word, value)) => (Some(value.clone()), word.clone()),
        None => (None, items[at].name.clone()),
    })
}

fn typed(tty: &mut Tty, param: &TaskParam) -> Result<(Option<Value>, String), Stopped> {
    let name = tty.dye("1", &visible(&param.name));
    let mut facts = vec![visible(&param.type_name())];
    facts.extend(param.docs.iter().map(|docs| visible(docs)));
    facts.extend(param.default.iter().map(|it| format!("default: {}", visible(it))));
    let about = [tty.dye("2", &facts.join("; "))];
    let read = |text: &str| match (text, &param.default) {
        ("", Some(_)) => Ok(None),
        ("", None) => Err(format!("`{}` needs a value", param.name)),
        _ => match read_word(&param.ty, text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(format!("`{}` {error}", param.name)),
        },
    };
    let (value, text) = tty.text(&format!("{name}: "), &about, &read)?;
    let shown = match (&value, &param.default) {
        (None, Some(default)) => format!("{default} (default)"),
        _ => text,
    };
    Ok((value, shown))
}

/// Refuses to ask where nobody is.
pub(crate) fn needs_terminal(what: &str) -> Failure {
    Failure::usage(
        format!("{what} needs a terminal"),
        "call it in a terminal; `opal list` lists the tasks, `opal TASK -h` shows the parameters",
    )
}
