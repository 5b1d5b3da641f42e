//! `@shell` with a check, with real shells.

use opal_core::resource::Status;

use crate::resources::support::Site;

#[test]
fn a_check_decides_whether_the_command_runs() {
    let site = Site::new();
    site.applies("@shell(\"touch made\", check=\"test -e made\")", Status::Missing);
    let again = "@shell(\"echo twice >> made\", check=\"test -e made\")";
    site.apply(again).ok();
    assert_eq!(site.text("made"), "");
}

#[test]
fn without_a_check_it_runs_every_time_and_nobody_can_tell() {
    let site = Site::new();
    let call = "@shell(\"echo x >> made\", id=\"it\")";
    assert_eq!(site.status(call), Status::Unknown);
    site.apply(call).ok();
    site.apply(call).ok();
    assert_eq!(site.status(call), Status::Unknown);
    assert_eq!(site.text("made"), "x\nx\n");
}

#[test]
fn a_check_has_the_directory_the_environment_and_the_shell_of_its_command() {
    let site = Site::new();
    site.file("in/there", "");
    for (call, status) in [
        ("@shell(\":\", check=\"test -e there\", workdir=\"in\")", Status::Satisfied),
        ("@shell(\":\", check=\"test -e there\")", Status::Missing),
        ("@shell(\":\", check=\"test $X = 1\", env={X: \"1\"})", Status::Satisfied),
        ("@shell(\":\", check=\"test $X = 1\", env={X: \"2\"})", Status::Missing),
        ("@shell(\":\", check=\"[[ a == a ]]\", shell=\"bash\")", Status::Satisfied),
    ] {
        assert_eq!(site.status(call), status, "{call}");
    }
}

#[test]
fn a_shell_that_cannot_start_blocks() {
    let site = Site::new();
    let reason = site.blocked("@shell(\"touch made\", check=\"true\", shell=\"no-such-shell\")");
    assert!(reason.contains("no-such-shell"), "{reason}");
    let reason = site.blocked("@shell(\"touch made\", check=\"true\", workdir=\"gone\")");
    assert!(reason.contains("gone"), "{reason}");
    assert!(!site.path("made").exists());
}

#[test]
fn a_command_that_does_not_reach_what_it_should_fails() {
    let site = Site::new();
    let failure = site.apply("@shell(\"true\", check=\"test -e made\")").failure();
    assert!(failure.contains("the check ends with 1"), "{failure}");
}

#[test]
fn a_check_that_takes_too_long_blocks() {
    let site = Site::new();
    let call = "@shell(\"touch made\", check=\"sleep 60\", verify_timeout=200ms)";
    let reason = site.blocked(call);
    assert!(reason.contains("did not answer within 200ms"), "{reason}");
    assert!(!site.path("made").exists());
}

#[test]
fn what_is_captured_of_a_satisfied_step_is_empty() {
    let site = Site::new();
    let source = "let.x = @shell(\"echo ran\", check=\"true\")\necho \"[@let.x]\" > out";
    site.apply(source).ok();
    assert_eq!(site.text("out"), "[]\n");
}

#[test]
fn what_a_check_leaves_in_the_background_is_not_waited_for_and_is_ended() {
    let site = Site::new();
    // Another run of this test on the same machine waits for another time.
    let id = std::process::id();
    let check = format!("@shell(\":\", check=\"sleep 50.{id} & exit 0\", verify_timeout=5s)");
    assert_eq!(site.status(&check), Status::Satisfied);
    // The brackets keep it from finding itself. A process that ends meanwhile is 2 for `grep`.
    let is_alive =
        format!("@shell(\":\", check=\"grep -qszx '50[.]{id}' /proc/[0-9]*/cmdline || exit 1\")");
    assert_eq!(site.status(&is_alive), Status::Missing);
}
