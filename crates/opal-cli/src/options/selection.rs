//! What a plan is made for, with `--only` and `--skip`.

use opal_core::selection::Selection;
use opal_ops::planning::Aim;
use opal_plan::plan::Purpose;

use super::{Asked, PlanOptions};
use crate::tasks::option;

impl PlanOptions {
    /// For everything that a target has.
    pub(crate) fn aim(&self, purpose: Purpose) -> Aim<'_> {
        let algorithm = self.algorithm.unwrap_or_default();
        let selection = Selection { limit: self.limit.as_deref(), ..Selection::default() };
        Aim { algorithm, purpose, selection, may_skip: self.cache }
    }
}

impl Asked {
    /// For what was selected.
    pub(crate) fn aim(&self, purpose: Purpose) -> Aim<'_> {
        Aim { selection: self.selection(), ..self.plan.aim(purpose) }
    }

    /// The resources that are meant.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { only: &self.only, skip: &self.skip, limit: self.plan.limit.as_deref() }
    }

    /// The same as it is typed, after something else.
    pub(crate) fn selection_words(&self) -> String {
        let only = self.only.iter().flat_map(|id| option("--only", id));
        let skip = self.skip.iter().flat_map(|id| option("--skip", id));
        only.chain(skip).map(|word| format!(" {word}")).collect()
    }
}
