use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

use opal_core::resource::Status;

use crate::resources::support::{Site, details, words};
use opal_testing::needs;

fn line(more: &str) -> String {
    format!("@file.line(\"f\", \"Port 22\"{more})")
}

#[test]
fn a_line_is_added_and_the_rest_keeps_its_bytes() {
    let site = Site::new();
    for (before, after) in [
        ("a\nb\n", "a\nb\nPort 22\n"),
        ("a\r\nb\r\n", "a\r\nb\r\nPort 22\r\n"),
        ("a\r\nb\nc", "a\r\nb\nc\nPort 22\n"),
        ("", "Port 22\n"),
    ] {
        site.file("f", before);
        site.applies(&line(""), Status::Drifted);
        assert_eq!(site.text("f"), after);
    }
}

#[test]
fn a_file_that_is_not_there_is_made_for_a_line_and_not_for_none() {
    let site = Site::new();
    assert_eq!(site.status(&line(", state=\"absent\"")), Status::Satisfied);
    site.apply(&line(", state=\"absent\"")).ok();
    assert!(!site.path("f").exists());
    site.applies(&line(""), Status::Missing);
    assert_eq!(site.text("f"), "Port 22\n");
}

#[test]
fn what_matches_is_replaced_or_removed() {
    let site = Site::new();
    site.file("f", "#Port 80\nother\n");
    let port = line(", match=r\"^#?Port\"");
    let found = site.verify(&port);
    let diff = "@@ -1,2 +1,2 @@\n-Port 22\n+#Port 80\n other\n";
    assert!(details(&found).ends_with(diff), "{}", details(&found));
    site.applies(&port, Status::Drifted);
    assert_eq!(site.text("f"), "Port 22\nother\n");
    site.applies(&line(", match=r\"^#?Port\", state=\"absent\""), Status::Drifted);
    assert_eq!(site.text("f"), "other\n");
}

#[test]
fn several_matches_block_unless_it_is_said_which() {
    let site = Site::new();
    let content = "Port 1\nx\nPort 2\n";
    let matching = |more: &str| line(&format!(", match=r\"^Port\"{more}"));
    site.file("f", content);
    let said = site.blocked(&matching(""));
    assert!(said.contains("lines 1 and 3 of `") && said.contains("/f` match"), "{said}");
    site.applies(&matching(", on_multiple_matches=\"first\""), Status::Drifted);
    assert_eq!(site.text("f"), "Port 22\nx\nPort 2\n");
    site.file("f", content);
    site.applies(&matching(", on_multiple_matches=\"all\""), Status::Drifted);
    assert_eq!(site.text("f"), "Port 22\nx\nPort 22\n");
}

#[test]
fn mode_and_owner_are_kept_in_the_file_and_its_backup() {
    let site = Site::new();
    site.file("f", "a\n");
    site.set_mode("f", 0o604);
    if needs::root() {
        chown(site.path("f"), Some(1), Some(2)).unwrap();
    }
    let before = site.found("f");
    site.applies(&line(", backup=true"), Status::Drifted);
    assert_eq!((site.text("f.bak").as_str(), site.text("f").as_str()), ("a\n", "a\nPort 22\n"));
    for name in ["f", "f.bak"] {
        let found = site.found(name);
        let kept = [found.mode(), found.uid(), found.gid()];
        assert_eq!(kept, [before.mode(), before.uid(), before.gid()], "{name}");
    }
}

#[test]
fn a_backup_has_the_attributes_of_the_file() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let site = Site::new();
    let path = site.file("f", "a\n");
    // Not every file system has them.
    if setxattr(&path, "user.note", b"ours", XattrFlags::empty()).is_err() {
        return;
    }
    site.applies(&line(", backup=true"), Status::Drifted);
    for name in ["f", "f.bak"] {
        let mut value = [0; 64];
        let length = getxattr(site.path(name), "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"ours", "{name}");
    }
}

#[test]
fn no_backup_replaces_another() {
    let site = Site::new();
    for number in 0..3 {
        site.file("f", format!("{number}\n"));
        site.apply(&line(", backup=true, backup_dir=\"old/ones\"")).ok();
    }
    let found = ["f.bak", "f.bak.1", "f.bak.2"].map(|name| site.text(&format!("old/ones/{name}")));
    assert_eq!(found, ["0\n", "1\n", "2\n"]);
    assert!(!site.path("f.bak").exists());
}

#[test]
fn files_of_other_encodings_keep_their_bytes() {
    let site = Site::new();
    for (encoding, before, after) in [
        ("latin-1", &b"caf\xe9\nname\n"[..], &b"caf\xe9\nZo\xeb\n"[..]),
        ("windows-1252", b"\x80 5\nname\n", b"\x80 5\nZo\xeb\n"),
        ("utf-8", "café\nname\n".as_bytes(), "café\nZoë\n".as_bytes()),
    ] {
        site.file("f", before);
        let call = format!("@file.line(\"f\", \"Zoë\", match=r\"^name\", encoding=\"{encoding}\")");
        let found = site.verify(&call);
        assert!(details(&found).contains("-Zoë\n+name\n"), "{}", details(&found));
        site.applies(&call, Status::Drifted);
        assert_eq!(fs::read(site.path("f")).unwrap(), after, "{encoding}");
    }
}

#[test]
fn what_cannot_be_read_or_written_blocks() {
    let site = Site::new();
    site.file("f", b"caf\xe9\n");
    assert!(site.blocked(&line("")).contains("line 1 of `"));
    assert!(site.blocked(&line(", encoding=\"ascii\"")).contains("is not ASCII"));
    let euro = "@file.line(\"f\", \"5 €\", encoding=\"latin-1\")";
    assert!(site.blocked(euro).contains("character 3 of `line` cannot be written"));
    site.file("f", b"a\0b\n");
    assert!(site.blocked(&line("")).contains("/f` is binary: it contains a NUL byte"));
    fs::remove_file(site.path("f")).unwrap();
    site.link("f", "elsewhere");
    assert!(site.blocked(&line("")).contains("/f` is a symlink"));
    let file = fs::File::create(site.path("large")).unwrap();
    file.set_len(65 << 20).unwrap();
    let large = line("").replace("\"f\"", "\"large\"");
    let found = site.verify_all(&format!("{large}\n"));
    assert_eq!(found[0].status, Status::Blocked);
    assert!(words(&found[0]).contains("/large` is larger than 64 MiB"), "{}", words(&found[0]));
}

#[test]
fn lines_that_are_added_in_parallel_are_all_there() {
    const LINES: usize = 20;
    let site = Site::new();
    for (start, more) in [(None, ""), (Some("a\n"), ", backup=true")] {
        let _ = fs::remove_file(site.path("f"));
        if let Some(start) = start {
            site.file("f", start);
        }
        let branch = |number| format!("    @file.line(\"f\", \"line {number}\"{more})\n");
        let branches: String = (0..LINES).map(branch).collect();
        site.apply(&format!("@parallel(max={LINES}) {{\n{branches}}}")).ok();
        let text = site.text("f");
        for number in 0..LINES {
            assert!(text.lines().any(|it| it == format!("line {number}")), "{number}: {text}");
        }
        assert_eq!(text.lines().count(), LINES + start.map_or(0, |_| 1), "{text}");
    }
    // Each has kept the file as it was before it, and none has replaced the copy of another.
    let lines = |name: &str| site.text(name).lines().count();
    assert_eq!(lines("f.bak"), 1);
    for number in 1..LINES {
        assert_eq!(lines(&format!("f.bak.{number}")), number + 1);
    }
}

#[test]
fn backups_of_files_with_one_name_do_not_replace_each_other() {
    let site = Site::new();
    let branch = |number| {
        site.file(&format!("{number}/f"), format!("file {number}\n"));
        format!("    @file.line(\"{number}/f\", \"x\", backup=true, backup_dir=\"kept\")\n")
    };
    let branches: String = (0..10).map(branch).collect();
    site.apply(&format!("@parallel(max=10) {{\n{branches}}}")).ok();
    let kept = fs::read_dir(site.path("kept")).unwrap().map(|it| it.unwrap().path());
    let mut kept: Vec<_> = kept.map(|it| fs::read_to_string(it).unwrap()).collect();
    kept.sort();
    assert_eq!(kept, (0..10).map(|it| format!("file {it}\n")).collect::<Vec<_>>());
}

#[test]
fn below_a_file_there_is_no_line_and_no_room_for_one() {
    let site = Site::new();
    site.file("f", "x\n");
    let call = "@file.line(\"f/below/it\", \"x\"";
    assert_eq!(site.status(&format!("{call}, state=\"absent\")")), Status::Satisfied);
    site.apply(&format!("{call}, state=\"absent\")")).ok();
    let said = site.blocked(&format!("{call})"));
    assert!(said.contains("a part of its path is a file, `"), "{said}");
}
