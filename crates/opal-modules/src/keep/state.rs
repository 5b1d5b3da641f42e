//! The state of a module instance: how its last run ended, and what it has published.

use std::io;
use std::path::{Path, PathBuf};

use opal_vault::Vault;
use serde_json::{Map, Value, json};

use super::file::{self, Unkept};
use super::id::Instance;
use super::lock::Lock;
use crate::ModuleRef;

const MOST_BYTES: u64 = 1 << 20;

/// What a run that was killed has left, in the words of `last_error`.
const INTERRUPTED: &str = "interrupted";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    Ok,
    Error,
    Destroyed,
}

impl Status {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Destroyed => "destroyed",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let all = [Self::Running, Self::Ok, Self::Error, Self::Destroyed];
        all.into_iter().find(|status| status.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub module_ref: ModuleRef,
    pub instance: Option<Instance>,
    pub status: Status,
    pub command: String,
    pub run_id: String,
    /// Times are as [`super::time`] writes them.
    pub started_at: String,
    pub updated_at: String,
    /// The process of the run.
    pub pid: u32,
    pub driver: String,
    pub profile: String,
    pub pack: String,
    /// Published ones only.
    pub outputs: Map<String, Value>,
    pub error: Option<String>,
    pub evidence: PathBuf,
    /// Of the inputs of the run that are not secret, to see whether others were given since.
    pub inputs_digest: Option<String>,
    /// Of all that the run rested on, to tell whether the same would be done again; none where nobody
    /// could tell.
    pub basis_digest: Option<String>,
}

impl State {
    /// Reads a state as it is written; none where there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, Unkept> {
        file::read(path, MOST_BYTES)?.map(|bytes| Self::parse(path, &bytes)).transpose()
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Unkept> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|_| Unkept::because(path, "it is not JSON"))?;
        Self::of(&value).ok_or_else(|| Unkept::because(path, "it is not the state of a module"))
    }

    /// Reads a state as it is: one that says `running` while no run has its lock was left by a run
    /// that was killed.
    pub fn seen(path: &Path) -> Result<Option<Self>, Unkept> {
        let before = match Self::read(path)? {
            Some(state) if state.status == Status::Running => state,
            read => return Ok(read),
        };
        let is_free = Lock::is_free(path)?;
        // It may have ended between the two, and another may have begun.
        let mut read = Self::read(path)?;
        let is_left = |now: &&mut Self| {
            is_free && now.status == Status::Running && now.run_id == before.run_id
        };
        if let Some(state) = read.as_mut().filter(is_left) {
            state.status = Status::Error;
            state.error = Some(INTERRUPTED.to_owned());
        }
        Ok(read)
    }

    pub fn write(&self, path: &Path, vault: &Vault) -> Result<(), Unkept> {
        // The names of outputs are those of the spec.
        let document = vault.json(&self.value(), &["/outputs/*", "/last_error"]);
        if document.bytes().len() as u64 > MOST_BYTES {
            let why = format!("the published outputs are larger than {MOST_BYTES} bytes");
            return Err(Unkept::because(path, why));
        }
        // What nobody could read afterwards never takes the place of what is there.
        Self::parse(path, document.bytes())?;
        file::write(path, &document).or_else(|unkept| {
            let is_full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded]
                .contains(&unkept.error.kind());
            // A run that has ended would seem to go on otherwise; one that begins need not.
            match is_full && self.status != Status::Running {
                true => file::write_over(path, &document).map_err(|_| unkept),
                false => Err(unkept),
            }
        })
    }

    /// As it is written, not scrubbed yet.
    #[must_use]
    pub fn value(&self) -> Value {
        let mut value = json!({
            "module_ref": self.module_ref.as_str(),
            "status": self.status.name(),
            "command": self.command,
            "run_id": self.run_id,
            "started_at": self.started_at,
            "updated_at": self.updated_at,
            "pid": self.pid,
            "execution": {"driver": self.driver, "profile": self.profile, "pack_id": self.pack},
            "outputs": self.outputs,
            "output_count": self.outputs.len(),
            "evidence_dir": self.evidence.to_string_lossy(),
        });
        let optional = [
            ("state_instance", self.instance.as_ref().map(Instance::as_str)),
            ("last_error", self.error.as_deref()),
            ("inputs_digest", self.inputs_digest.as_deref()),
            ("basis_digest", self.basis_digest.as_deref()),
        ];
        for (key, text) in optional {
            if let Some(text) = text {
                value[key] = text.into();
            }
        }
        value
    }

    fn of(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let execution = |key: &str| value.get("execution")?.get(key)?.as_str().map(str::to_owned);
        let instance = match value.get("state_instance") {
            Some(instance) => Some(Instance::parse(instance.as_str()?).ok()?),
            None => None,
        };
        Some(Self {
            module_ref: ModuleRef::parse(&text("module_ref")?).ok()?,
            instance,
            status: Status::named(&text("status")?)?,
            command: text("command")?,
            run_id: text("run_id")?,
            started_at: text("started_at")?,
            updated_at: text("updated_at")?,
            pid: value.get("pid")?.as_u64()?.try_into().ok()?,
            driver: execution("driver")?,
            profile: execution("profile")?,
            pack: execution("pack_id")?,
            outputs: value.get("outputs")?.as_object()?.clone(),
            error: text("last_error"),
            evidence: text("evidence_dir")?.into(),
            inputs_digest: text("inputs_digest"),
            basis_digest: text("basis_digest"),
        })
    }
}
