//! The files of a pack: nothing in them may tie it to one machine or one backend.
//!
//! Paths on the machines that a pack sets up are its business; paths of the machine that runs it are
//! not, and neither is where state is kept.

use opal_core::{Code, Diagnostic, Span};
use serde_json::Value;

use super::hcl;

/// Larger files are data and belong to no language that is looked through here.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// The keys of Ansible that read another file of the pack.
const INCLUDES: [&str; 6] =
    ["import_playbook", "import_tasks", "include_tasks", "include_vars", "vars_file", "vars_files"];

/// Whether a file of this name is looked into.
pub(super) fn is_read(name: &str) -> bool {
    [".hcl", ".tf", ".tofu", ".tf.json", ".tofu.json", ".sh", ".yml", ".yaml"]
        .iter()
        .any(|end| name.ends_with(end))
}

pub(super) fn check(name: &str, text: &str) -> Vec<Diagnostic> {
    scan(name, text).into_iter().map(Found::diagnostic).collect()
}

/// Whether a file of this name in a stack holds values that Terraform reads after the inputs, and
/// so would win over them: it goes by the order of names.
pub(crate) fn beats_inputs(name: &str) -> bool {
    let is_read = [".auto.tfvars", ".auto.tfvars.json"].iter().any(|end| name.ends_with(end));
    is_read && name > "inputs.auto.tfvars.json"
}

/// What is said of such a file.
pub(super) fn values() -> Diagnostic {
    let message =
        "the values in this file would override the inputs: Terraform reads it after theirs";
    Diagnostic::new(Code::PackContent, Span::at(0), message)
        .help("rename it to `terraform.tfvars`, which the inputs override, or remove it")
}

/// Whether a file of a pack says where state is kept.
pub(crate) fn keeps_state(name: &str, text: &str) -> bool {
    is_read(name) && scan(name, text).iter().any(|found| matches!(found, Found::Backend(_)))
}

fn scan(name: &str, text: &str) -> Vec<Found> {
    if name.ends_with(".json") {
        json(text)
    } else if name.ends_with(".sh") {
        shell(text)
    } else if name.ends_with(".yml") || name.ends_with(".yaml") {
        includes(text)
    } else {
        hcl::scan(text)
    }
}

/// Something that a pack must not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Backend(Span),
    AbsolutePath(Span),
}

impl Found {
    fn diagnostic(self) -> Diagnostic {
        let (span, message, help) = match self {
            Self::Backend(span) => (
                span,
                "a pack must not configure where state is stored",
                "remove the block: the driver and its profile write it for each run",
            ),
            Self::AbsolutePath(span) => (
                span,
                "an absolute path ties the pack to one machine",
                "write a path relative to the stack, or make it an input",
            ),
        };
        Diagnostic::new(Code::PackContent, span, message).help(help)
    }
}

/// The JSON form of Terraform's language.
fn json(text: &str) -> Vec<Found> {
    let Ok(document) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let blocks = match document.get("terraform") {
        Some(Value::Array(blocks)) => blocks.iter().collect(),
        Some(block) => vec![block],
        None => Vec::new(),
    };
    let holds = |block: &&Value| block.get("backend").or_else(|| block.get("cloud")).is_some();
    blocks.iter().filter(|block| holds(block)).map(|_| Found::Backend(Span::at(0))).collect()
}

/// Lines that are not comments, with where they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        (!line.trim_start().starts_with('#')).then_some((start, line))
    })
}

/// Directories of people, in a script that runs here.
fn shell(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for (start, line) in lines(text) {
        let mut at = start;
        for word in line.split_inclusive(|c: char| c.is_whitespace() || "\"'=:;|&()<>".contains(c))
        {
            let home = ["/home/", "/Users/"].iter().find_map(|home| word.strip_prefix(home));
            if home.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric())) {
                let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
                found.push(Found::AbsolutePath(span(at, at + end)));
            }
            at += word.len();
        }
    }
    found
}

/// Absolute paths of files that a playbook reads in.
fn includes(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for (start, line) in lines(text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let key = key.trim().trim_start_matches("- ").trim();
        let key = key.strip_prefix("ansible.builtin.").unwrap_or(key);
        let given = value.trim().trim_start_matches(['"', '\'', '[', ' ']);
        if INCLUDES.contains(&key) && given.starts_with('/') {
            let at = start + line.len() - value.len() + value.find('/').unwrap_or(0);
            found.push(Found::AbsolutePath(span(at, at + 1)));
        }
    }
    found
}

pub(super) fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let spans = check(name, text).into_iter().map(|one| one.primary.span);
        spans.map(|span| text[span.start as usize..span.end as usize].to_owned()).collect()
    }

    #[test]
    fn scripts_may_name_the_system_and_no_home() {
        let text = "#!/usr/bin/env bash\n# /home/me\ncd \"/home/me/repo\"\n. /etc/os-release\necho /home/$USER\n";
        assert_eq!(found("run.sh", text), ["/home/me/repo"]);
    }

    #[test]
    fn playbooks_may_write_anywhere_and_include_nothing_from_there() {
        let text = "- copy:\n    src: a\n    dest: /etc/a\n- import_tasks: \"/srv/tasks.yml\"\n- include_tasks: b.yml\n";
        assert_eq!(check("playbook.yml", text).len(), 1);
    }

    #[test]
    fn a_backend_is_found_in_the_json_form_too() {
        assert_eq!(check("a.tf.json", r#"{"terraform": [{"backend": {"s3": {}}}]}"#).len(), 1);
        assert_eq!(check("a.tf.json", r#"{"terraform": {"required_version": "1"}}"#).len(), 0);
    }
}
