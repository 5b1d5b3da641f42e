//! Files of other tools, pasted or named: recognised as a whole, so that one error can say what
//! they are instead of a hundred that say what they are not.
//!
//! Sound: a text with a `fun` at the start of a line is opal's, whatever else is in it.

use opal_core::{Code, Diagnostic, Span};

/// Tools whose files look enough like ours to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Make,
    Just,
    Task,
    PackageJson,
}

impl Foreign {
    /// The tool that a text is for.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if text.lines().any(|line| line.starts_with("fun ")) {
            return None;
        }
        package_json(text).or_else(|| taskfile(text)).or_else(|| rules(text))
    }

    /// The one error about the text.
    #[must_use]
    pub fn diagnostic(self, text: &str) -> Diagnostic {
        let (file, help) = match self {
            Self::Make => (
                "a Makefile",
                "write each rule as `fun NAME() { … }`, each prerequisite as `@needs.NAME()`, \
                 and `$(VAR)` as `@var.VAR`",
            ),
            Self::Just => (
                "a justfile",
                "write each recipe as `fun NAME(PARAMETERS) { … }`, each dependency as \
                 `@needs.NAME()`, and `{{x}}` as `@var.x`",
            ),
            Self::Task => (
                "a Taskfile",
                "write each task as `fun NAME() { … }` with one command a line, each dependency as \
                 `@needs.NAME()`, and `{{.X}}` as `@var.X`",
            ),
            Self::PackageJson => (
                "a package.json",
                "write each script as `fun NAME() = command`; `npm run NAME` works as a command too",
            ),
        };
        let start = text.len() - text.trim_start().len();
        let line = text[start..].lines().next().unwrap_or_default().len();
        let span = Span::new(start as u32, (start + line) as u32);
        let message = format!("this looks like {file}; opal reads its own language");
        let convert = "to convert it: `opal convert FILE -o commands.opl`";
        Diagnostic::new(Code::ForeignFile, span, message).help(convert).help(help)
    }
}

fn package_json(text: &str) -> Option<Foreign> {
    let inner = text.trim_start().strip_prefix('{')?.trim_start();
    let is_one =
        inner.starts_with('"') && ["\"scripts\"", "\"name\""].iter().any(|k| text.contains(k));
    is_one.then_some(Foreign::PackageJson)
}

fn taskfile(text: &str) -> Option<Foreign> {
    let tasks = text.lines().any(|line| line.trim_end() == "tasks:");
    let version = text.lines().any(|line| line.starts_with("version:"));
    (tasks && version).then_some(Foreign::Task)
}

/// Heads `name …:` at the start of a line, each with an indented line below it: several of them, or
/// one beside something else of Make or just. A single one has an error of its own.
fn rules(text: &str) -> Option<Foreign> {
    let mut lines = text.lines().peekable();
    let (mut count, mut tabs) = (0, 0);
    while let Some(line) = lines.next() {
        let Some(below) = lines.peek().filter(|below| below.starts_with([' ', '\t'])) else {
            continue;
        };
        if is_head(line) && !below.trim().is_empty() {
            count += 1;
            tabs += usize::from(below.starts_with('\t'));
        }
    }
    if count == 0 || count == 1 && !has_marks(text) {
        return None;
    }
    // Make wants tabs, just takes either.
    let is_just = tabs < count || has_just(text);
    Some(if is_just { Foreign::Just } else { Foreign::Make })
}

fn has_marks(text: &str) -> bool {
    has_just(text) || [".PHONY:", " := ", " ?= ", "@just "].iter().any(|mark| text.contains(mark))
}

fn is_head(line: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || "_-.%/@".contains(c);
    let line = line.split('#').next().unwrap_or_default().trim_end();
    let Some((head, after)) = line.split_once(':') else { return false };
    let begins = head.chars().next().is_some_and(|c| name(c) && c != '-');
    let is_rule = after.is_empty() || after.starts_with(' ') && !after.trim().starts_with('{');
    // With something to run on the line it may be a label of ours.
    let needs = after.split_whitespace().all(|word| word.chars().all(name));
    let words =
        head.split_whitespace().all(|word| word.chars().all(|c| name(c) || "+*='\"".contains(c)));
    begins && is_rule && needs && words
}

fn has_just(text: &str) -> bool {
    text.contains("{{")
        || text.lines().any(|line| line.starts_with("set ") || line.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_distinguished() {
        for (text, tool) in [
            ("all: build\n\t./run\nbuild:\n\tcc x.c\n", Some(Foreign::Make)),
            (".PHONY: all\nall:\n\techo $(X)\n", Some(Foreign::Make)),
            (
                "set dotenv-load\n\nbuild target='x':\n    cargo build {{target}}\n",
                Some(Foreign::Just),
            ),
            ("default:\n  @just --list\n", Some(Foreign::Just)),
            (
                "version: '3'\n\ntasks:\n  build:\n    cmds:\n      - go build\n",
                Some(Foreign::Task),
            ),
            ("{\n  \"name\": \"x\",\n  \"scripts\": {}\n}\n", Some(Foreign::PackageJson)),
            ("build: cargo build\ntest: {\n    cargo test\n}\n", None),
            ("fun build() {\n    echo a:\n        echo b\n}\n", None),
            ("echo hello\nif x {\n    echo a\n}\n", None),
            ("cat <<X\nkey:\n  value\nX\n", None),
            ("build: deps\n\tmake\n", None),
        ] {
            assert_eq!(Foreign::of(text), tool, "{text}");
        }
    }
}
