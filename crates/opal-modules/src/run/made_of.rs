//! The files that a run of a module is made of, for the provenance of a contract.

use std::path::PathBuf;

use super::drivers;
use super::prepared::Prepared;

impl Prepared {
    /// The spec first, then its schema, the profile with its templates, and every file of the pack.
    /// The file of inputs is not one of them: it may hold secrets, which a digest could give away.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let spec = &self.source.0;
        let schema = spec.with_file_name("inputs.schema.json");
        let schema = schema.is_file().then_some(schema);
        let mut files = vec![spec.clone()];
        files.extend(schema);
        files.push(self.profile_path.clone());
        files.extend(drivers::template_files(&self.profile, &self.profile_path));
        files.extend(self.pack.files());
        files
    }
}
