//! Files of one crate that need each other form a ring: none can be read, tested or moved alone. Rings of
//! more than [`MOST`] files are findings.
//!
//! ```text
//! texts ──tokens──▶ modules ──names──▶ arrows: file → file ──components──▶ rings
//! ```
//!
//! An arrow runs from a file that uses an item to the file that defines it, whatever re-exports are in
//! between. Declaring a module or re-exporting an item makes no arrow, and tests count for nothing.

mod modules;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Tree};
use modules::Modules;

/// Files in a ring that can still be read as one.
const MOST: usize = 5;

/// By file: the files whose items it uses, with the names of those.
type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let roots = tree.paths().filter(|path| {
        path.starts_with("crates/")
            && (path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs"))
    });
    roots.flat_map(|root| check_crate(tree, root)).collect()
}

fn check_crate(tree: &Tree, root: &str) -> Vec<Finding> {
    let arrows = Modules::read(tree, root).arrows();
    let rings = rings(&arrows).into_iter().filter(|ring| ring.len() > MOST);
    rings.map(|ring| finding(&ring, &arrows)).collect()
}

fn finding(ring: &BTreeSet<String>, arrows: &Arrows) -> Finding {
    let mut what = format!("{} files need each other:", ring.len());
    for from in ring {
        let inside = arrows[from].iter().filter(|(to, _)| ring.contains(*to));
        for (to, names) in inside {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            what.push_str(&format!("\n    {from} -> {to}: {}", names.join(", ")));
        }
    }
    Finding {
        path: ring.first().cloned().unwrap_or_default(),
        line: 1,
        rule: "rings",
        what,
        help: "move what they share to a file that needs none of them",
    }
}

/// The strongly connected components with more than one file (Tarjan), each sorted.
fn rings(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let mut search = Search::new(arrows);
    for file in arrows.keys() {
        if !search.index.contains_key(file.as_str()) {
            search.visit(file);
        }
    }
    search.rings
}

struct Search<'a> {
    arrows: &'a Arrows,
    index: BTreeMap<&'a str, usize>,
    lowest: BTreeMap<&'a str, usize>,
    open: Vec<&'a str>,
    rings: Vec<BTreeSet<String>>,
}

impl<'a> Search<'a> {
    fn new(arrows: &'a Arrows) -> Self {
        let (index, lowest) = (BTreeMap::new(), BTreeMap::new());
        Self { arrows, index, lowest, open: Vec::new(), rings: Vec::new() }
    }

    fn visit(&mut self, file: &'a str) {
        let own = self.index.len();
        self.index.insert(file, own);
        self.lowest.insert(file, own);
        self.open.push(file);
        for next in self.arrows.get(file).into_iter().flat_map(BTreeMap::keys) {
            let reached = match self.index.get(next.as_str()) {
                None => {
                    self.visit(next);
                    self.lowest[next.as_str()]
                }
                Some(index) if self.open.contains(&next.as_str()) => *index,
                Some(_) => continue,
            };
            let lowest = self.lowest[file].min(reached);
            self.lowest.insert(file, lowest);
        }
        if self.lowest[file] == own {
            let start = self.open.iter().position(|open| *open == file).unwrap_or_default();
            let ring: BTreeSet<String> = self.open.drain(start..).map(str::to_owned).collect();
            if ring.len() > 1 {
                self.rings.push(ring);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/x/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let arrows = Modules::read(&Tree::of(&files), "crates/x/src/lib.rs").arrows();
        let short = |path: &str| path.trim_start_matches("crates/x/src/").to_owned();
        let all = arrows.iter().flat_map(|(from, to)| {
            to.keys().map(move |to| format!("{} {}", short(from), short(to)))
        });
        all.collect()
    }

    #[test]
    fn a_use_is_an_arrow_to_the_file_that_defines_the_item() {
        let root = "mod a;\nmod b;\npub use b::Thing;\n";
        let b = "mod c;\npub(crate) use c::*;\npub(crate) struct Thing;\n";
        let c = "pub(crate) fn deep() {}\npub(crate) struct Far;\n";
        for (a, expected) in [
            ("use crate::Thing;", vec!["a.rs b.rs"]),
            ("use crate::b::{Thing, deep as below};", vec!["a.rs b.rs", "a.rs b/c.rs"]),
            ("fn f() { super::b::deep(); }", vec!["a.rs b/c.rs"]),
            ("fn f(x: &crate::b::Far) {}", vec!["a.rs b/c.rs"]),
            ("use crate::b;\nfn f() { b::deep(); }", vec!["a.rs b.rs", "a.rs b/c.rs"]),
            ("use std::fmt;\nfn b() {}\nfn f(b: u8) { b(); x.deep(); }", vec![]),
            (
                "// crate::Thing\nconst X: &str = \"crate::Thing\"; const Y: &str = r#\"crate::b::\"Far\"#;",
                vec![],
            ),
            ("pub use crate::b::Thing;", vec![]),
            ("pub use crate::b::Thing;\nfn f() -> Thing { Thing }", vec!["a.rs b.rs"]),
            ("#[cfg(test)]\nmod tests { use crate::Thing; }", vec![]),
            ("#[test]\nfn f() { crate::b::deep(); }", vec![]),
            ("mod inside { use crate::Thing; }", vec!["a.rs b.rs"]),
            (
                "fn f<'c>(x: &'c str) { let c = 'c'; let q = '\\''; crate::b::deep(); }",
                vec!["a.rs b/c.rs"],
            ),
        ] {
            let files = [("lib.rs", root), ("a.rs", a), ("b.rs", b), ("b/c.rs", c)];
            assert_eq!(arrows(&files), expected, "{a}");
        }
    }

    #[test]
    fn a_ring_of_more_than_five_files_is_found_and_a_smaller_one_is_not() {
        let files = |count: usize| {
            let root: String = (0..count).map(|at| format!("mod m{at};\n")).collect();
            let mut files = vec![("crates/opal-x/src/lib.rs".to_owned(), root)];
            for at in 0..count {
                let text = format!("use super::m{}::T;\npub(crate) struct T;\n", (at + 1) % count);
                files.push((format!("crates/opal-x/src/m{at}.rs"), text));
            }
            files
        };
        for (count, expected) in [(5, 0), (6, 1)] {
            let files = files(count);
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let findings = check(&Tree::of(&files));
            assert_eq!(findings.len(), expected, "{findings:?}");
            assert!(
                findings.iter().all(|it| it.what.contains("m5.rs -> crates/opal-x/src/m0.rs: T"))
            );
        }
    }
}
