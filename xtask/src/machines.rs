//! The tests of sessions and resources with helpers for other kinds of machines, which this one runs by
//! `qemu`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::chores::{run, run_with};
use crate::tools::provide;

/// The compiler's target, the package of its linker, the linker and the emulator.
const MACHINES: [(&str, &str, &str, &str); 2] = [
    (
        "aarch64-unknown-linux-gnu",
        "gcc-aarch64-linux-gnu",
        "aarch64-linux-gnu-gcc",
        "/usr/bin/qemu-aarch64-static",
    ),
    (
        "armv7-unknown-linux-gnueabihf",
        "gcc-arm-linux-gnueabihf",
        "arm-linux-gnueabihf-gcc",
        "/usr/bin/qemu-arm-static",
    ),
];

/// What is otherwise in the emulator. The first five need orphans to come to the helper
/// (`PR_SET_CHILD_SUBREAPER`), which qemu 7.2 refuses. The last one needs opal and the target to be one
/// machine, which machines of two kinds are not.
const NOT_IN_QEMU: [&str; 6] = [
    "anywhere::session::stopping::a_server_of_an_earlier_step_survives_a_later_time_limit_and_not_the_end_of_all",
    "anywhere::session::stopping::a_time_limit_ends_a_command_and_every_descendant",
    "anywhere::session::stopping::one_branch_is_stopped_and_the_others_go_on",
    "anywhere::session::stopping::the_order_to_kill_waits_for_nobody",
    "anywhere::session::stopping::what_ignores_an_interrupt_gets_another_signal_once_the_others_have_ended",
    "anywhere::resources::template::a_template_is_not_rendered_into_itself",
];

pub(crate) fn test(root: &Path) -> Result<(), String> {
    provide(root, &[("qemu-user-static", MACHINES[0].3)]);
    for (target, package, linker, emulator) in MACHINES {
        provide(root, &[(package, linker)]);
        run(root, &["rustup", "target", "add", target])?;
        let variable = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
        let variables = [
            (variable.as_str(), linker),
            ("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static"),
        ];
        let build = ["cargo", "build", "-p", "opal-target", "--target", target];
        run_with(root, &variables, &[&build[..], &["--target-dir", "target/machines"]].concat())?;
        let helper = script(root, target, emulator)?;
        let tests = ["cargo", "test", "-p", "opal-target", "--test", "it", "--"];
        let skipped: Vec<&str> = NOT_IN_QEMU.iter().flat_map(|name| ["--skip", name]).collect();
        let line =
            [&tests[..], &["anywhere::session::", "anywhere::resources::"], &skipped].concat();
        run_with(root, &[("OPAL_TEST_HELPER", &helper)], &line)?;
    }
    Ok(())
}

/// A program that is the helper in the emulator. Its path is whole: a helper starts with no `PATH`.
fn script(root: &Path, target: &str, emulator: &str) -> Result<String, String> {
    let folder = root.join("target/machines").join(target);
    let helper = folder.join("debug/opal-target");
    let script = folder.join("opal-target");
    // Other shells drop the functions that are in the environment of bash, or take them for their own.
    let text = format!("#!/bin/bash -p\nexec {emulator} '{}' \"$@\"\n", helper.display());
    std::fs::write(&script, text)
        .and_then(|()| std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)))
        .map_err(|error| format!("`{}` cannot be written: {error}", script.display()))?;
    script.to_str().map(str::to_owned).ok_or_else(|| "the repository's path is not UTF-8".into())
}
