//! Interrupted authors, disks that fail, and registries that somebody else changed.

use std::fs;
use std::path::Path;

use super::{Author, files};
use crate::needs;

#[test]
fn an_interrupted_author_leaves_no_version_and_can_go_on() {
    let author = Author::new();
    author.publish(&[]).code(0);
    let package = author.registry.join("acme/vault");
    // Before `versions.json`: the files of a version that nothing lists, whole or not.
    fs::create_dir_all(package.join("1.1.0")).unwrap();
    fs::write(package.join("1.1.0/plugin.tar.gz"), "half").unwrap();
    fs::create_dir_all(package.join(".opal-new-x/version")).unwrap();
    author.version("1.1.0");
    author.publish(&[]).code(0);
    assert!(author.vouched("1.1.0").publishers.contains(&author.key("signing")));
    assert!(!package.join(".opal-new-x").exists());
    // Between `versions.json` and the index.
    let index = fs::read(author.registry.join("index.json")).unwrap();
    author.version("1.2.0");
    author.publish(&[]).code(0);
    fs::write(author.registry.join("index.json"), index).unwrap();
    author.publish(&[]).code(0).says("finished publishing acme/vault 1.2.0");
    let listed = author.index(&author.key("signing"));
    let listed = listed.get(&"acme/vault".parse().unwrap()).unwrap();
    assert_eq!(listed.latest.as_ref().unwrap().to_string(), "1.2.0");
    author.publish(&[]).code(78);
}

#[test]
fn what_somebody_else_changed_is_not_signed() {
    for (what, change) in [
        (
            "versions",
            &(|registry: &Path| {
                let file = registry.join("acme/vault/versions.json");
                let text = fs::read_to_string(&file).unwrap();
                fs::write(file, text.replace("\"published\": 1", "\"published\": 2")).unwrap();
            }) as &dyn Fn(&Path),
        ),
        ("no versions", &|registry: &Path| {
            fs::remove_file(registry.join("acme/vault/versions.json")).unwrap();
        }),
        ("the index", &|registry: &Path| {
            let file = registry.join("index.json");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(file, text.replacen("\"payload\":\"e", "\"payload\":\"f", 1)).unwrap();
        }),
        ("another kind of index", &|registry: &Path| {
            let file = registry.join("index.json");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(file, text.replace("opal.index", "opal.other")).unwrap();
        }),
    ] {
        let author = Author::new();
        author.publish(&[]).code(0);
        change(&author.registry);
        let before = files(&author.registry);
        author.version("1.1.0");
        let ran = author.publish(&[]);
        assert!(matches!(ran.code, 65 | 77), "{what}: {} {}", ran.code, ran.stderr);
        assert_eq!(files(&author.registry), before, "{what}");
    }
}

#[test]
fn a_registry_that_cannot_be_written_is_left_as_it_was() {
    let author = Author::new();
    author.opal.write("file", "");
    let inside = format!("file:{}/file/registry", author.opal.path().display());
    author.publish_to(&inside, &[]).code(74).says("cannot write");
    fs::create_dir(&author.registry).unwrap();
    let Some(disk) = Disk::mounted(&author.registry, "size=64k") else { return };
    author.publish(&[]).code(0);
    let before = files(&author.registry);
    // More than is left on the disk, and not compressible.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..200_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    author.version("1.1.0");
    fs::create_dir_all(author.opal.path().join("vault/tests")).unwrap();
    author.opal.write("vault/tests/noise.bin", noise);
    author.publish(&[]).code(74).says("cannot write");
    assert_eq!(files(&author.registry), before);
    fs::remove_dir_all(author.opal.path().join("vault/tests")).unwrap();
    assert!(disk.is_now("ro"));
    author.publish(&[]).code(74).says("cannot write");
    assert_eq!(files(&author.registry), before);
    assert!(disk.is_now("rw"));
    author.publish(&[]).code(0);
}

/// A small disk in place of a directory.
struct Disk<'d>(&'d Path);

impl<'d> Disk<'d> {
    fn mounted(path: &'d Path, size: &str) -> Option<Self> {
        let words = ["mount", "-t", "tmpfs", "-o", size, "tmpfs"];
        needs::has("a disk to mount", system(&words, path)).then_some(Self(path))
    }

    fn is_now(&self, how: &str) -> bool {
        system(&["mount", "-o", &format!("remount,{how}")], self.0)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        system(&["umount"], self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "only the system's `mount` can make a disk")]
fn system(words: &[&str], path: &Path) -> bool {
    let mut command = std::process::Command::new(words[0]);
    command.args(&words[1..]).arg(path).output().is_ok_and(|it| it.status.success())
}
