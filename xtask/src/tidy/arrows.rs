//! Dependencies between our crates run one way, and the syntax takes only text, diagnostics and the
//! table of places in shell text from the core. Tests may use every crate.

use super::{Finding, Tree};

/// Each crate with those of ours it may use. `opal-testing` is for tests: nobody else has it.
const ARROWS: [(&str, &[&str]); 38] = [
    ("opal-core", &[]),
    ("opal-syntax", &["opal-core"]),
    ("opal-files", &[]),
    ("opal-yaml", &["opal-core"]),
    ("opal-plan", &["opal-core", "opal-syntax"]),
    ("opal-vault", &["opal-core", "opal-files"]),
    ("opal-html", &["opal-core", "opal-vault"]),
    ("opal-trust", &["opal-core", "opal-vault"]),
    ("opal-decorators", &["opal-core"]),
    ("opal-session", &["opal-core", "opal-files"]),
    ("opal-target", &["opal-session"]),
    (
        "opal-plugins",
        &[
            "opal-core",
            "opal-files",
            "opal-helper",
            "opal-plan",
            "opal-syntax",
            "opal-trust",
            "opal-vault",
            "opal-yaml",
        ],
    ),
    // What authors of plugins build against, and their kit, which is a workspace of its own.
    ("opal-plugin-api", &[]),
    ("opal-plugin", &[]),
    ("opal-package-common", &["opal-plugin"]),
    ("github", &["opal-package-common", "opal-plugin"]),
    ("health", &["opal-package-common", "opal-plugin"]),
    ("vault", &["opal-package-common", "opal-plugin"]),
    // A component for an editor: it names a program, and knows nothing of it.
    ("opal-zed", &[]),
    ("opal-plugin-host", &["opal-core", "opal-files", "opal-helper"]),
    (
        "opal-registry",
        &[
            "opal-core",
            "opal-files",
            "opal-helper",
            "opal-http",
            "opal-plugins",
            "opal-trust",
            "opal-vault",
        ],
    ),
    ("opal-remote", &["opal-core", "opal-files", "opal-session", "opal-yaml"]),
    ("opal-http", &["opal-core", "opal-files"]),
    ("opal-helper", &["opal-core", "opal-files"]),
    ("opal-template", &["opal-core"]),
    ("opal-terraform", &["opal-core", "opal-files", "opal-helper"]),
    (
        "opal-extra",
        &[
            "opal-convert",
            "opal-core",
            "opal-decorators",
            "opal-helper",
            "opal-http",
            "opal-plugins",
            "opal-registry",
            "opal-template",
        ],
    ),
    // What runs is a process of `opal`.
    ("opal-queue", &["opal-core", "opal-files", "opal-helper", "opal-trust", "opal-vault"]),
    // What it needs of planning and running it asks `opal` for, as a process.
    (
        "opal-serve",
        &[
            "opal-core",
            "opal-files",
            "opal-helper",
            "opal-html",
            "opal-http",
            "opal-lsp",
            "opal-trust",
            "opal-vault",
        ],
    ),
    // No values, no environment, no process: whoever opens a stranger's repository runs nothing of it.
    ("opal-lsp", &["opal-core", "opal-decorators", "opal-plan", "opal-plugins", "opal-syntax"]),
    ("opal-exec", &["opal-core", "opal-session", "opal-vault"]),
    ("opal-config", &["opal-core", "opal-syntax", "opal-plan", "opal-yaml"]),
    ("opal-convert", &["opal-config", "opal-core", "opal-syntax", "opal-plan"]),
    (
        "opal-modules",
        &[
            "opal-config",
            "opal-core",
            "opal-decorators",
            "opal-files",
            "opal-plan",
            "opal-session",
            "opal-syntax",
            "opal-trust",
            "opal-vault",
            "opal-yaml",
        ],
    ),
    (
        "opal-ops",
        &[
            "opal-config",
            "opal-core",
            "opal-decorators",
            "opal-exec",
            "opal-files",
            "opal-modules",
            "opal-plan",
            "opal-session",
            "opal-syntax",
            "opal-trust",
            "opal-vault",
        ],
    ),
    (
        "opal-cli",
        &[
            "opal-config",
            "opal-convert",
            "opal-core",
            "opal-decorators",
            "opal-exec",
            "opal-extra",
            "opal-files",
            "opal-helper",
            "opal-html",
            "opal-modules",
            "opal-ops",
            "opal-plan",
            "opal-plugins",
            "opal-remote",
            "opal-session",
            "opal-syntax",
            "opal-template",
            "opal-trust",
            "opal-vault",
        ],
    ),
    (
        "opal-testing",
        &[
            "opal-core",
            "opal-decorators",
            "opal-exec",
            "opal-plan",
            "opal-session",
            "opal-syntax",
            "opal-template",
            "opal-trust",
            "opal-vault",
        ],
    ),
    ("xtask", &[]),
];

/// What the syntax may take from the core: places (in sources and in shell text), diagnostics, and the
/// written form of durations.
const CORE_FOR_SYNTAX: [&str; 17] = [
    "Code",
    "Group",
    "Diagnostic",
    "Duration",
    "Edit",
    "Fix",
    "Label",
    "LineIndex",
    "Position",
    "Severity",
    "Span",
    "code",
    "context",
    "diagnostic",
    "duration",
    "script",
    "text",
];

/// What the editor server must not use of the crates that it may use: planning, and running packages.
const NOT_FOR_EDITORS: [(&str, &[&str]); 3] = [
    ("opal_plan", &["plan"]),
    ("opal_plugins", &["adapt", "client", "suite"]),
    ("opal_core", &["resolver", "action"]),
];

/// A crate as a whole.
const WHOLE: [&str; 3] = ["", "*", "self"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    // `packages/Cargo.toml` is only a workspace, as the one at the top is.
    let is_crate = |path: &str| !path.starts_with("fuzz/") && path != "packages/Cargo.toml";
    let manifests = tree.texts("/Cargo.toml").filter(|(path, _)| is_crate(path));
    let mut findings: Vec<Finding> =
        manifests.flat_map(|(path, text)| check_manifest(path, text)).collect();
    let syntax = tree.texts(".rs").filter(|(path, _)| path.starts_with("crates/opal-syntax/src/"));
    for (path, text) in syntax {
        for (line, item) in items(text, "opal_core") {
            if !CORE_FOR_SYNTAX.contains(&item) {
                let what = format!("the syntax uses `{item}` of opal-core");
                let help = "keep to text and diagnostics; what needs more belongs in another crate";
                findings.push(finding(path, line, what, help));
            }
        }
    }
    let editor = tree.texts(".rs").filter(|(path, _)| path.starts_with("crates/opal-lsp/src/"));
    for (path, text) in editor {
        for (name, modules) in NOT_FOR_EDITORS {
            let used = items(text, name).into_iter();
            for (line, item) in used.filter(|(_, it)| modules.contains(it) || WHOLE.contains(it)) {
                let what = format!("the editor server uses `{name}::{item}`");
                let help = "keep to names, syntax, checks and manifests: it plans and runs nothing";
                findings.push(finding(path, line, what, help));
            }
        }
    }
    findings
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let name = entries(text).find(|(_, section, key, _)| (*section, *key) == ("package", "name"));
    let name = name.map_or("", |(_, _, _, value)| value.trim_matches('"'));
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        let what = format!("the crate `{name}` has no place in the order");
        return vec![finding(path, 1, what, "add it to `ARROWS` in xtask/src/tidy/arrows.rs")];
    };
    let used = dependencies(text).filter(|(_, used)| is_ours(used) && !allowed.contains(used));
    let used = used.map(|(line, used)| {
        let help = "move the code to where the dependency is allowed, or turn the call around";
        finding(path, line, format!("`{name}` may not depend on `{used}`"), help)
    });
    used.collect()
}

fn is_ours(name: &str) -> bool {
    name.starts_with("opal") || name == "xtask"
}

/// The dependencies of a manifest for every target, by their real names; not those of its tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let tables = manifest.lines().enumerate().filter_map(|(index, line)| {
        let table = line.trim().strip_prefix('[')?.strip_suffix(']')?;
        let (kind, name) = table.rsplit_once('.')?;
        is_shipped(kind).then_some((index + 1, name))
    });
    let entries = entries(manifest).filter_map(|(line, section, key, value)| {
        let (_, inner) = section.rsplit_once('.').unwrap_or_default();
        let (kind, _) = section.rsplit_once('.').unwrap_or((section, ""));
        if is_shipped(section) {
            let renamed = value.split_once("package").map(|(_, rest)| rest);
            let renamed = renamed.and_then(|rest| rest.split('"').nth(1));
            let (plain, _) = key.split_once('.').unwrap_or((key, ""));
            Some((line, renamed.unwrap_or(plain)))
        } else if key == "package" && !inner.is_empty() && is_shipped(kind) {
            Some((line, value.trim_matches('"')))
        } else {
            None
        }
    });
    tables.chain(entries)
}

fn is_shipped(section: &str) -> bool {
    section.ends_with("dependencies") && !section.ends_with("dev-dependencies")
}

/// The lines `key = value`, from 1, with the section they are in.
fn entries(manifest: &str) -> impl Iterator<Item = (usize, &str, &str, &str)> {
    let mut section = "";
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            return None;
        }
        let (key, value) = line.split_once('=')?;
        Some((index + 1, section, key.trim().trim_matches('"'), value.trim()))
    })
}

/// The first names after `NAME::`, from a plain path or from a list in braces; an empty name
/// for a use of the crate as a whole. Comments may speak of anything.
fn items<'s>(source: &'s str, name: &str) -> Vec<(usize, &'s str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut items = Vec::new();
    for (at, _) in source.match_indices(name) {
        let start = source[..at].rfind('\n').map_or(0, |end| end + 1);
        let rest = &source[at + name.len()..];
        let is_longer = source[..at].ends_with(is_part) || rest.starts_with(is_part);
        if is_longer || source[start..at].contains("//") {
            continue;
        }
        let line = source[..at].matches('\n').count() + 1;
        match rest.strip_prefix("::") {
            Some(list) if list.starts_with('{') => {
                items.extend(list_heads(&list[1..]).map(|head| (line, head)));
            }
            Some(path) => items.push((line, head(path))),
            None => items.push((line, "")),
        }
    }
    items
}

/// The heads of the paths in a list, up to its closing brace; lists inside are skipped.
fn list_heads(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 1_usize;
    let mut starts = vec![0];
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 1 => starts.push(at + 1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    let items = starts.into_iter().map(|start| list[start..].trim_start());
    items.filter(|item| !item.starts_with('}')).map(head)
}

fn head(path: &str) -> &str {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    &path[..end.unwrap_or(path.len())]
}

fn finding(path: &str, line: usize, what: String, help: &'static str) -> Finding {
    Finding { path: path.to_string(), line, rule: "arrows", what, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn every_form_of_dependency_is_seen() {
        let manifest = "[package]\nname = \"opal-core\"\n\
                        [dependencies]\nstrsim.workspace = true\nopal-cli = { path = \"x\" }\n\
                        [dev-dependencies]\nopal-syntax.workspace = true\n\
                        [target.'cfg(unix)'.build-dependencies]\nx = { package = \"xtask\" }\n\
                        [dependencies.opal-plan]\nworkspace = true\n\
                        [dependencies.renamed]\npackage = \"opal-lsp\"\n";
        let lines: Vec<usize> = {
            let mut lines: Vec<_> = found("crates/opal-core/Cargo.toml", manifest);
            lines.sort();
            lines.into_iter().map(|(line, _)| line).collect()
        };
        assert_eq!(lines, [5, 9, 10, 13]);
    }

    #[test]
    fn arrows_that_run_down_are_fine_and_new_crates_are_asked_for() {
        let fine = "[package]\nname = \"opal-plan\"\n[dependencies]\nopal-core.workspace = true\n";
        assert_eq!(found("crates/opal-plan/Cargo.toml", fine), []);
        let new = "[package]\nname = \"opal-new\"\n";
        assert_eq!(found("crates/opal-new/Cargo.toml", new).len(), 1);
    }

    #[test]
    fn the_syntax_sees_only_text_and_diagnostics() {
        let source = "use opal_core::{Code, text::{Span, Other},\n    Registry};\n\
                      //! [`opal_core::Value`] is far away.\n\
                      fn a(b: opal_core::Type) {}\nuse opal_core as core;\nuse opal_core::*;\n";
        let items = items(source, "opal_core");
        let expected = [(1, "Code"), (1, "text"), (1, "Registry"), (4, "Type"), (5, ""), (6, "*")];
        assert_eq!(items, expected);
        assert_eq!(found("crates/opal-syntax/src/lib.rs", source).len(), 4);
        assert_eq!(found("crates/opal-plan/src/lib.rs", source).len(), 0);
    }

    #[test]
    fn the_editor_server_does_not_plan_however_it_is_written() {
        let fine = "use opal_plan::{check, lower::{self, Proofs}};\n// opal_plan::plan\n";
        assert_eq!(found("crates/opal-lsp/src/lib.rs", fine), []);
        for used in [
            "use opal_plan::plan::Request;\n",
            "use opal_plan::{\n    lower,\n    plan::{self, Request},\n};\n",
            "use opal_plan::*;\n",
            "use opal_plan as other;\n",
            "fn a() { opal_plan::plan::make(); }\n",
            "use opal_plugins::{adapt::Code, lock};\n",
        ] {
            assert_eq!(found("crates/opal-lsp/src/lib.rs", used).len(), 1, "{used}");
        }
    }
}
