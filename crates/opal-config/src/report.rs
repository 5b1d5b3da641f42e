//! What was found wrong, and what every stage of reading needs.

use std::ops::{Deref, DerefMut};

use opal_core::{Code, Diagnostic, Registry};
use opal_yaml::problems::{Codes, Problems};

/// Of configurations, and of all YAML that has the same form.
pub(crate) const CODES: Codes = Codes {
    syntax: Code::ConfigSyntax,
    unknown_key: Code::ConfigUnknownKey,
    repeated_key: Code::ConfigRepeatedKey,
    missing_key: Code::ConfigMissingKey,
    value: Code::ConfigValue,
};

#[derive(Debug)]
pub struct Report<'r> {
    pub registry: &'r Registry,
    /// The variables that the step which is read can use; none where texts are only texts.
    pub variables: Vec<String>,
    problems: Problems,
}

impl<'r> Report<'r> {
    #[must_use]
    pub fn new(registry: &'r Registry) -> Self {
        Self { registry, variables: Vec::new(), problems: Problems::new(CODES) }
    }

    #[must_use]
    pub fn into_errors(self) -> Vec<Diagnostic> {
        self.problems.into_errors()
    }
}

impl Deref for Report<'_> {
    type Target = Problems;

    fn deref(&self) -> &Problems {
        &self.problems
    }
}

impl DerefMut for Report<'_> {
    fn deref_mut(&mut self) -> &mut Problems {
        &mut self.problems
    }
}
