//! A source in a parent directory is used only where nobody else can have written it.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::needs;
use crate::support::{Opal, Ran};

/// Somebody else, and a group with nobody of ours in it.
const OTHER: u32 = 54321;

fn project() -> Opal {
    Opal::machine("fun up() = echo ran\n").file("sub/.keep", "")
}

fn below(opal: &Opal, args: &[&str]) -> Ran {
    let folder = opal.path().join("sub");
    Ran::from(opal.command().args(args).current_dir(folder).output().unwrap())
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[track_caller]
fn refused(opal: &Opal, why: &str) {
    for args in [&["up"][..], &["run", "up"], &["plan", "up"], &["list"], &["check"], &[], &["fmt"]]
    {
        let ran = below(opal, args);
        ran.code(77).says("is in a parent directory, but is not used").says(why).says("-f ");
        assert!(!ran.stdout.contains("ran\n"), "{args:?}");
    }
    // By its name it is the user's choice, and in its own directory too.
    let named = opal.path().join("commands.opl");
    below(opal, &["-f", named.to_str().unwrap(), "up"]).code(0).stdout("ran\n");
    opal.call(&["up"]).code(0).stdout("ran\n");
    // A built-in that needs no source goes on, and so does a script that is named.
    below(opal, &["--version"]).code(0);
    below(opal, &["explain", "E0401"]).code(0);
    opal.write("sub/own.opl", "echo own\n");
    below(opal, &["own.opl"]).code(0).stdout("own\n");
    std::fs::remove_file(opal.path().join("sub/own.opl")).unwrap();
}

#[test]
fn what_others_may_write_is_not_used() {
    for bits in [0o777, 0o702, 0o1777] {
        let opal = project();
        below(&opal, &["up"]).code(0).stdout("ran\n");
        mode(&opal.path(), bits);
        refused(&opal, "is writable by other users");
    }
    for bits in [0o666, 0o602] {
        let opal = project();
        mode(&opal.path().join("commands.opl"), bits);
        refused(&opal, "is writable by other users");
    }
}

#[test]
fn what_belongs_to_another_user_is_not_used() {
    if !needs::root() {
        return;
    }
    let opal = project();
    chown(opal.path().join("commands.opl"), Some(OTHER), None).unwrap();
    refused(&opal, "belongs to another user (uid 54321)");
    let opal = project();
    chown(opal.path(), Some(OTHER), None).unwrap();
    refused(&opal, "belongs to another user (uid 54321)");
}

#[test]
fn a_source_is_not_used_where_others_could_write_the_files_of_its_project() {
    for name in ["opal.mod", "opal.lock"] {
        let opal = project().file(name, "");
        below(&opal, &["up"]).code(0).stdout("ran\n");
        let file = opal.path().join(name);
        mode(&file, 0o666);
        for args in [&["up"][..], &["list"], &["check"], &["plan", "up"]] {
            let refused = below(&opal, args);
            refused.code(77).says(name).says("is writable by other users").says("-f ");
            assert!(!refused.stdout.contains("ran\n"), "{args:?}");
        }
        let named = opal.path().join("commands.opl");
        below(&opal, &["-f", named.to_str().unwrap(), "up"]).code(0).stdout("ran\n");
        opal.call(&["up"]).code(0).stdout("ran\n");
    }
}

#[test]
fn the_users_private_group_counts_as_the_user_and_no_other() {
    if !needs::root() {
        return;
    }
    let opal = project();
    let file = opal.path().join("commands.opl");
    mode(&file, 0o664);
    chown(&file, None, Some(0)).unwrap();
    below(&opal, &["up"]).code(0).stdout("ran\n");
    chown(&file, None, Some(OTHER)).unwrap();
    refused(&opal, "is writable by other users");
}

#[test]
fn a_link_is_judged_by_what_it_leads_to() {
    let opal = project().file("open/real.opl", "fun up() = echo ran\n");
    let link = opal.path().join("commands.opl");
    std::fs::remove_file(&link).unwrap();
    symlink(opal.path().join("open/real.opl"), &link).unwrap();
    below(&opal, &["up"]).code(0).stdout("ran\n");
    mode(&opal.path().join("open"), 0o777);
    refused(&opal, "is writable by other users");
}

#[test]
fn a_link_that_leads_nowhere_is_reported_and_not_passed_over() {
    let opal = Opal::machine("fun up() = echo outer\n").file("sub/.keep", "");
    symlink("nowhere", opal.path().join("sub/commands.opl")).unwrap();
    below(&opal, &["up"]).code(66).says("commands.opl").hides("outer");
    std::fs::remove_file(opal.path().join("sub/commands.opl")).unwrap();
    symlink("commands.opl", opal.path().join("sub/commands.opl")).unwrap();
    below(&opal, &["up"]).code(66).says("commands.opl").hides("outer");
}
