//! Documents and Rust sources are written in plain English: some words have a better one.
//!
//! Code is not prose: fenced blocks and text in backticks may quote what a program prints. Of a
//! Rust source, comments, strings and names are prose ([`rust`]).

mod rust;

use super::{Finding, Tree};

const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];
const FOLDER: &str = "docs/";

struct Word {
    avoid: &'static [&'static str],
    write: &'static str,
    /// Phrases that contain the word and are fine.
    unless: &'static [&'static str],
}

const fn word(avoid: &'static [&'static str], write: &'static str) -> Word {
    Word { avoid, write, unless: &[] }
}

const WORDS: [Word; 21] = [
    Word {
        avoid: &["is no", "are no", "was no"],
        write: "write `is not a …`, `invalid …` or `unknown …`",
        unless: &[
            "there is no",
            "there are no",
            "there was no",
            "is no longer",
            "are no longer",
            "was no longer",
            // A function of the HTTP client.
            "is no proxy",
        ],
    },
    word(&["known are"], "write `expected one of: …`"),
    word(&["is wanted", "are wanted"], "write `expects …, got …`"),
    word(&["goes from", "go from"], "write `must be between … and …`"),
    word(&["behind"], "write `after`"),
    Word { avoid: &["stands"], write: "write `is` or `appears`", unless: &["stands for"] },
    word(&["of today"], "write `current`"),
    word(&["anew"], "write `again`"),
    word(
        &["a look", "looks at", "look at", "looked at", "looking at"],
        "write `verify` or `check`",
    ),
    word(&["as described"], "write `in the desired state`"),
    word(&["bring about", "brings about", "brought about"], "write `apply`"),
    word(&["told"], "write `reported`"),
    word(&["learnt"], "write `captured`"),
    word(&["mend", "mends", "mended"], "write `fix`"),
    word(&["slip", "slips"], "write `typo`"),
    word(&["leave away", "leaves away", "left away"], "write `omit`"),
    word(&["belong into", "belongs into"], "write `belongs in`"),
    word(&["circle", "circles"], "write `cycle`"),
    word(&["time is over", "time was over"], "write `timed out after …`"),
    word(&["nothing to complain about"], "write `no problems found`"),
    word(&["side by side"], "write `in parallel` or `next to each other`"),
];

/// Sources that the rule does not read: the list itself with its tests, and the command line, whose
/// messages are still to be rewritten.
const UNREAD: [&str; 2] = ["xtask/src/tidy/words", "crates/opal-cli/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_document = |path: &str| DOCUMENTS.contains(&path) || path.starts_with(FOLDER);
    let documents = tree.texts(".md").filter(|(path, _)| is_document(path));
    let documents = documents.map(|(path, text)| (path, prose(text)));
    let is_read = |path: &str| !UNREAD.iter().any(|unread| path.starts_with(unread));
    let sources = tree.texts(".rs").filter(|(path, _)| is_read(path));
    let sources = sources.map(|(path, text)| (path, rust::prose(text)));
    let mut findings = Vec::new();
    for (path, prose) in documents.chain(sources) {
        for word in &WORDS {
            for avoid in word.avoid {
                findings.extend(places(&prose, avoid, word.unless).map(|at| Finding {
                    path: path.to_string(),
                    line: prose[..at].matches(BREAK).count() + 1,
                    rule: "words",
                    what: format!("`{avoid}`"),
                    help: word.write,
                }));
            }
        }
    }
    findings
}

/// Takes the place of a line end, so that a phrase is found across two lines.
const BREAK: char = '\u{b}';

/// The text in lower case, with code blanked out. Each line end becomes one [`BREAK`].
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut is_fenced = false;
    let mut span: Option<usize> = None;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if line.trim().is_empty() {
            // A paragraph ends, and with it a lone backtick.
            span = None;
        } else if !is_fenced && !is_fence {
            push_prose(line, &mut span, &mut prose);
        }
        prose.push(BREAK);
    }
    prose
}

/// Adds a line without its code spans. A span ends with as many backticks as it began with.
fn push_prose(line: &str, span: &mut Option<usize>, prose: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        if span.is_none() {
            prose.push_str(&rest[..at].to_lowercase());
        }
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        *span = match *span {
            None => Some(ticks),
            Some(open) if open == ticks => None,
            open => open,
        };
        // A word on either side of code must not join another.
        prose.push('`');
        rest = &rest[at + ticks..];
    }
    if span.is_none() {
        prose.push_str(&rest.to_lowercase());
    }
}

/// Where a phrase appears on its own and is not part of one that is fine.
fn places<'a>(prose: &'a str, phrase: &'a str, unless: &'a [&str]) -> impl Iterator<Item = usize> {
    let words: Vec<&str> = phrase.split(' ').collect();
    let starts = prose.match_indices(words[0]).map(|(at, _)| at);
    starts.filter(move |&at| {
        let before = prose[..at].chars().next_back();
        let is_fine = unless.iter().any(|fine| {
            let lead = fine.find(phrase).unwrap_or(0);
            at.checked_sub(lead).is_some_and(|start| follows(prose, start, fine))
        });
        !before.is_some_and(joins) && follows(prose, at, phrase) && !is_fine
    })
}

/// Whether the words of a phrase follow each other from here, with one gap between each two.
fn follows(prose: &str, at: usize, phrase: &str) -> bool {
    let Some(mut rest) = prose.get(at..) else { return false };
    for (index, word) in phrase.split(' ').enumerate() {
        if index > 0 {
            match rest.strip_prefix([' ', BREAK]) {
                Some(next) => rest = next.trim_start_matches(' '),
                None => return false,
            }
        }
        match rest.strip_prefix(word) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    !rest.chars().next().is_some_and(joins)
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[("docs/guide/a.md", text)]);
        check(&tree).into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn every_word_is_found_in_prose_and_not_in_code() {
        for avoid in WORDS.iter().flat_map(|word| word.avoid) {
            let expected = vec![(3, format!("`{avoid}`"))];
            assert_eq!(found(&format!("# A\n\nIt {avoid} so.\n")), expected);
            assert_eq!(found(&format!("# A\n\n{} so.\n", avoid.to_uppercase())), expected);
            assert_eq!(found(&format!("`it {avoid} so` and ``a ` {avoid} `` b\n")), []);
            assert_eq!(found(&format!("```sh\nit {avoid} so\n```\n")), []);
            assert_eq!(found(&format!("x{avoid}, {avoid}x and un-{avoid}\n")), []);
        }
    }

    #[test]
    fn phrases_go_across_lines_and_code_spans_end_with_their_paragraph() {
        assert_eq!(found("what it brought\nabout\n"), [(1, "`brought about`".to_string())]);
        assert_eq!(found("a lone ` here\n\nit stands\n"), [(3, "`stands`".to_string())]);
        assert_eq!(found("`over\ntwo lines stands` here\n"), []);
    }

    #[test]
    fn phrases_that_contain_a_word_can_be_fine() {
        assert_eq!(found("There is no such file, and it is no longer\nthere.\n"), []);
        assert_eq!(found("there\nis no file\n"), []);
        assert_eq!(found("it is no file\n"), [(1, "`is no`".to_string())]);
    }

    #[test]
    fn other_files_are_not_read() {
        let tree = Tree::of(&[("CHANGELOG.md", "it stands"), ("README.md", "it stands")]);
        let paths: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["README.md"]);
    }

    #[test]
    fn comments_strings_and_names_of_sources_are_prose() {
        for source in ["// it told\n", "f(\"it told\");\n", "fn told_apart() {}\n"] {
            let tree = Tree::of(&[("crates/a/src/b.rs", source), ("crates/opal-cli/c.rs", source)]);
            let found: Vec<_> = check(&tree).into_iter().map(|it| (it.path, it.line)).collect();
            assert_eq!(found, [("crates/a/src/b.rs".to_string(), 1)], "{source}");
        }
    }
}
