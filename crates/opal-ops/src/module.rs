//! Runs of modules.

pub mod arguments;
mod complete;
mod judge;
mod keeping;
pub mod order;

use opal_modules::load::ReadFile;
use opal_modules::run::{self, Run};
use opal_plan::unit::Unit;

use crate::source::ModuleRun;
pub use complete::{Complete, Completion, Incomplete, complete, messages, unreported_warnings};
pub use keeping::{Keeping, KeptEnd, NotBegun, Setup};

impl ModuleRun for Run {
    fn files(&self) -> &[ReadFile] {
        &self.prepared.files
    }

    fn spec_text(&self) -> &str {
        &self.prepared.spec_text
    }

    fn unit(&self) -> Unit {
        run::lower(&self.prepared)
    }
}
