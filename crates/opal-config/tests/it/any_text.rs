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

/// What this thread has worked so far, however busy the machine is.
fn worked() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn large_files_take_time_in_proportion() {
    let shapes: [fn(usize) -> String; 7] = [
        |n| (0..n).map(|i| format!("  - {{id: s{i}, type: absent, path: p{i}}}\n")).collect(),
        |n| {
            (0..n)
                .map(|i| {
                    format!(
                        "  - {{id: s{i}, type: absent, path: p, depends_on: [s{}]}}\n",
                        (i + 1) % n
                    )
                })
                .collect()
        },
        |n| {
            (0..n)
                .map(|i| format!("  - {{id: s{i}, type: absent, path: p, depends_on: [x{i}]}}\n"))
                .collect()
        },
        |n| (0..n).map(|i| format!("  - {{id: s{i}, type: absent, pth{i}: p}}\n")).collect(),
        |n| format!("  - {{id: a, type: absent, path: \"{}\"}}\n", "x\\n".repeat(n)),
        |n| {
            format!(
                "  - id: a\n    type: command\n    command: |\n{}",
                "      echo @x '\n".repeat(n)
            )
        },
        |n| format!("  - {{id: a, type: absent, path: x{}", "[".repeat(n)),
    ];
    for (index, shape) in shapes.iter().enumerate() {
        let spent = |n: usize| {
            let text = format!("version: 1\nsteps:\n{}", shape(n));
            let once = || {
                let start = worked();
                faults(&text);
                worked() - start
            };
            (0..3).map(|_| once()).min().unwrap_or_default()
        };
        let (small, large) = (spent(500), spent(4_000));
        // Eight times the text: what is quadratic takes 64 times as long.
        assert!(
            large < small * 28 + std::time::Duration::from_millis(5),
            "{index}: {small:?} {large:?}"
        );
    }
}
