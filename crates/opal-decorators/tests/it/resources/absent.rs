use std::fs;
use std::path::Path;

use opal_core::resource::Status;

use crate::resources::support::{Mount, Site};
use opal_testing::needs;

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
        site.applies(&format!("@file.absent(\"{name}\")"), Status::Drifted);
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
    assert!(said.contains("not empty: it contains 2 entries; set `recursive=true`"), "{said}");
    site.applies("@file.absent(\"full\", recursive=true)", Status::Drifted);
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
    assert!(said.contains("`/` cannot be removed"), "{said}");
    let said = site.blocked("@file.absent(\"a/..\", recursive=true)");
    assert!(said.contains("cannot be removed"), "{said}");
}

#[test]
fn a_tree_that_is_too_deep_is_refused_in_words() {
    let site = Site::new();
    let deep = site.path("deep").join("d/".repeat(300));
    fs::create_dir_all(&deep).unwrap();
    let failure = site.apply("@file.absent(\"deep\", recursive=true)").failure();
    assert!(failure.contains("more than 256 directories deep"), "{failure}");
}

#[test]
fn the_directory_that_it_runs_in_is_not_removed() {
    let site = Site::new();
    site.file("kept", "x");
    site.link("way", site.path(""));
    let above = site.path("").parent().unwrap().display().to_string();
    for path in [".", "./", &above] {
        let said = site.blocked(&format!("@file.absent(\"{path}\", recursive=true)"));
        assert!(said.contains("cannot be removed"), "{path} {said}");
        let said = site.blocked(&format!("@file.symlink(\"x\", \"{path}\", force=true)"));
        assert!(said.contains("cannot be removed"), "{path} {said}");
    }
    // Of a link only the link is removed.
    site.applies("@file.absent(\"way/\", recursive=true)", Status::Drifted);
    assert_eq!(site.text("kept"), "x");
}

#[test]
fn the_home_of_somebody_else_is_not_guessed() {
    let site = Site::new();
    let said = site.blocked("@file.absent(\"~nobody/x\")");
    assert!(said.contains("`~nobody/x` cannot be found: `~` is only this user's own"), "{said}");
    assert_eq!(site.status("@file.absent(\"./~nobody/x\")"), Status::Satisfied);
}

#[test]
fn what_is_mounted_in_a_tree_keeps_all_of_it() {
    let site = Site::new();
    site.file("store/db", "precious");
    site.file("old/a", "first to go");
    site.file("old/z", "x");
    site.directory("old/m/data");
    site.directory("disk");
    for (options, from, to, path) in [
        (&["--bind"][..], site.path("store"), "old/m/data", "old"),
        (&["--bind"], site.path("store"), "old/m/data", "old/m/data"),
        (&["--bind"], site.path("store/db"), "old/z", "old"),
        (&["-t", "tmpfs"], "tmpfs".into(), "disk", "disk"),
    ] {
        let mount = Mount::new(options, &from, &site.path(to));
        if !needs::has("a disk to mount", mount.is_some()) {
            return;
        }
        if path == "disk" {
            site.file("disk/db", "precious");
        }
        for call in
            ["@file.absent(\"PATH\", recursive=true)", "@file.symlink(\"x\", \"PATH\", force=true)"]
        {
            let said = site.blocked(&call.replace("PATH", path));
            assert!(said.contains("a file system is mounted at `"), "{said}");
        }
        // What was verified is not asked about again here.
        let before = site.tree();
        let whole = site.path(path);
        let removed = site.files().remove(&whole, true).unwrap_err();
        assert!(removed.message.contains("a file system is mounted there"), "{removed:?}");
        site.files().make_link(&whole, Path::new("x"), true).unwrap_err();
        assert_eq!(site.tree(), before, "{path}");
    }
    site.applies("@file.absent(\"old\", recursive=true)", Status::Drifted);
    assert_eq!(site.text("store/db"), "precious");
}
