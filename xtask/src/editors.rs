//! The grammars of editors: their structure is hand-written, their words come from opal's own tables, by way of
//! `opal self syntax --words`.

mod tree_sitter;
mod trial;
mod vscode;
mod zed;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::chores::{answers, run};
use crate::say;

pub(crate) use trial::test as try_out;
pub(crate) use vscode::pack;
pub(crate) use zed::make as make_zed;

/// The grammar of TextMate, in which `{{…}}` is a word list.
const TEMPLATE: &str = "editors/vscode/opal.tmLanguage.template.json";
const TEXTMATE: &str = "editors/vscode/syntaxes/opal.tmLanguage.json";

/// The paths that the scanner of the tree-sitter grammar knows.
const VOCABULARY: &str = "editors/tree-sitter-opal/src/vocabulary.h";
const HIGHLIGHTS: &str = "editors/tree-sitter-opal/queries/highlights.scm";
const KATE: &str = "editors/kate/opal.xml";
const EMACS: &str = "editors/emacs/opal-mode.el";

/// Writes what is generated, or only says whether it is current.
pub(crate) fn make(root: &Path, check: bool) -> Result<(), String> {
    run(root, &["cargo", "build", "--quiet", "--workspace", "--bin", "opal"])?;
    let opal = root.join("target/debug/opal").display().to_string();
    let words = answers(&[&opal, "self", "syntax", "--words", "--json"])
        .ok_or("`opal self syntax --words` failed")?;
    let words = Words::read(&words)?;
    let mut stale = Vec::new();
    for (path, text) in files(root, &words)? {
        let is_current = fs::read_to_string(root.join(&path)).is_ok_and(|current| current == text);
        if is_current {
            continue;
        }
        if !check {
            fs::write(root.join(&path), text).map_err(|error| format!("`{path}`: {error}"))?;
            say(&format!("wrote {path}"));
        }
        stale.push(path);
    }
    match check && !stale.is_empty() {
        true => Err(format!("stale: {}; write them with `cargo xtask editors`", stale.join(", "))),
        false => Ok(()),
    }
}

/// What is generated: paths and texts.
fn files(root: &Path, words: &Words) -> Result<Vec<(String, String)>, String> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("`{path}`: {error}"))
    };
    let mut files = vec![
        (TEXTMATE.to_owned(), textmate(&read(TEMPLATE)?, words)?),
        (VOCABULARY.to_owned(), vocabulary(words)),
        (HIGHLIGHTS.to_owned(), highlights(&read(HIGHLIGHTS)?, words)?),
        (KATE.to_owned(), kate(&read(KATE)?, words)?),
        (EMACS.to_owned(), emacs(&read(EMACS)?, words)?),
    ];
    files.extend(tree_sitter::generated(root)?);
    Ok(files)
}

/// Copies files and folders, without what an editor or `npm` may have left among the sources.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            _ if entry.file_name() == "node_modules" || entry.file_name() == "out" => {}
            true => copy(&entry.path(), &target)?,
            false => {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

struct Words {
    keywords: Vec<String>,
    types: Vec<String>,
    paths: Vec<Known>,
}

/// A path and what may be done with it.
struct Known {
    path: String,
    value: bool,
    action: bool,
    endpoint: bool,
    text: bool,
    named: bool,
}

impl Words {
    fn read(document: &str) -> Result<Self, String> {
        let document: Value = serde_json::from_str(document)
            .map_err(|error| format!("`opal self syntax --words`: {error}"))?;
        let list = |key: &str| -> Vec<String> {
            let words = document[key].as_array().into_iter().flatten();
            words.filter_map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        let mut paths: Vec<Known> = (document["paths"].as_array().into_iter().flatten())
            .map(|it| Known {
                path: it["path"].as_str().unwrap_or_default().to_owned(),
                value: it["value"] == true,
                action: it["action"] == true,
                endpoint: it["endpoint"] == true,
                text: it["text"] == true,
                named: it["named"] == true,
            })
            .collect();
        // The longest first: a pattern takes the first that fits.
        paths.sort_by(|one, other| {
            (other.path.len(), &one.path).cmp(&(one.path.len(), &other.path))
        });
        let words = Self { keywords: list("keywords"), types: list("types"), paths };
        match words.keywords.is_empty() || words.types.is_empty() || words.paths.is_empty() {
            true => Err("`opal self syntax --words` has an empty list".to_owned()),
            false => Ok(words),
        }
    }

    /// A pattern for some of the paths, as it is written in JSON.
    fn pattern(&self, is_one: impl Fn(&Known) -> bool) -> String {
        let paths: Vec<String> = (self.paths.iter().filter(|path| is_one(path)))
            .map(|path| {
                let name = if path.named { format!("(?:\\\\.{NAME})?") } else { String::new() };
                path.path.replace('.', "\\\\.") + &name
            })
            .collect();
        paths.join("|")
    }
}

const NAME: &str = "[A-Za-z_][A-Za-z0-9_]*";

/// Text blocks whose text is SQL.
const SQL: [&str; 3] = ["mysql", "psql", "sqlite"];

fn textmate(template: &str, words: &Words) -> Result<String, String> {
    let mut text = template.to_owned();
    let lists = [
        ("name", NAME.to_owned()),
        ("word", "[A-Za-z0-9_]".to_owned()),
        ("types", words.types.join("|")),
        ("paths", words.pattern(|_| true)),
        ("values", words.pattern(|it| it.value)),
        ("actions", words.pattern(|it| it.action)),
        ("endpoints", words.pattern(|it| it.endpoint || !it.value)),
        ("texts", words.pattern(|it| it.text)),
        ("sql", words.pattern(|it| SQL.contains(&it.path.as_str()))),
    ];
    for (name, list) in lists {
        text = text.replace(&format!("{{{{{name}}}}}"), &list);
    }
    // Keywords are in the structure, one by one.
    let is_known = |word: &&String| template.contains(word.trim_end_matches('?'));
    if let Some(word) = words.keywords.iter().find(|word| !is_known(word)) {
        return Err(format!("`{TEMPLATE}` has no rule for the keyword `{word}`"));
    }
    let mut grammar: Value =
        serde_json::from_str(&text).map_err(|error| format!("`{TEMPLATE}`: {error}"))?;
    if let Some(at) = text.find("{{") {
        return Err(format!(
            "`{TEMPLATE}`: unknown list: {}",
            &text[at..(at + 20).min(text.len())]
        ));
    }
    grammar["information_for_contributors"] =
        format!("Written by `cargo xtask editors` from {TEMPLATE}.").into();
    Ok(format!("{grammar:#}\n"))
}

fn vocabulary(words: &Words) -> String {
    let mut text = String::from(
        "// Written by `cargo xtask editors` from the decorators that come with opal.\n\n\
         enum { VALUE = 1, ACTION = 2, ENDPOINT = 4, TEXT = 8, NAMED = 16 };\n\n\
         static const struct { const char *path; unsigned char kind; } PATHS[] = {\n",
    );
    let mut paths: Vec<&Known> = words.paths.iter().collect();
    paths.sort_by(|one, other| one.path.cmp(&other.path));
    for it in paths {
        let flags = [
            (it.value, "VALUE"),
            (it.action, "ACTION"),
            (it.endpoint, "ENDPOINT"),
            (it.text, "TEXT"),
            (it.named, "NAMED"),
        ];
        let set: Vec<&str> =
            flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
        let set = if set.is_empty() { "0".to_owned() } else { set.join(" | ") };
        text.push_str(&format!("    {{\"{}\", {set}}},\n", it.path));
    }
    text + "};\n"
}

/// The keywords and types of a query, between `; words` and `; end of words`.
fn highlights(current: &str, words: &Words) -> Result<String, String> {
    let keywords = lines(&words.keywords, |word| format!("  \"{word}\"\n"));
    let types = lines(&words.types, |word| format!(" \"{word}\""));
    let list = format!(
        "[\n{keywords}] @keyword\n\n((type_name) @type.builtin\n  (#any-of? @type.builtin{types}))\n"
    );
    between(current, ["; words\n", "; end of words\n"], &list)
}

fn kate(current: &str, words: &Words) -> Result<String, String> {
    let all = [&words.keywords[..], &words.types].concat();
    let list = lines(&all, |word| format!("      <item>{word}</item>\n"));
    between(current, ["      <!-- words -->\n", "      <!-- end of words -->\n"], &list)
}

fn emacs(current: &str, words: &Words) -> Result<String, String> {
    let all = [&words.keywords[..], &words.types].concat();
    let list = lines(&all, |word| format!("    \"{word}\"\n"));
    between(current, ["    ;; words\n", "    ;; end of words\n"], &list)
}

fn lines(words: &[String], line: impl Fn(&str) -> String) -> String {
    words.iter().map(|word| line(word)).collect()
}

/// The text with other lines between two marks.
fn between(current: &str, marks: [&str; 2], list: &str) -> Result<String, String> {
    let missing = |mark: &str| format!("no line `{}`", mark.trim());
    let (before, rest) = current.split_once(marks[0]).ok_or_else(|| missing(marks[0]))?;
    let (_, after) = rest.split_once(marks[1]).ok_or_else(|| missing(marks[1]))?;
    Ok([before, marks[0], list, marks[1], after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"keywords": ["fun"], "types": ["Int"], "paths": [
        {"path": "a", "value": true, "action": false, "endpoint": false, "text": false, "named": true},
        {"path": "a.b", "value": false, "action": true, "endpoint": true, "text": false, "named": false}]}"#;

    #[test]
    fn longer_paths_come_first_in_a_pattern() {
        let words = Words::read(DOCUMENT).unwrap();
        assert_eq!(words.pattern(|_| true), r"a\\.b|a(?:\\.[A-Za-z_][A-Za-z0-9_]*)?");
        assert_eq!(words.pattern(|it| it.action), r"a\\.b");
    }

    #[test]
    fn a_list_that_nobody_knows_is_refused() {
        let words = Words::read(DOCUMENT).unwrap();
        assert!(textmate(r#"{"fun": "{{types}}"}"#, &words).unwrap().contains("\"Int\""));
        assert!(textmate(r#"{"fun": "{{nothing}}"}"#, &words).unwrap_err().contains("{{nothing"));
        assert!(textmate("{}", &words).unwrap_err().contains("the keyword `fun`"));
        assert!(Words::read("{}").is_err());
    }

    #[test]
    fn only_the_marked_lines_of_a_query_are_written() {
        let words = Words::read(DOCUMENT).unwrap();
        let text = highlights("a\n; words\nold\n; end of words\nb\n", &words).unwrap();
        assert!(text.starts_with("a\n; words\n[\n  \"fun\"\n] @keyword\n"), "{text}");
        assert!(text.ends_with("\n; end of words\nb\n") && !text.contains("old"), "{text}");
        assert!(highlights("b\n", &words).is_err());
    }
}
