//! What a test needs that not every machine has. Skipped tests are reported with the reason, past
//! the harness, which swallows the output of passing tests; in CI nothing is skipped, except what
//! is in [`ALLOWED`].

use std::io::Write;

/// What a machine of CI may lack, and what covers it there.
const ALLOWED: [(&str, &str); 10] = [
    ("systemd", "a stand-in for `systemctl` in opal-decorators/tests/it/resources/service.rs"),
    // On every machine one of these two is left out.
    ("a machine without systemd", "`the_real_systemd_answers_where_it_runs`, beside it"),
    (
        "a disk to mount",
        "`a_write_that_is_cut_short_leaves_what_was_there` in opal-cli/tests/it/apply/failing.rs and \
         `nothing_more_is_recorded_once_something_was_not` in opal-vault/tests/it/record/trouble.rs; \
         made-up mounts in opal-decorators/src/resource/removal.rs",
    ),
    (
        "a mirror of packages",
        "`a_name_that_apt_does_not_know_fails_and_is_not_a_pattern`, beside it, and made-up facts \
         in opal-decorators/src/resource/pkg_install/tests.rs",
    ),
    (
        "network namespaces and iptables, which this kernel refuses",
        "a proxy that falls silent, in opal-cli/tests/it/acceptance/cut.rs",
    ),
    (
        "terraform-provider-docker (`cargo xtask clouds docker`)",
        "a provider with a directory as its cloud, in opal-cli/tests/it/plugin/providers.rs",
    ),
    (
        "terraform-provider-aws (`cargo xtask clouds aws`)",
        "a provider with a directory as its cloud, in opal-cli/tests/it/plugin/providers.rs",
    ),
    ("a Docker daemon that runs here", "podman, in opal-cli/tests/it/containers.rs"),
    (
        "a cluster of Kubernetes, in `$OPAL_TEST_KUBECONFIG`",
        "a stand-in for `kubectl` in opal-cli/tests/it/pods.rs",
    ),
    ("tofu or terraform", "a stand-in for them in opal-modules/tests/it/drivers/terragrunt.rs"),
];

/// Whether the test can go on.
#[must_use]
pub fn has(what: &str, is_there: bool) -> bool {
    if !is_there {
        let cover = ALLOWED.iter().find_map(|(name, cover)| (*name == what).then_some(*cover));
        assert!(cover.is_some() || !is_ci(), "in CI nothing is skipped, but {what} is missing");
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let cover = cover.map_or_else(String::new, |cover| format!(" (covered by {cover})"));
        let _ = writeln!(std::io::stderr(), "skipped {name}: it needs {what}{cover}");
    }
    is_there
}

/// Only root can switch users, change owners and create accounts.
#[must_use]
pub fn root() -> bool {
    has("root", rustix::process::geteuid().is_root())
}

/// A program that answers.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "only starting it shows whether it works")]
pub fn program(name: &str) -> bool {
    let started = std::process::Command::new(name).arg("--help").output();
    has(&format!("`{name}`"), started.is_ok())
}

#[expect(clippy::disallowed_methods, reason = "CI says that it is CI in a variable")]
fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}
