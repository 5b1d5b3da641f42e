//! Packages come back as they were, and every hostile archive is refused.

use std::process::{Command, Stdio};

use opal_plugins::package::{Mode, PackagePath};
use proptest::prelude::*;

use super::*;

fn package(files: &[(&str, Mode, &[u8])]) -> Package {
    let mut package = Package::default();
    for (path, mode, bytes) in files {
        package.add(path.parse().unwrap(), *mode, bytes.to_vec()).unwrap();
    }
    package
}

fn example() -> Package {
    package(&[
        ("opal.toml", Mode::Plain, b"[package]\n"),
        ("plugins/run", Mode::Executable, b"#!/bin/sh\n"),
        ("tests/empty", Mode::Plain, b""),
    ])
}

/// The blocks of the archive of one file, changed.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = tar_of(&package(&[("tests/a", Mode::Plain, b"content")]));
    change(&mut bytes);
    // The sum of the header again, so that only the change is wrong.
    bytes[148..156].fill(b' ');
    let sum: u32 = bytes[..512].iter().map(|byte| u32::from(*byte)).sum();
    bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    bytes
}

fn named(name: &[u8]) -> Vec<u8> {
    changed(|bytes| {
        bytes[..100].fill(0);
        bytes[..name.len()].copy_from_slice(name);
    })
}

#[test]
fn the_same_package_is_the_same_bytes_and_comes_back() {
    let (one, other) = (write(&example()), write(&example()));
    assert_eq!(one, other);
    assert_eq!(read(&one).unwrap().checksum(), example().checksum());
}

#[test]
fn other_tools_read_what_opal_writes() {
    let (folder, long) = (tempfile::tempdir().unwrap(), "x".repeat(180));
    let split = format!("tests/{}/{}", "d".repeat(120), "n".repeat(90));
    let pax = format!("tests/{long}");
    let files = [
        ("opal.toml", Mode::Plain, &b"[package]\n"[..]),
        ("plugins/run", Mode::Executable, b"#!/bin/sh\n"),
        (&split, Mode::Plain, b"split"),
        (&pax, Mode::Plain, b"pax"),
    ];
    let packed = write(&package(&files));
    assert_eq!(read(&packed).unwrap().checksum(), package(&files).checksum());
    #[expect(clippy::disallowed_methods, reason = "a test that waits for it")]
    let mut child = Command::new("tar")
        .args(["-xzf", "-", "-C"])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&packed).unwrap();
    assert!(child.wait().unwrap().success());
    let unpacked = Package::read(folder.path()).unwrap();
    assert_eq!(unpacked.checksum(), package(&files).checksum());
}

#[test]
fn a_hostile_archive_is_refused_with_its_reason() {
    let kind = |kind: u8| changed(|bytes| bytes[156] = kind);
    let mut twice = tar_of(&package(&[("tests/a", Mode::Plain, b"")]));
    let other = tar_of(&package(&[("tests/A", Mode::Plain, b"")]));
    twice.truncate(512);
    twice.extend(other);
    for (what, bytes, said) in [
        ("out by ..", named(b"tests/../../x"), "is not allowed"),
        ("an absolute path", named(b"/tests/x"), "is not allowed"),
        ("a newline", named(b"tests/a\nb"), "is not allowed"),
        ("a backslash", named(b"tests/a\\b"), "is not allowed"),
        ("a wrong encoding", named(b"tests/\xff"), "is not allowed"),
        ("a hidden end", named(b"tests/a\0b"), "not what"),
        ("a foreign file", named(b".git/config"), "does not belong"),
        ("a name twice but for case", twice, "twice"),
        ("a hard link", kind(b'1'), "a hard link"),
        ("a symlink", kind(b'2'), "a symlink"),
        ("a device", kind(b'3'), "a device"),
        ("a block device", kind(b'4'), "a device"),
        ("a directory", kind(b'5'), "a directory"),
        ("a pipe", kind(b'6'), "a pipe"),
        ("global pax data", kind(b'g'), "unknown kind"),
        ("pax data for nothing", kind(b'x'), "damaged"),
        ("a long name of nothing", kind(b'L'), "damaged"),
        ("a sparse file", kind(b'S'), "damaged"),
        ("the old kind", kind(0), "not what"),
        ("setuid", changed(|it| it[100..108].copy_from_slice(b"0004755\0")), "not what"),
        ("an owner", changed(|it| it[108..116].copy_from_slice(b"0000001\0")), "not what"),
        ("a time", changed(|it| it[136..148].copy_from_slice(b"00000000001\0")), "not what"),
        ("a size in binary", changed(|it| it[124] = 0x80), "damaged"),
        ("a size beyond the end", changed(|it| it[124] = b'7'), "damaged"),
        ("no end", changed(|it| it.truncate(1024)), "not what"),
        ("one block of the end", changed(|it| it.truncate(1536)), "not what"),
        ("more after the end", changed(|it| it.extend([1; 512])), "not what"),
        ("hidden padding", changed(|it| it[1000] = 1), "not what"),
        ("another format", changed(|it| it[257] = b'U'), "not what"),
    ] {
        let error = package_of(&bytes).unwrap_err().to_string();
        assert!(error.contains(said), "{what}: {error}");
        assert!(!error.contains('\n'), "{what}: {error}");
    }
    let mut wrong_sum = tar_of(&example());
    wrong_sum[0] ^= 1;
    assert_eq!(package_of(&wrong_sum).unwrap_err(), ArchiveError::Tar);
}

#[test]
fn a_long_name_is_written_in_one_way() {
    let long = format!("tests/{}", "x".repeat(180));
    let fine = tar_of(&package(&[(&long, Mode::Plain, b"")]));
    assert!(package_of(&fine).is_ok());
    // Tools that do not know long names would see another one.
    let mut other = fine.clone();
    let header = &mut other[1024..1536];
    header[6] = b'y';
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_eq!(package_of(&other).unwrap_err(), ArchiveError::Foreign);
}

#[test]
fn what_is_not_one_whole_gzip_file_is_refused() {
    let fine = write(&example());
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fine.clone();
        change(&mut bytes);
        read(&bytes).map(|_| ())
    };
    for (what, change) in [
        ("nothing", &(|it: &mut Vec<u8>| it.clear()) as &dyn Fn(&mut Vec<u8>)),
        ("zstd", &|it| it[0] = 0x28),
        ("a name without an end", &|it| {
            it[3] = 8;
            it.truncate(12);
        }),
        ("cut off", &|it| it.truncate(it.len() - 1)),
        ("a member after it", &|it| it.extend(fine.clone())),
        ("bytes after it", &|it| it.push(0)),
        ("a damaged body", &|it| it[40] ^= 0x10),
        ("a wrong checksum", &|it| {
            let at = it.len() - 8;
            it[at] ^= 1;
        }),
        ("a wrong length", &|it| {
            let at = it.len() - 4;
            it[at] ^= 1;
        }),
    ] {
        assert!(matches!(with(change), Err(ArchiveError::Gzip(_))), "{what}: {:?}", with(change));
    }
}

#[test]
fn a_bomb_is_refused_before_it_has_memory() {
    let zeros = compress(&vec![0; MAX_UNPACKED as usize + 1]);
    assert!(zeros.len() < 1 << 20);
    assert!(matches!(read(&zeros), Err(ArchiveError::TooLarge)));
    let mut lying = zeros;
    let at = lying.len() - 4;
    lying[at..].copy_from_slice(&1024_u32.to_le_bytes());
    assert!(matches!(read(&lying), Err(ArchiveError::TooLarge)));
    // Files beyond the count, each empty.
    let header = &tar_of(&package(&[("tests/00000", Mode::Plain, b"")]))[..512];
    let mut many = Vec::new();
    for index in 0..=MAX_FILES {
        let mut block = header.to_vec();
        block[..11].copy_from_slice(format!("tests/{index:05}").as_bytes());
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        many.extend(block);
    }
    many.extend([0; 1024]);
    let refused = package_of(&many);
    assert!(matches!(refused, Err(ArchiveError::Package(PackageError::TooMany))));
}

proptest! {
    #[test]
    fn any_package_comes_back(
        files in prop::collection::btree_map("[a-z+@._-]{0,3}[a-z]{1,160}", any::<(bool, Vec<u8>)>(), 0..8)
    ) {
        let mut package = Package::default();
        for (name, (executable, bytes)) in files {
            let mode = if executable { Mode::Executable } else { Mode::Plain };
            let path: PackagePath = format!("tests/{name}").parse().unwrap();
            package.add(path, mode, bytes).unwrap();
        }
        prop_assert_eq!(read(&write(&package)).unwrap().checksum(), package.checksum());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, at in 0..2048_usize, byte: u8) {
        let _ = read(&bytes);
        let _ = package_of(&bytes);
        let mut archive = tar_of(&example());
        archive[at] = byte;
        let _ = package_of(&archive);
    }
}
