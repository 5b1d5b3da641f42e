//! The tests of sessions and resources with helpers for other kinds of machines, which this one runs by
//! `qemu`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::chores::{provide, run, run_with};

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

pub(crate) fn test(root: &Path) -> Result<(), String> {
    provide(root, "qemu-user-static", &["test", "-x", MACHINES[0].3]);
    for (target, package, linker, emulator) in MACHINES {
        provide(root, package, &[linker, "--version"]);
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
        let line = [&tests[..], &["session::", "resources::"]].concat();
        run_with(root, &[("OPAL_TEST_HELPER", &helper)], &line)?;
    }
    Ok(())
}

/// A program that is the helper in the emulator. Its path is whole: a helper starts with no `PATH`.
fn script(root: &Path, target: &str, emulator: &str) -> Result<String, String> {
    let folder = root.join("target/machines").join(target);
    let helper = folder.join("debug/opal-target");
    let script = folder.join("opal-target");
    let text = format!("#!/bin/sh\nexec {emulator} '{}' \"$@\"\n", helper.display());
    std::fs::write(&script, text)
        .and_then(|()| std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)))
        .map_err(|error| format!("`{}` cannot be written: {error}", script.display()))?;
    script.to_str().map(str::to_owned).ok_or_else(|| "the repository's path is not UTF-8".into())
}
