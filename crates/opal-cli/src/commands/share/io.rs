//! `--share-io`: JSON Lines between this process and the queue runner that has started it, each of at most
//! 1 MiB.
//!
//! ```text
//! runner ──▶ {"claims": {NAME: NUMBER, …}}                       first, once
//!        ◀── {"ask": "start", "target": NAME}                    before the first step of a target
//! runner ──▶ {"start": NAME, "go": true}
//!            {"start": NAME, "go": false, "reason": TEXT}
//! runner ──▶ {"stop": REASON}                                    as TERM
//!        ◀── {"event": {…}}                                      what `--events` prints
//!        ◀── {"journal": {"target": NAME, "number": N}}          an entry is on the disk of the target
//!        ◀── {"ended": {"target": NAME, "status": STATUS}}
//!        ◀── {"result": {"exit": CODE, "targets": […]}}          last
//! ```
//!
//! A share that is refused, or stopped before it was compared, has no result: its exit code says why.
//!
//! Where standard input ends, the runner has died: this process stops as with TERM. A line of the runner that
//! makes no sense stops it too, and it exits with 70.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead as _, Read as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_session::stop::{Order, Stop};
use opal_vault::targets::TargetEnd;
use serde_json::{Value, json};
use signal_hook::consts::SIGTERM;

use crate::failure::{Exit, Failure};
use crate::signals::{Interrupts, Watched};
use crate::view;

/// Bytes of a line.
const MAX_LINE: usize = 1024 * 1024;

/// Bytes of a text in an event that is too long for one line: each may become six.
const MAX_TEXT: usize = 128 * 1024;

/// How often who waits asks whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// The queue runner at the other end.
pub(crate) struct ShareIo {
    out: Mutex<io::Stdout>,
    state: Mutex<State>,
    changed: Condvar,
    interrupts: Interrupts,
    /// What runs was asked to end.
    is_ending: AtomicBool,
    /// What the result says about the targets; none where nothing was about to run.
    rows: Mutex<Option<Value>>,
}

#[derive(Default)]
struct State {
    claims: Option<BTreeMap<String, u64>>,
    /// By target: whether it may start, or why not.
    answers: BTreeMap<String, Result<(), String>>,
    /// Nothing more comes.
    is_over: bool,
    /// The runner has said what makes no sense.
    malformed: Option<&'static str>,
}

/// A line of the runner.
enum Said {
    Claims(BTreeMap<String, u64>),
    Start(String, Result<(), String>),
    Stop(String),
}

impl ShareIo {
    /// From now on the runner is heard, and signals end what runs in good order.
    pub(crate) fn begin() -> Result<Arc<Self>, Failure> {
        let watched = Watched::early()?;
        let io = Arc::new(Self {
            out: Mutex::new(io::stdout()),
            state: Mutex::default(),
            changed: Condvar::new(),
            interrupts: watched.interrupts().clone(),
            is_ending: AtomicBool::new(false),
            rows: Mutex::default(),
        });
        let heard = Arc::clone(&io);
        let thread = std::thread::Builder::new().name("runner".to_owned());
        thread.spawn(move || heard.listen()).map_err(|error| {
            let message = format!("no thread for the queue runner: {error}");
            Failure::new(Exit::Unavailable, message, "check the limits with `ulimit -a`")
        })?;
        Ok(io)
    }

    fn listen(&self) {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
            match read {
                // What came before the end without a line feed was cut off.
                Ok(_) if line.len() <= MAX_LINE && line.last() != Some(&b'\n') => break,
                Ok(_) => {}
                Err(_) => break,
            }
            let said = if line.len() > MAX_LINE { Err("a line is too long") } else { said(&line) };
            if let Err(why) = said.and_then(|said| self.hear(said)) {
                self.lock().malformed = Some(why);
                view::plan::note(&format!("the queue runner has sent what cannot be read: {why}"));
                break;
            }
        }
        self.lock().is_over = true;
        self.changed.notify_all();
        self.end();
    }

    /// Ends what runs in good order. Asking again would kill it, so this asks once, however often the runner
    /// turns out to be gone.
    fn end(&self) {
        if !self.is_ending.swap(true, Ordering::SeqCst) {
            self.interrupts.heard(SIGTERM);
        }
    }

    fn hear(&self, said: Said) -> Result<(), &'static str> {
        let mut state = self.lock();
        match said {
            Said::Claims(_) if state.claims.is_some() => return Err("claims came twice"),
            Said::Claims(claims) => state.claims = Some(claims),
            _ if state.claims.is_none() => return Err("the first line has no claims"),
            Said::Start(target, answer) => _ = state.answers.insert(target, answer),
            Said::Stop(reason) => {
                drop(state);
                view::plan::note(&format!("the queue runner has stopped the share: {reason}"));
                self.end();
                return Ok(());
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is known; none where nobody says it any more.
    fn wait<T>(&self, stop: Option<&Stop>, known: impl Fn(&State) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(known) = known(&state) {
                return Some(known);
            }
            if state.is_over || stop.is_some_and(|stop| stop.order() != Order::GoOn) {
                return None;
            }
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks the runner whether a target may start.
    pub(super) fn may_start(&self, target: &str, stop: &Stop) -> Result<(), String> {
        self.tell(&json!({"ask": "start", "target": target}));
        let answer = |state: &State| state.answers.get(target).cloned();
        self.wait(Some(stop), answer).unwrap_or_else(|| Err("the share was stopped".to_owned()))
    }

    /// The number of the last entry of a target that the runner knows of. Where it has not said so, no
    /// journal has as many.
    pub(super) fn claim(&self, target: &str) -> u64 {
        let claim = |state: &State| {
            let claims = state.claims.as_ref()?;
            Some(claims.get(target).copied().unwrap_or_default())
        };
        self.wait(None, claim).unwrap_or(u64::MAX)
    }

    pub(super) fn noted(&self, target: &str, number: u64) {
        self.tell(&json!({"journal": {"target": target, "number": number}}));
    }

    pub(super) fn ended(&self, target: &str, end: TargetEnd) {
        self.tell(&json!({"ended": {"target": target, "status": end.name()}}));
    }

    /// Keeps the rows of the targets for the result.
    pub(super) fn keep(&self, document: &[u8]) {
        let document = serde_json::from_slice::<Value>(document).unwrap_or_default();
        let rows = document.get("targets").cloned().unwrap_or_else(|| json!([]));
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
    }

    /// The last line, where the share was run. It gives the exit code of this process.
    pub(crate) fn result(&self, exit: u8) -> u8 {
        let exit = if self.lock().malformed.is_some() { Exit::Bug.code() } else { exit };
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rows) = rows else { return exit };
        let mut result = json!({"result": {"exit": exit, "targets": rows}});
        if result.to_string().len() > MAX_LINE {
            shorten(&mut result, MAX_TEXT / 64);
        }
        self.tell(&result);
        exit
    }

    /// The events of the run.
    pub(crate) fn events(self: &Arc<Self>) -> Box<dyn Write + Send> {
        Box::new(Events(Arc::clone(self)))
    }

    fn tell(&self, what: &Value) {
        let _ = self.write(&what.to_string());
    }

    /// One line. Where nobody reads it, the runner has died.
    fn write(&self, line: &str) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
        written.inspect_err(|_| self.end())
    }
}

impl fmt::Debug for ShareIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShareIo")
    }
}

/// Puts each line of events into a line of the share.
struct Events(Arc<ShareIo>);

impl Write for Events {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let text = String::from_utf8_lossy(line);
            for event in pieces(&text) {
                self.0.write(&event)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An event as lines that are not too long: output in several, of all else each text cut.
fn pieces(event: &str) -> Vec<String> {
    let whole = format!("{{\"event\":{event}}}");
    if whole.len() <= MAX_LINE {
        return vec![whole];
    }
    let Ok(mut event) = serde_json::from_str::<Value>(event) else { return Vec::new() };
    let field =
        ["text", "base64"].into_iter().find(|it| event.get(it).is_some_and(Value::is_string));
    let (Some(field), Some("output")) = (field, event["kind"].as_str()) else {
        shorten(&mut event, MAX_TEXT / 64);
        return vec![json!({"event": event}).to_string()];
    };
    let text = event[field].as_str().unwrap_or_default().to_owned();
    let mut rest = text.as_str();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        // A whole number of groups of four digits, and of characters.
        let most = (0..=MAX_TEXT.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at));
        let (now, later) = rest.split_at(most.unwrap_or(rest.len()));
        event[field] = Value::String(now.to_owned());
        lines.push(json!({"event": event}).to_string());
        rest = later;
    }
    lines
}

/// Cuts every text in a document.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => {
            let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(cut);
            text.push('…');
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, most)),
        Value::Object(fields) => fields.values_mut().for_each(|item| shorten(item, most)),
        _ => {}
    }
}

fn said(line: &[u8]) -> Result<Said, &'static str> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else {
        return Err("a line is not a JSON object");
    };
    let count = fields.len();
    if let Some(claims) = fields.remove("claims") {
        let Value::Object(claims) = claims else { return Err("claims are not an object") };
        let number = |(name, number): (String, Value)| Some((name, number.as_u64()?));
        let claims: Option<BTreeMap<_, _>> = claims.into_iter().map(number).collect();
        let claims = claims.ok_or("a claim is not a number")?;
        return if count == 1 { Ok(Said::Claims(claims)) } else { Err("a line has other members") };
    }
    if let Some(reason) = fields.remove("stop") {
        return match reason {
            Value::String(reason) if count == 1 => Ok(Said::Stop(reason)),
            _ => Err("a stop has no reason"),
        };
    }
    let start = (fields.remove("start"), fields.remove("go"), fields.remove("reason"));
    match start {
        _ if !fields.is_empty() => Err("a line has unknown members"),
        (Some(Value::String(name)), Some(Value::Bool(true)), None) => Ok(Said::Start(name, Ok(()))),
        (Some(Value::String(name)), Some(Value::Bool(false)), Some(Value::String(why))) => {
            Ok(Said::Start(name, Err(why)))
        }
        _ => Err("a line is none of those that a runner sends"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_says_three_things_and_nothing_else() {
        let is_known = |line: &str| said(line.as_bytes()).is_ok();
        for line in [
            "{\"claims\":{}}",
            "{\"claims\":{\"web1\":12,\"10.0.0.4\":0}}",
            "{\"start\":\"web1\",\"go\":true}",
            "{\"go\":false,\"start\":\"web1\",\"reason\":\"tolerate\"}",
            "{\"stop\":\"a batch is out of order\"}",
        ] {
            assert!(is_known(line), "{line}");
        }
        for line in [
            "",
            "[]",
            "null",
            "{}",
            "\u{ff}",
            "{\"claims\":[]}",
            "{\"claims\":{\"a\":-1}}",
            "{\"claims\":{\"a\":1.5}}",
            "{\"claims\":{},\"stop\":\"x\"}",
            "{\"start\":\"a\"}",
            "{\"start\":\"a\",\"go\":1}",
            "{\"start\":\"a\",\"go\":false}",
            "{\"start\":\"a\",\"go\":true,\"reason\":\"x\"}",
            "{\"start\":\"a\",\"go\":true,\"x\":1}",
            "{\"stop\":1}",
        ] {
            assert!(!is_known(line), "{line}");
        }
    }

    #[test]
    fn no_event_is_longer_than_a_line_and_no_output_is_cut() {
        let short = "{\"kind\":\"x\"}";
        assert_eq!(pieces(short), ["{\"event\":{\"kind\":\"x\"}}"]);
        for text in ["é\u{1}".repeat(700_000), "a".repeat(3_000_000)] {
            let event = json!({"kind": "output", "number": 1, "stream": "stdout", "text": text});
            let lines = pieces(&event.to_string());
            assert!(lines.len() > 1 && lines.iter().all(|line| line.len() < MAX_LINE));
            let text_of = |line: &String| {
                let value: Value = serde_json::from_str(line).unwrap();
                value["event"]["text"].as_str().unwrap().to_owned()
            };
            assert_eq!(lines.iter().map(text_of).collect::<String>(), text);
        }
        let long = json!({"kind": "step_verified", "details": "x".repeat(2_000_000)});
        let lines = pieces(&long.to_string());
        assert!(lines.len() == 1 && lines[0].len() < MAX_LINE);
    }
}
