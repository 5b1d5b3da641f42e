//! Decorators of a manifest that opal has made from the schemas of a provider. Each is read when it is
//! named.

use std::collections::BTreeSet;

use opal_core::Registry;
use opal_yaml::problems::Problems;

use super::Declared;
use super::interface::Reader;
use super::schema::Schemas;
use crate::codes::CODES;

/// The decorator that a text describes; none where it describes none.
pub(crate) fn decorator(text: &str, built_in: &Registry) -> Option<Declared> {
    let root = opal_yaml::read(text, |_| false).ok().flatten()?;
    let mut problems = Problems::new(CODES);
    let (mut capabilities, mut shell) = (BTreeSet::new(), Vec::new());
    let schemas =
        Schemas { definitions: None, problems: &mut problems, levels: 0, is_generated: true };
    let (capabilities, shell) = (&mut capabilities, &mut shell);
    let found = Reader { schemas, built_in, capabilities, shell }.decorator(&root);
    found.filter(|_| problems.is_empty())
}
