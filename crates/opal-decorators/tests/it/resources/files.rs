//! What changes files, by itself: whole or not at all, and never through what others have put there.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown};

use opal_core::files::{Attributes, Existing};
use opal_core::resolver::{Trouble, TroubleKind};

use crate::resources::support::Site;
use opal_testing::needs;

const USUAL: Attributes = Attributes { mode: None, owner: None, group: None };

fn mode(mode: u32) -> Attributes {
    Attributes { mode: Some(mode), ..USUAL }
}

fn write(site: &Site, name: &str, attributes: &Attributes) -> Result<(), Trouble> {
    let mut pending = site.files().write(&site.path(name), attributes, Existing::Replaced)?;
    pending.write_all(b"new").unwrap();
    pending.keep()
}

#[track_caller]
fn refused<T>(result: Result<T, Trouble>, kind: TroubleKind, words: &str) {
    let Err(trouble) = result else { panic!("it was done: {words}") };
    assert_eq!(trouble.kind, kind, "{trouble:?}");
    assert!(trouble.message.contains(words), "{trouble:?}");
    assert!(trouble.help.iter().any(|help| !help.is_empty()));
}

fn names(site: &Site) -> Vec<String> {
    let names = fs::read_dir(site.path("")).unwrap();
    let mut names: Vec<_> =
        names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_closed_to_others_until_it_is_there() {
    let site = Site::new();
    site.file("usual", "");
    let mut pending =
        site.files().write(&site.path("f"), &mode(0o644), Existing::Replaced).unwrap();
    pending.write_all(b"secret").unwrap();
    // A temporary name is there only where the file system has no files without one.
    for temporary in names(&site).into_iter().filter(|it| it != "usual") {
        assert_eq!(site.mode(&temporary), 0o600);
    }
    assert!(!site.path("f").exists());
    pending.keep().unwrap();
    assert_eq!((site.mode("f"), site.text("f").as_str()), (0o644, "secret"));
    write(&site, "g", &USUAL).unwrap();
    assert_eq!(site.mode("g"), site.mode("usual"));
    assert_eq!(names(&site), ["f", "g", "usual"]);
}

#[test]
fn what_is_dropped_leaves_no_trace() {
    let site = Site::new();
    site.file("f", "old");
    let before = site.text("f");
    for name in ["f", "g"] {
        let mut pending = site.files().write(&site.path(name), &USUAL, Existing::Replaced).unwrap();
        pending.write_all(b"half").unwrap();
        drop(pending);
    }
    assert_eq!((site.text("f"), names(&site)), (before, vec!["f".to_owned()]));
}

#[test]
fn a_replaced_file_keeps_mode_and_owner() {
    let site = Site::new();
    site.file("f", "old");
    if needs::root() {
        chown(site.path("f"), Some(65534), Some(12345)).unwrap();
    }
    site.set_mode("f", 0o4751);
    let before = site.found("f");
    write(&site, "f", &USUAL).unwrap();
    let after = site.found("f");
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!((site.mode("f"), site.text("f").as_str()), (0o4751, "new"));
}

#[test]
fn what_is_not_a_file_is_not_written_to() {
    let site = Site::new();
    site.directory("directory");
    site.link("link", "victim");
    site.file("victim", "old");
    refused(write(&site, "directory", &USUAL), TroubleKind::Invalid, "it is a directory");
    refused(write(&site, "link", &USUAL), TroubleKind::Invalid, "it is a symlink");
    refused(write(&site, "/dev/null", &USUAL), TroubleKind::Invalid, "neither a file nor");
    refused(write(&site, "no/f", &USUAL), TroubleKind::Missing, "the directory `");
    refused(write(&site, "victim/f", &USUAL), TroubleKind::Invalid, "not a directory");
    refused(site.files().set(&site.path("link"), &mode(0o600)), TroubleKind::Invalid, "link");
    refused(site.files().set(&site.path("/dev/null"), &mode(0o600)), TroubleKind::Invalid, "`/dev");
    refused(write(&site, &"n".repeat(300), &USUAL), TroubleKind::Invalid, "too long");
    refused(write(&site, "a\0b", &USUAL), TroubleKind::Invalid, "cannot be written");
    assert_eq!(site.text("victim"), "old");
}

#[test]
fn links_without_an_end_are_refused() {
    let site = Site::new();
    site.link("a", "b");
    site.link("b", "a");
    refused(write(&site, "a/f", &USUAL), TroubleKind::Failed, "cannot be written");
}

#[test]
fn a_link_of_another_user_on_the_way_is_not_followed() {
    if !needs::root() {
        return;
    }
    let site = Site::new();
    site.directory("victim");
    let link = site.link("way", "victim");
    lchown(&link, Some(65534), Some(65534)).unwrap();
    for result in [
        write(&site, "way/f", &USUAL),
        site.files().make_directory(&site.path("way/d"), &USUAL),
        site.files().make_link(&site.path("way/l"), &site.path("x"), false),
        site.files().remove(&site.path("way/f"), true),
        site.files().set(&site.path("way/f"), &mode(0o777)),
    ] {
        refused(result, TroubleKind::Denied, "`way` in its path is a symlink of user 65534");
    }
    assert_eq!(fs::read_dir(site.path("victim")).unwrap().count(), 0);
    lchown(&link, Some(0), Some(0)).unwrap();
    write(&site, "way/f", &USUAL).unwrap();
    assert_eq!(site.text("victim/f"), "new");
}

#[test]
fn a_second_name_of_a_file_elsewhere_gets_no_mode_from_where_others_write() {
    if !needs::root() {
        return;
    }
    let site = Site::new();
    let victim = site.file("victim", "x");
    site.set_mode("victim", 0o600);
    site.directory("open");
    site.set_mode("open", 0o777);
    fs::hard_link(victim, site.path("open/name")).unwrap();
    let set = site.files().set(&site.path("open/name"), &mode(0o666));
    refused(set, TroubleKind::Denied, "it has another hard link");
    assert_eq!(site.mode("victim"), 0o600);
}

#[test]
fn directories_that_were_made_for_nothing_go_again() {
    let site = Site::new();
    let name = format!("a/b/{}", "n".repeat(300));
    let made = site.files().make_directory(&site.path(&name), &USUAL);
    refused(made, TroubleKind::Invalid, "too long");
    assert!(names(&site).is_empty());
}

#[test]
fn a_closed_file_gets_its_mode_too() {
    let site = Site::new();
    site.file("f", "x");
    site.set_mode("f", 0o000);
    site.files().set(&site.path("f"), &mode(0o640)).unwrap();
    assert_eq!(site.mode("f"), 0o640);
    let set_uid = fs::Permissions::from_mode(0o4755);
    fs::set_permissions(site.path("f"), set_uid).unwrap();
    if needs::root() {
        let owner = Attributes { owner: Some(65534), ..USUAL };
        site.files().set(&site.path("f"), &owner).unwrap();
        assert_eq!((site.found("f").uid(), site.mode("f")), (65534, 0o4755));
    }
}

#[test]
fn a_directory_that_is_held_is_written_to_whatever_takes_its_place() {
    let site = Site::new();
    site.directory("d/sub");
    site.directory("victim/sub");
    let files = site.files();
    let within = files.within(&site.path("d")).unwrap();
    fs::rename(site.path("d"), site.path("moved")).unwrap();
    site.link("d", "victim");
    let mut pending = within.write(&site.path("d/sub/f"), &USUAL, Existing::Replaced).unwrap();
    pending.write_all(b"new").unwrap();
    pending.keep().unwrap();
    assert_eq!(site.text("moved/sub/f"), "new");
    site.link("moved/out", "../victim");
    for name in ["d/out/f", "d/sub/../../f", "elsewhere/f", "d"] {
        assert!(within.write(&site.path(name), &USUAL, Existing::Replaced).is_err(), "{name}");
    }
    refused(site.files().within(&site.path("d")).map(drop), TroubleKind::Invalid, "link");
    assert_eq!(fs::read_dir(site.path("victim/sub")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(site.path("victim")).unwrap().count(), 1);
}

#[test]
fn what_comes_or_changes_while_a_file_is_written_stays() {
    let site = Site::new();
    let begun = |existing| {
        let mut pending = site.files().write(&site.path("f"), &USUAL, existing).unwrap();
        pending.write_all(b"new").unwrap();
        pending
    };
    for existing in [Existing::Refused, Existing::Replaced] {
        let pending = begun(existing);
        site.file("f", "theirs");
        refused(
            pending.keep(),
            TroubleKind::Failed,
            "/f` cannot be written: another process created",
        );
        assert_eq!((site.text("f").as_str(), names(&site)), ("theirs", vec!["f".to_owned()]));
        fs::remove_file(site.path("f")).unwrap();
    }
    site.file("f", "old");
    let taken = site.files().write(&site.path("f"), &USUAL, Existing::Refused);
    refused(taken, TroubleKind::Failed, "/f` cannot be written: another process created it");

    for is_swapped in [false, true] {
        let pending = begun(Existing::Replaced);
        site.file(if is_swapped { "g" } else { "f" }, "theirs");
        if is_swapped {
            fs::rename(site.path("g"), site.path("f")).unwrap();
        }
        refused(
            pending.keep(),
            TroubleKind::Failed,
            "/f` was changed by another process meanwhile",
        );
        assert_eq!((site.text("f").as_str(), names(&site)), ("theirs", vec!["f".to_owned()]));
    }
    begun(Existing::Replaced).keep().unwrap();
    assert_eq!(site.text("f"), "new");
}

#[test]
fn a_replaced_file_keeps_its_extended_attributes() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let site = Site::new();
    let path = site.file("f", "old");
    let set = |name: &str, value: &[u8]| setxattr(&path, name, value, XattrFlags::empty()).is_ok();
    let get = |name: &str| {
        let mut value = [0; 64];
        getxattr(&path, name, &mut value).map(|length| value[..length].to_vec())
    };
    // One more reader, as `setfacl -m u:65534:r` has it: version, then tag, rights and id of each.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, !0), (2, 4, 65534), (4, 4, !0), (16, 4, !0), (32, 0, !0)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes().iter().chain(&rights.to_le_bytes()));
        list.extend(id.to_le_bytes());
    }
    // Not every file system has them.
    let has_user = set("user.note", b"ours");
    let has_list = set("system.posix_acl_access", &list);
    write(&site, "f", &USUAL).unwrap();
    assert_eq!(site.text("f"), "new");
    assert!(!has_user || get("user.note").unwrap() == b"ours");
    assert!(!has_list || get("system.posix_acl_access").unwrap() == list);
    assert!(!has_list || site.mode("f") == 0o640);

    // What the directory hands on to new files is not for one that was there without it.
    site.directory("d");
    let inner = site.file("d/f", "old");
    if setxattr(site.path("d"), "system.posix_acl_default", &list, XattrFlags::empty()).is_ok() {
        write(&site, "d/f", &USUAL).unwrap();
        let mut value = [0; 64];
        assert!(getxattr(&inner, "system.posix_acl_access", &mut value).is_err());
        write(&site, "d/new", &USUAL).unwrap();
        assert!(getxattr(site.path("d/new"), "system.posix_acl_access", &mut value).is_ok());
    }
}
