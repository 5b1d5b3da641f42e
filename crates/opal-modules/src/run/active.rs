//! A run that has a name and a place.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use opal_vault::Vault;

use super::driver::Outputs;
use super::in_clear::InClear;
use super::prepared::Prepared;
use crate::keep::RunId;

/// A run that has a name and a place.
#[derive(Debug)]
pub struct Run {
    pub prepared: Prepared,
    pub id: RunId,
    /// `<root>/work/<module id>/<run id>`.
    pub work: PathBuf,
    /// What must not be seen of it.
    pub vault: Vault,
    /// Whether its tools may print colours; set before it runs. No part of the plan.
    pub colour: AtomicBool,
    pub(super) in_clear: InClear,
    /// What was put out before it, once that was asked for.
    pub(super) earlier: OnceLock<Reported>,
}

impl Run {
    #[must_use]
    pub fn new(prepared: Prepared, id: RunId) -> Self {
        let work = prepared.root.work(&prepared.spec.module_ref, &id);
        let vault = Vault::with_patterns();
        prepared.register(&vault);
        let (colour, in_clear, earlier) =
            (AtomicBool::new(false), InClear::default(), OnceLock::new());
        Self { prepared, id, work, vault, colour, in_clear, earlier }
    }

    /// The copy of the pack, where the tools run.
    #[must_use]
    pub fn stack(&self) -> PathBuf {
        self.work.join("stack")
    }
}

/// Outputs in full, or why they cannot be read.
pub(super) type Reported = Result<ReportedOutputs, String>;

/// What tools have put out.
#[derive(Debug, Default)]
pub(super) struct ReportedOutputs {
    pub(super) outputs: Outputs,
    /// What of them has got lost.
    pub(super) lost: Option<String>,
}
