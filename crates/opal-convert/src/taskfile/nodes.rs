//! YAML nodes as texts, lists and maps.

use std::rc::Rc;

use opal_config::document::{Node, NodeKind};

use super::template;
use crate::form::{Expr, Piece};

/// The lines of the file.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { text, starts: starts.collect() }
    }

    pub(super) fn at(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place).max(1)
    }

    /// The lines from a place to another, without the indentation of the first.
    pub(super) fn block(&self, start: usize, end: Option<usize>) -> String {
        let first = self.starts[self.at(start) - 1];
        let end = end.map_or(self.text.len(), |end| self.starts[self.at(end) - 1]);
        let text = self.text.get(first..end.max(first)).unwrap_or_default();
        let indent = text.len() - text.trim_start_matches(' ').len();
        let mut lines: Vec<&str> = Vec::new();
        for line in text.lines() {
            let own = line.len() - line.trim_start_matches(' ').len();
            if !lines.is_empty()
                && own < indent
                && !line.trim().is_empty()
                && !line.starts_with('#')
            {
                break;
            }
            lines.push(line.get(indent.min(own)..).unwrap_or(line));
        }
        lines.join("\n").trim_end().to_owned()
    }
}

/// The entries of a mapping, with those that `<<` brings in.
pub(super) fn entries(node: &Node) -> Vec<(&Rc<Node>, &Rc<Node>)> {
    let NodeKind::Map(entries) = &node.kind else { return Vec::new() };
    let mut all: Vec<(&Rc<Node>, &Rc<Node>)> = Vec::new();
    for (key, value) in entries {
        if key.word() != Some("<<") {
            all.push((key, value));
        }
    }
    for (_, merged) in entries.iter().filter(|(key, _)| key.word() == Some("<<")) {
        if let NodeKind::Map(merged) = &merged.kind {
            for (key, value) in merged {
                if !all.iter().any(|(other, _)| other.word() == key.word()) {
                    all.push((key, value));
                }
            }
        }
    }
    all
}

pub(super) fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    entries(node).into_iter().find(|(name, _)| name.word() == Some(key)).map(|(_, value)| &**value)
}

/// A list, or one thing as a list.
pub(super) fn list(node: &Node) -> Vec<&Node> {
    match &node.kind {
        NodeKind::List(items) => items.iter().map(|it| &**it).collect(),
        NodeKind::Scalar { text, plain } if text.is_empty() && *plain => Vec::new(),
        _ => vec![node],
    }
}

pub(super) fn text(node: &Node) -> Option<&str> {
    node.word()
}

pub(super) fn is_true(node: &Node) -> bool {
    node.word() == Some("true")
}

/// A text with `{{…}}` in it.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    template::pieces(text)
}

/// `vars` or `env` of a file, a task or a call.
pub(super) fn variables(node: &Node, key: &str) -> Vec<(String, Expr)> {
    let Some(node) = get(node, key) else { return Vec::new() };
    let mut all = Vec::new();
    for (name, value) in entries(node) {
        if let Some(name) = name.word() {
            all.push((name.to_owned(), variable(name, value)));
        }
    }
    all
}

fn variable(name: &str, node: &Node) -> Expr {
    if let Some(text) = node.word() {
        return Expr::of_pieces(pieces(text));
    }
    if let Some(command) = get(node, "sh").and_then(Node::word) {
        return Expr::Output(pieces(command.trim_end()));
    }
    if let Some(reference) = get(node, "ref").and_then(Node::word) {
        return Expr::of_pieces(pieces(&format!("{{{{{reference}}}}}")));
    }
    if let NodeKind::List(items) = &node.kind {
        let words: Option<Vec<&str>> = items.iter().map(|it| it.word()).collect();
        let is_word = |it: &&str| !it.contains(char::is_whitespace) && !it.contains("{{");
        if let Some(words) = words.filter(|words| words.iter().all(is_word)) {
            return Expr::Text(words.join(" "));
        }
    }
    Expr::Unsupported(format!("the variable `{name}`, which is a map or a list,"))
}

/// The texts of a node that is one or a list.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    node.map(|it| list(it).iter().filter_map(|it| text(it)).map(str::to_owned).collect())
        .unwrap_or_default()
}

pub(super) fn flag(node: &Node, key: &str) -> bool {
    get(node, key).is_some_and(is_true)
}
