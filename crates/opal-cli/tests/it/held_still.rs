//! What only tests may do is not in what is shipped.

use crate::support::{Opal, binary};

/// In a release build this shows that the variables are not there at all.
#[test]
fn a_release_build_does_not_know_the_variables_of_tests() {
    let program = std::fs::read(binary()).unwrap();
    for name in ["OPAL_TEST_CLOCK", "OPAL_TEST_SEED"] {
        let is_there = program.windows(name.len()).any(|window| window == name.as_bytes());
        assert_eq!(is_there, cfg!(debug_assertions), "{name}");
    }
    let opal = Opal::machine("fun main() = true\n").env("OPAL_TEST_CLOCK", "soon");
    opal.args(["main"]).run().code(if cfg!(debug_assertions) { 70 } else { 0 });
}
