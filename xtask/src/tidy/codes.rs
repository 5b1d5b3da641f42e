//! Every diagnostic code has a page, which `opal explain` prints, and every page a code.

use super::{Finding, Tree};

const LIST: &str = "crates/opal-core/src/code.rs";
const PAGES: &str = "docs/errors/";
const INDEX: &str = "README";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.text(LIST) else {
        return vec![finding(LIST, 1, "the list of codes is gone", "name its new home in xtask")];
    };
    let codes: Vec<(usize, &str)> = codes(list).collect();
    if codes.is_empty() {
        return vec![finding(LIST, 1, "no code was found", "teach xtask the list's new form")];
    }
    let unexplained = codes.iter().filter(|(_, id)| !tree.holds(&page(id)));
    let unexplained = unexplained.map(|(line, id)| {
        let what = format!("`{id}` has no page `{}`", page(id));
        finding(LIST, *line, &what, "write it: what, why, an example, the way out")
    });
    let pages = tree.paths().filter_map(|path| path.strip_prefix(PAGES));
    let stray = pages.filter(|name| {
        let id = name.strip_suffix(".md").unwrap_or(name);
        id != INDEX && !codes.iter().any(|(_, known)| *known == id)
    });
    let stray = stray.map(|name| {
        let help = "correct its name, or delete it if the code was never released";
        finding(&format!("{PAGES}{name}"), 1, "a page without a code", help)
    });
    unexplained.chain(stray).collect()
}

fn page(id: &str) -> String {
    format!("{PAGES}{id}.md")
}

/// The lines like `"E0101" NotUtf8 Error "title";`, from 1, with their ids.
fn codes(list: &str) -> impl Iterator<Item = (usize, &str)> {
    list.lines().enumerate().filter_map(|(index, line)| {
        let (id, rest) = line.trim_start().strip_prefix('"')?.split_once('"')?;
        let (letter, digits) = id.split_at_checked(1)?;
        let is_id = ["E", "W", "N"].contains(&letter)
            && digits.len() == 4
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        (is_id && rest.ends_with(';')).then_some((index + 1, id))
    })
}

fn finding(path: &str, line: usize, what: &str, help: &'static str) -> Finding {
    Finding { path: path.to_string(), line, rule: "codes", what: what.to_string(), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_pages_are_matched_both_ways() {
        let list = "codes! {\n    \"E0101\" A Error \"a\";\n    \"W0102\" B Warning \"b\";\n}\n";
        let tree = Tree::of(&[
            (LIST, list),
            ("docs/errors/E0101.md", ""),
            ("docs/errors/E0109.md", ""),
            ("docs/errors/README.md", ""),
        ]);
        let found = check(&tree).into_iter().map(|finding| (finding.path, finding.line));
        let expected = [(LIST.to_string(), 3), ("docs/errors/E0109.md".to_string(), 1)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_a_finding() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        assert_eq!(check(&Tree::of(&[(LIST, "enum Code {}\n")])).len(), 1);
    }
}
