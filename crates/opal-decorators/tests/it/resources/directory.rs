use std::os::unix::fs::{MetadataExt, chown};

use opal_core::resource::Status;

use crate::resources::support::{Site, details};
use opal_testing::needs;

#[test]
fn a_directory_is_made_with_those_above_it() {
    let site = Site::new();
    site.applies("@file.directory(\"a/b/c\", mode=\"0750\")", Status::Missing);
    assert_eq!(site.mode("a/b/c"), 0o750);
    assert_eq!(site.mode("a/b") & 0o700, 0o700);
    site.applies("@file.directory(\"~/in/home\")", Status::Missing);
    assert!(site.found("in/home").is_dir());
}

#[test]
fn permissions_are_corrected_for_the_directory_alone() {
    let site = Site::new();
    site.file("d/inside", "x");
    site.set_mode("d", 0o755);
    let inside = site.mode("d/inside");
    let call = "@file.directory(\"d\", mode=\"2711\")";
    let found = site.verify(call);
    assert!(details(&found).contains("-mode: 2711\n+mode: 0755\n"), "{}", details(&found));
    site.applies(call, Status::Drifted);
    assert_eq!((site.mode("d"), site.mode("d/inside")), (0o2711, inside));
    assert_eq!(site.status("@file.directory(\"d\")"), Status::Satisfied);
}

#[test]
fn owners_are_names_or_numbers() {
    let site = Site::new();
    let nobody = "@file.directory(\"d\", owner=\"nobody\", group=\"12345\", mode=\"0700\")";
    if needs::root() {
        site.applies(nobody, Status::Missing);
        let found = site.found("d");
        assert_eq!((found.uid(), found.gid(), site.mode("d")), (65534, 12345, 0o700));
        chown(site.path("d"), Some(1), None).unwrap();
        site.applies(nobody, Status::Drifted);
    }
    let said = site.blocked("@file.directory(\"e\", owner=\"no-such-user\")");
    assert!(said.contains("unknown user `no-such-user`"), "{said}");
    let said = site.blocked("@file.directory(\"e\", group=\"no-such-group\")");
    assert!(said.contains("unknown group `no-such-group`"), "{said}");
}

#[test]
fn what_is_not_a_directory_blocks_and_is_named() {
    let site = Site::new();
    site.file("file", "x");
    site.link("link", "elsewhere");
    site.directory("elsewhere");
    let said = site.blocked("@file.directory(\"file\")");
    assert!(said.contains("/file` is a file, not a directory"), "{said}");
    let said = site.blocked("@file.directory(\"link\", mode=\"0700\")");
    assert!(said.contains("/link` is a symlink; name its target: `"), "{said}");
    let said = site.blocked("@file.directory(\"file/below\")");
    assert!(said.contains("a part of its path is a file"), "{said}");
    let said = site.blocked("@file.directory(\"/dev/null\")");
    assert!(said.contains("`/dev/null` is neither a file nor a directory"), "{said}");
}

#[test]
fn what_fails_half_way_leaves_nothing() {
    let site = Site::new();
    let name = "n".repeat(300);
    let before = site.tree();
    let failure = site.apply(&format!("@file.directory(\"a/{name}\")")).failure();
    assert!(failure.contains("too long") || failure.contains("cannot be read"), "{failure}");
    assert!(!site.path("a").exists());
    assert_eq!(site.tree().len(), before.len());
}

#[test]
fn a_link_of_ones_own_on_the_way_is_followed() {
    let site = Site::new();
    site.directory("real/deep");
    site.link("way", "real/deep");
    site.link("again", "way/../deep");
    site.applies("@file.directory(\"again/new\")", Status::Missing);
    assert!(site.found("real/deep/new").is_dir());
}
