//! What may not be imported, and who may have written it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::shop;
use crate::support::Opal;

const LIB: &str = "fun b() = echo b\n";

/// A source, other files by their names, the code and words of the error.
pub(super) type Case =
    (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

#[test]
fn every_way_in_which_an_import_is_wrong_has_its_code() {
    let table: [Case; 20] = [
        ("import \"gone.opl\"\n", &[], "E1203", "`gone.opl` does not exist"),
        ("import \"apps\"\n", &[("apps/x", "")], "E1203", "`apps/commands.opl` does not exist"),
        ("import \"d.opl\"\n", &[("d.opl/x", "")], "E1203", "`d.opl` is a directory"),
        ("import \"commands.opl\" as c\n", &[], "E1204", "commands.opl -> commands.opl"),
        ("import \".\" as c\n", &[], "E1204", "commands.opl -> commands.opl"),
        (
            "import \"a.opl\"\n",
            &[("a.opl", "import \"b.opl\"\n"), ("b.opl", "import \"a.opl\"\n")],
            "E1204",
            "b.opl -> a.opl -> b.opl",
        ),
        ("import \"../x.opl\"\n", &[], "E1205", "`../x.opl` is outside the project"),
        ("import \"/etc/x.opl\"\n", &[], "E1205", "`/etc/x.opl` is outside the project"),
        ("import \"a/../../x.opl\"\n", &[], "E1205", "is outside the project"),
        ("var a = 1\nimport \"lib.opl\"\nfun f() = echo @var.a\n", &[], "E1206", "at the top"),
        ("fun f() {\n    import \"lib.opl\"\n}\n", &[], "E1206", "`command import …`"),
        ("import \"@var.x\"\n", &[], "E1207", "must be a literal"),
        ("import \"\"\n", &[], "E1207", "must be a literal"),
        ("import? \"lib.opl\"\n", &[], "E1207", "only a file of variables can be optional"),
        ("import \"1.opl\"\n", &[("1.opl", LIB)], "E1207", "`import \"1.opl\" as NAME`"),
        ("import \"lib.opl\"\nimport \"a/lib.opl\"\n", &[("a/lib.opl", LIB)], "E1208", "`lib`"),
        ("import \"s.opl\"\n", &[("s.opl", "echo step\n")], "E1209", "s.opl:1:1"),
        ("import \"s.opl\"\n", &[("s.opl", "var a = 1\na = 2\n")], "E1209", "s.opl:2:1"),
        ("import \"lib.opl\"\nfun f() = @cmd.lib._p()\n", &[], "E1210", "private to its file"),
        ("import \"u.opl\"\n", &[("u.opl", "\u{0}")], "E0103", "u.opl:1:1"),
    ];
    for (text, files, code, words) in table {
        let lib = format!("{LIB}fun _p() = echo p\n");
        let mut opal = Opal::project(text).file("lib.opl", lib).file("opal.mod", "name = \"x\"\n");
        for (name, content) in files {
            opal = opal.file(name, content);
        }
        let ran = opal.call(&["check"]);
        ran.code(65).says(&format!("error[{code}]")).says(words);
        assert!(!ran.stdout.contains("help: help"), "{text}");
    }
}

#[test]
fn an_import_that_is_not_utf_8_or_too_large_is_an_error_at_its_line() {
    let opal = Opal::project("import \"u.opl\"\n").file("u.opl", b"fun b() = echo \xff\n");
    opal.call(&["check"]).code(65).says("E0101").says("commands.opl:1:8").says("`u.opl`");
    let large = "# a line of a large file\n".repeat(400_000);
    let opal = Opal::project("import \"a.opl\"\nimport \"b.opl\"\n")
        .file("a.opl", &large)
        .file("b.opl", &large);
    opal.call(&["check"]).code(65).says("E0102").says("16 MiB together");
}

#[test]
fn a_pipe_and_a_device_are_refused_and_never_waited_for() {
    let opal = Opal::project("import \"p.opl\"\nfun a() = @cmd.p.x()\n");
    let pipe = opal.path().join("p.opl");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    made.unwrap();
    opal.call(&["a"]).code(65).says("E1203").says("a named pipe, not a regular file");
    fs::remove_file(&pipe).unwrap();
    symlink("/dev/zero", &pipe).unwrap();
    opal.call(&["a"]).code(65).says("E1205");
}

#[test]
fn symlinks_lead_to_files_of_the_project_and_not_out_of_it() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("lib.opl"), LIB).unwrap();
    fs::create_dir(outside.path().join("web")).unwrap();
    fs::write(outside.path().join("web/commands.opl"), LIB).unwrap();
    let opal = Opal::project("import \"lib.opl\"\nfun a() = @cmd.lib.b()\n")
        .file("opal.mod", "name = \"x\"\n")
        .file("real/lib.opl", LIB);
    let link = opal.path().join("lib.opl");
    for (to, code) in [
        (outside.path().join("lib.opl"), 65),
        ("real/lib.opl".into(), 0),
        (opal.path().join("real/lib.opl"), 0),
        ("../lib.opl".into(), 65),
    ] {
        symlink(&to, &link).unwrap();
        let ran = opal.call(&["a"]);
        ran.code(code);
        assert_eq!(ran.stderr.contains("E1205") || ran.stderr.contains("E1203"), code != 0);
        fs::remove_file(&link).unwrap();
    }
    // A directory on the way is a link.
    opal.write("commands.opl", "import \"web\"\nfun a() = @cmd.web.b()\n");
    symlink(outside.path().join("web"), opal.path().join("web")).unwrap();
    opal.call(&["a"]).code(65).says("E1205");
}

#[test]
fn the_nearest_project_above_is_the_limit() {
    let opal = Opal::new()
        .file("lib.opl", LIB)
        .file("sub/commands.opl", "import \"../lib.opl\"\nfun a() = @cmd.lib.b()\n");
    let sub = opal.path().join("sub/commands.opl").display().to_string();
    opal.call(&["-f", &sub, "a"]).code(65).says("E1205");
    opal.write("opal.mod", "name = \"x\"\n");
    opal.call(&["-f", &sub, "a"]).code(0);
    opal.write("sub/opal.mod", "name = \"y\"\n");
    opal.call(&["-f", &sub, "a"]).code(65).says("E1205");
}

/// The mode of a file or directory of a project.
fn mode(opal: &Opal, name: &str, mode: u32) {
    fs::set_permissions(opal.path().join(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_import_that_others_can_write_is_not_used() {
    for (name, bits, code) in [
        ("tasks/db.opl", 0o666, 77),
        ("tasks/db.opl", 0o646, 77),
        ("tasks", 0o777, 77),
        ("apps/web/commands.opl", 0o602, 77),
        ("tasks/db.opl", 0o644, 0),
        ("tasks/db.opl", 0o600, 0),
    ] {
        let opal = shop();
        mode(&opal, name, bits);
        for args in [&["release"][..], &["plan", "release"], &["list"], &["check"]] {
            let ran = opal.call(args);
            ran.code(code);
            if code != 0 {
                ran.says("is writable by other users").says(name);
            }
        }
        // What the target does not use is not read.
        opal.call(&["plain"]).code(0);
    }
}

#[test]
fn imports_of_a_source_in_a_parent_directory_belong_to_this_user() {
    let opal = shop();
    mode(&opal, "tasks/db.opl", 0o644);
    fs::create_dir_all(opal.path().join("deep")).unwrap();
    let deep = |args: &[&str]| {
        let mut command = opal.command();
        let output = command.current_dir(opal.path().join("deep")).args(args).output().unwrap();
        output.status.code().unwrap()
    };
    assert_eq!(deep(&["db.migrate"]), 0);
    // Where the source itself may be written by others, its imports may be, if it was chosen.
    mode(&opal, "commands.opl", 0o666);
    mode(&opal, "tasks/db.opl", 0o666);
    opal.call(&["db.migrate"]).code(0);
    mode(&opal, "commands.opl", 0o644);
    assert_eq!(deep(&["db.migrate"]), 77);
}

/// Each file imports many others: comparing all ways between them would take minutes.
#[test]
fn files_that_import_each_other_are_checked_and_their_number_has_a_limit() {
    let check = |count: usize, names: &dyn Fn(usize) -> std::ops::Range<usize>| {
        let text = |file: usize| {
            let line = |other| format!("import \"f{other}.opl\" as f{other}\n");
            names(file).map(line).chain(["fun own() = echo hi\n".to_owned()]).collect::<String>()
        };
        let opal = Opal::project("import \"f0.opl\" as first\n");
        (0..count).for_each(|file| opal.write(&format!("f{file}.opl"), text(file)));
        opal.call(&["check"])
    };
    check(120, &|file| file + 1..120).code(0);
    check(60, &|file| file..60.min(file + 40)).code(65).says("E1204").says("f0.opl -> f0.opl");
    check(150, &|file| file + 1..150).code(65).says("E0102").says("more than 10000 imports");
}
