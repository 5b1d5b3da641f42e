//! `--only` and `--skip`.

use opal_runtime::selection::Selection;

use super::Asked;

impl Asked {
    /// The resources that are meant.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { only: &self.only, skip: &self.skip }
    }
}
