//! Outputs, entries and inputs that somebody has touched.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::{BUILD, project, runs, runs_block, skips_block};
use crate::support::Opal;

/// The files of the entries.
fn entries(opal: &Opal) -> Vec<PathBuf> {
    let folder = opal.path().join("home/.opal/cache");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_replaced_output_runs_the_block_whatever_its_size_and_times_say() {
    let opal = project().later();
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]);
    let output = opal.path().join("dist/all");
    let times = fs::metadata(&output).unwrap().modified().unwrap();
    let forged = "x".repeat(opal.read("dist/all").len());
    fs::write(&output, &forged).unwrap();
    fs::File::options().write(true).open(&output).unwrap().set_modified(times).unwrap();
    runs_block(&opal, &["build"]).says("output `dist/all` changed");
    assert_ne!(opal.read("dist/all"), forged);
    // The same bytes in another file are the same output.
    let kept = opal.bytes("dist/all");
    fs::remove_file(&output).unwrap();
    fs::write(&output, kept).unwrap();
    skips_block(&opal, &["build"]);
    fs::remove_file(&output).unwrap();
    // Never a file of the system: the block writes through the link.
    let elsewhere = opal.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    symlink(&elsewhere, &output).unwrap();
    runs_block(&opal, &["build", "--no-cache"]);
    assert!(fs::symlink_metadata(&output).unwrap().is_symlink(), "as the block has left it");
}

#[test]
fn a_replaced_forged_or_foreign_entry_is_none() {
    let (opal, other) = (project(), project());
    runs_block(&opal, &["build"]);
    runs_block(&other, &["build"]);
    let [entry] = &entries(&opal)[..] else { panic!("one entry") };
    let own = fs::read(entry).unwrap();
    let foreign = fs::read(&entries(&other)[0]).unwrap();
    let flipped = |at: usize| {
        let mut bytes = own.clone();
        bytes[at] ^= 1;
        bytes
    };
    let forged = [foreign, flipped(0), flipped(40), own[..own.len() - 1].to_vec(), Vec::new()];
    for forged in forged {
        fs::write(entry, &forged).unwrap();
        runs_block(&opal, &["build"]).says("no earlier run of this block is known");
        skips_block(&opal, &["build"]);
    }
    // Nobody is hurt by an entry that others can read, but one that they can write is not believed.
    let folder = entry.parent().unwrap();
    fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    let before = runs(&opal);
    opal.call(&["build"]).code(0).says("this run is not remembered");
    assert_eq!(runs(&opal), before + 1);
    fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
    // An entry of this machine for another block.
    opal.call(&["build", "--flavour", "sweet"]).code(0);
    let all = entries(&opal);
    let [one, two] = &all[..] else { panic!("{all:?}") };
    let (first, second) = (fs::read(one).unwrap(), fs::read(two).unwrap());
    fs::write(one, second).unwrap();
    fs::write(two, first).unwrap();
    runs_block(&opal, &["build"]).says("no earlier run");
}

#[test]
fn inputs_that_change_while_the_block_runs_are_not_remembered() {
    for (how, words) in [
        ("echo more >> src/a.c", "`src/a.c` changed while the block ran"),
        ("touch src/new.c", "`src/new.c` is new while the block ran"),
        ("echo other > src/a.c; echo a > src/a.c", "`src/a.c` was written while the block ran"),
    ] {
        let opal = project();
        opal.write(
            "commands.opl",
            BUILD.replace("mkdir -p dist", &format!("mkdir -p dist; {how}")),
        );
        let ran = runs_block(&opal, &["build"]);
        ran.says("this run is not remembered").says(words);
        fs::remove_file(opal.path().join("src/new.c")).unwrap_or_default();
        runs_block(&opal, &["build"]).says("no earlier run");
    }
}

#[test]
fn inputs_that_match_nothing_say_why() {
    for (inputs, words) in [
        ("lib/**", "`lib/` does not exist"),
        ("*.none", "files that git ignores do not count"),
        ("src/*.tmp", "files that git ignores do not count"),
        ("src/none.c", "`src/none.c` does not exist"),
    ] {
        let opal = project().file("src/a.tmp", "1\n");
        let text = BUILD.replace("\"src/**\", \"build.conf\"", &format!("\"{inputs}\""));
        opal.write("commands.opl", text);
        opal.call(&["build"]).code(1).says("no file matches `inputs`").says(words);
    }
}

#[test]
fn what_cannot_be_compared_blocks_the_step_and_runs_nothing() {
    type Prepare = fn(&Opal);
    let none: Prepare = |_| {};
    let cases: [(&str, &str, Prepare, &str); 9] = [
        ("lib/**", "dist", none, "no file matches `inputs`: `lib/**`"),
        ("../x", "dist", none, "`../x` is outside the project"),
        ("/etc/hosts", "dist", none, "`/etc/hosts` is outside the project"),
        ("src/**", "../out", none, "`../out` is outside the project"),
        ("src/a[", "dist", none, "invalid pattern `src/a[`"),
        ("**", "src", none, "is an input and an output"),
        (
            "src/**",
            "dist",
            |opal| symlink("/etc/hosts", opal.path().join("src/out")).unwrap(),
            "`src/out` is a symlink out of the project",
        ),
        (
            "src/**",
            "dist",
            |opal| symlink("/etc", opal.path().join("src/out")).unwrap(),
            "`src/out` is a symlink out of the project",
        ),
        (
            "etc/**",
            "dist",
            |opal| symlink("/etc", opal.path().join("etc")).unwrap(),
            "`etc` is a symlink out of the project",
        ),
    ];
    for (inputs, outputs, prepare, words) in cases {
        let opal = project();
        let text = BUILD.replace("\"src/**\", \"build.conf\"", &format!("\"{inputs}\""));
        opal.write("commands.opl", text.replace("[\"dist\"]", &format!("[\"{outputs}\"]")));
        prepare(&opal);
        opal.call(&["verify", "build"]).code(1).says("blocked").says(words);
        opal.call(&["build"]).code(1).says(words);
        assert_eq!(runs(&opal), 0, "{inputs}");
    }
}

#[test]
fn pipes_are_not_read_and_unreadable_files_are_named() {
    let opal = project();
    let pipe = opal.path().join("src/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    opal.call(&["build"]).code(1).says("`src/pipe` is a named pipe, not a file");
    fs::remove_file(&pipe).unwrap();
    fs::set_permissions(opal.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let secret = opal.path().join("src/secret");
    fs::write(&secret, "").unwrap();
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    let root = opal.path().join("r").display().to_string();
    if let Some(ran) = opal.as_nobody(&["verify", "build", "--root", &root]) {
        ran.code(1).says("`src/secret` cannot be read: permission denied");
    }
}

#[test]
fn symlinks_inside_the_project_are_what_they_lead_to() {
    let opal = project().file("shared/x.h", "1\n").file("one.h", "1\n");
    symlink("../shared", opal.path().join("src/shared")).unwrap();
    symlink("../one.h", opal.path().join("src/one.h")).unwrap();
    // In a circle.
    symlink(".", opal.path().join("shared/loop")).unwrap();
    opal.write("commands.opl", BUILD.replace("cat src/* >", "cat src/*.c >"));
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]);
    opal.write("shared/x.h", "2\n");
    runs_block(&opal, &["build"]).says("input `src/shared/x.h` changed");
    opal.write("one.h", "2\n");
    runs_block(&opal, &["build"]).says("input `src/one.h` changed");
    skips_block(&opal, &["build"]);
}
