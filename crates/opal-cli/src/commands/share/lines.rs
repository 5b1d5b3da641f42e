//! The lines between this process and the queue runner: what the runner says, and events as lines that are not
//! too long.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Bytes of a line.
pub(super) const MAX_LINE: usize = 1024 * 1024;

/// Bytes of a line that this process writes. The runner sends each on in one message, sealed for all runners of
/// the pool, and a server may take no more than 1 MiB.
const MAX_WRITTEN: usize = 512 * 1024;

/// Bytes of a text in an event that is too long for one line: each may become six.
const MAX_TEXT: usize = 64 * 1024;

/// Bytes of each text in a document that is too long, until it fits.
const MAX_SHORTENED: [usize; 4] = [2048, 512, 128, 32];

/// A line of the runner.
#[derive(Debug)]
pub(super) enum Said {
    Claims(BTreeMap<String, u64>),
    Start(String, Result<(), String>),
    Stop(String),
    /// The claim holds until then, in milliseconds of [`crate::clock::uptime`].
    Held(u64),
    /// The queue has the result.
    Kept,
}

pub(super) fn said(line: &[u8]) -> Result<Said, &'static str> {
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
    if let Some(until) = fields.remove("held") {
        let until = until.as_u64().filter(|_| count == 1);
        return until.map(Said::Held).ok_or("a lease is not a number");
    }
    if let Some(kept) = fields.remove("kept") {
        let is_kept = kept == Value::Bool(true) && count == 1;
        return if is_kept { Ok(Said::Kept) } else { Err("what is kept is not `true`") };
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

/// An event as lines that are not too long: output in several, of all else each text cut.
pub(super) fn pieces(event: &str) -> Vec<String> {
    let whole = format!("{{\"event\":{event}}}");
    if whole.len() <= MAX_WRITTEN {
        return vec![whole];
    }
    let Ok(mut event) = serde_json::from_str::<Value>(event) else { return Vec::new() };
    let field =
        ["text", "base64"].into_iter().find(|it| event.get(it).is_some_and(Value::is_string));
    let (Some(field), Some("output")) = (field, event["kind"].as_str()) else {
        let kind = event["kind"].clone();
        return vec![line(json!({ "event": event }), || json!({"event": {"kind": kind}}))];
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

/// The result of a share as a line: what came of each target, and of the words about it as much as there is room
/// for.
pub(super) fn result(exit: u8, rows: &Value) -> String {
    let brief = || {
        let row = |row: &Value| json!({"target": row["target"], "status": row["status"], "code": row["code"]});
        let rows: Vec<Value> = rows.as_array().into_iter().flatten().map(row).collect();
        json!({"result": {"exit": exit, "targets": rows}})
    };
    line(json!({"result": {"exit": exit, "targets": rows}}), brief)
}

/// A document as a line. Where it is too long, every text in it is cut; where that is not enough, something
/// else comes in its place.
fn line(mut document: Value, otherwise: impl FnOnce() -> Value) -> String {
    for most in MAX_SHORTENED {
        let text = document.to_string();
        if text.len() <= MAX_WRITTEN {
            return text;
        }
        shorten(&mut document, most);
    }
    let text = document.to_string();
    if text.len() <= MAX_WRITTEN { text } else { otherwise().to_string() }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_says_five_things_and_nothing_else() {
        let is_known = |line: &str| said(line.as_bytes()).is_ok();
        for line in [
            "{\"claims\":{}}",
            "{\"claims\":{\"web1\":12,\"10.0.0.4\":0}}",
            "{\"start\":\"web1\",\"go\":true}",
            "{\"go\":false,\"start\":\"web1\",\"reason\":\"tolerate\"}",
            "{\"stop\":\"a batch is out of order\"}",
            "{\"held\":1234567}",
            "{\"kept\":true}",
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
            "{\"held\":-1}",
            "{\"held\":\"1\"}",
            "{\"held\":1,\"kept\":true}",
            "{\"kept\":false}",
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
            assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= MAX_WRITTEN));
            let text_of = |line: &String| {
                let value: Value = serde_json::from_str(line).unwrap();
                value["event"]["text"].as_str().unwrap().to_owned()
            };
            assert_eq!(lines.iter().map(text_of).collect::<String>(), text);
        }
        let long = json!({"kind": "step_verified", "details": "x".repeat(2_000_000)});
        let lines = pieces(&long.to_string());
        assert!(lines.len() == 1 && lines[0].len() <= MAX_WRITTEN);
        let many: Vec<String> = (0..80_000).map(|it| it.to_string()).collect();
        let long = json!({"kind": "step_verified", "details": many});
        assert_eq!(pieces(&long.to_string()), ["{\"event\":{\"kind\":\"step_verified\"}}"]);
    }

    /// What the runner cannot send on is as if the share had never ended.
    #[test]
    fn a_result_fits_in_a_message_and_has_every_target() {
        let of = |message: &str, help: usize| {
            let row = |number: usize| {
                json!({
                    "target": format!("web{number}"), "status": "failed", "code": 3, "message": message,
                    "help": vec!["x"; help],
                })
            };
            let rows: Value = (0..50).map(row).collect();
            let line = result(1, &rows);
            assert!(line.len() <= MAX_WRITTEN, "{}", line.len());
            let value: Value = serde_json::from_str(&line).unwrap();
            let rows = value["result"]["targets"].as_array().unwrap().clone();
            assert!(rows.iter().all(|row| row["status"] == "failed" && row["code"] == 3));
            assert_eq!((rows.len(), &rows[49]["target"]), (50, &json!("web49")));
            rows[0]["message"].as_str().map(str::len)
        };
        assert_eq!(of("short", 1), Some(5));
        // Between what a runner sends in one message and what a line may have.
        assert!(of(&"x".repeat(19_000), 1).is_some_and(|it| it > 2_000));
        // Each byte becomes six.
        assert!(of(&"\u{1}".repeat(4_000), 1).is_some());
        assert_eq!(of("x", 3_000), None);
    }
}
