use std::fs;

use opal_core::resource::Status;

use crate::support::Site;

#[test]
fn whatever_is_there_goes() {
    let site = Site::new();
    site.file("file", "x");
    site.directory("empty");
    site.file("kept", "x");
    site.link("link", "kept");
    site.link("dangling", "nowhere");
    site.link("slashed", "nowhere");
    for name in ["file", "empty", "link", "dangling", "slashed/"] {
        site.brings_about(&format!("@file.absent(\"{name}\")"), Status::Drifted);
        assert!(fs::symlink_metadata(site.path(name.trim_end_matches('/'))).is_err());
    }
    assert_eq!(site.text("kept"), "x");
    assert_eq!(site.status("@file.absent(\"never/was/there\")"), Status::Satisfied);
}

#[test]
fn a_full_directory_goes_only_where_that_is_said() {
    let site = Site::new();
    site.file("full/a/b/c", "x");
    site.file("full/d", "x");
    let said = site.blocked("@file.absent(\"full\")");
    assert!(said.contains("not empty: it holds 2 entries; say `recursive=true`"), "{said}");
    site.brings_about("@file.absent(\"full\", recursive=true)", Status::Drifted);
    assert!(!site.path("full").exists());
}

#[test]
fn links_within_are_removed_and_never_followed() {
    let site = Site::new();
    let kept = site.file("kept/file", "x");
    site.directory("tree/sub");
    site.link("tree/sub/to-directory", site.path("kept"));
    site.link("tree/to-file", &kept);
    site.apply("@file.absent(\"tree\", recursive=true)").ok();
    assert_eq!(site.text("kept/file"), "x");
}

#[test]
fn below_a_file_nothing_is() {
    let site = Site::new();
    site.file("f", "x");
    assert_eq!(site.status("@file.absent(\"f/below/it\")"), Status::Satisfied);
    site.apply("@file.absent(\"f/below/it\")").ok();
    assert_eq!(site.text("f"), "x");
}

#[test]
fn nothing_and_everything_cannot_be_removed() {
    let site = Site::new();
    let said = site.blocked("@file.absent(\"/\", recursive=true)");
    assert!(said.contains("`/` is nothing that could be removed"), "{said}");
    let said = site.blocked("@file.absent(\"a/..\", recursive=true)");
    assert!(said.contains("nothing that could be removed"), "{said}");
}

#[test]
fn a_tree_that_is_too_deep_is_refused_in_words() {
    let site = Site::new();
    let deep = site.path("deep").join("d/".repeat(300));
    fs::create_dir_all(&deep).unwrap();
    let failure = site.apply("@file.absent(\"deep\", recursive=true)").failure();
    assert!(failure.contains("more than 256 directories deep"), "{failure}");
}
