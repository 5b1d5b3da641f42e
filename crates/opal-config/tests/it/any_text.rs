//! Whatever a file holds, reading it ends, soon, with a configuration or with faults in their place.

use proptest::prelude::*;

use crate::support::{faults, hash_of_config, read};

/// Pieces of YAML, of configurations and of neither.
const PIECES: [&str; 56] = [
    "version: 1\n",
    "steps:\n",
    "  - id: a\n",
    "    type: copy\n",
    "    type: command\n",
    "  - ",
    "- ",
    "id: b\n",
    "source: x\n",
    "    source: x\n",
    "    depends_on: [a, b]\n",
    "depends_on:\n",
    "settings:\n",
    "  parallel: 4\n",
    "validations:\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ": ",
    "? ",
    "&a ",
    "*a",
    "!!str ",
    "!x ",
    "|\n",
    ">-\n",
    "\"",
    "'",
    "\\",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "    ",
    "#",
    " # c\n",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "<<: *a\n",
    "~",
    "null",
    "0644",
    "1.10",
    "\u{0}",
    "\u{feff}",
    "\u{85}",
    "ü",
    "\u{1f600}",
    "@",
    "`",
    "command: x\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn no_text_is_too_much(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        let text = pieces.concat();
        if faults(&text).is_empty() {
            hash_of_config(&read(&text));
        }
    }

    #[test]
    fn a_cut_file_is_read_or_refused(cut in 0usize..2_000, with in ".{0,3}") {
        let whole = crate::support::file("examples/config/workstation.yaml");
        let at = whole.floor_char_boundary(cut.min(whole.len()));
        faults(&format!("{}{with}", &whole[..at]));
        faults(&format!("{}{with}{}", &whole[..at], &whole[at..]));
    }
}
