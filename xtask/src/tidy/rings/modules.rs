//! The modules of a crate: what each defines, imports and uses.

use std::collections::{BTreeMap, BTreeSet};

use super::Arrows;
use super::tokens::tokens;
use crate::tidy::Tree;

/// Words before the name of an item.
const ITEMS: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

/// Re-exports that are followed for one name.
const MOST_HOPS: usize = 32;

/// All modules; the root is the first.
pub(super) struct Modules<'t> {
    tree: &'t Tree,
    all: Vec<Module<'t>>,
}

struct Module<'t> {
    file: String,
    parent: usize,
    children: BTreeMap<&'t str, usize>,
    items: BTreeSet<&'t str>,
    /// Names that are imported, re-exported ones included, with their paths.
    imports: BTreeMap<&'t str, Vec<&'t str>>,
    /// Paths whose names are all imported.
    globs: Vec<Vec<&'t str>>,
    /// Every path that is used.
    used: Vec<Vec<&'t str>>,
}

impl<'t> Modules<'t> {
    /// The modules of the crate with this root, `crates/NAME/src/lib.rs`.
    pub(super) fn read(tree: &'t Tree, root: &str) -> Self {
        let mut modules = Self { tree, all: Vec::new() };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.file(root, 0, folder);
        modules
    }

    fn file(&mut self, path: &str, parent: usize, folder: &str) -> Option<usize> {
        let text = self.tree.text(path)?;
        let at = self.module(path.to_owned(), parent);
        self.contents(at, &tokens(text), folder);
        Some(at)
    }

    fn module(&mut self, file: String, parent: usize) -> usize {
        self.all.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            used: Vec::new(),
        });
        self.all.len() - 1
    }

    /// Reads what is in a module. `folder` has the files of its children.
    fn contents(&mut self, module: usize, tokens: &[&'t str], folder: &str) {
        let (mut at, mut depth) = (0, 0_usize);
        let (mut is_public, mut is_test) = (false, false);
        while let Some(&token) = tokens.get(at) {
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            match token {
                "#" if next == "[" || next == "!" => {
                    let start = if next == "[" { at + 1 } else { at + 2 };
                    let end = after(tokens, start, "[", "]");
                    let attribute = &tokens[start.min(end)..end];
                    let is_own = attribute == ["[", "test", "]"];
                    let is_cfg = attribute.contains(&"cfg") && !attribute.contains(&"not");
                    is_test |= is_own || (is_cfg && attribute.contains(&"test"));
                    at = end;
                    continue;
                }
                "pub" => {
                    is_public = true;
                    at = if next == "(" { after(tokens, at + 1, "(", ")") } else { at + 1 };
                    continue;
                }
                "mod" if matches!(tokens.get(at + 2), Some(&(";" | "{"))) => {
                    at = self.child(module, &tokens[at..], folder, is_test) + at;
                }
                _ if is_test => at = after_item(tokens, at),
                "use" => at = self.import(module, tokens, at + 1, is_public),
                "macro_rules" => {
                    self.all[module].items.extend(tokens.get(at + 2));
                    at += 3;
                }
                _ if ITEMS.contains(&token) && is_name(next) && !ITEMS.contains(&next) => {
                    // What is inside of another item cannot be named from elsewhere.
                    if depth == 0 {
                        self.all[module].items.insert(next);
                    }
                    at += 2;
                }
                _ if is_name(token) => {
                    let path = path_at(tokens, at);
                    let follows = tokens.get(at + 2 * path.len() - 1).copied().unwrap_or_default();
                    let is_field =
                        at > 0 && tokens[at - 1] == "." && (at < 2 || tokens[at - 2] != ".");
                    // A lower-case name that is not called is a variable or a field.
                    let is_use = path.len() > 1
                        || token.starts_with(char::is_uppercase)
                        || matches!(follows, "(" | "!");
                    at += 2 * path.len() - 1;
                    if is_use && !is_field {
                        self.all[module].used.push(path);
                    }
                }
                _ => {
                    match token {
                        "{" => depth += 1,
                        "}" => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    at += 1;
                    continue;
                }
            }
            (is_public, is_test) = (false, false);
        }
    }

    /// Reads `mod name;` or `mod name { … }`; gives how many tokens that is.
    fn child(&mut self, module: usize, tokens: &[&'t str], folder: &str, is_test: bool) -> usize {
        let name = tokens[1];
        let below = format!("{folder}/{name}");
        if tokens[2] == ";" {
            if !is_test && name != "tests" {
                let found = self.file(&format!("{below}.rs"), module, &below);
                self.all[module].children.extend(found.map(|found| (name, found)));
            }
            return 3;
        }
        let end = after(tokens, 2, "{", "}");
        if !is_test && name != "tests" {
            let child = self.module(self.all[module].file.clone(), module);
            self.contents(child, &tokens[3..end - 1], &below);
            self.all[module].children.insert(name, child);
        }
        end
    }

    /// Reads the tree of a `use`; gives where it ends.
    fn import(&mut self, module: usize, tokens: &[&'t str], at: usize, is_public: bool) -> usize {
        let mut found = Vec::new();
        let end = use_tree(tokens, at, &mut Vec::new(), &mut found);
        for (path, name) in found {
            let module = &mut self.all[module];
            if name == "*" {
                module.globs.push(path);
                continue;
            }
            // A re-export alone uses nothing.
            if !is_public {
                module.used.push(path.clone());
            }
            module.imports.insert(name, path);
        }
        end
    }

    /// Which file uses what of which other.
    pub(super) fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (at, module) in self.all.iter().enumerate() {
            for path in &module.used {
                let Some(file) = self.find(at, path, MOST_HOPS) else { continue };
                if file != module.file {
                    let name = path.last().copied().unwrap_or_default();
                    let to = arrows.entry(module.file.clone()).or_default();
                    to.entry(file.to_owned()).or_default().insert(name.to_owned());
                }
            }
        }
        arrows
    }

    /// The file that defines what a path names, seen from a module.
    fn find(&self, module: usize, path: &[&str], hops: usize) -> Option<&str> {
        match path {
            ["crate", rest @ ..] => self.below(0, rest, hops),
            ["self", rest @ ..] => self.below(module, rest, hops),
            ["super", rest @ ..] => self.find_above(module, rest, hops),
            _ => self.below(module, path, hops),
        }
    }

    fn find_above(&self, module: usize, path: &[&str], hops: usize) -> Option<&str> {
        let parent = self.all[module].parent;
        match path {
            ["super", rest @ ..] => self.find_above(parent, rest, hops),
            path => self.below(parent, path, hops),
        }
    }

    fn below(&self, module: usize, path: &[&str], hops: usize) -> Option<&str> {
        let found = &self.all[module];
        let Some((first, rest)) = path.split_first() else { return Some(&found.file) };
        let hops = hops.checked_sub(1)?;
        if let Some(child) = found.children.get(first) {
            return self.below(*child, rest, hops);
        }
        if found.items.contains(first) {
            return Some(&found.file);
        }
        if let Some(import) = found.imports.get(first) {
            let whole: Vec<&str> = import.iter().chain(rest).copied().collect();
            return (whole.as_slice() != path).then(|| self.find(module, &whole, hops))?;
        }
        found.globs.iter().find_map(|glob| {
            let whole: Vec<&str> = glob.iter().chain(path).copied().collect();
            self.find(module, &whole, hops)
        })
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The path that begins at a name: `a::b::c`.
fn path_at<'t>(tokens: &[&'t str], at: usize) -> Vec<&'t str> {
    let mut path = vec![tokens[at]];
    let mut at = at + 1;
    while tokens.get(at) == Some(&"::") && tokens.get(at + 1).is_some_and(|name| is_name(name)) {
        path.push(tokens[at + 1]);
        at += 2;
    }
    path
}

/// Where what opens at `at` is closed.
fn after(tokens: &[&str], at: usize, open: &str, close: &str) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if *token == open {
            depth += 1;
        } else if *token == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index + 1;
            }
        }
    }
    tokens.len()
}

/// Where an item, a field or a statement ends.
fn after_item(tokens: &[&str], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match *token {
            "{" => return after(tokens, at, "{", "}"),
            ";" | "," => return at + 1,
            "(" => at = after(tokens, at, "(", ")"),
            "[" => at = after(tokens, at, "[", "]"),
            _ => at += 1,
        }
    }
    at
}

/// The imports of a tree, each a path and the name it gets; where the tree ends.
fn use_tree<'t>(
    tokens: &[&'t str],
    mut at: usize,
    prefix: &mut Vec<&'t str>,
    found: &mut Vec<(Vec<&'t str>, &'t str)>,
) -> usize {
    let length = prefix.len();
    while let Some(&token) = tokens.get(at) {
        match token {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = use_tree(tokens, at, prefix, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                at += 1;
                break;
            }
            "*" => {
                found.push((prefix.clone(), "*"));
                at += 1;
                break;
            }
            ";" | "," | "}" => break,
            name => {
                if name != "self" || prefix.is_empty() {
                    prefix.push(name);
                }
                at += 1;
                let renamed = tokens.get(at) == Some(&"as");
                if renamed {
                    found.push((prefix.clone(), tokens.get(at + 1).copied().unwrap_or_default()));
                    at += 2;
                    break;
                }
                if tokens.get(at) != Some(&"::") {
                    found.push((prefix.clone(), prefix.last().copied().unwrap_or_default()));
                    break;
                }
            }
        }
    }
    prefix.truncate(length);
    at
}
