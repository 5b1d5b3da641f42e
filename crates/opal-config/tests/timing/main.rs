//! How the time that reading takes grows.
//!
//! Measured times depend on the machine, so this test has a binary of its own: `cargo test` leaves it
//! out, and `cargo xtask test` runs it once.

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
    let registry = opal_decorators::registry();
    for (index, shape) in shapes.iter().enumerate() {
        let spent = |n: usize| {
            let text = format!("version: 1\nsteps:\n{}", shape(n));
            let once = || {
                let start = worked();
                let _ = std::hint::black_box(opal_config::read(&text, &registry));
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
