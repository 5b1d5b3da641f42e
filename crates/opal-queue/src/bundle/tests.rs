use super::*;

fn files(all: &[(&str, &str)]) -> Files {
    all.iter().map(|(path, text)| ((*path).to_owned(), (false, text.as_bytes().to_vec()))).collect()
}

fn packed(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).unwrap()
}

/// Gathers a project whose runtime root is elsewhere.
fn gather(top: &Path) -> Result<Files, BundleError> {
    super::gather(top, Path::new("/nonexistent")).map(|it| it.files)
}

/// An archive with one entry, whose name and kind nobody has checked.
fn archive(name: &[u8], kind: EntryType) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(0);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    packed(&[header.as_bytes().as_slice(), &[0; 1024]].concat())
}

#[test]
fn the_same_files_are_the_same_bytes_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scripts")).unwrap();
    fs::write(folder.path().join("opal.mod"), "").unwrap();
    fs::write(folder.path().join("commands.opl"), "fun a() { }\n").unwrap();
    fs::write(folder.path().join("scripts/deploy.sh"), "echo\n").unwrap();
    let program = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("scripts/deploy.sh"), program).unwrap();
    let (top, source) = project(&folder.path().join("commands.opl")).unwrap();
    assert_eq!((top.as_path(), source.as_str()), (folder.path(), "commands.opl"));
    let found = gather(&top).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["commands.opl", "opal.mod", "scripts/deploy.sh"]);
    assert!(found["scripts/deploy.sh"].0 && !found["commands.opl"].0);
    let bytes = write(&found);
    assert_eq!(bytes, write(&gather(&top).unwrap()));
    assert_eq!(read(&bytes).unwrap(), found);
    let into = tempfile::tempdir().unwrap();
    unpack(&found, into.path()).unwrap();
    assert_eq!(gather(into.path()).unwrap(), found);
    // What is there already is not written over.
    assert!(unpack(&found, into.path()).is_err());
}

#[test]
fn links_pipes_and_names_of_other_systems_are_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a b"), "").unwrap();
    assert!(matches!(gather(folder.path()), Err(BundleError::Name(name)) if name == "a b"));
    fs::remove_file(at("a b")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
    assert!(matches!(gather(folder.path()), Err(BundleError::Irregular(name)) if name == "link"));
    fs::remove_file(at("link")).unwrap();
    fs::write(at("A"), "").unwrap();
    fs::write(at("a"), "").unwrap();
    assert!(matches!(gather(folder.path()), Err(BundleError::Name(_))));
}

/// Each would write outside of the directory, or hide something.
#[test]
fn an_archive_that_opal_did_not_write_is_refused() {
    assert!(read(&archive(b"a", EntryType::Regular)).is_ok());
    for (name, kind) in [
        (&b"../a"[..], EntryType::Regular),
        (b"a/../b", EntryType::Regular),
        (b"/a", EntryType::Regular),
        (b"./a", EntryType::Regular),
        (b"a//b", EntryType::Regular),
        (b"a b", EntryType::Regular),
        (b"a\xff", EntryType::Regular),
        (b"a", EntryType::Symlink),
        (b"a", EntryType::Link),
        (b"a", EntryType::Directory),
        (b"a", EntryType::Fifo),
        (b"a", EntryType::Block),
        (b"a", EntryType::Char),
    ] {
        assert!(read(&archive(name, kind)).is_err(), "{name:?} {kind:?}");
    }
    let good = tar_of(&files(&[("a", "x"), ("b", "y")]));
    assert!(read(&packed(&good)).is_ok());
    let twice = [&good[..1024], &good].concat();
    assert!(read(&packed(&twice)).is_err(), "a file twice");
    let reordered = [&good[1024..2048], &good[..1024], &good[2048..]].concat();
    assert!(read(&packed(&reordered)).is_err(), "another order");
    assert!(read(&packed(&[&good[..], b"more"].concat())).is_err(), "something after it");
    assert!(read(&packed(&good)[..20]).is_err(), "cut");
    assert!(read(b"").is_err() && read(b"no archive").is_err());
    let large = vec![0; MAX_PACKED + 1];
    assert!(matches!(read(&packed(&large)), Err(BundleError::TooLarge)));
}

/// A project that is not in git, with everything that must stay at home.
#[test]
fn secrets_and_ignored_files_stay_at_home_and_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [".opal/credentials", "keys", "web/tmp", "vendor/lib/.git"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n";
    for (name, text) in [
        ("commands.opl", "fun a() { }\n"),
        (".opal/credentials/ops.key", "secret"),
        (".env", "TOKEN=x"),
        ("web/.env.production", "TOKEN=x"),
        ("keys/deploy", key),
        ("keys/deploy.pub", "ssh-ed25519 AAAA"),
        ("keys/age.txt", "# created: now\nAGE-SECRET-KEY-1X\n"),
        (".gitignore", "*.log\n"),
        ("web/.gitignore", "/tmp\n!kept.log\n"),
        ("web/tmp/cache", "x"),
        ("web/kept.log", "x"),
        ("run.log", "x"),
        (".opalignore", "/notes\n"),
        ("notes", "x"),
        ("vendor/lib/code", "x"),
        ("vendor/lib/.git/config", "x"),
    ] {
        fs::write(at(name), text).unwrap();
    }
    let gathered = super::gather(folder.path(), &at(".opal")).unwrap();
    let sent: Vec<&str> = gathered.files.keys().map(String::as_str).collect();
    let expected = [
        ".gitignore",
        ".opalignore",
        "commands.opl",
        "keys/deploy.pub",
        "vendor/lib/code",
        "web/.gitignore",
        "web/kept.log",
    ];
    assert_eq!(sent, expected);
    assert_eq!(
        gathered.left_out().unwrap(),
        "not sent to the runners: `.env`, `.opal/`, `keys/age.txt`, `keys/deploy`, `notes`, `run.log`, \
         `web/.env.production`, `web/tmp/cache`"
    );
}

/// What somebody has added to git belongs to the project, whatever it is.
#[test]
fn in_a_repository_what_git_knows_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("a.opl", "x"),
        (".env", "x"),
        (".env.local", "x"),
        ("notes", "x"),
        (".opalignore", "notes\n"),
    ] {
        fs::write(at(name), text).unwrap();
    }
    for words in [&["init", "--quiet"][..], &["add", "a.opl", ".env", "notes"]] {
        #[expect(clippy::disallowed_methods, reason = "a test starts git, and waits for it")]
        let done =
            std::process::Command::new("git").args(words).current_dir(folder.path()).status();
        assert!(done.unwrap().success());
    }
    let gathered = super::gather(folder.path(), Path::new("/nonexistent")).unwrap();
    let sent: Vec<&str> = gathered.files.keys().map(String::as_str).collect();
    assert_eq!(sent, [".env", ".opalignore", "a.opl"]);
    assert_eq!(gathered.left_out().unwrap(), "not sent to the runners: `.env.local`, `notes`");
}

#[test]
fn a_name_that_is_not_utf_8_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"a\xff");
    if fs::write(folder.path().join(name), "x").is_err() {
        return; // A file system that has no such names.
    }
    assert!(matches!(gather(folder.path()), Err(BundleError::Name(_))));
}
