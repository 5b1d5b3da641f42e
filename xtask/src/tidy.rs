//! The rules no compiler knows. Each rule reads a [`Tree`] and returns its findings; the tests
//! below hold the repository to all of them.

mod arrows;
mod codes;
mod layout;
mod leftovers;
mod links;
mod rings;
mod sizes;
mod tree;
mod words;

pub(crate) use tree::Tree;

use std::fmt;

/// Where a rule is broken and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    rule: &'static str,
    what: String,
    help: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, help } = self;
        write!(f, "{path}:{line}: {rule}: {what}; {help}")
    }
}

/// All findings, by place.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let rules = [
        arrows::check,
        codes::check,
        layout::check,
        leftovers::check,
        links::check,
        rings::check,
        sizes::check,
        words::check,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn holds(check: impl Fn(&Tree) -> Vec<Finding>) {
        let tree = Tree::read(&crate::root()).expect("the repository can be read");
        let findings: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    #[test]
    fn dependencies_run_one_way() {
        holds(arrows::check);
    }

    #[test]
    fn every_code_has_a_page() {
        holds(codes::check);
    }

    #[test]
    fn files_are_where_they_are_looked_for() {
        holds(layout::check);
    }

    #[test]
    fn nothing_is_left_over() {
        holds(leftovers::check);
    }

    #[test]
    fn paths_in_documents_exist() {
        holds(links::check);
    }

    #[test]
    fn files_do_not_need_each_other_in_large_rings() {
        holds(rings::check);
    }

    #[test]
    fn documents_are_in_plain_english() {
        holds(words::check);
    }

    #[test]
    fn files_stay_short() {
        holds(sizes::check);
    }
}
