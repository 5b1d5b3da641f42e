//! Files that look like projects and are not, and words that look like commits and are not.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{commit, ran, repository};
use crate::formats::git;
use crate::support::Opal;

const EVIL: &str = "fun test() = touch \"$HOME/pwned\"\n";

#[track_caller]
fn assert_harmless(opal: &Opal) {
    assert!(!opal.path().join("home/pwned").exists());
}

#[test]
fn a_vendored_project_that_git_does_not_track_does_not_run() {
    let opal = repository().file("apps/vendored/commands.opl", EVIL);
    let opal = opal.file("apps/web/node_modules/x/commands.opl", EVIL);
    opal.write(".gitignore", "home/\nnode_modules/\n");
    let run = opal.call(&["apps/...:test"]);
    run.code(0).says("omitted: apps/vendored: git does not track it");
    assert_eq!(run.stdout, "api\ninner\nweb\n");
    assert_harmless(&opal);
}

#[test]
fn a_project_of_a_submodule_does_not_run() {
    let opal = repository();
    let other = Opal::new().file("commands.opl", EVIL).file("deep/commands.opl", EVIL);
    git(&other, &["init", "-q"]);
    commit(&other);
    let address = other.path().display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &address];
    git(&opal, &[&add[..], &["apps/sub"]].concat());
    commit(&opal);
    assert!(opal.path().join("apps/sub/deep/commands.opl").exists());
    assert_eq!(ran(&opal, &["apps/...:test"]), "api inner web");
    opal.call(&["apps/sub/...:test"]).code(2).says("belongs to another repository");
    // A repository inside of this one that is not even a submodule.
    let opal = opal.file("apps/clone/x/commands.opl", EVIL);
    #[expect(clippy::disallowed_methods, reason = "git is needed to make a repository")]
    let made = std::process::Command::new("git")
        .args(["init", "-q"])
        .arg(opal.path().join("apps/clone"))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(ran(&opal, &["apps/...:test"]), "api inner web");
    assert_harmless(&opal);
}

#[test]
fn a_project_behind_a_symlink_does_not_run() {
    let opal = repository();
    let elsewhere = Opal::new().file("commands.opl", EVIL);
    // Tracked as symlinks.
    symlink(elsewhere.path(), opal.path().join("apps/link")).unwrap();
    symlink("../libs/ui", opal.path().join("apps/inside")).unwrap();
    std::fs::create_dir(opal.path().join("apps/file")).unwrap();
    let file = opal.path().join("apps/file/commands.opl");
    symlink(elsewhere.path().join("commands.opl"), file).unwrap();
    commit(&opal);
    assert_eq!(ran(&opal, &["apps/...:test"]), "api inner web");
    // Tracked as directories, and replaced by symlinks afterwards.
    for (name, target) in
        [("apps/api", elsewhere.path()), ("apps/team/inner", "../../libs/ui".into())]
    {
        std::fs::remove_dir_all(opal.path().join(name)).unwrap();
        symlink(target, opal.path().join(name)).unwrap();
    }
    let run = opal.call(&["apps/...:test"]);
    run.code(0).says("omitted: apps/api: its directory is a symlink");
    assert_eq!(run.stdout, "web\n");
    assert_harmless(&opal);
}

#[test]
fn a_commit_is_never_an_option_of_git() {
    let opal = repository();
    for reference in [
        "--output=x",
        "-ox",
        "--output",
        "--help",
        "HEAD --",
        "a b",
        "",
        "$(touch x)",
        "HEAD:apps",
        "^HEAD",
    ] {
        let run = opal.call(&["apps/...:test", &format!("--changed-since={reference}")]);
        assert_eq!(run.code, 2, "{reference}: {run:#?}");
        let apart = opal.call(&["apps/...:test", "--changed-since", reference]);
        assert_eq!(apart.code, 2, "{reference}: {apart:#?}");
    }
    for name in ["x", "apps/x", "api"] {
        assert!(!opal.path().join(name).exists(), "{name}");
    }
}

/// Comparing files would start the filters that the configuration of a repository names.
#[test]
fn no_filter_of_the_repository_is_started() {
    let opal = repository();
    opal.write(".gitattributes", "* filter=evil\n");
    commit(&opal);
    let touch = format!("touch {}/home/pwned; cat", opal.path().display());
    git(&opal, &["config", "filter.evil.clean", &touch]);
    git(&opal, &["config", "filter.evil.process", &touch]);
    git(&opal, &["config", "filter.evil.required", "true"]);
    git(&opal, &["config", "core.fsmonitor", &touch]);
    opal.write("apps/web/src/main.js", "changed");
    assert_eq!(ran(&opal, &["apps/...:test", "--changed-since", "HEAD"]), "web");
    assert_harmless(&opal);
}

#[test]
fn a_project_that_others_can_write_is_not_used() {
    let opal = repository();
    let file = opal.path().join("apps/web/commands.opl");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    opal.call(&["apps/...:test"]).code(77).says("is writable by other users");
}

#[test]
fn names_of_directories_are_data() {
    let names = ["apps/@env.HOME", "apps/a\"b\\c", "apps/$(touch pwned)", "apps/é ü", "apps/fun"];
    let mut opal = repository();
    for name in names {
        opal =
            opal.file(&format!("{name}/commands.opl"), "fun test() {\n    basename \"$PWD\"\n}\n");
    }
    let opal = opal.file("apps/line\nbreak/commands.opl", EVIL);
    commit(&opal);
    let run = opal.call(&["apps/...:test", "-q"]);
    run.code(0);
    for name in names {
        let name = name.strip_prefix("apps/").unwrap();
        assert!(run.stdout.lines().any(|line| line == name), "{name}: {}", run.stdout);
    }
    assert!(!opal.path().join("pwned").exists());
    assert_harmless(&opal);
}
