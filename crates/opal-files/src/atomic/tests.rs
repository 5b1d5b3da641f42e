use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn open(folder: &Path) -> OwnedFd {
    directory_of(&folder.join("x")).unwrap()
}

type Make = fn(OwnedFd) -> Result<Unfinished, Errno>;

/// Without a name where the file system can do that, and with one.
const BOTH: [Make; 2] = [|parent| Unfinished::within(parent), Unfinished::named];

#[test]
fn both_forms_replace_and_add_and_leave_no_other_name() {
    for make in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let at = open(folder.path());
        fs::write(folder.path().join("old"), "old").unwrap();
        let begin = |text: &str| {
            let mut file = make(open(folder.path())).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let mode = file.file().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            file
        };
        begin("1").replace(&at, Path::new("old")).unwrap();
        begin("2").replace(&at, Path::new("new")).unwrap();
        begin("3").add(&at, Path::new("added")).unwrap();
        assert_eq!(begin("4").add(&at, Path::new("added")), Err(Errno::EXIST));
        assert!(begin("5").replace(&at, Path::new("gone/file")).is_err());
        drop(begin("6"));
        assert_eq!(names(folder.path()), ["added", "new", "old"]);
        let text =
            ["old", "new", "added"].map(|it| fs::read_to_string(folder.path().join(it)).unwrap());
        assert_eq!(text, ["1", "2", "3"]);
    }
}

#[test]
fn a_sweep_leaves_a_file_that_is_being_written_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = open(folder.path());
    let mut living = Unfinished::named(open(folder.path())).unwrap();
    living.write_all(b"all of it").unwrap();
    sweep::sweep(&at);
    assert_eq!(names(folder.path()).len(), 1);
    living.replace(&at, Path::new("file")).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "all of it");
}

#[test]
fn a_sweep_removes_a_file_whose_writer_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = Unfinished::named(open(folder.path())).unwrap();
    // As after a kill: the lock goes, the name stays.
    dead.name = None;
    drop(dead);
    assert_eq!(names(folder.path()).len(), 1);
    sweep::sweep(&open(folder.path()));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn writers_and_sweeps_at_the_same_time_lose_no_file() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let folder = folder.path();
            scope.spawn(move || {
                for count in 0..200 {
                    let file = Unfinished::named(open(folder)).unwrap();
                    let path = format!("{writer}-{count}");
                    file.replace(open(folder), Path::new(&path)).unwrap();
                    usual_mode(open(folder)).unwrap();
                }
            });
        }
        scope.spawn(|| (0..200).for_each(|_| sweep::sweep(&open(folder.path()))));
    });
    assert_eq!(names(folder.path()).len(), 400);
}

#[cfg(target_os = "linux")]
#[test]
fn only_a_file_without_a_name_is_written_where_there_is_such_a_thing() {
    let folder = tempfile::tempdir().unwrap();
    if unnamed(&open(folder.path())).is_none() {
        return;
    }
    let mut file = Unfinished::within(open(folder.path())).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
}
