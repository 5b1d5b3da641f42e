//! What specs of every kind have in common: one YAML document, its kind, keys with simple values.

use std::io::{self, Read};
use std::path::Path;

use opal_core::parameter::{expected, listed};
use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Registry, Span, suggest};
use opal_files::regular;

use super::reference::{Name, NoReference, shorten};
use opal_config::document::{self, Node, NodeKind};
use opal_config::report::Report;
use opal_yaml::fields::Fields;
use opal_yaml::scalar::{Meaning, meaning};

const VERSION: &str = "hybridops/v1";

/// What was read, and all that was noticed on the way. With an error among it, there is nothing.
#[derive(Clone, Debug)]
pub struct Checked<T> {
    pub found: Option<T>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a spec of a kind; `read` gets the keys below `api_version` and `kind`.
pub(super) fn checked<T>(
    text: &str,
    kind: &'static str,
    read: impl FnOnce(&mut Fields<'_>, &mut Report<'_>) -> Option<T>,
) -> Checked<T> {
    let checked = plain(text, |root, report| {
        let mut fields = Fields::of(root, &format!("a `{kind}`"), report)?;
        head(&mut fields, kind, report);
        read(&mut fields, report)
    });
    if checked.found.is_none() && checked.diagnostics.is_empty() {
        let help = format!("begin with `api_version: {VERSION}` and `kind: {kind}`");
        return Checked { found: None, diagnostics: vec![document::empty(text, &help)] };
    }
    checked
}

/// Reads the document of a text; neither found nor faulty is one that is not there.
pub(super) fn plain<T>(
    text: &str,
    read: impl FnOnce(&Node, &mut Report<'_>) -> Option<T>,
) -> Checked<T> {
    let refused = |diagnostic| Checked { found: None, diagnostics: vec![diagnostic] };
    if text.len() > MAX_SOURCE_BYTES {
        let error = Diagnostic::new(Code::TooLarge, Span::at(0), "the file is larger than 16 MiB");
        return refused(error.help("move the data into the pack"));
    }
    let root = match document::read(text) {
        Ok(Some(root)) => root,
        Ok(None) => return Checked { found: None, diagnostics: Vec::new() },
        Err(error) => return refused(*error),
    };
    let registry = Registry::new(&[]).expect("no path is claimed twice where there is none");
    let mut report = Report::new(&registry);
    let found = read(&root, &mut report);
    let diagnostics = report.into_errors();
    let is_whole = !diagnostics.iter().any(Diagnostic::is_error);
    Checked { found: found.filter(|_| is_whole), diagnostics }
}

fn head(fields: &mut Fields<'_>, kind: &str, report: &mut Report<'_>) {
    for (key, expected) in [("api_version", VERSION), ("kind", kind)] {
        let Some(given) = needed_text(fields, key, report) else { continue };
        if given.text != expected {
            let message = format!("`{key}` expects `{expected}`, got `{}`", shorten(given.text));
            let error = Diagnostic::new(Code::SpecKind, given.span, message);
            report.push(error.help(format!("write `{key}: {expected}`")));
        }
    }
}

/// A text and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'n> {
    pub(super) text: &'n str,
    pub(super) span: Span,
}

/// The text of a node; anything else is reported.
pub(super) fn text<'n>(node: &'n Node, key: &str, report: &mut Report<'_>) -> Option<Text<'n>> {
    if let NodeKind::Scalar { text, plain } = &node.kind {
        let is_text = !plain || meaning(text) == Meaning::Text;
        if is_text && !text.is_empty() {
            return Some(Text { text, span: node.span });
        }
    }
    let help = format!("write `{key}: \"…\"`");
    report.error(Code::ConfigValue, node.head(), format!("`{key}` must be a text"), help);
    None
}

/// The text of a key that must be there.
pub(super) fn needed_text<'n>(
    fields: &mut Fields<'n>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<Text<'n>> {
    let node = needed(fields, key, report)?;
    text(node, key, report)
}

/// The value of a key that must be there. An unknown key may be a typo of it.
pub(super) fn needed<'n>(
    fields: &mut Fields<'n>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<&'n Node> {
    if let Some(field) = fields.take(key) {
        return Some(field.value);
    }
    match suggest::nearest(key, fields.keys().filter(|other| !KNOWN.contains(other))) {
        Some(near) => {
            let message = format!("missing key `{key}`; found `{near}`");
            let span = fields.head;
            report.error(
                Code::ConfigMissingKey,
                span,
                message,
                format!("write `{key}` for `{near}`"),
            );
        }
        None => fields.missing(&[key], report),
    }
    None
}

/// Keys that are not a typo of another.
const KNOWN: [&str; 12] = [
    "api_version",
    "constraints",
    "dependencies",
    "driver",
    "execution",
    "inputs",
    "kind",
    "metadata",
    "outputs",
    "policy",
    "probes",
    "profile",
];

/// A key that must be there and have keys of its own.
pub(super) fn needed_map<'n>(
    fields: &mut Fields<'n>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<Fields<'n>> {
    let node = needed(fields, key, report)?;
    Fields::of(node, &format!("`{key}`"), report)
}

/// A key that may be there and have keys of its own.
pub(super) fn optional_map<'n>(
    fields: &mut Fields<'n>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<Fields<'n>> {
    let node = fields.take(key)?.value;
    if is_nothing(node) { None } else { Fields::of(node, &format!("`{key}`"), report) }
}

/// The elements of a list that may be there.
pub(super) fn optional_list<'n>(
    fields: &mut Fields<'n>,
    key: &str,
    report: &mut Report<'_>,
) -> Vec<&'n Node> {
    match fields.take(key) {
        Some(field) if !is_nothing(field.value) => list(field.value, key, report),
        _ => Vec::new(),
    }
}

pub(super) fn list<'n>(node: &'n Node, key: &str, report: &mut Report<'_>) -> Vec<&'n Node> {
    if let NodeKind::List(items) = &node.kind {
        return items.iter().map(|item| &**item).collect();
    }
    let message = format!("`{key}` must be a list");
    report.error(
        Code::ConfigValue,
        node.head(),
        message,
        format!("write `{key}: [a, b]`, or `[]`"),
    );
    Vec::new()
}

/// A switch that may be there.
pub(super) fn switch(
    fields: &mut Fields<'_>,
    key: &str,
    default: bool,
    report: &mut Report<'_>,
) -> bool {
    let Some(field) = fields.take(key) else { return default };
    if let NodeKind::Scalar { text, plain: true } = &field.value.kind
        && let Meaning::Bool(value) = meaning(text)
    {
        return value;
    }
    let message = format!("`{key}` must be `true` or `false`");
    report.error(Code::ConfigValue, field.value.head(), message, format!("write `{key}: true`"));
    default
}

/// Words for people; where there are none, nothing is missed.
pub(super) fn caption(fields: &mut Fields<'_>, key: &str) -> Option<String> {
    match &fields.take(key)?.value.kind {
        NodeKind::Scalar { text, .. } if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

pub(super) fn is_nothing(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Scalar { text, plain: true } if meaning(text) == Meaning::Null)
}

/// A name that must be there.
pub(super) fn needed_name(
    fields: &mut Fields<'_>,
    key: &str,
    what: &str,
    report: &mut Report<'_>,
) -> Option<(Name, Span)> {
    let given = needed_text(fields, key, report)?;
    let name = referred(Name::parse(given.text, what), given.span, report)?;
    Some((name, given.span))
}

/// What was read as a reference; why it is none is reported.
pub(super) fn referred<T>(
    read: Result<T, NoReference>,
    span: Span,
    report: &mut Report<'_>,
) -> Option<T> {
    read.map_err(|no| report.error(Code::SpecReference, span, no.message, no.help)).ok()
}

/// Refuses a key of a closed list, with the one that may be meant.
pub(super) fn unknown_key(
    code: Code,
    what: &str,
    key: &str,
    span: Span,
    expected: &[&str],
    report: &mut Report<'_>,
) {
    let names: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
    let near = suggest::nearest(key, expected.iter().copied());
    let error = Diagnostic::new(code, span, format!("unknown {what} `{}`", shorten(key)));
    let error = error.maybe_help(near.map(|near| format!("did you mean `{near}`?")));
    report.push(error.help(format!("expected one of: {}", names.join(", "))));
}

/// Refuses every key that is left: this part belongs to the reader's side alone.
pub(super) fn closed(
    fields: &mut Fields<'_>,
    what: &str,
    known: &[&str],
    help: &str,
    report: &mut Report<'_>,
) {
    let others: Vec<&str> = fields.keys().collect();
    for key in others {
        let Some(field) = fields.take(key) else { continue };
        let message = format!("unknown key `{}` in {what}", shorten(key));
        let near = suggest::nearest(key, known.iter().copied());
        let error = Diagnostic::new(Code::SpecLeak, field.key, message)
            .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
            .help(expected(known.iter().copied()))
            .help(help);
        report.push(error);
    }
}

/// Takes the keys out of an open part that are a typo of one that `may` be there and is not, and
/// warns about them. Any other unknown key is for people and other tools; a typo of a key that must
/// be there is reported by [`needed`].
pub(super) fn typos(fields: &mut Fields<'_>, may: &[&str], report: &mut Report<'_>) {
    let absent: Vec<&str> = may.iter().copied().filter(|key| fields.get(key).is_none()).collect();
    let others = fields.keys().filter(|key| !may.contains(key) && !KNOWN.contains(key));
    let others: Vec<&str> = others.collect();
    for key in others {
        let Some(near) = suggest::nearest(key, absent.iter().copied()) else { continue };
        let Some(field) = fields.take(key) else { continue };
        let message = format!("`{}` has no effect: did you mean `{near}`?", shorten(key));
        let warning = Diagnostic::new(Code::SpecUnused, field.key, message);
        report.push(
            warning.help(format!("write `{near}`, or rename a key that is for another tool")),
        );
    }
}

/// Warns where a reference tells the time.
pub(super) fn timeless(time: Option<&str>, span: Span, report: &mut Report<'_>) {
    let Some(word) = time else { return };
    let message = format!("the reference contains a time: `{word}`");
    let warning = Diagnostic::new(Code::SpecTime, span, message);
    report.push(warning.help("remove it: a reference outlives a year or a cohort"));
}

/// Warns about a key that nobody acts on.
pub(super) fn unused(name: &str, span: Span, why: &str, report: &mut Report<'_>) {
    let warning = Diagnostic::new(Code::SpecUnused, span, format!("`{name}` has no effect: {why}"));
    report.push(warning.help("remove it, or do not rely on it"));
}

/// Warns about every key that is left: nobody acts on it. `prefix` ends in a dot, or is empty.
pub(super) fn unread(
    fields: &mut Fields<'_>,
    prefix: &str,
    known: &[&str],
    why: &str,
    report: &mut Report<'_>,
) {
    let others: Vec<&str> = fields.keys().collect();
    for key in others {
        let Some(field) = fields.take(key) else { continue };
        report.push(without_effect(prefix, key, field.key, known, why));
    }
}

/// A warning about a key that nobody acts on, with the one that may be meant.
pub(super) fn without_effect(
    prefix: &str,
    key: &str,
    span: Span,
    known: &[&str],
    why: &str,
) -> Diagnostic {
    let message = format!("`{prefix}{}` has no effect: {why}", shorten(key));
    let near = suggest::nearest(key, known.iter().copied());
    Diagnostic::new(Code::SpecUnused, span, message)
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
        .help("remove it, or do not rely on it")
}

/// One warning about several keys, in the order of `names`.
pub(super) fn all_without_effect(names: &[String], span: Span, why: &str) -> Diagnostic {
    let (has, them) = if names.len() > 1 { ("have", "them") } else { ("has", "it") };
    let names = listed(names.iter().map(String::as_str));
    let message = format!("{names} {has} no effect: {why}");
    let help = format!("remove {them}, or do not rely on {them}");
    Diagnostic::new(Code::SpecUnused, span, message).help(help)
}

/// The text of a file as it may be shown: without what was refused because it is a secret, or may be
/// one. Places stay where they are.
pub(super) fn shown(text: String, diagnostics: &[Diagnostic]) -> String {
    let hidden = |one: &&Diagnostic| matches!(one.code, Code::SpecCredential | Code::SpecSecret);
    let mut bytes = text.into_bytes();
    for one in diagnostics.iter().filter(hidden) {
        let span = one.primary.span.start as usize..one.primary.span.end as usize;
        for byte in bytes.get_mut(span).into_iter().flatten().filter(|byte| **byte != b'\n') {
            *byte = b'*';
        }
    }
    String::from_utf8(bytes).expect("whole characters were replaced by others")
}

/// The bytes of a regular file, never more than `most` and one.
pub(super) fn bytes(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown_and_everything_else_stays_in_place() {
        let text = "a: ä\ntoken: canary-ü-1\nb: 2\n";
        let start = text.find("canary").unwrap() as u32;
        let span = Span::new(start, text.find("\nb").unwrap() as u32);
        let refused = Diagnostic::new(Code::SpecSecret, span, "`token` contains a secret");
        let other = Diagnostic::new(Code::SpecKind, Span::new(0, 1), "a");
        let shown = shown(text.to_owned(), &[refused, other]);
        assert_eq!(shown, "a: ä\ntoken: ***********\nb: 2\n");
        assert_eq!(shown.len(), text.len());
    }
}
