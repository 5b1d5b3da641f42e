//! Files are where a reader looks for them, and each library opens with its map.

use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let named_mod = tree.paths().filter(|path| path.ends_with("/mod.rs"));
    let named_mod = named_mod.map(|path| Finding {
        path: path.to_string(),
        line: 1,
        rule: "layout",
        what: "a file called `mod.rs`".to_string(),
        help: "name it after its module and put it beside the module's folder",
    });
    let libraries = tree.texts("/src/lib.rs").filter(|(_, text)| !text.starts_with("//!"));
    let mapless = libraries.map(|(path, _)| Finding {
        path: path.to_string(),
        line: 1,
        rule: "layout",
        what: "a library without its map".to_string(),
        help: "begin with `//!`: what is here, what is deliberately not, where to look for what",
    });
    named_mod.chain(mapless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mod_files_and_libraries_without_a_map_are_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! The map.\n"),
            ("crates/b/src/lib.rs", "mod c;\n"),
            ("crates/b/src/c/mod.rs", ""),
            ("crates/b/src/d/my_mod.rs", ""),
        ]);
        let paths: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/b/src/c/mod.rs", "crates/b/src/lib.rs"]);
    }
}
