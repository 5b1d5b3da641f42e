//! Modules on a terminal: the plan is shown and asked about, and tools keep their colours.

use super::release::{Release, SCRIPT};
use crate::run::terminal::typed;
use crate::support::binary;

/// `opal module …` on a terminal; the keys are typed once it asks.
fn on_a_terminal(release: &Release, words: &[&str], keys: &[u8]) -> (i32, String) {
    typed(release.started(words), "[y/N]", keys)
}

#[test]
fn an_apply_shows_its_plan_and_asks() {
    let release = Release::new(SCRIPT);
    let (code, shown) = on_a_terminal(&release, &["apply", "core/net"], b"n\n");
    assert_eq!(code, 130, "{shown}");
    assert!(shown.contains("@module.run") && shown.contains("./run.sh apply"), "{shown}");
    assert!(
        shown.contains("apply `core/net`? [y/N]") && shown.contains("nothing was run"),
        "{shown}"
    );
    assert!(release.runs() == 0 && !release.has_state());
    let (code, shown) = on_a_terminal(&release, &["apply", "core/net"], b"y\n");
    assert!(code == 0 && shown.contains("apply core/net: "), "{shown}");
    let (code, shown) = on_a_terminal(&release, &["destroy", "core/net"], b"\n");
    assert!(code == 130 && shown.contains("destroy `core/net`?"), "{shown}");
    assert_eq!(release.state()["status"], "ok");
}

#[test]
fn nobody_is_asked_with_yes_by_hyops_or_about_what_changes_nothing() {
    let release = Release::new(SCRIPT);
    for words in [
        &["apply", "core/net", "--yes"][..],
        &["apply", "core/net", "-y"],
        &["plan", "core/net"],
        &["verify", "core/net"],
        &["apply", "core/net", "--json"],
    ] {
        let (code, shown) = on_a_terminal(&release, words, b"n\n");
        assert!(code == 0 && !shown.contains("[y/N]"), "{words:?}: {shown}");
    }
    let program = binary().with_file_name("hyops");
    let mut hyops = release.opal().started_by(&[program.as_os_str()]);
    hyops.args(["apply", "core/net"]);
    let (code, shown) = typed(hyops, "[y/N]", b"n\n");
    assert!(code == 0 && shown.contains("apply core/net: ") && !shown.contains("[y/N]"), "{shown}");
}

#[test]
fn without_a_terminal_an_apply_goes_ahead() {
    Release::new(SCRIPT).apply(&[]).code(0).hides("[y/N]").hides("@module.run");
}

#[test]
fn every_module_of_with_deps_is_asked_about() {
    let release = Release::new(SCRIPT).module("core/dns", &[], SCRIPT).spec(&[(
        "outputs:",
        "dependencies: [{module_ref: core/dns, imports: {name: network.name}}]\noutputs:",
    )]);
    let (code, shown) = on_a_terminal(&release, &["apply", "core/net", "--with-deps"], b"n\n");
    assert_eq!(code, 130, "{shown}");
    assert!(shown.contains("apply `core/dns`?") && !shown.contains("apply `core/net`?"), "{shown}");
    assert_eq!(release.runs(), 0);
}

const COLOURS: &str = "\
if [ -t 1 ]; then printf '\\033[1;32mgreen\\033[0m \\033]0;title\\007done\\n'; else echo plain; fi
printf '\\033[31mred\\033[0m\\n' >&2
";

#[test]
fn tools_keep_their_colours_and_evidence_has_none() {
    let release = Release::new(COLOURS);
    let (code, shown) = on_a_terminal(&release, &["apply", "core/net", "--yes"], b"");
    assert!(code == 0 && shown.contains("\x1b[1;32mgreen\x1b[0m"), "{shown:?}");
    let printed = |name: &str| std::fs::read_to_string(release.evidence().join(name)).unwrap();
    assert_eq!(printed("shell_apply.stdout.txt"), "green done\n");
    assert_eq!(printed("shell_apply.stderr.txt"), "red\n");
    let ran = release.apply(&[]);
    ran.code(0).says("plain");
    assert_eq!(printed("shell_apply.stderr.txt"), "red\n");
}

#[test]
fn a_secret_with_colours_inside_is_hidden_in_evidence_too() {
    let script = ". ./hyops.inputs.sh\nprintf '%s\\033[1m%s\\n' \"${input_api_token%tail}\" tail\n";
    let release = Release::new(script).spec(&[("size: small", "size: small, api_token: ''")]);
    let release = release.env("HYOPS_INPUT_api_token", "canary-head-tail");
    let (code, shown) = on_a_terminal(&release, &["apply", "core/net", "--yes"], b"");
    assert_eq!(code, 0, "{shown}");
    let printed =
        std::fs::read_to_string(release.evidence().join("shell_apply.stdout.txt")).unwrap();
    assert!(!printed.contains("canary-head"), "{printed:?}");
}
