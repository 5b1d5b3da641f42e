//! `@user.present` with real accounts where root can make them, and with stand-ins.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opal_core::resource::Status;

use crate::resources::support::Site;
use opal_testing::needs;

/// The databases have one lock for the whole machine.
static ACCOUNTS: Mutex<()> = Mutex::new(());

/// An account that is removed again, whatever happens.
struct Throwaway<'s> {
    site: &'s Site,
    name: String,
    _alone: MutexGuard<'static, ()>,
}

impl<'s> Throwaway<'s> {
    fn new(site: &'s Site, name: &str) -> Option<Self> {
        let has_useradd = Path::new("/usr/sbin/useradd").exists();
        if !needs::root() || !needs::has("`useradd`", has_useradd) {
            return None;
        }
        let _alone = ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { site, name: format!("{name}-{}", std::process::id()), _alone })
    }
}

impl Drop for Throwaway<'_> {
    fn drop(&mut self) {
        let name = &self.name;
        self.site.apply(&format!("userdel {name} >/dev/null 2>&1 || true"));
        self.site.apply(&format!("groupdel {name} >/dev/null 2>&1 || true"));
    }
}

#[test]
fn the_accounts_of_the_machine_are_verified() {
    let site = Site::new();
    assert_eq!(site.status("@user.present(\"root\", uid=0)"), Status::Satisfied);
    assert_eq!(site.status("@user.present(\"no-such-user\")"), Status::Missing);
    let found = site.verify("@user.present(\"root\", home=\"/nowhere\")");
    assert_eq!(found.status, Status::Drifted);
    let details = found.details.unwrap();
    assert!(details.text().contains("-home: /nowhere\n+home: "), "{}", details.text());
}

#[test]
fn what_is_in_the_way_blocks_and_is_named() {
    let site = Site::new();
    let reason = site.blocked("@user.present(\"no-such-user\", uid=0)");
    assert!(reason.starts_with("the uid 0 belongs to the user `root`"), "{reason}");
    let reason = site.blocked("@user.present(\"root\", groups=[\"no-such-group\"])");
    assert!(reason.starts_with("unknown group: `no-such-group`"), "{reason}");
    let reason = site.blocked("@user.present(\"no-such-user\", home=\"\")");
    assert!(reason.contains("invalid path in `home`"), "{reason}");
    let reason = site.blocked("@user.present(\"root\", groups=[\"--help\"])");
    assert!(reason.contains("invalid `groups` of an account: `--help`"), "{reason}");
}

#[test]
fn an_account_is_made_and_corrected() {
    let site = Site::new();
    let Some(account) = Throwaway::new(&site, "opal-t") else { return };
    let name = &account.name;
    let home = site.path("home/it");
    let made = format!(
        "@user.present(\"{name}\", home=\"{}\", shell=\"/bin/sh\", groups=[\"daemon\"])",
        home.display()
    );
    site.applies(&made, Status::Missing);
    assert!(home.is_dir());
    let uid = 61_000 + std::process::id() % 4_000;
    let changed =
        format!("@user.present(\"{name}\", uid={uid}, shell=\"/bin/false\", groups=[\"mail\"])");
    site.applies(&changed, Status::Drifted);
    // Other memberships are kept.
    let both = format!("@user.present(\"{name}\", groups=[\"daemon\", \"mail\"])");
    assert_eq!(site.status(&both), Status::Satisfied);
}

#[test]
fn a_group_of_the_same_name_is_not_an_obstacle() {
    let site = Site::new();
    let Some(account) = Throwaway::new(&site, "opal-g") else { return };
    let name = &account.name;
    site.apply(&format!("groupadd {name}")).ok();
    let call = format!("@user.present(\"{name}\", home=\"{}\")", site.path("g").display());
    site.applies(&call, Status::Missing);
}

/// Tools of a machine of its own: a shell, what the site is given, and nothing else.
fn machine(site: &Site, tools: &[(&str, &str)]) -> impl Fn(&str) -> String {
    site.directory("tools");
    for tool in ["sh", "bash", "cat", "grep"] {
        site.link(&format!("tools/{tool}"), format!("/bin/{tool}"));
    }
    for (tool, script) in tools {
        site.file(&format!("tools/{tool}"), format!("#!/bin/sh\n{script}\n"));
        site.set_mode(&format!("tools/{tool}"), 0o755);
    }
    let path = site.path("tools").display().to_string();
    move |call| format!("@environ(PATH=\"{path}\") {{\n    {call}\n}}")
}

const GETENT: &str = "db=$HOME/$1; shift; code=0\n\
                      for key; do grep \"^$key:\" \"$db\" || code=2; done; exit $code";

#[test]
fn who_is_not_root_is_asked_to_be() {
    let site = Site::new();
    site.file("passwd", "");
    site.file("group", "");
    let on = machine(&site, &[("getent", GETENT), ("id", "echo 1000")]);
    let failure = site.apply(&on("@user.present(\"ann\")")).failure();
    assert!(failure.contains("126: changing accounts requires root"), "{failure}");
}

#[test]
fn looks_change_nothing_and_the_fields_are_compared() {
    let site = Site::new();
    site.file("passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
    site.file("group", "web:x:33:ann\nann:x:1000:\n");
    let on = machine(&site, &[("getent", GETENT)]);
    let call = "@user.present(\"ann\", home=\"/home/ann\", shell=\"/bin/sh\", groups=[\"web\"])";
    assert_eq!(site.status(&on(call)), Status::Satisfied);
    assert_eq!(site.status(&on("@user.present(\"bob\")")), Status::Missing);
}
