//! Every call of an agent as a line of `logs/mcp` in the runtime root.
//!
//! | member | what it is |
//! |---|---|
//! | `at` | when the call ended |
//! | `client` | what the agent's program calls itself |
//! | `tool` | the name of the tool, where there is one |
//! | `arguments` | what the agent sent, without what looks like a secret; of more than 16 KiB only `bytes` |
//! | `exit` | the exit code of `opal`, where it was asked |
//! | `refused` | why it was not asked |
//! | `contract`, `run` | what the call made or named |
//! | `took_ms` | how long it took |

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use opal_core::view::visible;
use opal_vault::Vault;
use opal_vault::root::Root;
use rustix::fs::OFlags;
use serde_json::{Map, Value, json};

use super::refusal::Refusal;

const FOLDER: &str = "logs";
const FILE: &str = "mcp";

/// Characters of one text.
const MOST_CHARS: usize = 1_000;

/// Bytes of all arguments of a call.
const MOST_BYTES: usize = 16 * 1024;

/// What an agent sent, where it is not too much to be kept; otherwise how much it was.
pub(super) fn given(arguments: Option<&Map<String, Value>>) -> Value {
    let Some(arguments) = arguments else { return Value::Null };
    let text = Value::Object(arguments.clone());
    match text.to_string().len() {
        bytes if bytes > MOST_BYTES => json!({"bytes": bytes}),
        _ => text,
    }
}

/// Whether lines can be added: a call that leaves no line is not answered.
pub(super) fn ready(root: &Root) -> Result<(), Refusal> {
    open(root).map(drop)
}

/// Adds a line. It is on the disk when this returns.
pub(super) fn add(root: &Root, line: &Value) -> Result<(), Refusal> {
    let mut file = open(root)?;
    let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
    written.map_err(|error| Refusal::Unlogged(error.kind()))
}

fn open(root: &Root) -> Result<File, Refusal> {
    let path = root.directory(FOLDER)?.join(FILE);
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    // Nothing that somebody put there leads to another file.
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    options.open(path).map_err(|error| Refusal::Unlogged(error.kind()))
}

/// A value as it may be kept.
pub(super) fn shown(vault: &Vault, value: &Value) -> Value {
    match value {
        Value::String(text) => text_shown(vault, text).into(),
        Value::Array(items) => items.iter().map(|item| shown(vault, item)).collect(),
        Value::Object(members) => {
            let one =
                |(name, value): (&String, &Value)| (text_shown(vault, name), shown(vault, value));
            Value::Object(members.iter().map(one).collect())
        }
        other => other.clone(),
    }
}

fn text_shown(vault: &Vault, text: &str) -> String {
    visible::brief(&vault.scrub(text).text(), MOST_CHARS)
}
