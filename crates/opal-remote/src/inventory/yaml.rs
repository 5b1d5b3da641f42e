//! Ansible's YAML: inventories, and files of variables. JSON is a part of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle};
use opal_core::Value;

use super::error::{Fault, InventoryError};
use super::groups::{Inventory, Layer};
use super::variable::{Given, Place, Variable, Variables};

/// Levels of one document, and nodes with every alias written out.
const MAX_NESTING: usize = 64;
const MAX_NODES: usize = 1_000_000;

#[derive(Clone, Debug)]
enum Kind {
    Value(Value),
    Vault,
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    line: usize,
    size: usize,
}

/// Whether a text without a telling name is an inventory in YAML: a mapping.
pub(super) fn is_mapping(text: &str, file: &Arc<str>) -> bool {
    matches!(document(text, file), Ok(Some(Node { kind: Kind::Map(_), .. })))
}

pub(super) fn read(
    text: &str,
    file: &Arc<str>,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    let Some(root) = document(text, file)? else {
        return Err(wrong(file, 1, "the inventory is empty"));
    };
    let reader = Reader { file };
    let groups = reader.entries(&root, "the inventory")?;
    if groups.iter().any(|it| it.name == "plugin") {
        return Err(InventoryError::at(&reader.place(root.line), Fault::Plugin));
    }
    for Entry { name, node, .. } in groups {
        reader.group(&name, node, inventory, 0)?;
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
    if matches!(root.kind, Kind::Value(Value::Null)) {
        return Ok(());
    }
    layer.vars.extend(Reader { file }.vars(&root, "a file of variables")?);
    Ok(())
}

fn wrong(file: &Arc<str>, line: usize, what: &str) -> InventoryError {
    let place = Place { file: Arc::clone(file), line };
    InventoryError::at(&place, Fault::Structure(what.to_owned()))
}

/// A part of a mapping, and the line of its name.
struct Entry<'n> {
    name: String,
    line: usize,
    node: &'n Node,
}

struct Reader<'f> {
    file: &'f Arc<str>,
}

impl Reader<'_> {
    fn place(&self, line: usize) -> Place {
        Place { file: Arc::clone(self.file), line }
    }

    fn wrong(&self, node: &Node, what: &str) -> InventoryError {
        wrong(self.file, node.line, what)
    }

    /// The entries of a mapping, by name. Nothing has none.
    fn entries<'n>(&self, node: &'n Node, what: &str) -> Result<Vec<Entry<'n>>, InventoryError> {
        match &node.kind {
            Kind::Value(Value::Null) => Ok(Vec::new()),
            Kind::Map(entries) => {
                let name = |key: &Node| match &key.kind {
                    Kind::Value(Value::String(name)) => Ok(name.clone().into_owned()),
                    Kind::Value(other @ (Value::Int(_) | Value::Bool(_) | Value::Float(_))) => {
                        Ok(other.to_string())
                    }
                    _ => Err(self.wrong(key, "expects a name")),
                };
                let entry = |(key, node): &'n (Node, Node)| {
                    Ok(Entry { name: name(key)?, line: key.line, node })
                };
                entries.iter().map(entry).collect()
            }
            _ => Err(self.wrong(node, &format!("{what} must be a mapping"))),
        }
    }

    fn group(
        &self,
        name: &str,
        node: &Node,
        inventory: &mut Inventory,
        level: usize,
    ) -> Result<usize, InventoryError> {
        if level > super::MAX_LEVELS {
            return Err(InventoryError::at(&self.place(node.line), Fault::TooDeep));
        }
        let group = inventory.group(name);
        for Entry { name: key, line, node: part } in self.entries(node, "a group")? {
            match key.as_str() {
                "vars" => {
                    for (name, variable) in self.vars(part, "`vars`")? {
                        inventory.set(group, &name, variable);
                    }
                }
                "children" => {
                    for (name, line, below) in self.members(part, "`children`")? {
                        let place = self.place(line);
                        let child = self.group(&name, &below, inventory, level + 1)?;
                        inventory.add_child(group, child, &place)?;
                    }
                }
                "hosts" => {
                    for (pattern, line, vars) in self.members(part, "`hosts`")? {
                        let place = self.place(line);
                        let vars = self.vars(&vars, "the variables of a host")?;
                        inventory.add_hosts(&pattern, group, &vars, &place)?;
                    }
                }
                _ => {
                    let what = format!("unknown key `{key}`: expected vars, children or hosts");
                    return Err(wrong(self.file, line, &what));
                }
            }
        }
        Ok(group)
    }

    /// Entries, or a single name.
    fn members(
        &self,
        node: &Node,
        what: &str,
    ) -> Result<Vec<(String, usize, Node)>, InventoryError> {
        if let Kind::Value(Value::String(name)) = &node.kind {
            let nothing = Node { kind: Kind::Value(Value::Null), line: node.line, size: 1 };
            return Ok(vec![(name.clone().into_owned(), node.line, nothing)]);
        }
        let entries = self.entries(node, what)?;
        Ok(entries.into_iter().map(|it| (it.name, it.line, it.node.clone())).collect())
    }

    fn vars(&self, node: &Node, what: &str) -> Result<Variables, InventoryError> {
        let mut vars = Variables::new();
        for Entry { name, line, node } in self.entries(node, what)? {
            let place = self.place(line);
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
            Kind::Value(value) => Some(value.clone()),
            Kind::Vault => None,
            Kind::List(items) => {
                let items: Result<Option<Vec<Value>>, _> =
                    items.iter().map(|item| self.value(item)).collect();
                items?.map(Value::Array)
            }
            Kind::Map(_) => {
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
fn document(text: &str, file: &Arc<str>) -> Result<Option<Node>, InventoryError> {
    let limit = MAX_NESTING;
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: limit,
        block_nesting_limit: limit,
    };
    let mut builder =
        Builder { file, open: Vec::new(), anchors: BTreeMap::new(), root: None, nodes: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| {
            let line = error.marker().line();
            let place = Place { file: Arc::clone(file), line };
            InventoryError::at(&place, Fault::Syntax(error.kind().to_string()))
        })?;
        builder.event(event, span.start.line())?;
    }
    Ok(builder.root)
}

struct Open {
    items: Vec<Node>,
    is_map: bool,
    anchor: usize,
    line: usize,
}

struct Builder<'f> {
    file: &'f Arc<str>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), InventoryError> {
        let tag = event.tag().map(|tag| tag.suffix().to_string());
        let is_vault = matches!(tag.as_deref(), Some("vault" | "vault-encrypted"));
        if let Some(tag) = tag.filter(|tag| !is_vault && tag != "unsafe" && !is_usual(tag)) {
            let place = Place { file: Arc::clone(self.file), line };
            return Err(InventoryError::at(&place, Fault::Tag(tag)));
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return Err(wrong(self.file, line, "a second document begins here"));
            }
            Event::Scalar(text, style, anchor, _) => {
                let kind = match is_vault {
                    true => Kind::Vault,
                    false if style == ScalarStyle::Plain => Kind::Value(plain(&text)),
                    false => Kind::Value(Value::String(text.into_owned().into())),
                };
                self.add(Node { kind, line, size: 1 }, anchor)?;
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.add(node, 0)?,
                None => {
                    return Err(wrong(self.file, line, "this alias names what it is inside of"));
                }
            },
            Event::SequenceStart(_, anchor, _) => {
                self.open.push(Open { items: Vec::new(), is_map: false, anchor, line });
            }
            Event::MappingStart(_, anchor, _) => {
                self.open.push(Open { items: Vec::new(), is_map: true, anchor, line });
            }
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), InventoryError> {
        let Some(Open { items, is_map, anchor, line }) = self.open.pop() else { return Ok(()) };
        let size = 1 + items.iter().map(|item| item.size).sum::<usize>();
        let kind = if is_map {
            let mut items = items.into_iter();
            Kind::Map(std::iter::from_fn(|| Some((items.next()?, items.next()?))).collect())
        } else {
            Kind::List(items)
        };
        self.add(Node { kind, line, size }, anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), InventoryError> {
        // What an alias copies is counted as if it were written out.
        self.nodes = self.nodes.saturating_add(node.size);
        if self.nodes > MAX_NODES {
            return Err(wrong(
                self.file,
                node.line,
                "the file is too large with its aliases expanded",
            ));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

/// Tags that YAML itself has.
fn is_usual(tag: &str) -> bool {
    matches!(tag, "str" | "int" | "float" | "bool" | "null" | "map" | "seq")
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
