//! `opal fmt`.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::Opal;

const UGLY: &str = "fun a(x=1){\n  echo @var.x   # why\n}\n";
const PRETTY: &str = "fun a(x = 1) {\n    echo @var.x # why\n}\n";

#[test]
fn files_are_rewritten_in_place() {
    let opal = Opal::project(UGLY).args(["fmt"]);
    opal.run().code(0).stdout("formatted: commands.opl\n");
    assert_eq!(opal.read("commands.opl"), PRETTY);
    opal.run().code(0).stdout("");
}

#[test]
fn check_writes_nothing_and_exits_with_1() {
    let opal = Opal::project(UGLY).args(["fmt", "--check"]);
    opal.run().code(1).stdout("would change: commands.opl\n");
    assert_eq!(opal.read("commands.opl"), UGLY);
    Opal::project(PRETTY).args(["fmt", "--check"]).run().code(0);
}

#[test]
fn diff_shows_a_patch_and_writes_nothing() {
    let opal = Opal::project(UGLY).args(["fmt", "--diff"]);
    let ran = opal.run();
    ran.code(0).says("--- a/commands.opl\n+++ b/commands.opl\n").says("-fun a(x=1){\n");
    assert_eq!(opal.read("commands.opl"), UGLY);
}

#[test]
fn standard_input_goes_to_standard_output() {
    Opal::new().args(["fmt", "-"]).stdin(UGLY).run().code(0).stdout(PRETTY);
}

#[test]
fn standard_input_in_form_comes_out_unchanged() {
    Opal::new().args(["fmt", "-"]).stdin(PRETTY).run().code(0).stdout(PRETTY);
}

#[test]
fn a_broken_file_is_shown_and_never_touched() {
    let opal = Opal::project("fun a( {\n  echo\n").args(["fmt"]);
    opal.run().code(65).stdout("").says("error[");
    assert_eq!(opal.read("commands.opl"), "fun a( {\n  echo\n");
}

#[test]
fn the_label_form_stays_unless_migrated() {
    let opal = Opal::project("build: cargo build\n");
    opal.args(["fmt", "--check"]).run().code(0);
    let opal = Opal::project("build: cargo build\ntest: {\n    cargo test\n}\n")
        .args(["fmt", "--migrate"]);
    opal.run().code(0);
    let expected = "fun build() = cargo build\n\nfun test() {\n    cargo test\n}\n";
    assert_eq!(opal.read("commands.opl"), expected);
}

#[test]
fn mode_and_links_are_kept() {
    let opal = Opal::new().file("real.opl", UGLY);
    let real = opal.path().join("real.opl");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("real.opl", opal.path().join("link.opl")).unwrap();
    let opal = opal.args(["fmt", "link.opl"]);
    opal.run().code(0);
    assert_eq!(opal.read("real.opl"), PRETTY);
    assert!(opal.path().join("link.opl").is_symlink());
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_file_that_may_not_be_written_is_said_and_left() {
    let opal = Opal::project(UGLY).args(["fmt"]);
    let path = opal.path().join("commands.opl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    opal.run().code(74).says("cannot be written");
    assert_eq!(opal.read("commands.opl"), UGLY);
    assert_eq!(std::fs::read_dir(opal.path()).unwrap().count(), 1, "nothing is left over");
}

#[test]
fn one_broken_file_does_not_stop_the_others() {
    let opal =
        Opal::new().file("a.opl", "fun a( {\n").file("b.opl", UGLY).args(["fmt", "a.opl", "b.opl"]);
    opal.run().code(65);
    assert_eq!(opal.read("b.opl"), PRETTY);
}

#[test]
fn json_says_what_became_of_each_file() {
    let opal = Opal::new().file("a.opl", PRETTY).file("b.opl", UGLY);
    let document = opal.args(["fmt", "--check", "--json", "a.opl", "b.opl"]).run().code(1).json();
    assert_eq!(document["files"][0]["status"], "unchanged");
    assert_eq!(document["files"][1]["status"], "would_change");
}
