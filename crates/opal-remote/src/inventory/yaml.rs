//! Ansible's YAML: inventories, and files of variables. JSON is a part of it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use opal_core::text::LineIndex;
use opal_core::{Span, Value};
use opal_yaml::{Node, NodeKind, Why};

use super::error::{Fault, InventoryError};
use super::groups::{Inventory, Layer};
use super::variable::{Given, Place, Variable, Variables};

/// Whether a text without a telling name is an inventory in YAML: a mapping.
pub(super) fn is_mapping(text: &str, file: &Arc<str>) -> bool {
    let root = document(text, file);
    root.is_ok_and(|root| root.is_some_and(|root| matches!(root.kind, NodeKind::Map(_))))
}

pub(super) fn read(
    text: &str,
    file: &Arc<str>,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    let Some(root) = document(text, file)? else {
        let place = Place { file: Arc::clone(file), line: 1 };
        let fault = Fault::Structure("the inventory is empty".to_owned());
        return Err(InventoryError::at(&place, fault));
    };
    let reader = Reader { file, lines: LineIndex::new(text) };
    let groups = reader.entries(&root, "the inventory")?;
    if groups.iter().any(|it| it.name == "plugin") {
        return Err(InventoryError::at(&reader.place(root.span), Fault::Plugin));
    }
    for Entry { name, node, .. } in groups {
        reader.group(&name, Some(node), inventory, 0)?;
    }
    Ok(())
}

/// A file of variables.
pub(super) fn variables(
    text: &str,
    file: &Arc<str>,
    layer: &mut Layer,
) -> Result<(), InventoryError> {
    if text.starts_with("$ANSIBLE_VAULT;") {
        layer.sealed.push(Place { file: Arc::clone(file), line: 0 });
        return Ok(());
    }
    let Some(root) = document(text, file)? else { return Ok(()) };
    let reader = Reader { file, lines: LineIndex::new(text) };
    layer.vars.extend(reader.vars(Some(&root), "a file of variables")?);
    Ok(())
}

/// A part of a mapping, and where its name is.
struct Entry<'n> {
    name: String,
    span: Span,
    node: &'n Node,
}

/// What is in a group: its name, where that is, and what is said of it.
struct Member<'n> {
    name: String,
    span: Span,
    node: Option<&'n Node>,
}

struct Reader<'f> {
    file: &'f Arc<str>,
    lines: LineIndex,
}

impl Reader<'_> {
    fn place(&self, span: Span) -> Place {
        Place { file: Arc::clone(self.file), line: self.lines.line(span.start) as usize }
    }

    fn wrong(&self, span: Span, what: &str) -> InventoryError {
        InventoryError::at(&self.place(span), Fault::Structure(what.to_owned()))
    }

    /// The entries of a mapping, by name. Nothing has none.
    fn entries<'n>(&self, node: &'n Node, what: &str) -> Result<Vec<Entry<'n>>, InventoryError> {
        let NodeKind::Map(entries) = &node.kind else {
            return match scalar(node) {
                Some(Given::Value(Value::Null)) => Ok(Vec::new()),
                _ => Err(self.wrong(node.span, &format!("{what} must be a mapping"))),
            };
        };
        let name = |key: &Node| match scalar(key) {
            Some(Given::Value(Value::String(name))) => Ok(name.into_owned()),
            Some(Given::Value(other @ (Value::Int(_) | Value::Bool(_) | Value::Float(_)))) => {
                Ok(other.to_string())
            }
            _ => Err(self.wrong(key.span, "expects a name")),
        };
        let entry = |(key, node): &'n (Rc<Node>, Rc<Node>)| {
            Ok(Entry { name: name(key)?, span: key.span, node })
        };
        entries.iter().map(entry).collect()
    }

    fn group(
        &self,
        name: &str,
        node: Option<&Node>,
        inventory: &mut Inventory,
        level: usize,
    ) -> Result<usize, InventoryError> {
        let group = inventory.group(name);
        let Some(node) = node else { return Ok(group) };
        if level > super::MAX_LEVELS {
            return Err(InventoryError::at(&self.place(node.span), Fault::TooDeep));
        }
        for Entry { name: key, span, node: part } in self.entries(node, "a group")? {
            match key.as_str() {
                "vars" => {
                    for (name, variable) in self.vars(Some(part), "`vars`")? {
                        inventory.set(group, &name, variable);
                    }
                }
                "children" => {
                    for Member { name, span, node } in self.members(part, "`children`")? {
                        let child = self.group(&name, node, inventory, level + 1)?;
                        inventory.add_child(group, child, &self.place(span))?;
                    }
                }
                "hosts" => {
                    for Member { name: pattern, span, node } in self.members(part, "`hosts`")? {
                        let vars = self.vars(node, "the variables of a host")?;
                        inventory.add_hosts(&pattern, group, &vars, &self.place(span))?;
                    }
                }
                _ => {
                    let what = format!("unknown key `{key}`: expected vars, children or hosts");
                    return Err(self.wrong(span, &what));
                }
            }
        }
        Ok(group)
    }

    /// Entries, or a single name.
    fn members<'n>(&self, node: &'n Node, what: &str) -> Result<Vec<Member<'n>>, InventoryError> {
        if let Some(Given::Value(Value::String(name))) = scalar(node) {
            return Ok(vec![Member { name: name.into_owned(), span: node.span, node: None }]);
        }
        let entries = self.entries(node, what)?.into_iter();
        Ok(entries.map(|it| Member { name: it.name, span: it.span, node: Some(it.node) }).collect())
    }

    fn vars(&self, node: Option<&Node>, what: &str) -> Result<Variables, InventoryError> {
        let mut vars = Variables::new();
        let entries = node.map_or(Ok(Vec::new()), |node| self.entries(node, what))?;
        for Entry { name, span, node } in entries {
            let place = self.place(span);
            let variable = match self.value(node)? {
                Some(value) => Variable::new(value, place),
                None => Variable { given: Given::Vault, place },
            };
            vars.insert(name, variable);
        }
        Ok(vars)
    }

    /// None where a part of it is encrypted.
    fn value(&self, node: &Node) -> Result<Option<Value>, InventoryError> {
        Ok(match &node.kind {
            NodeKind::Scalar { .. } => match scalar(node) {
                Some(Given::Value(value)) => Some(value),
                _ => None,
            },
            NodeKind::List(items) => {
                let items: Result<Option<Vec<Value>>, _> =
                    items.iter().map(|item| self.value(item)).collect();
                items?.map(Value::Array)
            }
            NodeKind::Map(_) => {
                let mut map = BTreeMap::new();
                for Entry { name, node, .. } in self.entries(node, "a value")? {
                    match self.value(node)? {
                        Some(value) => map.insert(name, value),
                        None => return Ok(None),
                    };
                }
                Some(Value::Map(map))
            }
        })
    }
}

/// The document of a text; none where there is nothing in it.
fn document(text: &str, file: &Arc<str>) -> Result<Option<Rc<Node>>, InventoryError> {
    opal_yaml::read(text, is_known).map_err(|fault| {
        let line = LineIndex::new(text).line(fault.span.start) as usize;
        let place = Place { file: Arc::clone(file), line };
        let structure = |what: &str| Fault::Structure(what.to_owned());
        let fault = match fault.why {
            Why::Syntax(said) => Fault::Syntax(said),
            Why::Tag(tag) => Fault::Tag(tag),
            Why::SecondDocument => structure("a second document begins here"),
            Why::Nul => structure("a text contains a NUL character"),
            Why::AliasInside => structure("this alias is inside the value that it names"),
            Why::TooDeep => structure("nesting deeper than 64 levels"),
            Why::TooLarge => structure("the file is too large with its aliases expanded"),
        };
        InventoryError::at(&place, fault)
    })
}

/// Of Ansible, and those that YAML itself has.
fn is_known(tag: &str) -> bool {
    let own = ["str", "int", "float", "bool", "null", "map", "seq"];
    tag == "unsafe" || is_vault(tag) || own.contains(&tag)
}

fn is_vault(tag: &str) -> bool {
    matches!(tag, "vault" | "vault-encrypted")
}

/// A single value; none for a list or a mapping.
fn scalar(node: &Node) -> Option<Given> {
    let NodeKind::Scalar { text, plain: is_plain } = &node.kind else { return None };
    Some(match &node.tag {
        Some(tag) if is_vault(tag) => Given::Vault,
        _ if *is_plain => Given::Value(plain(text)),
        _ => Given::Value(Value::String(text.clone().into())),
    })
}

/// A scalar without quotes, as YAML 1.1 reads it: so do Ansible's users write it.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::String(text.to_owned().into()))
}

fn number(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let first = digits.chars().next()?;
    let is_number = first.is_ascii_digit() || first == '.' && digits.len() > 1;
    if !is_number {
        return None;
    }
    let clean: String = digits.chars().filter(|c| *c != '_').collect();
    let radix = |digits: &str, radix: u32| i64::from_str_radix(digits, radix).ok();
    let is_all = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let integer = match clean.as_str() {
        text if text.starts_with("0x") => radix(&text[2..], 16),
        text if text.starts_with("0b") => radix(&text[2..], 2),
        text if text.len() > 1 && text.starts_with('0') && is_all(text) => radix(text, 8),
        text if is_all(text) => text.parse().ok(),
        _ => None,
    };
    if let Some(integer) = integer {
        return Some(Value::Int(if negative { -integer } else { integer }));
    }
    let is_float = clean.contains('.')
        && clean
            .bytes()
            .all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'+' | b'-'))
        && clean.matches('.').count() == 1;
    let float = clean.parse::<f64>().ok().filter(|it| is_float && it.is_finite())?;
    Some(Value::Float(if negative { -float } else { float }))
}
