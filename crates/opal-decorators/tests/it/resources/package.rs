//! `@pkg.install` with the real dpkg and apt, where they are.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use opal_core::resource::Status;

use crate::resources::support::Site;
use opal_testing::needs;

/// apt has one lock for the whole machine.
static APT: Mutex<()> = Mutex::new(());

/// Small, needed by nothing, and never asked for by anybody.
const TINY: &str = "hello-traditional";

fn has_apt() -> bool {
    needs::has("apt", Path::new("/usr/bin/apt-get").exists())
}

#[test]
fn what_dpkg_has_is_satisfied_and_what_it_has_not_is_missing() {
    if !has_apt() {
        return;
    }
    let site = Site::new();
    for call in [
        "@pkg.install([\"coreutils\"])",
        "@pkg.install([\"coreutils\", \"dpkg\"], manager=\"apt\")",
        "@pkg.install([])",
    ] {
        assert_eq!(site.status(call), Status::Satisfied, "{call}");
        site.apply(call).ok();
    }
    let found = site.verify("@pkg.install([\"no-such-thing\", \"coreutils\"])");
    assert_eq!(found.status, Status::Missing);
    assert_eq!(found.message.text(), "not installed: `no-such-thing`");
    let details = found.details.unwrap();
    assert!(details.text().contains("-no-such-thing\n coreutils "), "{}", details.text());
}

#[test]
fn another_version_is_drift_and_the_same_one_is_not() {
    if !has_apt() {
        return;
    }
    let site = Site::new();
    let found = site.verify("@pkg.install([\"coreutils=0.1-1\"])");
    assert_eq!(found.status, Status::Drifted);
    let details = found.details.unwrap();
    assert!(details.text().contains("-coreutils 0.1-1\n+coreutils "), "{}", details.text());
    let actual =
        details.text().lines().find_map(|line| Some(line.strip_prefix("+coreutils ")?.to_owned()));
    let call = format!("@pkg.install([\"coreutils={}\"])", actual.unwrap());
    assert_eq!(site.status(&call), Status::Satisfied);
}

#[test]
fn a_manager_that_is_not_there_blocks() {
    let site = Site::new();
    let all = [("apt", "apt-get"), ("dnf", "dnf"), ("apk", "apk"), ("pacman", "pacman")];
    let absent = all.into_iter().filter(|(_, program)| {
        !["/usr/bin", "/sbin", "/usr/local/bin"]
            .iter()
            .any(|it| Path::new(it).join(program).exists())
    });
    for (manager, _) in absent {
        let reason = site.blocked(&format!("@pkg.install([\"x\"], manager=\"{manager}\")"));
        let expected = format!("the package manager `{manager}` is not on this machine");
        assert!(reason.starts_with(&expected), "{reason}");
    }
}

#[test]
fn a_name_never_becomes_an_option() {
    let site = Site::new();
    if !has_apt() {
        return;
    }
    for name in ["--version", "-h", "coreutils*", "coreutils-", "./x.deb"] {
        let reason = site.blocked(&format!("@pkg.install([\"{name}\"])"));
        assert!(reason.contains(&format!("invalid package name `{name}`")), "{reason}");
    }
}

#[test]
fn a_name_that_apt_does_not_know_fails_and_is_not_a_pattern() {
    if !has_apt() || !needs::root() {
        return;
    }
    let _alone = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let site = Site::new();
    let ran = site.apply("@pkg.install([\"hell.-tra\"])");
    let failure = ran.failure();
    assert!(
        failure.contains("`apt-get` has not installed `hell.-tra`: it ended with 100"),
        "{failure}"
    );
    assert!(ran.output().concat().contains("Unable to locate package hell.-tra"));
}

/// Installs a tiny package, and leaves the machine as it was.
#[test]
fn a_package_is_installed_and_a_lock_of_another_process_is_reported() {
    if !has_apt() || !needs::root() {
        return;
    }
    let _alone = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let site = Site::new();
    let call = format!("@pkg.install([\"{TINY}\"])");
    let can = format!("apt-get --quiet --yes --download-only install {TINY}");
    assert_eq!(site.status(&call), Status::Missing, "`{TINY}` is in the way: remove it first");
    if !needs::has("a mirror of packages", site.apply(&can).outcome.halt.is_none()) {
        return;
    }
    {
        let lock =
            std::fs::File::options().write(true).open("/var/lib/dpkg/lock-frontend").unwrap();
        let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        rustix::fs::fcntl_lock(&lock, exclusive).unwrap();
        let ran = site.apply(&call);
        assert!(ran.failure().contains("it ended with 100"), "{}", ran.failure());
        assert!(ran.output().concat().contains("dpkg frontend lock"), "{:?}", ran.output());
    }
    let applied = site.apply(&call);
    let status = site.status(&call);
    site.apply(&call).ok();
    site.apply(&format!("apt-get --quiet --yes purge {TINY}")).ok();
    site.apply(&format!("rm -f /var/cache/apt/archives/{TINY}_*.deb")).ok();
    applied.ok();
    assert_eq!(status, Status::Satisfied);
    assert_eq!(site.status(&call), Status::Missing);
}

/// A stand-in for every tool of a manager, in a directory of its own.
fn fake(site: &Site, name: &str, script: &str) {
    site.file(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    site.set_mode(&format!("bin/{name}"), 0o755);
}

/// Only the fakes and a shell can be found.
fn with_fakes(site: &Site, call: &str) -> String {
    for tool in ["sh", "bash", "cat"] {
        if !site.path(&format!("bin/{tool}")).exists() {
            site.link(&format!("bin/{tool}"), format!("/bin/{tool}"));
        }
    }
    format!("@environ(PATH=\"{}\") {{\n    {call}\n}}", site.path("bin").display())
}

#[test]
fn who_is_not_root_is_asked_to_be() {
    let site = Site::new();
    fake(&site, "apt-get", "echo never; exit 0");
    fake(&site, "dpkg-query", "echo 'dpkg-query: no packages found matching x' >&2; exit 1");
    fake(&site, "id", "echo 1000");
    let call = with_fakes(&site, "@pkg.install([\"x\"], manager=\"apt\")");
    assert_eq!(site.status(&call), Status::Missing);
    let failure = site.apply(&call).failure();
    assert!(failure.contains("126: installing packages requires root"), "{failure}");
}

#[test]
fn lists_are_refreshed_only_where_something_is_to_be_installed() {
    let site = Site::new();
    site.directory("bin");
    let log = site.path("log");
    let note = format!("echo \"$(basename \"$0\") $*\" >> {}", log.display());
    fake(
        &site,
        "pacman",
        &format!(
            "case $1 in\n--query) cat \"$HOME/db\" 2>/dev/null || {{ echo \"error: package 'x' was not \
         found\" >&2; exit 1; }};;\n*) {note}; case $* in *--needed*) echo 'x 1.0-1' > \
         \"$HOME/db\";; esac;;\nesac"
        ),
    );
    fake(&site, "id", "echo 0");
    site.link("bin/basename", "/usr/bin/basename");
    let call = with_fakes(&site, "@pkg.install([\"x=1.0-1\"], update=true, manager=\"pacman\")");
    site.applies(&call, Status::Missing);
    let calls =
        "pacman --noconfirm --sync --refresh\npacman --noconfirm --needed --sync -- x=1.0-1\n";
    assert_eq!(site.text("log"), calls);
}
