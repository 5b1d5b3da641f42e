//! Comparing with files. `UPDATE_EXPECT=1` rewrites them; then read the difference.

use std::path::Path;

/// Collects differences, so that one run shows all of them.
#[derive(Debug, Default)]
pub struct Differences(Vec<String>);

impl Differences {
    /// Compares `actual` with the content of `path`.
    pub fn compare(&mut self, path: &Path, actual: &str) {
        let expected = std::fs::read_to_string(path).unwrap_or_default();
        if expected == actual {
            return;
        }
        if is_updating() {
            std::fs::create_dir_all(path.parent().expect("a file has a folder")).unwrap();
            std::fs::write(path, actual).unwrap();
            return;
        }
        self.0.push(format!("{}\n--- expected\n{expected}\n+++ actual\n{actual}", path.display()));
    }

    /// Deletes or reports files of `folder` that no case wrote.
    pub fn nothing_else(&mut self, folder: &Path, ending: &str, known: &[String]) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(ending) else { continue };
            if !known.iter().any(|known| known == name) {
                if is_updating() {
                    std::fs::remove_file(&path).unwrap();
                } else {
                    self.0.push(format!("{} belongs to no case", path.display()));
                }
            }
        }
    }

    /// # Panics
    /// If there are any.
    pub fn none(self) {
        let Self(found) = self;
        assert!(found.is_empty(), "{}\nUPDATE_EXPECT=1 accepts all of them", found.join("\n"));
    }
}

#[expect(clippy::disallowed_methods, reason = "the tests have no other switch")]
fn is_updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}
