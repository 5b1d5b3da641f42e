//! `world:` of a test, read.

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::protocol::request::Service;
use opal_core::protocol::{Kind, line};
use opal_core::{Code, Diagnostic};
use opal_yaml::fields::{Field, Fields};
use opal_yaml::problems::Problems;
use opal_yaml::{Node, NodeKind};

use super::cases::data;
use super::world::{Gives, Rule, World, whole};

const REQUESTS: [(&str, Service); 4] = [
    ("fetch", Service::ProbeFetch),
    ("send", Service::StageSend),
    ("ask", Service::ProbeAsk),
    ("run", Service::StageRun),
];

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<World> {
    let mut fields = Fields::of(node, "`world`", problems)?;
    let mut world = World::default();
    if let Some(field) = fields.take("env") {
        world.env = pairs(field, problems)?.into_iter().collect();
    }
    if let Some(field) = fields.take("files") {
        let files = pairs(field, problems)?;
        world.files =
            files.into_iter().map(|(path, text)| (whole(&path), text.into_bytes())).collect();
    }
    if let Some(field) = fields.take("now") {
        world.now = number(field, problems)?;
    }
    if let Some(field) = fields.take("answers") {
        world.rules = rules(field, problems)?;
    }
    fields.finish(["env", "files", "now", "answers"].into_iter(), problems);
    Some(world)
}

fn wrong(node: &Node, message: &str, help: &str, problems: &mut Problems) {
    problems.error(Code::PackageValue, node.head(), message.to_owned(), help.to_owned());
}

fn number<T: std::str::FromStr>(field: Field<'_>, problems: &mut Problems) -> Option<T> {
    let found = field.value.word().and_then(|text| text.parse().ok());
    if found.is_none() {
        wrong(field.value, "expects a number", "write it without quotes", problems);
    }
    found
}

/// A text; anything else is its JSON.
fn text(node: &Node) -> String {
    match node.word() {
        Some(text) => text.to_owned(),
        None => line::json(&data(node)).expose().to_owned(),
    }
}

fn pairs(field: Field<'_>, problems: &mut Problems) -> Option<Vec<(String, String)>> {
    let NodeKind::Map(entries) = &field.value.kind else {
        wrong(field.value, "expects names and texts", "write `NAME: text`", problems);
        return None;
    };
    let pair = |(key, value): &(Rc<Node>, Rc<Node>)| Some((key.word()?.to_owned(), text(value)));
    entries.iter().map(pair).collect()
}

fn rules(field: Field<'_>, problems: &mut Problems) -> Option<Vec<Rule>> {
    let NodeKind::List(items) = &field.value.kind else {
        let help = "write `- fetch: GET https://…`";
        wrong(field.value, "expects a list of answers", help, problems);
        return None;
    };
    items.iter().map(|item| rule(item, problems)).collect()
}

fn rule(node: &Node, problems: &mut Problems) -> Option<Rule> {
    let mut fields = Fields::of(node, "an answer", problems)?;
    let mut asked: Vec<(Service, Field<'_>)> = REQUESTS
        .into_iter()
        .filter_map(|(name, service)| Some((service, fields.take(name)?)))
        .collect();
    let (Some((service, request)), true) = (asked.pop(), asked.is_empty()) else {
        fields.missing_one_of("`fetch`, `send`, `ask` and `run`", problems);
        return None;
    };
    let headers: BTreeMap<String, String> = match fields.take("headers") {
        Some(field) => pairs(field, problems)?.into_iter().collect(),
        None => BTreeMap::new(),
    };
    let sends = fields.take("sends").map(|field| text(field.value));
    let is_page = matches!(service, Service::ProbeFetch | Service::StageSend);
    let gives = gives(fields.take("gives"), is_page, problems)?;
    let then = match fields.take("then") {
        Some(field) => rules(field, problems)?,
        None => Vec::new(),
    };
    let known = ["fetch", "send", "ask", "run", "headers", "sends", "gives", "then"];
    fields.finish(known.into_iter(), problems);
    Some(Rule { service, request: text(request.value), headers, sends, gives, then })
}

fn gives(field: Option<Field<'_>>, is_page: bool, problems: &mut Problems) -> Option<Gives> {
    let Some(field) = field else {
        let (body, stdout, stderr) = (String::new(), String::new(), String::new());
        return Some(match is_page {
            true => Gives::Response { status: 200, headers: Vec::new(), body },
            false => Gives::Completed { code: 0, stdout, stderr },
        });
    };
    let mut fields = Fields::of(field.value, "`gives`", problems)?;
    if let Some(error) = fields.take("error") {
        let word = error.value.word().unwrap_or_default();
        let kind = Kind::named(word);
        if kind.is_none() {
            let message = format!("{word:?} is not a kind of error");
            let report = Diagnostic::new(Code::PackageValue, error.value.head(), message);
            problems.unknown(report, word, Kind::ALL.iter().map(|it| it.word()));
        }
        fields.finish(["error"].into_iter(), problems);
        return kind.map(Gives::Refused);
    }
    let words = |field: Option<Field<'_>>| field.map(|it| text(it.value)).unwrap_or_default();
    if is_page {
        let status = fields.take("status").map(|it| number(it, problems)).unwrap_or(Some(200))?;
        let headers = match fields.take("headers") {
            Some(field) => pairs(field, problems)?,
            None => Vec::new(),
        };
        let body = words(fields.take("body"));
        fields.finish(["status", "headers", "body", "error"].into_iter(), problems);
        return Some(Gives::Response { status, headers, body });
    }
    let code = fields.take("code").map(|it| number(it, problems)).unwrap_or(Some(0))?;
    let (stdout, stderr) = (words(fields.take("stdout")), words(fields.take("stderr")));
    fields.finish(["code", "stdout", "stderr", "error"].into_iter(), problems);
    Some(Gives::Completed { code, stdout, stderr })
}
