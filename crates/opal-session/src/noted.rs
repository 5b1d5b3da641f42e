//! Paths that planning reads: a change of one may change the plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use opal_core::inventory::MAX_FILES;

/// Whole paths, and how much of each counts.
pub type Places = BTreeMap<PathBuf, Depth>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Whether it is there, and what it is.
    Kind,
    /// The content of a file, the names in a directory.
    Content,
}

/// Collects paths.
#[derive(Debug, Default)]
pub struct Noted(Mutex<Places>);

impl Noted {
    pub fn add(&self, path: &Path, depth: Depth) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = places.len() > MAX_FILES;
        match places.get_mut(path) {
            Some(known) => *known = depth.max(*known),
            // One more than can be watched, so that this is said.
            None if is_full => {}
            None => {
                places.insert(path.to_owned(), depth);
            }
        }
    }

    #[must_use]
    pub fn places(&self) -> Places {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_a_path_counts_where_it_is_read_once() {
        let noted = Noted::default();
        for (path, depth) in [("/a", Depth::Content), ("/a", Depth::Kind), ("/b", Depth::Kind)] {
            noted.add(Path::new(path), depth);
        }
        let all = Places::from([("/a".into(), Depth::Content), ("/b".into(), Depth::Kind)]);
        assert_eq!(noted.places(), all);
    }
}
