//! `--only` and `--skip`.

use opal_core::selection::Selection;

use super::Asked;
use crate::tasks::option;

impl Asked {
    /// The resources that are meant.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { only: &self.only, skip: &self.skip }
    }

    /// The same as it is typed, after something else.
    pub(crate) fn selection_words(&self) -> String {
        let only = self.only.iter().flat_map(|id| option("--only", id));
        let skip = self.skip.iter().flat_map(|id| option("--skip", id));
        only.chain(skip).map(|word| format!(" {word}")).collect()
    }
}
