//! What `opal` was asked for, as it passes it on: one JSON object.

use std::path::PathBuf;

use opal_vault::root::Root;
use serde_json::Value;

/// The options of all parts. A part reads those that are its own.
#[derive(Clone, Debug)]
pub(crate) struct Options(Value);

impl Options {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        value["root"].is_string().then_some(Self(value))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0[name].as_str()
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.0[name].as_bool().unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0[name].as_u64()
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The runtime root.
    pub(crate) fn root(&self) -> Root {
        Root::new(self.text("root").unwrap_or_default())
    }
}
