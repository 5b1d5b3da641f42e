//! One thing that differs between two contracts besides their plans.

use serde_json::{Value, json};

/// An option, an argument or a part of a package, none of which the hash of a plan has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) is_package: bool,
    /// `--root`, `argument env`, `package shop checksum`.
    pub(crate) name: String,
    /// As it is typed or recorded; none where it is not there.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl Beside {
    /// Both sides, also where there is nothing.
    pub(super) fn sides(&self) -> [String; 2] {
        let nothing = if self.is_package { "none" } else { "not given" };
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| nothing.to_owned());
        [side(&self.before), side(&self.after)]
    }

    /// It in one line, with the names of both sides.
    pub(super) fn line(&self, [then, now]: [&str; 2]) -> String {
        let [before, after] = self.sides();
        let what = if self.name.starts_with('-') { "option " } else { "" };
        format!("{what}{}: {before} ({then}), {after} ({now})", self.name)
    }

    pub(super) fn json(&self) -> Value {
        json!({"name": self.name, "before": self.before, "after": self.after})
    }
}
