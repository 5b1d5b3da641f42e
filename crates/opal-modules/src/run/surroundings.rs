//! What the tools do not take over from where opal was started: the profile and the driver say what
//! a run works on, and a variable that was set for another purpose must not.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::prepared::Prepared;

impl Prepared {
    /// The variables that would lead the tools elsewhere, and a warning that names them. One that is
    /// empty says nothing, and so nothing is said of it.
    #[must_use]
    pub fn set_aside(&mut self, around: &BTreeMap<OsString, OsString>) -> Vec<OsString> {
        let leads_astray =
            |name: &&OsString| name.to_str().is_some_and(|name| self.driver.is_led_astray_by(name));
        let found: Vec<OsString> = around.keys().filter(leads_astray).cloned().collect();
        let is_said = |name: &&OsString| around.get(*name).is_some_and(|value| !value.is_empty());
        let reported: Vec<String> = found.iter().filter(is_said).map(|name| quoted(name)).collect();
        if !reported.is_empty() {
            let names = reported.join(", ");
            self.warnings.push(format!(
                "the tools run without {names} of the environment: set it in the profile"
            ));
        }
        found
    }
}

fn quoted(name: &OsStr) -> String {
    format!("`{}`", name.display())
}
