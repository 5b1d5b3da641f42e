//! Every call of an agent as a line of `logs/mcp` in the runtime root.
//!
//! | member | what it is |
//! |---|---|
//! | `at` | when the call ended |
//! | `client` | what the agent's program calls itself |
//! | `tool` | the name of the tool, where there is one |
//! | `arguments` | what the agent sent, without what looks like a secret; of more than 16 KiB, large ones only as `bytes` and `sha256` |
//! | `exit` | the exit code of `opal`, where it was asked |
//! | `refused` | why it was not asked |
//! | `contract`, `run` | what the call made or named |
//! | `took_ms` | how long it took |

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use opal_core::hash::Algorithm;
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

/// Bytes of one argument, and how many there are, where all together are too much.
const MOST_EACH: usize = 512;
const MOST_ARGUMENTS: usize = 24;

/// What an agent sent. Of what is too much to be kept: what is small, and of the rest how much it was.
pub(super) fn given(arguments: Option<&Map<String, Value>>) -> Value {
    let Some(arguments) = arguments else { return Value::Null };
    let whole = Value::Object(arguments.clone());
    let text = whole.to_string();
    if text.len() <= MOST_BYTES {
        return whole;
    }
    let digest = |text: &str| {
        let sha256 = Algorithm::Sha256.digest(&[text.as_bytes()]).hex();
        json!({"bytes": text.len(), "sha256": sha256})
    };
    if arguments.len() > MOST_ARGUMENTS {
        return digest(&text);
    }
    let brief = |(name, value): (&String, &Value)| {
        let text = value.to_string();
        let is_small = text.len() <= MOST_EACH;
        (name.clone(), if is_small { value.clone() } else { digest(&text) })
    };
    Value::Object(arguments.iter().map(brief).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_names_is_kept_also_beside_something_large() {
        let large = "x".repeat(2 * MOST_BYTES);
        let sent = json!({"project": "/srv/shop", "task": "deploy", "values": {"big": large}});
        let kept = given(sent.as_object());
        assert_eq!((&kept["project"], &kept["task"]), (&json!("/srv/shop"), &json!("deploy")));
        assert_eq!(kept["values"]["bytes"], 2 * MOST_BYTES + r#"{"big":""}"#.len());
        assert_eq!(kept["values"]["sha256"].as_str().unwrap().len(), 64);
        let many: Map<String, Value> =
            (0..100_000).map(|it| (it.to_string(), Value::from(it))).collect();
        assert!(given(Some(&many)).to_string().len() < 200);
        assert_eq!(given(None), Value::Null);
    }
}
