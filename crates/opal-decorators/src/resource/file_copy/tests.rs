//! Decisions over pretended trees.

use opal_core::files::Attributes;
use opal_core::resolver::Input;

use super::*;
use opal_testing::{Asked, MemoryWorld};

fn inputs(flags: &[&'static str]) -> Inputs {
    let mut inputs = Inputs::default();
    for (name, path) in [("source", "/s"), ("destination", "/d")] {
        inputs.args.insert(name, Input::Data(Data::text(path)));
    }
    for flag in flags {
        inputs.args.insert(flag, Input::Data(Data::Bool(true)));
    }
    inputs
}

fn mode(mode: u32) -> Attributes {
    Attributes { mode: Some(mode), ..Attributes::default() }
}

const ALL: &[&str] = &["overwrite", "recursive", "preserve_mode"];

fn found(world: &MemoryWorld, flags: &[&'static str]) -> Result<(Status, String), String> {
    match FileCopy.verify(&inputs(flags), world) {
        Ok(finding) if finding.status == Status::Blocked => {
            assert!(finding.details.is_some_and(|it| !it.report().is_empty()));
            let trouble = finding.refusal.unwrap();
            assert!(!trouble.help.is_empty());
            Err(trouble.message.into())
        }
        Ok(finding) => {
            let details = finding.details.map_or(String::new(), |it| it.report());
            Ok((finding.status, details))
        }
        Err(trouble) => {
            assert!(!trouble.help.is_empty());
            Err(trouble.message.into())
        }
    }
}

#[track_caller]
fn blocked(world: &MemoryWorld, flags: &[&'static str], words: &str) {
    let message = found(world, flags).unwrap_err();
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_single_file_is_compared_by_content_and_mode() {
    let world = || MemoryWorld::default().file("/s", "one\ntwo\n");
    assert_eq!(found(&world(), ALL).unwrap().0, Status::Missing);
    let same = || world().file("/d", "one\ntwo\n");
    assert_eq!(found(&same(), ALL).unwrap().0, Status::Satisfied);
    let open = || same().attributes("/d", mode(0o666));
    assert_eq!(found(&open(), ALL).unwrap().1, "mode 0666, expected 0644\n");
    assert_eq!(found(&open(), &["overwrite"]).unwrap().0, Status::Satisfied);
    let other = || world().file("/d", "one\nTWO\n");
    let (status, details) = found(&other(), ALL).unwrap();
    assert_eq!(status, Status::Drifted);
    assert!(details.contains("-two\n+TWO\n"), "{details}");
    blocked(&other(), &["preserve_mode"], "`/d` differs from `/s`: content");
    blocked(&open(), &["preserve_mode"], "mode 0666, expected 0644");
}

#[test]
fn what_cannot_be_copied_blocks_and_is_named() {
    let denied =
        Trouble::new(TroubleKind::Denied, "`/s` cannot be read: permission denied", "be root");
    let file = || MemoryWorld::default().file("/s", "x");
    blocked(&MemoryWorld::default(), ALL, "the source `/s` does not exist");
    blocked(&MemoryWorld::default().link("/s", "/nowhere"), ALL, "the source `/s` does not exist");
    blocked(&MemoryWorld::default().link("/s", "/s"), ALL, "`/s`");
    blocked(&MemoryWorld::default().special("/s"), ALL, "`/s` is neither a file nor a directory");
    blocked(
        &MemoryWorld::default().hidden("/s", denied),
        ALL,
        "`/s` cannot be read: permission denied",
    );
    blocked(&MemoryWorld::default().directory("/s"), &["overwrite"], "`/s` is a directory");
    blocked(&file().link("/d", "else"), ALL, "`/d` is a symlink");
    blocked(&file().directory("/d"), ALL, "`/d` is a directory where the source has a file");
    blocked(&file().special("/d"), ALL, "`/d` is neither a file nor a directory");
}

#[test]
fn a_source_that_is_a_link_stands_for_what_it_leads_to() {
    let world = MemoryWorld::default().file("/real", "x").link("/s", "real").file("/d", "x");
    assert_eq!(found(&world, ALL).unwrap().0, Status::Satisfied);
}

fn tree(root: &str, world: MemoryWorld) -> MemoryWorld {
    world
        .file(&format!("{root}/a"), "a")
        .file(&format!("{root}/sub/b"), "b")
        .link(&format!("{root}/sub/link"), "../a")
}

#[test]
fn trees_are_compared_piece_by_piece_and_more_is_left_alone() {
    let both = || tree("/d", tree("/s", MemoryWorld::default())).file("/d/sub/more", "m");
    assert_eq!(found(&both(), ALL).unwrap().0, Status::Satisfied);
    let changed = both().file("/s/sub/b", "B!").link("/d/sub/link", "/etc").file("/s/new", "n");
    let (status, details) = found(&changed, ALL).unwrap();
    assert_eq!(status, Status::Drifted);
    assert_eq!(
        details,
        "`new`: missing\n`sub/b`: content (1 bytes, expected 2)\n\
         `sub/link`: points to `/etc`, expected `../a`\n\
         --- expected: /s/new\n+++ actual: /d/new\n@@ -1 +0,0 @@\n-n\n\
         \\ No newline at end of file\n\
         --- expected: /s/sub/b\n+++ actual: /d/sub/b\n@@ -1 +1 @@\n-B!\n\
         \\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    );
    blocked(&changed, &["recursive"], "`new`: missing, `sub/b`: content");
    blocked(&both().file("/s/x/y", "").file("/d/x", ""), ALL, "`/d/x` is a file where");
    blocked(&both().special("/s/pipe"), ALL, "`/s/pipe` is neither");
}

#[test]
fn only_a_contract_reads_all_of_what_will_be_copied() {
    let world = MemoryWorld::default().file("/s", "x".repeat(2 << 20));
    let reads = || world.asked().iter().filter(|it| matches!(it, Asked::Read(_))).count();
    let finding = FileCopy.verify(&inputs(ALL), &world).unwrap();
    assert_eq!((finding.status, finding.content), (Status::Missing, None));
    assert_eq!(reads(), 1, "as much as is shown");
    assert!(FileCopy.content(&inputs(ALL), &world).unwrap().is_some());
    assert_eq!(reads(), 2);
}

/// Contracts that were made by an earlier opal hold this digest.
#[test]
fn the_digest_of_a_difference_stays_what_it_is() {
    let world = tree("/d", tree("/s", MemoryWorld::default())).file("/s/sub/b", "B!");
    let world = world.file("/s/new", "n").attributes("/d/a", mode(0o600));
    let content = FileCopy.content(&inputs(ALL), &world).unwrap();
    let expected = "658eaaa7445327d3e8d77f1ec9d4da03823f267edf4f894bd26470a8023efc16";
    assert_eq!(content.unwrap().hex(), expected);
}

#[test]
fn what_is_only_missing_needs_no_overwriting() {
    let world = tree("/s", MemoryWorld::default()).file("/d/a", "a");
    let (status, details) = found(&world, &["recursive"]).unwrap();
    assert_eq!(status, Status::Drifted);
    let listed = "`sub`: missing\n`sub/b`: missing\n`sub/link`: missing\n";
    assert!(details.starts_with(listed) && details.contains("\n-b\n"), "{details}");
}

#[test]
fn a_tree_without_an_end_is_refused_in_words() {
    let deep = format!("/s/{}", "d/".repeat(200));
    blocked(&MemoryWorld::default().directory(&deep), ALL, "`/s` cannot be compared");
    let world = MemoryWorld::default().file("/s/x", "").link("/d", "/s");
    blocked(&world, ALL, "`/d` is a symlink");
    let mut within = inputs(ALL);
    within.args.insert("destination", Input::Data(Data::text("/s/copy")));
    let world = MemoryWorld::default().file("/s/x", "");
    let trouble = FileCopy.verify(&within, &world).unwrap_err();
    assert!(trouble.message.contains("`/s/copy` is inside its own source"));
}

#[test]
fn two_looks_find_the_same() {
    let world = tree("/s", MemoryWorld::default()).file("/d/a", "b");
    assert_eq!(found(&world, ALL), found(&world, ALL));
}
