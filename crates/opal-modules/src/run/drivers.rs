//! The built-in drivers: one table.

mod ansible;
pub(super) mod common;
mod shell;
mod terragrunt;

use super::Driver;
use crate::offer::offer;
use crate::{Name, NotFound};

pub(crate) use common::template_files;
pub use common::templates;

static BUILT_IN: [&dyn Driver; 3] = [&ansible::Ansible, &terragrunt::Terragrunt, &shell::Shell];

/// The driver of this name.
pub fn find(name: &Name) -> Result<&'static dyn Driver, NotFound> {
    let found = BUILT_IN.into_iter().find(|driver| driver.reference() == name.as_str());
    found.ok_or_else(|| {
        let known = BUILT_IN.iter().map(|driver| driver.reference().to_owned()).collect();
        NotFound {
            message: format!("unknown driver `{name}`"),
            help: offer(name.as_str(), "drivers", known, String::new()),
        }
    })
}

/// All of them, in the order of their references.
pub fn all() -> impl Iterator<Item = &'static dyn Driver> {
    BUILT_IN.into_iter()
}
