use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

use opal_core::resource::Status;

use crate::resources::support::{Site, details};
use opal_testing::needs;

const COPY: &str = "@file.copy(\"s\", \"d\", overwrite=true)";
const TREE: &str = "@file.copy(\"s\", \"d\", recursive=true, overwrite=true)";

#[test]
fn a_file_is_copied_with_its_mode() {
    let site = Site::new();
    site.file("s", "one\ntwo\n");
    site.set_mode("s", 0o640);
    site.applies("@file.copy(\"s\", \"d\")", Status::Missing);
    assert_eq!((site.text("d").as_str(), site.mode("d")), ("one\ntwo\n", 0o640));
    site.file("d", "one\n2\n");
    let found = site.verify(COPY);
    assert!(details(&found).contains("-two\n+2\n"), "{}", details(&found));
    site.applies(COPY, Status::Drifted);
    site.set_mode("d", 0o600);
    site.applies(COPY, Status::Drifted);
    assert_eq!(site.mode("d"), 0o640);
}

#[test]
fn without_its_mode_a_copy_is_new_or_keeps_its_own() {
    let site = Site::new();
    site.file("usual", "");
    site.file("s", "new");
    site.set_mode("s", 0o700);
    let call = "@file.copy(\"s\", \"d\", overwrite=true, preserve_mode=false)";
    site.applies(call, Status::Missing);
    assert_eq!(site.mode("d"), site.mode("usual"));
    site.file("d", "old");
    site.set_mode("d", 0o604);
    site.applies(call, Status::Drifted);
    assert_eq!(site.mode("d"), 0o604);
}

#[test]
fn what_differs_is_somebodys_work() {
    let site = Site::new();
    site.file("s", "ours");
    site.file("d", "theirs!");
    let said = site.blocked("@file.copy(\"s\", \"d\")");
    assert!(
        said.contains(
            "content (7 bytes, expected 4); `overwrite` is not set; set `overwrite=true`"
        ),
        "{said}"
    );
}

#[test]
fn what_is_not_replaced_shows_how_it_differs() {
    let site = Site::new();
    site.file("s", "one\nours\n");
    site.file("d", "one\ntheirs\n");
    for call in
        ["@file.copy(\"s\", \"d\")", "@file.copy(destination=\"d\", content=\"one\\nours\\n\")"]
    {
        let found = site.verify(call);
        assert_eq!(found.status, Status::Blocked);
        let shown = details(&found);
        assert!(shown.contains(" one\n-ours\n+theirs\n"), "{call}: {shown}");
    }
    // Nothing can be compared with a source that is not there, or with another kind of thing.
    std::fs::create_dir(site.path("folder")).unwrap();
    for call in ["@file.copy(\"none\", \"d\")", "@file.copy(\"s\", \"folder\")"] {
        let found = site.verify(call);
        assert_eq!((found.status, found.details.is_none()), (Status::Blocked, true), "{call}");
    }
}

#[test]
fn a_replaced_file_keeps_its_owner_and_set_uid_is_not_copied() {
    if !needs::root() {
        return;
    }
    let site = Site::new();
    site.file("s", "ours");
    site.set_mode("s", 0o4755);
    site.file("d", "theirs");
    chown(site.path("d"), Some(65534), Some(12345)).unwrap();
    site.applies(COPY, Status::Drifted);
    let found = site.found("d");
    assert_eq!((found.uid(), found.gid(), site.mode("d")), (65534, 12345, 0o755));
}

#[test]
fn all_twelve_bits_are_copied_to_a_copy_of_the_same_owner() {
    let site = Site::new();
    site.file("s/a", "a");
    site.file("s/run", "x");
    site.directory("s/shared");
    site.directory("s/group");
    for (name, mode) in [("run", 0o4755), ("shared", 0o1777), ("group", 0o2775)] {
        site.set_mode(&format!("s/{name}"), mode);
    }
    site.applies(TREE, Status::Missing);
    let modes = || ["d/a", "d/run", "d/shared", "d/group"].map(|name| site.mode(name));
    assert_eq!(modes()[1..], [0o4755, 0o1777, 0o2775]);
    // What someone else has added is drift too.
    site.set_mode("d/a", 0o4000 | site.mode("d/a"));
    site.set_mode("d/run", 0o755);
    site.set_mode("d/shared", 0o777);
    let found = details(&site.verify(TREE));
    assert!(found.contains("`shared`: mode 0777, expected 1777\n"), "{found}");
    assert!(found.contains("`run`: mode 0755, expected 4755\n"), "{found}");
    assert!(found.contains("`a`: mode 4"), "{found}");
    site.applies(TREE, Status::Drifted);
    assert_eq!((modes()[0] & 0o7000, modes()[1]), (0, 0o4755));
    let left = TREE.replace("recursive=true", "recursive=true, preserve_mode=false");
    site.set_mode("d/a", 0o4755);
    assert_eq!(site.status(&left), Status::Satisfied);
}

#[test]
fn a_program_of_somebody_else_does_not_run_as_who_copies_it() {
    if !needs::root() {
        return;
    }
    let site = Site::new();
    site.file("s", "x");
    chown(site.path("s"), Some(65534), Some(12345)).unwrap();
    site.set_mode("s", 0o6755);
    site.applies(COPY, Status::Missing);
    assert_eq!((site.found("d").uid(), site.mode("d")), (0, 0o755));
}

#[test]
fn what_a_system_makes_up_as_it_is_read_is_copied() {
    let site = Site::new();
    let call = "@file.copy(\"/proc/version\", \"d\", overwrite=true)";
    site.applies(call, Status::Missing);
    site.file("d", "other");
    site.applies(call, Status::Drifted);
}

#[test]
fn a_tree_is_copied_by_the_name_of_a_link_too() {
    let site = Site::new();
    site.file("real/sub/a", "a");
    site.link("s", "real");
    site.applies("@file.copy(\"s/\", \"d\", recursive=true)", Status::Missing);
    assert_eq!(site.text("d/sub/a"), "a");
}

#[test]
fn there_is_no_room_for_a_copy_below_a_file() {
    let site = Site::new();
    site.file("s", "x");
    site.file("f", "x");
    let said = site.blocked("@file.copy(\"s\", \"f/below\")");
    assert!(said.contains("a part of its path is a file, `"), "{said}");
}

#[test]
fn a_tree_is_copied_piece_by_piece() {
    let site = Site::new();
    site.file("s/a", "a");
    site.file("s/closed/b", [0xff, 0, 0xfe]);
    site.link("s/closed/dangling", "no/where");
    site.link("s/up", "a");
    site.set_mode("s/closed/b", 0o400);
    site.set_mode("s/closed", 0o550);
    site.applies("@file.copy(\"s\", \"d\", recursive=true)", Status::Missing);
    assert_eq!(fs::read(site.path("d/closed/b")).unwrap(), [0xff, 0, 0xfe]);
    assert_eq!((site.mode("d/closed"), site.mode("d/closed/b")), (0o550, 0o400));
    assert_eq!(fs::read_link(site.path("d/closed/dangling")).unwrap().to_str(), Some("no/where"));
    site.file("d/more", "left alone");
    assert_eq!(site.status(TREE), Status::Satisfied);
    fs::remove_file(site.path("d/up")).unwrap();
    site.applies("@file.copy(\"s\", \"d\", recursive=true)", Status::Drifted);
    site.file("d/a", "b");
    let found = site.verify(TREE);
    let shown = details(&found);
    assert!(shown.starts_with("`a`: content\n--- expected: ") && shown.contains("-a\n"), "{shown}");
    site.applies(TREE, Status::Drifted);
    assert_eq!(site.text("d/more"), "left alone");
}

#[test]
fn large_files_are_compared_to_their_end() {
    let site = Site::new();
    let mut content = vec![b'x'; 3 << 20];
    site.file("s", &content);
    *content.last_mut().unwrap() = b'y';
    site.file("d", &content);
    let found = site.verify(COPY);
    assert_eq!((found.status, details(&found).as_str()), (Status::Drifted, "content\n"));
    site.applies(COPY, Status::Drifted);
}

#[test]
fn what_cannot_be_copied_blocks_and_is_named() {
    let site = Site::new();
    let said = site.blocked(COPY);
    assert!(said.contains("/s` does not exist"), "{said}");
    site.file("s", "x");
    site.link("d", "elsewhere");
    let said = site.blocked(COPY);
    let to = site.path("elsewhere").display().to_string();
    assert!(said.contains(&format!("/d` is a symlink; name its target: `{to}`")), "{said}");
    fs::remove_file(site.path("d")).unwrap();
    site.directory("d");
    let said = site.blocked(COPY);
    assert!(said.contains("/d` is a directory where the source has a file"), "{said}");
    let said = site.blocked("@file.copy(\"d\", \"e\")");
    assert!(said.contains("recursive=true"), "{said}");
    let said = site.blocked("@file.copy(\"s\", \"/dev/null\", overwrite=true)");
    assert!(said.contains("`/dev/null` is neither a file nor a directory"), "{said}");
    let said = site.blocked("@file.copy(\"/dev/zero\", \"e\")");
    assert!(said.contains("`/dev/zero` is neither a file nor a directory"), "{said}");
    let failure = site.apply("@file.copy(\"s\", \"no/such/place\")").failure();
    assert!(failure.contains("the directory `"), "{failure}");
}
