//! Tables of attacks that must fail: each names the tests that have it. A test that is renamed is missed.

use crate::support::repository;

/// Its folder, file and name.
pub(crate) type Test = (&'static str, &'static str, &'static str);

/// The attack, and the tests that have it.
pub(crate) type Attack = (&'static str, &'static [Test]);

#[track_caller]
pub(crate) fn each_has_a_test(attacks: &[Attack]) {
    for (attack, tests) in attacks {
        assert!(!tests.is_empty(), "{attack}");
        for (folder, file, name) in *tests {
            let path = repository().join(folder).join(file);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(text.contains(&format!("fn {name}(")), "{attack}: {name} in {file}");
        }
    }
}
