//! Lines: one message each, and the bytes that follow it.

use std::collections::BTreeMap;
use std::io::{BufRead, ErrorKind, Read, Write};
use std::sync::Arc;

use crate::wiped::Wiped;

use super::body::{Body, Bytes, Frames, View};
use super::{
    Call, Ending, Kind, MAX_FRAMES, MAX_LINE, Malformed, Message, Refusal, Reply, Shape as _,
};
use crate::data::json::{self, FRAME};
use crate::data::{Data, Secret};
use crate::wiped;

/// Reads the next message; none where the other side has nothing more to say.
pub fn read(from: &mut impl BufRead) -> Result<Option<Message>, Malformed> {
    let Some(line) = line(from)? else { return Ok(None) };
    let text = str::from_utf8(&line).map_err(|_| Malformed::NotUtf8)?;
    let (data, sizes) = json::read_framed(text)
        .map_err(|fault| Malformed::NotJson(format!("{} at {}", fault.reason, fault.column)))?;
    let frames = frames(from, &sizes)?;
    message(data, frames).map(Some)
}

/// One line without its end.
fn line(from: &mut impl BufRead) -> Result<Option<Wiped<Vec<u8>>>, Malformed> {
    let mut line = Wiped::new(Vec::new());
    loop {
        let there = match from.fill_buf() {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Malformed::Io(error.kind())),
        };
        if there.is_empty() {
            return if line.is_empty() { Ok(None) } else { Err(Malformed::Cut) };
        }
        let end = memchr::memchr(b'\n', there);
        let taken = end.unwrap_or(there.len());
        if line.len() + taken >= MAX_LINE {
            return Err(Malformed::LongLine);
        }
        wiped::reserve(&mut line, taken);
        line.extend_from_slice(&there[..taken]);
        from.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn frames(from: &mut impl Read, sizes: &[i64]) -> Result<Frames, Malformed> {
    let mut left = MAX_FRAMES as u64;
    let mut frames: Vec<Bytes> = Vec::new();
    for size in sizes {
        let size = u64::try_from(*size).map_err(|_| Malformed::NotMessage("a negative frame"))?;
        left = left.checked_sub(size).ok_or(Malformed::LongFrames)?;
        let bytes = wiped::read(from, size).map_err(|error| Malformed::Io(error.kind()))?;
        if bytes.len() as u64 != size {
            return Err(Malformed::Cut);
        }
        frames.push(Arc::new(bytes));
    }
    Ok(Frames(frames))
}

fn message(data: Data, frames: Frames) -> Result<Message, Malformed> {
    let Data::Map(mut fields) = data else { return Err(Malformed::NotMessage("not an object")) };
    let known = ["call", "cancel", "error", "for", "id", "log", "ok", "params", "plugin"];
    if fields.keys().any(|key| !known.contains(&key.as_str())) {
        return Err(Malformed::NotMessage("an unknown field"));
    }
    let number = |fields: &mut BTreeMap<String, Data>, name: &str| match fields.remove(name) {
        None => Ok(None),
        Some(Data::Int(id)) => match u64::try_from(id) {
            Ok(id) => Ok(Some(id)),
            Err(_) => Err(Malformed::NotMessage("a negative number")),
        },
        Some(_) => Err(Malformed::NotMessage("a number is expected")),
    };
    if let Some(id) = number(&mut fields, "cancel")? {
        return if fields.is_empty() {
            Ok(Message::Cancel(id))
        } else {
            Err(Malformed::NotMessage("a cancellation has no other field"))
        };
    }
    let id = number(&mut fields, "id")?.ok_or(Malformed::NotMessage("no `id`"))?;
    let text = |data: Option<Data>| match data {
        None => Ok(None),
        Some(Data::Text(text)) => Ok(Some(text.expose().to_owned())),
        Some(_) => Err(Malformed::NotMessage("text is expected")),
    };
    if let Some(call) = text(fields.remove("call"))? {
        let parent = number(&mut fields, "for")?;
        let plugin = text(fields.remove("plugin"))?;
        let params = fields.remove("params").unwrap_or(Data::Map(BTreeMap::new()));
        return if fields.is_empty() && matches!(params, Data::Map(_)) {
            let params = Body { data: params, frames };
            Ok(Message::Call(Call { id, parent, plugin, call, params }))
        } else {
            Err(Malformed::NotMessage("a call has other fields"))
        };
    }
    reply(id, fields, frames).ok_or(Malformed::NotMessage("neither a call nor a reply"))
}

fn reply(id: u64, mut fields: BTreeMap<String, Data>, frames: Frames) -> Option<Message> {
    let log = match fields.remove("log") {
        None => None,
        Some(data) => Some(Secret::read(Body { data, frames: Frames::default() }.view())?),
    };
    let (ok, error) = (fields.remove("ok"), fields.remove("error"));
    if !fields.is_empty() {
        return None;
    }
    let result = match (ok, error) {
        (Some(data @ Data::Map(_)), None) => Ok(Body { data, frames }),
        (None, Some(data)) => Err(refusal(Body { data, frames }.view())?),
        _ => return None,
    };
    Some(Message::Reply(Reply { id, result, log }))
}

fn refusal(view: View<'_>) -> Option<Refusal> {
    let engine: Option<String> = view.get("engine")?;
    Some(Refusal {
        kind: Kind::named(&view.get::<String>("kind")?)?,
        message: view.get("message")?,
        help: view.get::<Option<_>>("help")?.unwrap_or_default(),
        engine: match engine {
            None => None,
            Some(word) => Some(Ending::named(&word)?),
        },
        identity: view.get("identity")?,
    })
}

/// Writes a message in one go. One that is too long is refused, and nothing of it is written.
pub fn write(message: &Message, to: &mut impl Write) -> Result<(), Malformed> {
    let bytes = bytes(message)?;
    to.write_all(&bytes).and_then(|()| to.flush()).map_err(|error| Malformed::Io(error.kind()))
}

/// The bytes of a message: its line and its frames.
pub fn bytes(message: &Message) -> Result<Wiped<Vec<u8>>, Malformed> {
    let mut fields = BTreeMap::new();
    let mut put = |name: &str, data: Data| {
        fields.insert(name.to_owned(), data);
    };
    let number = |id: u64| Data::Int(i64::try_from(id).unwrap_or(i64::MAX));
    let mut extra = Frames::default();
    let mut frames = &extra;
    match message {
        Message::Cancel(id) => put("cancel", number(*id)),
        Message::Call(call) => {
            put("id", number(call.id));
            put("call", Data::text(call.call.as_str()));
            put("params", call.params.data.clone());
            if let Some(parent) = call.parent {
                put("for", number(parent));
            }
            if let Some(plugin) = &call.plugin {
                put("plugin", Data::text(plugin.as_str()));
            }
            frames = &call.params.frames;
        }
        Message::Reply(reply) => {
            put("id", number(reply.id));
            if let Some(log) = &reply.log {
                put("log", Data::Text(log.clone()));
            }
            match &reply.result {
                Ok(body) => {
                    put("ok", body.data.clone());
                    frames = &body.frames;
                }
                Err(refusal) => {
                    put("error", refused(refusal, &mut extra));
                    frames = &extra;
                }
            }
        }
    }
    let mut out = Out { bytes: Wiped::new(Vec::new()), frames: Some(&frames.0), order: Vec::new() };
    out.value(&Data::Map(fields))?;
    out.push(b"\n");
    if out.bytes.len() > MAX_LINE {
        return Err(Malformed::LongLine);
    }
    if out.order.iter().map(|frame| frame.len()).sum::<usize>() > MAX_FRAMES {
        return Err(Malformed::LongFrames);
    }
    for frame in std::mem::take(&mut out.order) {
        out.push(frame);
    }
    Ok(out.bytes)
}

/// A value as a JSON text: what plugins get as arguments. A duration is its written form.
#[must_use]
pub fn json(data: &Data) -> Secret {
    let mut out = Out { bytes: Wiped::new(Vec::new()), frames: None, order: Vec::new() };
    // Only a frame can be wrong.
    let _ = out.value(data);
    Secret::new(String::from_utf8_lossy(&out.bytes))
}

fn refused(refusal: &Refusal, frames: &mut Frames) -> Data {
    let mut fields = BTreeMap::from([
        ("kind".to_owned(), Data::text(refusal.kind.word())),
        ("message".to_owned(), refusal.message.write(frames)),
        ("help".to_owned(), refusal.help.write(frames)),
    ]);
    if let Some(engine) = refusal.engine {
        fields.insert("engine".to_owned(), Data::text(engine.word()));
    }
    if let Some(identity) = &refusal.identity {
        fields.insert("identity".to_owned(), identity.write(frames));
    }
    Data::Map(fields)
}

/// A document that is being written. Its memory is wiped, also where it grows.
struct Out<'a> {
    bytes: Wiped<Vec<u8>>,
    /// None where `$frame` is a key like any other.
    frames: Option<&'a [Bytes]>,
    /// In the order of the line.
    order: Vec<&'a Bytes>,
}

impl<'a> Out<'a> {
    fn push(&mut self, bytes: &[u8]) {
        wiped::reserve(&mut self.bytes, bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn value(&mut self, data: &Data) -> Result<(), Malformed> {
        match data {
            Data::Null => self.push(b"null"),
            Data::Bool(it) => self.push(if *it { b"true" } else { b"false" }),
            Data::Int(it) => self.push(it.to_string().as_bytes()),
            Data::Float(it) => self.push(format!("{it:?}").as_bytes()),
            Data::Text(text) => self.string(text.expose()),
            Data::Duration(it) => self.string(&it.to_string()),
            Data::Array(items) => {
                self.push(b"[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.push(b",");
                    }
                    self.value(item)?;
                }
                self.push(b"]");
            }
            Data::Map(fields) => match (self.frames, fields.len(), fields.get(FRAME)) {
                (Some(frames), 1, Some(Data::Int(place))) => self.frame(frames, *place)?,
                _ => self.object(fields)?,
            },
        }
        Ok(())
    }

    fn object(&mut self, fields: &BTreeMap<String, Data>) -> Result<(), Malformed> {
        self.push(b"{");
        for (index, (key, value)) in fields.iter().enumerate() {
            if index > 0 {
                self.push(b",");
            }
            self.string(key);
            self.push(b":");
            self.value(value)?;
        }
        self.push(b"}");
        Ok(())
    }

    fn frame(&mut self, frames: &'a [Bytes], place: i64) -> Result<(), Malformed> {
        let place = usize::try_from(place).ok();
        let frame = place.and_then(|place| frames.get(place));
        let frame = frame.ok_or(Malformed::NotMessage("a frame is missing"))?;
        self.order.push(frame);
        self.push(format!("{{\"{FRAME}\":{}}}", frame.len()).as_bytes());
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.push(b"\"");
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\x1f')) {
            self.push(&rest.as_bytes()[..at]);
            match rest.as_bytes()[at] {
                b'"' => self.push(b"\\\""),
                b'\\' => self.push(b"\\\\"),
                byte => self.push(format!("\\u{byte:04x}").as_bytes()),
            }
            rest = &rest[at + 1..];
        }
        self.push(rest.as_bytes());
        self.push(b"\"");
    }
}
