//! `shell/script`, with the scripts of the examples.

use std::fs;

use opal_modules::run::Command;

use crate::drivers::support::{Bench, example, release};

#[test]
fn hello_greets_whoever_is_named() {
    let hello = example("hello").input("name", "it's \"me\" $(id)");
    let ran = hello.run(Command::Apply).succeeds();
    assert_eq!(ran.steps[0].printed, "hello, it's \"me\" $(id)\n");
    for command in Command::ALL {
        hello.run(command).succeeds();
    }
}

#[test]
fn a_network_is_verified_applied_kept_and_taken_down() {
    let network = example("demo/network").input("name", "a \"b\" \\c");
    let verify = || network.run(Command::Verify);
    assert!(verify().differs);
    network.run(Command::Plan).succeeds();
    assert!(verify().differs, "a plan changes nothing");
    let first = network.run(Command::Apply).succeeds();
    assert_eq!(*first.output("name"), "a \"b\" \\c");
    assert_eq!(*first.output("cidr"), "10.20.0.0/16");
    assert!(!verify().succeeds().differs);
    let again = network.run(Command::Deploy).succeeds();
    assert!(again.steps[0].printed.contains("as it should be"), "{again:?}");
    network.run(Command::Destroy).succeeds();
    network.run(Command::Destroy).succeeds();
    assert!(verify().differs);
}

#[test]
fn a_server_is_in_the_network_that_it_imports() {
    let network = serde_json::json!({"name": "demo", "cidr": "10.20.0.0/16"});
    let server = example("demo/server").input("network", network);
    server.run(Command::Validate).succeeds();
    let ran = server.run(Command::Apply).succeeds();
    assert_eq!(*ran.output("network"), "demo");
    assert!(!server.run(Command::Verify).differs);
    let larger = server.input("size", "large");
    assert!(larger.run(Command::Verify).differs);
    let strange = larger.input("size", "odd");
    assert_eq!(strange.run(Command::Validate).steps[0].code, 1);
}

#[test]
fn a_script_that_lost_its_permissions_is_run_by_the_shell() {
    let release = release("shell/script", "", &[("run.sh", "echo \"$1\"\n")]);
    let bench = Bench::of(release.path(), "trial");
    assert_eq!(bench.words(Command::Apply), ["sh run.sh apply"]);
    assert_eq!(bench.run(Command::Deploy).succeeds().steps[0].printed, "apply\n");
}

#[test]
fn templates_of_the_profile_are_put_beside_the_script() {
    let profile = "templates: [{src: site/lib.sh, dst: lib/site.sh}]\n";
    let release = release("shell/script", profile, &[("run.sh", ". ./lib/site.sh\n")]);
    let template = release.path().join("drivers/shell/script/templates/site/lib.sh");
    let bench = Bench::of(release.path(), "trial");
    let missing = bench.setting(Command::Apply, &bench.stack).unwrap_err();
    assert!(missing.message.contains("`site/lib.sh`"), "{missing:?}");
    crate::drivers::support::write(&template, "echo from the profile\n");
    assert_eq!(bench.run(Command::Apply).succeeds().steps[0].printed, "from the profile\n");

    fs::remove_file(&template).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), &template).unwrap();
    let refused = bench.setting(Command::Apply, &bench.stack).unwrap_err();
    assert!(refused.message.contains("leads out"), "{refused:?}");
}

#[test]
fn a_template_hides_no_file_of_the_runtime() {
    let profile = "templates: [{src: a, dst: hyops.meta.json}]\n";
    let release = release("shell/script", profile, &[("run.sh", "true\n")]);
    let bench = Bench::of(release.path(), "trial");
    let refused = bench.setting(Command::Apply, &bench.stack).unwrap_err();
    assert!(refused.message.contains("would hide"), "{refused:?}");
}
