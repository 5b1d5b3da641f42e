//! A run while it goes on, event by event, for a page that is open.

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use opal_core::view::visible;
use opal_vault::Escapes;
use opal_vault::record::reader::{
    Events, Following, Found, Printed, Run, State as Ran, Unreadable,
};
use opal_vault::record::whole;
use serde_json::{Value, json};

use super::desk::Desk;
use super::life::Life;
use super::records;
use super::reply::{Format, Reply};
use super::stream;

/// How long to wait before the record is read again.
const PAUSE: Duration = Duration::from_millis(100);

/// Events that are read before others have their turn, and bytes of output that are kept until they are sent.
const MOST_AT_ONCE: usize = 500;
const MOST_BYTES: usize = 1 << 20;

/// Tells a page everything that has happened, and then what happens.
pub(super) async fn events(
    State(desk): State<Arc<Desk>>,
    Extension(life): Extension<Life>,
    Path(id): Path<String>,
) -> Response {
    let found = match records::found(&desk, &id) {
        Ok(Some(found)) => found,
        _ => {
            let why = "There is no record of such a run.";
            return Reply::missing(&desk, Format::Json, why).into_response();
        }
    };
    let mut watched = match Watched::open(&found) {
        Ok(watched) => watched,
        Err(error) => {
            return Reply::unreadable(&desk, Format::Json, &error.to_string()).into_response();
        }
    };
    let Some((mut events, response)) = stream::open(&desk, &life) else {
        return stream::full().into_response();
    };
    tokio::spawn(async move {
        loop {
            // Asked first: what is written until then is read below.
            let goes_on = Run::load(&found).is_ok_and(|run| run.state == Ran::Running);
            let (news, has_more) = watched.catch_up();
            for (name, data) in &news.events {
                if !events.send(name, data).await {
                    return;
                }
            }
            if !has_more && !goes_on {
                break;
            }
            if !events.ping().await {
                return;
            }
            if has_more { tokio::task::yield_now().await } else { tokio::time::sleep(PAUSE).await }
        }
        events.send("over", &json!({})).await;
    });
    response
}

/// How far the record of a run has been read.
struct Watched {
    found: Found,
    events: Events,
    /// Outputs that have files of their own, and how far each has been read.
    own: BTreeMap<u64, Following>,
    /// How much of the other outputs the page has.
    passed: BTreeMap<u64, u64>,
    texts: BTreeMap<u64, Text>,
    /// The end of a step whose output the page does not have to its end.
    ending: Option<Value>,
}

/// Bytes of one output on their way to being text.
#[derive(Default)]
struct Text {
    escapes: Escapes,
    /// A character whose rest has not come yet.
    begun: Vec<u8>,
}

/// What is to be sent.
#[derive(Default)]
struct News {
    events: Vec<(&'static str, Value)>,
    /// Of the outputs among them.
    bytes: usize,
}

impl News {
    fn push(&mut self, name: &'static str, data: Value) {
        self.events.push((name, data));
    }

    const fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }
}

impl Watched {
    fn open(found: &Found) -> Result<Self, Unreadable> {
        let events = Events::open(&found.folder)?;
        let (own, passed, texts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { found: found.clone(), events, own, passed, texts, ending: None })
    }

    /// What has happened since it was asked last, and whether there is more. What cannot be read has not
    /// happened: the page of the record says what is wrong.
    fn catch_up(&mut self) -> (News, bool) {
        let mut news = News::default();
        for _ in 0..MOST_AT_ONCE {
            if news.is_full() {
                break;
            }
            let next = match self.ending.take() {
                Some(ending) => Ok(Some(ending)),
                None => self.events.next_event(),
            };
            match next {
                Ok(Some(event)) => self.tell(&event, &mut news),
                Ok(None) | Err(_) => {
                    let open: Vec<u64> = self.own.keys().copied().collect();
                    let has_more = open
                        .into_iter()
                        .fold(false, |more, number| self.follow(number, &mut news) | more);
                    return (news, has_more);
                }
            }
        }
        (news, true)
    }

    fn tell(&mut self, event: &Value, news: &mut News) {
        match Printed::of(event, &self.found.folder) {
            Some(Printed::Bytes { number, bytes }) => {
                *self.passed.entry(number).or_default() += bytes.len() as u64;
                self.print(number, &bytes, news);
            }
            Some(Printed::File { number, path, left_out }) => self.begin(number, &path, left_out),
            None => self.step(event, news),
        }
    }

    fn step(&mut self, event: &Value, news: &mut News) {
        let of = |name: &str| event[name].as_str().map(visible::line);
        match event["kind"].as_str() {
            Some("step_started") if event["block"] != true => {
                let text = event["text"].as_str().map(visible::lines);
                news.push(
                    "step",
                    json!({"path": of("path"), "text": text, "target": of("target")}),
                );
            }
            Some("step_finished") => {
                if let Some(number) = event["number"].as_u64() {
                    while self.follow(number, news) {
                        if news.is_full() {
                            self.ending = Some(event.clone());
                            return;
                        }
                    }
                    self.own.remove(&number);
                    self.passed.remove(&number);
                    self.texts.remove(&number);
                }
                if event["block"] != true {
                    let message = event["message"].as_str().map(visible::lines);
                    news.push(
                        "ended",
                        json!({"path": of("path"), "end": of("end"), "message": message}),
                    );
                }
            }
            _ => {}
        }
    }

    /// The file has what the page already has as well.
    fn begin(&mut self, number: u64, path: &FilePath, left_out: Option<u64>) {
        if !self.own.contains_key(&number) {
            let passed = self.passed.remove(&number).unwrap_or_default();
            if let Ok(output) = Following::open(path, passed) {
                self.own.insert(number, output);
            }
        }
        if let (Some(output), Some(left_out)) = (self.own.get_mut(&number), left_out) {
            output.ended(left_out);
        }
    }

    /// A piece of what has been added to an output; whether there was one.
    fn follow(&mut self, number: u64, news: &mut News) -> bool {
        let added = self.own.get_mut(&number).and_then(|it| it.more().ok()).unwrap_or_default();
        if added.is_empty() {
            return false;
        }
        self.print(number, &added, news);
        true
    }

    /// As text: without colours and without what acts.
    fn print(&mut self, number: u64, bytes: &[u8], news: &mut News) {
        let Text { escapes, begun } = self.texts.entry(number).or_default();
        begun.extend(escapes.strip(bytes));
        let rest = begun.split_off(whole(begun));
        let text = String::from_utf8_lossy(begun).replace("\r\n", "\n").replace('\r', "\n");
        *begun = rest;
        let text: String = text.chars().map(shown).collect();
        if !text.is_empty() {
            news.bytes += text.len();
            news.push("output", json!({"step": number, "text": text}));
        }
    }
}

fn shown(c: char) -> char {
    if matches!(c, '\n' | '\t') { c } else { visible::character(c) }
}
