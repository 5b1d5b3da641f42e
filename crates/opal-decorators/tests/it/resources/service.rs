//! `@service.running` with a stand-in for systemctl, and with the real one where systemd runs.

use std::path::Path;

use opal_core::resource::Status;

use crate::resources::support::Site;
use opal_testing::needs;

/// A systemctl that keeps its units in files: `units/NAME` holds what `show` prints.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/log"
while [ $# -gt 2 ]; do case $1 in show|start|stop|enable|disable) verb=$1;; esac; shift; done
unit=$HOME/units/$2
change() { sed "$1" "$unit" > "$unit.new" && cat "$unit.new" > "$unit" && rm "$unit.new"; }
case $verb in
show) cat "$unit" 2>/dev/null || echo LoadState=not-found;;
start) change 's/^ActiveState=.*/ActiveState=active/';;
stop) change 's/^ActiveState=.*/ActiveState=inactive/';;
enable) change 's/^UnitFileState=.*/UnitFileState=enabled/';;
disable) change 's/^UnitFileState=.*/UnitFileState=disabled/';;
esac
"#;

fn has_systemd() -> bool {
    Path::new("/run/systemd/system").exists()
}

fn site(active: &str, file: &str) -> Site {
    let site = Site::new();
    site.file("bin/systemctl", SYSTEMCTL);
    site.set_mode("bin/systemctl", 0o755);
    site.file(
        "units/web",
        format!("LoadState=loaded\nActiveState={active}\nSubState=x\nUnitFileState={file}\n"),
    );
    // A verification writes it: it exists before, and is emptied of what a verification says.
    site.link("log", "/dev/null");
    site
}

fn call(site: &Site, call: &str) -> String {
    let path = site.path("bin");
    format!("@environ(PATH=\"{}:/usr/bin:/bin\") {{\n    {call}\n}}", path.display())
}

/// What systemctl was asked to do, without its options.
fn orders(site: &Site, call: &str) -> Vec<String> {
    std::fs::remove_file(site.path("log")).unwrap();
    site.apply(call).ok();
    let log = site.text("log");
    let reported = log.lines().filter(|line| !line.starts_with("show"));
    reported
        .map(|line| line.trim_start_matches("--no-ask-password --no-pager ").to_owned())
        .collect()
}

#[test]
fn a_service_is_started_enabled_stopped_and_disabled() {
    for (active, file, what, reported) in [
        ("inactive", "disabled", "\"web\"", &["start -- web"][..]),
        ("failed", "enabled", "\"web\", enabled=true", &["start -- web"]),
        ("active", "disabled", "\"web\", enabled=true", &["enable -- web"]),
        ("inactive", "disabled", "\"web\", enabled=true", &["enable -- web", "start -- web"]),
        (
            "active",
            "enabled",
            "\"web\", enabled=false, state=\"stopped\"",
            &["disable -- web", "stop -- web"],
        ),
    ] {
        let site = site(active, file);
        let call = call(&site, &format!("@service.running({what})"));
        assert_eq!(site.status(&call), Status::Drifted, "{what}");
        assert_eq!(orders(&site, &call), reported, "{what}");
        assert_eq!(orders(&site, &call), [""; 0], "{what}");
    }
}

#[test]
fn a_service_that_is_in_the_desired_state_is_left_alone() {
    let site = site("active", "static");
    let call = call(&site, "@service.running(\"web\")");
    assert_eq!(site.status(&call), Status::Satisfied);
    assert_eq!(orders(&site, &call), [""; 0]);
}

#[test]
fn a_service_that_systemd_does_not_know_blocks() {
    let site = site("active", "enabled");
    let reason = site.blocked(&call(&site, "@service.running(\"cache\")"));
    assert!(reason.starts_with("unknown service `cache`"), "{reason}");
}

#[test]
fn a_start_that_fails_fails_the_step() {
    let site = site("inactive", "enabled");
    let broken = SYSTEMCTL.replace("start) change", "start) echo 'Job failed' >&2; exit 5; change");
    site.file("bin/systemctl", broken);
    let ran = site.apply(&call(&site, "@service.running(\"web\")"));
    assert!(ran.failure().contains("5: `systemctl start web` ended with 5"), "{}", ran.failure());
}

#[test]
fn a_name_never_becomes_an_option_or_a_pattern() {
    let site = site("active", "enabled");
    for name in ["--version", "web*", "/dev/sda", "", "a b"] {
        let reason = site.blocked(&call(&site, &format!("@service.running(\"{name}\")")));
        assert!(reason.contains("invalid service name"), "{reason}");
    }
}

#[test]
fn where_systemd_does_not_run_the_step_is_blocked() {
    let site = Site::new();
    if !needs::has("a machine without systemd", !has_systemd()) {
        return;
    }
    let reason = site.blocked("@service.running(\"web\")");
    assert!(reason.contains("systemd"), "{reason}");
    for tool in ["sh", "bash", "cat"] {
        site.directory("tools");
        site.link(&format!("tools/{tool}"), format!("/bin/{tool}"));
    }
    let path = site.path("tools");
    let call =
        format!("@environ(PATH=\"{}\") {{\n    @service.running(\"web\")\n}}", path.display());
    assert!(site.blocked(&call).starts_with("this machine has no systemd"));
}

#[test]
fn the_real_systemd_answers_where_it_runs() {
    if !needs::has("systemd", has_systemd()) {
        return;
    }
    let site = Site::new();
    assert_eq!(site.status("@service.running(\"systemd-journald\")"), Status::Satisfied);
    let found = site.verify("@service.running(\"systemd-journald\", state=\"stopped\")");
    assert_eq!(found.status, Status::Drifted);
    let reason = site.blocked("@service.running(\"no-such-service-5150\")");
    assert!(reason.contains("`no-such-service-5150`"), "{reason}");
}
