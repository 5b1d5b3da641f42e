//! `probes`: how a module is seen to work. The kinds are closed, and none of them is a command.

use std::collections::BTreeSet;

use opal_core::{Code, Span};
use serde_json::{Map, Value};

use super::super::constraint::unknown_input;
use super::super::document::{optional_list, text, unknown_key};
use super::super::probe::{Part, Probe, ProbeKind, parts};
use super::super::reference::shorten;
use super::super::value::value;
use opal_config::document::Node;
use opal_config::report::Report;
use opal_yaml::fields::{Field, Fields};

/// Nobody waits for more.
const MOST: usize = 50;

const KEYS: [&str; 8] =
    ["name", "http", "tcp", "file", "contains", "attempts", "delay_s", "timeout_s"];

/// Reads the probes; `known` are the inputs that the spec has, `publish` its published outputs.
pub(super) fn read(
    fields: &mut Fields<'_>,
    known: &Map<String, Value>,
    publish: &[String],
    report: &mut Report<'_>,
) -> Vec<Probe> {
    let items = optional_list(fields, "probes", report);
    if let Some(item) = items.get(MOST) {
        let message = format!("a module has at most {MOST} probes");
        refuse(item.head(), message, "keep the ones that show that it works", report);
    }
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for item in items.into_iter().take(MOST) {
        let Some((probe, span)) = probe(item, report) else { continue };
        if !names.insert(probe.name.clone()) {
            let message = format!("duplicate probe name `{}`", probe.name);
            refuse(span, message, "give each probe its own name: evidence is kept by it", report);
        }
        for part in &probe.target {
            let (message, help) = match part {
                Part::Text(_) => continue,
                Part::Input(path) => match unknown_input(known, path) {
                    Some(help) => (format!("unknown input `{path}`"), help),
                    None => continue,
                },
                Part::Output(name) if publish.contains(name) => continue,
                Part::Output(name) => (
                    format!("the module does not publish an output `{name}`"),
                    format!("add `{name}` to `outputs.publish`"),
                ),
            };
            refuse(span, message, help, report);
        }
        found.push(probe);
    }
    found
}

/// A probe, and where its target is written.
fn probe(node: &Node, report: &mut Report<'_>) -> Option<(Probe, Span)> {
    let mut fields = Fields::of(node, "a probe", report)?;
    let name = fields.take("name").and_then(|it| text(it.value, "name", report));
    let kinds = ProbeKind::ALL.into_iter();
    let mut targets: Vec<(ProbeKind, Field<'_>)> =
        kinds.filter_map(|kind| Some((kind, fields.take(kind.name())?))).collect();
    let contains = fields.take("contains");
    let mut number = |key: &str, usual: u32, most: u32| match fields.take(key) {
        Some(field) => count(key, field, most, report),
        None => Some(usual),
    };
    let (attempts, delay_s) = (number("attempts", 5, 1_000), number("delay_s", 2, 3_600));
    let timeout_s = number("timeout_s", 10, 3_600);
    let unknown: Vec<&str> = fields.keys().collect();
    for key in &unknown {
        let Some(field) = fields.take(key) else { continue };
        unknown_key(Code::SpecProbe, "probe", key, field.key, &KEYS, report);
    }
    if !unknown.is_empty() {
        return None;
    }
    let (Some((kind, field)), true) = (targets.pop(), targets.is_empty()) else {
        let help = "write one of `http: https://…`, `tcp: host:port` and `file: /path`";
        refuse(node.head(), "a probe must have exactly one target", help, report);
        return None;
    };
    let Some(name) = name.filter(|it| is_name(it.text)) else {
        let help = "write `name: answers`, with lower-case letters, digits, `_` and `-`";
        refuse(
            node.head(),
            "a probe needs a name, which is also the name of its evidence",
            help,
            report,
        );
        return None;
    };
    let target = text(field.value, kind.name(), report)?;
    let parts = parts(target.text).map_err(|inside| {
        let message = format!("`{{{}}}` is not an input or an output", shorten(inside));
        let help = "write `{inputs.network.host}` or `{outputs.url}`";
        refuse(target.span, message, help, report);
    });
    let parts = parts.ok()?;
    let contains = match contains {
        Some(field) if kind == ProbeKind::Tcp => {
            let help = "remove it, or probe with `http`";
            refuse(field.key, "a TCP connection has no text to search", help, report);
            return None;
        }
        Some(field) => Some(text(field.value, "contains", report)?.text.to_owned()),
        None => None,
    };
    let (name, target) = (name.text.to_owned(), (parts, target.span));
    let (attempts, delay_s, timeout_s) = (attempts?, delay_s?, timeout_s?);
    let probe = Probe { name, kind, target: target.0, contains, attempts, delay_s, timeout_s };
    form(&probe, target.1, report).then_some((probe, target.1))
}

/// Whether the target can be one, as far as it is known without inputs and outputs.
fn form(probe: &Probe, span: Span, report: &mut Report<'_>) -> bool {
    let Some(Part::Text(first)) = probe.target.first() else { return true };
    let (fits, help) = match probe.kind {
        ProbeKind::Http => {
            let is_web = ["http://", "https://"].iter().any(|scheme| first.starts_with(scheme));
            (is_web, "write a URL such as `https://example.com/health`")
        }
        ProbeKind::File => (
            first.starts_with('/') || first.starts_with("~/"),
            "write an absolute path: `/etc/motd`",
        ),
        ProbeKind::Tcp => {
            let is_whole = probe.target.len() == 1;
            (!is_whole || super::super::probe::host_and_port(first).is_some(), "write `host:port`")
        }
    };
    if !fits {
        let message = format!("invalid target of a probe `{}`", probe.kind.name());
        refuse(span, message, help, report);
    }
    fits
}

fn count(key: &str, field: Field<'_>, most: u32, report: &mut Report<'_>) -> Option<u32> {
    let read = value(field.value, report)?;
    let count = read.as_u64().and_then(|it| u32::try_from(it).ok());
    let count = count.filter(|it| (1..=most).contains(it));
    if count.is_none() {
        let message = format!("`{key}` must be between 1 and {most}");
        refuse(field.value.head(), message, format!("write `{key}: 5`"), report);
    }
    count
}

fn is_name(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
}

fn refuse(
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
    report: &mut Report<'_>,
) {
    report.error(Code::SpecProbe, span, message, help);
}
