//! Ansible's INI files.

use std::collections::BTreeMap;
use std::sync::Arc;

use opal_core::Value;

use super::error::{Fault, InventoryError};
use super::groups::{Inventory, UNGROUPED};
use super::variable::{Place, Variable, Variables};

/// What the lines below a section are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Hosts,
    Vars,
    Children,
}

/// A group that is named before it is defined.
struct Pending {
    place: Place,
    parents: Vec<usize>,
}

pub(super) fn read(
    text: &str,
    file: &Arc<str>,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    let (mut group, mut section) = (UNGROUPED, Section::Hosts);
    let mut pending: BTreeMap<String, Pending> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let place = Place { file: Arc::clone(file), line: index + 1 };
        let at = |fault| InventoryError::at(&place, fault);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some((name, kind)) = header(line) {
            section = match kind {
                None | Some("hosts") => Section::Hosts,
                Some("vars") => Section::Vars,
                Some("children") => Section::Children,
                Some(_) => return Err(at(Fault::Section(line.to_owned()))),
            };
            if section == Section::Vars {
                if !inventory.has_group(name) {
                    let parents = Vec::new();
                    pending.entry(name.to_owned()).or_insert(Pending { place, parents });
                }
                group = inventory.group(name);
                continue;
            }
            group = inventory.group(name);
            for parent in pending.remove(name).map(|it| it.parents).unwrap_or_default() {
                inventory.add_child(parent, group, &place)?;
            }
            continue;
        }
        if line.starts_with('[') && line.ends_with(']') {
            return Err(at(Fault::Section(line.to_owned())));
        }
        match section {
            Section::Hosts => hosts(line, group, &place, inventory)?,
            Section::Vars => {
                let (name, value) =
                    line.split_once('=').ok_or_else(|| at(Fault::NotAssignment(line.into())))?;
                inventory.set(group, name.trim(), variable(value.trim(), &place));
            }
            Section::Children => {
                let name = child(line).ok_or_else(|| at(Fault::Section(line.to_owned())))?;
                match inventory.has_group(name) && !pending.contains_key(name) {
                    true => {
                        let child = inventory.group(name);
                        inventory.add_child(group, child, &place)?;
                    }
                    false => {
                        let parents = Vec::new();
                        let new = || Pending { place, parents };
                        pending.entry(name.to_owned()).or_insert_with(new).parents.push(group);
                    }
                }
            }
        }
    }
    match pending.into_iter().next() {
        Some((name, Pending { place, .. })) => {
            Err(InventoryError::at(&place, Fault::UndefinedGroup(name)))
        }
        None => Ok(()),
    }
}

/// `[group]`, `[group:kind]`, and a comment after it.
fn header(line: &str) -> Option<(&str, Option<&str>)> {
    let (inside, after) = line.strip_prefix('[')?.split_once(']')?;
    let after = after.trim_start();
    if !after.is_empty() && !after.starts_with('#') {
        return None;
    }
    let (name, kind) = match inside.split_once(':') {
        Some((name, kind)) => (name, Some(kind)),
        None => (inside, None),
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_kind = kind.is_none_or(|kind| !kind.is_empty() && kind.chars().all(is_word));
    (is_kind && !name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, kind))
}

fn child(line: &str) -> Option<&str> {
    let end = line.find([':', ']']).map_or(line.len(), |_| 0);
    let name = line[..end].split(char::is_whitespace).next().filter(|it| !it.is_empty())?;
    let after = line[name.len()..].trim_start();
    (after.is_empty() || after.starts_with('#')).then_some(name)
}

fn hosts(
    line: &str,
    group: usize,
    place: &Place,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    let at = |fault| InventoryError::at(place, fault);
    let words = words(line).ok_or_else(|| at(Fault::NotAssignment(line.to_owned())))?;
    let Some((pattern, assignments)) = words.split_first() else { return Ok(()) };
    let mut vars = Variables::new();
    for word in assignments {
        let (name, value) =
            word.split_once('=').ok_or_else(|| at(Fault::NotAssignment(word.clone())))?;
        vars.insert(name.to_owned(), variable(value, place));
    }
    if pattern.ends_with(':') {
        return Err(at(Fault::Range(pattern.clone())));
    }
    inventory.add_hosts(pattern, group, &vars, place)
}

/// Values of INI are Strings. Ansible takes the quotes off a value that is a string of Python.
fn variable(text: &str, place: &Place) -> Variable {
    let quoted = |quote: char| {
        let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.contains([quote, '\\'])).then_some(inside)
    };
    let inside = quoted('"').or_else(|| quoted('\'')).unwrap_or(text);
    Variable::new(Value::String(inside.to_owned().into()), place.clone())
}

/// The words of a line as `shlex` splits them; none where a quote has no end.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '#' if word.is_none() => break,
            '#' => {
                words.extend(word.take());
                break;
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        for (line, expected) in [
            ("a b=c", Some(&["a", "b=c"][..])),
            ("a b='c d' e=\"f \\\"g\\\" \\n\"", Some(&["a", "b=c d", "e=f \"g\" \\n"])),
            ("a b=c\\ d # more", Some(&["a", "b=c d"])),
            ("a b=x#y", Some(&["a", "b=x"])),
            ("a b='#'", Some(&["a", "b=#"])),
            ("a b=''", Some(&["a", "b="])),
            ("a 'b", None),
        ] {
            let found = words(line);
            let found =
                found.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }
}
