//! What a wrapper opened and did not close yet: kept on this machine, sealed, until `end` has run.
//!
//! The record names it. What `end` needs besides may be secret, so it is in a file of the runtime root that only
//! this machine can read. The file is there as long as there is something to close. What was closed and could
//! not be recorded as closed leaves an empty file, so that a file that somebody removed is not taken for it.

use opal_core::action::{Action, Halt, OpenObject, Stage};
use opal_core::data::{Data, Secret};
use opal_core::protocol::call::{Invocation, Outcome};
use opal_core::resolver::Inputs;
use opal_trust::code::CodeKey;
use opal_vault::root::{Root, read_private};
use serde_json::{Value, json};

use super::Adapter;
use crate::client::compiled::Cache;
use crate::client::handles::Handles;

/// The directory under the runtime root.
const FOLDER: &str = "plugins/open";

/// A call has at most 16 MiB of arguments.
const MAX_BYTES: u64 = 64 << 20;

/// What is open, by the name of its file.
#[derive(Debug)]
pub(super) struct Owed {
    pub(super) id: String,
    pub(super) token: Secret,
}

/// What `end` is called with.
#[derive(Debug)]
pub struct Kept {
    pub plugin: String,
    pub version: String,
    pub checksum: String,
    pub decorator: String,
    subject: Option<String>,
    args: Secret,
    text: Option<Secret>,
    secrets: Vec<Secret>,
    token: Secret,
}

impl Kept {
    /// Whether it was closed after its run.
    #[must_use]
    pub fn is_closed(root: &Root, id: &str) -> bool {
        is_name(id) && root.path().join(FOLDER).join(closed(id)).exists()
    }

    /// What is kept under a name; none where this machine did not keep it.
    #[must_use]
    pub fn load(cache: &Cache, id: &str) -> Option<Self> {
        let (root, key) = cache.sealing().filter(|_| is_name(id))?;
        let sealed = read_private(&root.guarded(FOLDER).ok()?.join(id), MAX_BYTES).ok()?;
        let bytes = key.unsealed(id, &sealed)?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let secrets = value["secrets"].as_array()?.iter();
        Some(Self {
            plugin: text("plugin")?,
            version: text("version")?,
            checksum: text("checksum")?,
            decorator: text("decorator")?,
            subject: text("subject"),
            args: Secret::new(text("args")?),
            text: text("text").map(Secret::new),
            secrets: secrets.filter_map(Value::as_str).map(Secret::new).collect(),
            token: Secret::new(text("token")?),
        })
    }

    /// Whether it is kept.
    fn store(&self, cache: &Cache, id: &str) -> bool {
        let secrets: Vec<&str> = self.secrets.iter().map(|it| it.expose()).collect();
        let value = json!({
            "plugin": self.plugin, "version": self.version, "checksum": self.checksum,
            "decorator": self.decorator, "subject": self.subject, "args": self.args.expose(),
            "text": self.text.as_ref().map(|text| text.expose()), "secrets": secrets,
            "token": self.token.expose(),
        });
        let bytes = opal_core::wiped::Wiped::new(value.to_string().into_bytes());
        let created =
            |(root, key): (&Root, &CodeKey)| root.create(FOLDER, id, &key.sealed(id, &bytes));
        cache.sealing().is_some_and(|sealing| created(sealing).is_ok())
    }
}

fn forget(cache: &Cache, id: &str) {
    let _ = std::fs::remove_file(cache.root().join(FOLDER).join(id));
}

/// The file that says that it was closed, where the record does not.
fn closed(id: &str) -> String {
    format!("{id}.closed")
}

/// What the record cannot say: it was closed.
fn mark(cache: &Cache, id: &str) {
    if let Some((root, _)) = cache.sealing() {
        let _ = root.create(FOLDER, &closed(id), &[]);
    }
}

fn is_name(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Adapter {
    /// Keeps what closing needs, and puts the token into the record.
    pub(super) fn owe(
        &self,
        (invocation, handles): (&Invocation, &Handles),
        token: &Secret,
        owed: &mut Option<Owed>,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        if owed.as_ref().is_some_and(|owed| owed.token.expose() == token.expose()) {
            return Ok(());
        }
        let id = format!("{:016x}{:016x}", stage.random(), stage.random());
        let code = self.code;
        let kept = Kept {
            plugin: code.name.clone(),
            version: code.version.clone(),
            checksum: code.checksum.clone(),
            decorator: self.decorator.clone(),
            subject: invocation.subject.clone(),
            args: invocation.args.clone(),
            text: invocation.text.clone(),
            secrets: handles.secrets().cloned().collect(),
            token: token.clone(),
        };
        // Where it cannot be kept, the record still names it.
        let is_kept = code.runtime.get().is_some_and(|it| kept.store(&it.cache, &id));
        let before = owed.replace(Owed { id: id.clone(), token: token.clone() });
        stage.opened(&OpenObject {
            id: &id,
            plugin: &code.name,
            version: &code.version,
            decorator: &self.decorator,
            token,
            is_kept,
        })?;
        before.map_or(Ok(()), |before| self.settle(&before.id, stage))
    }

    /// It is closed.
    pub(super) fn settle(&self, id: &str, stage: &mut dyn Stage) -> Result<(), Halt> {
        let recorded = stage.closed(id);
        if let Some(runtime) = self.code.runtime.get() {
            if recorded.is_err() {
                mark(&runtime.cache, id);
            }
            forget(&runtime.cache, id);
        }
        recorded
    }
}

/// Calls the `end` that a run did not call.
#[derive(Debug)]
pub struct Ending {
    pub adapter: &'static Adapter,
    pub id: String,
    pub kept: Kept,
}

impl Action for Ending {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let (adapter, kept) = (self.adapter, &self.kept);
        let handles = Handles::new(kept.secrets.iter().cloned());
        let invocation = Invocation {
            decorator: kept.decorator.clone(),
            subject: kept.subject.clone(),
            args: kept.args.clone(),
            secrets: handles.count(),
            text: kept.text.clone(),
            seed: adapter.seed(&[kept.args.expose()]),
            token: None,
            outcome: None,
            event: None,
        };
        adapter.close(&invocation, &handles, &kept.token, Outcome::Stopped, stage)?;
        // The record of the run that opened it is complete.
        if let Some(runtime) = adapter.code.runtime.get() {
            mark(&runtime.cache, &self.id);
        }
        adapter.settle(&self.id, stage)?;
        Ok(Data::Null)
    }
}
