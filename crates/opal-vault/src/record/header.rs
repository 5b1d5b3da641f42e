//! What a record says about the run itself: at its beginning, and at its end.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use crate::Shown;
use crate::event::{Counts, Status};
use opal_core::Value;
use opal_core::contract::{Difference, Drift, Seen};
use opal_core::hash::{Algorithm, Digest};

use super::contract::Contract;
use super::line::{self, Line};
use super::{RunId, hide};
use crate::targets::FleetTable;
use crate::trace::TraceParent;
use crate::vault::Vault;

/// What is known before the first step. An argument may be a value from the world all the same, and
/// so may a directory: a vault hides what it knows wherever they are written.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    pub id: RunId,
    /// When the run began.
    pub at: SystemTime,
    /// The function, or the file name of the script.
    pub target: &'a str,
    pub arguments: &'a BTreeMap<String, Value>,
    pub algorithm: Algorithm,
    /// None where the file of a contract does not say it.
    pub plan_hash: Option<Digest>,
    /// `--limit`, where the run was narrowed.
    pub limit: Option<String>,
    /// The contract that is run, or was refused.
    pub contract: Option<Contract>,
    /// In what the contract is no longer true: of a forced or refused one.
    pub drift: Vec<Drifted>,
    /// Why the contract was not run.
    pub refusal: Option<Refusal>,
    /// Where the steps start: tells two checkouts of one project apart.
    pub directory: Option<String>,
    /// What tells that directory from others where its name is hidden, and only then written.
    pub place: Option<Digest>,
    /// The git commit that is checked out.
    pub commit: Option<String>,
    /// The source, where git is asked about it only when someone reads the record.
    pub source: Option<Source>,
    pub host: Option<String>,
    pub user: Option<String>,
    /// opal's own version.
    pub version: &'a str,
    pub pid: u32,
    /// The span of somebody else that the run belongs to.
    pub trace_parent: Option<TraceParent>,
    /// Whether it is a round of `opal watch`: those are counted apart.
    pub is_round: bool,
}

/// The source of a run, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Absolute.
    pub path: String,
    pub digest: Digest,
}

/// Why a contract was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    /// As it was shown to people, without any value that is not public.
    pub message: String,
}

/// The ways in which a contract is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file is damaged or was changed.
    Tampered,
    /// It is sealed to other runners.
    NotSealed,
    /// The policy requires a signature, and it has none.
    Unsigned,
    /// The policy does not accept it for another reason: its signer, its age.
    NotTrusted,
    /// Approval rules demand what it does not have.
    NotApproved,
    /// People whose approval is needed said no.
    Rejected,
    Expired,
    /// It is a single-use contract, and has been run.
    Used,
    /// There is no plan to compare it with.
    NotPlannable,
    /// The plan is another one now.
    Drifted,
}

impl Reason {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tampered => "tampered",
            Self::NotSealed => "not_sealed",
            Self::Unsigned => "unsigned",
            Self::NotTrusted => "not_trusted",
            Self::NotApproved => "not_approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Used => "used",
            Self::NotPlannable => "not_plannable",
            Self::Drifted => "drifted",
        }
    }
}

/// One way in which the world is not what a contract says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drifted {
    pub code: Drift,
    /// The step.
    pub path: Option<String>,
    /// The name of the value.
    pub key: Option<String>,
    /// One line for people, without any value.
    pub words: String,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ending<'a> {
    pub at: SystemTime,
    /// By a clock that nobody sets.
    pub took: Duration,
    pub status: Status,
    /// The exit code of opal.
    pub code: i32,
    pub counts: Counts,
    pub failed: Option<Failed<'a>>,
    /// What failed in other branches, in the order of the plan.
    pub beside: Vec<Failed<'a>>,
    /// The keys of values that were hidden, though nobody declared them secret.
    pub hidden: &'a [Box<str>],
    /// What a run of a contract has left of its resources.
    pub resources: Vec<Seen>,
    /// How the targets of its fleets ended, in the order of the plan.
    pub fleets: &'a [FleetTable],
    /// Whether the source had changes that its commit does not have, where that is known.
    pub modified: Option<bool>,
}

/// The step that a run failed at.
#[derive(Clone, Debug)]
pub struct Failed<'a> {
    pub path: &'a str,
    pub code: i32,
    /// What opal itself has to say about it.
    pub message: Option<Shown<'a>>,
}

/// The version of the form of a record.
pub(super) const VERSION: u32 = 1;

impl From<&Difference> for Drifted {
    fn from(difference: &Difference) -> Self {
        Self {
            code: difference.code,
            path: difference.path.as_deref().map(str::to_owned),
            key: difference.key.as_deref().map(str::to_owned),
            words: match &difference.machine {
                Some(machine) => format!("{machine}: {}", difference.words),
                None => difference.words.clone(),
            },
        }
    }
}

impl Header<'_> {
    /// The first line of the events.
    pub(super) fn started(&self, vault: &Vault) -> Vec<u8> {
        let mut line = Line::new();
        self.arguments(&mut line);
        line.time("at", self.at);
        self.origin(&mut line);
        line.text("id", self.id.as_str());
        line.text("kind", "run_started");
        line.maybe("limit", self.limit.as_deref());
        line.text("opal", self.version);
        line.number("pid", self.pid);
        self.place(&mut line, vault);
        line.maybe("plan_hash", self.named_hash().as_deref());
        self.refusal(&mut line);
        line.text("target", self.target);
        line.maybe("traceparent", self.trace_parent.as_ref().map(TraceParent::text).as_deref());
        line.maybe("user", self.user.as_deref());
        line.number("version", VERSION);
        hide::document(line.end(), vault)
    }

    pub(super) fn summary(&self, ending: &Ending<'_>, vault: &Vault) -> Vec<u8> {
        let mut line = Line::new();
        ending.beside(&mut line);
        self.arguments(&mut line);
        line.number("code", ending.code);
        line.maybe("commit", self.commit.as_deref());
        if let Some(contract) = &self.contract {
            contract.write(&mut line);
        }
        line.object("counts", |line| {
            ending.counts.named().into_iter().for_each(|(name, count)| line.number(name, count));
        });
        line.maybe("directory", self.directory.as_deref());
        self.drift(&mut line);
        ending.failed(&mut line);
        line.time("finished_at", ending.at);
        ending.hidden(&mut line);
        line.maybe("host", self.host.as_deref());
        line.text("id", self.id.as_str());
        line.maybe("limit", self.limit.as_deref());
        if ending.modified == Some(true) {
            line.flag("modified", true);
        }
        line.text("opal", self.version);
        line.number("pid", self.pid);
        self.place(&mut line, vault);
        line.maybe("plan_hash", self.named_hash().as_deref());
        self.refusal(&mut line);
        ending.resources(&mut line);
        if let Some(source) = &self.source {
            line.object("source", |line| {
                line.text("hash", &self.algorithm.written(&source.digest));
                line.text("path", &source.path);
            });
        }
        line.time("started_at", self.at);
        line.text("status", ending.status.name());
        line.text("target", self.target);
        line.millis("took_ms", ending.took);
        line.maybe("traceparent", self.trace_parent.as_ref().map(TraceParent::text).as_deref());
        line.maybe("user", self.user.as_deref());
        line.number("version", VERSION);
        hide::document(line.end(), vault)
    }

    fn named_hash(&self) -> Option<String> {
        Some(self.algorithm.written(&self.plan_hash?))
    }

    fn refusal(&self, line: &mut Line) {
        if let Some(refusal) = &self.refusal {
            line.object("refused", |line| {
                line.text("message", &refusal.message);
                line.text("reason", refusal.reason.name());
            });
        }
    }

    fn arguments(&self, line: &mut Line) {
        line.pairs(
            "arguments",
            self.arguments.iter().map(|(name, value)| {
                let text = match value {
                    Value::String(text) => text.to_string(),
                    other => other.to_string(),
                };
                (name.as_str(), text)
            }),
        );
    }

    /// `commit`, `contract`, `drift`, `host`.
    fn origin(&self, line: &mut Line) {
        line.maybe("commit", self.commit.as_deref());
        if let Some(contract) = &self.contract {
            contract.write(line);
        }
        line.maybe("directory", self.directory.as_deref());
        self.drift(line);
        line.maybe("host", self.host.as_deref());
    }

    fn place(&self, line: &mut Line, vault: &Vault) {
        if let (Some(directory), Some(place)) = (&self.directory, &self.place)
            && vault.scrub(directory).text() != directory.as_str()
        {
            line.text("place", &place.hex());
        }
    }

    fn drift(&self, line: &mut Line) {
        if !self.drift.is_empty() {
            line.list("drift", &self.drift, |line, drifted| {
                line.text("code", drifted.code.name());
                line.maybe("key", drifted.key.as_deref());
                line.maybe("path", drifted.path.as_deref());
                line.text("words", &drifted.words);
            });
        }
    }
}

impl Ending<'_> {
    /// The last line of the events.
    pub(super) fn finished(&self) -> Vec<u8> {
        let mut line = Line::new();
        self.beside(&mut line);
        line.time("at", self.at);
        line.number("code", self.code);
        self.failed(&mut line);
        line.text("kind", "run_finished");
        line.text("status", self.status.name());
        line.millis("took_ms", self.took);
        line.end()
    }

    /// `targets.json`; none where there is no fleet.
    pub(super) fn targets(&self, vault: &Vault) -> Option<Vec<u8>> {
        if self.fleets.is_empty() {
            return None;
        }
        let mut line = Line::new();
        line.list("fleets", self.fleets, |line, table| {
            line.text("path", &table.path);
            line.list("targets", &table.rows, line::row);
        });
        line.number("version", VERSION);
        Some(hide::document(line.end(), vault))
    }

    fn failed(&self, line: &mut Line) {
        if let Some(failed) = &self.failed {
            line.object("failed", |line| failed.write(line));
        }
    }

    fn hidden(&self, line: &mut Line) {
        if !self.hidden.is_empty() {
            line.texts("hidden", self.hidden.iter().map(|key| &**key));
        }
    }

    fn resources(&self, line: &mut Line) {
        if !self.resources.is_empty() {
            line.list("resources", &self.resources, |line, seen| {
                let hex = |digest: Option<Digest>| digest.map(|it| it.hex());
                line.maybe("account", hex(seen.account).as_deref());
                let details = seen.details.as_ref();
                line.maybe("digest", hex(details.map(|it| it.digest)).as_deref());
                line.maybe("identity", hex(seen.identity).as_deref());
                if let Some(details) = details {
                    line.number("length", details.length);
                }
                line.text("path", &seen.path);
                line.flag("prerequisite", seen.by_prerequisite);
                line.text("status", seen.status.name());
            });
        }
    }

    fn beside(&self, line: &mut Line) {
        if !self.beside.is_empty() {
            line.list("also_failed", &self.beside, |line, failed| failed.write(line));
        }
    }
}

impl Failed<'_> {
    fn write(&self, line: &mut Line) {
        line.number("code", self.code);
        line.maybe("message", self.message.as_ref().map(Shown::text).as_deref());
        line.text("path", self.path);
    }
}

/// The targets of fleets as `targets.json` has them: an object with one list, `targets`.
#[must_use]
pub fn target_rows(tables: &[FleetTable], vault: &Vault) -> Vec<u8> {
    let mut line = Line::new();
    line.list("targets", tables.iter().flat_map(|table| &table.rows), line::row);
    hide::document(line.end(), vault)
}
