//! What is wrong with hooks is told before anything runs, and where it stands.

use super::hooks::hooked;

#[test]
fn what_a_run_would_say_about_hooks_is_said_before_it() {
    let unfilled = "tell: {command: [\"true\", \"{target}\"]}";
    let doubled = "tell: {command: [\"true\", \"{{target}}\"]}";
    let unused = "`trget` of the hook `tell` has no effect";
    for (own, why) in [(unfilled, "`{target}` has no value"), (doubled, "contains `{{`")] {
        let release = hooked("tell: {trget: a}", own);
        for line in [&["validate", "core/net"], &["lint", "rel"], &["preflight", "core/net"]] {
            release.run(line).code(0).says("`tell` does not run").says(why).says(unused);
        }
        release.apply(&[]).code(0).says(why).says(unused);
        let json = release.run(&["validate", "core/net", "--json"]).code(0).json();
        assert_eq!(json["warnings"].as_array().unwrap().len(), 2, "{json}");
        assert_eq!(json["valid"], true);

        let release = hooked("tell: {trget: a, strict: true}", own);
        for line in [&["validate", "core/net"], &["lint", "rel"], &["preflight", "core/net"]] {
            release.run(line).code(65).says("E1105").says("`tell` is strict").says(why);
        }
        release.apply(&[]).code(65).says("E1105").says(why).says(unused);
        release.run(&["validate", "core/net", "--json"]).code(65);
    }
    let release = hooked("export_infra: true", "");
    release.run(&["validate", "core/net"]).code(0).says("`export_infra` does not run");
    let release = hooked("tell: {target: a}", unfilled);
    release.run(&["validate", "core/net"]).code(0).hides("warning");
    hooked("tell: false", unfilled).run(&["validate", "core/net"]).code(0).hides("warning");
}

#[test]
fn what_a_profile_says_wrong_about_a_hook_is_told_where_it_stands() {
    let faults = [
        ("tell: {command: mail}", "E1005", "must be a list of words"),
        ("tell: {command: []}", "E1005", "must be a list of words"),
        ("tell: {command: [a, {b}]}", "E1005", "with quotes around placeholders"),
        ("tell: {command: [a], strict: 1}", "E1005", "`strict` must be `true` or `false`"),
        ("tell: {command: [a], timeout_s: 0}", "E1005", "at least 1"),
        ("tell: {command: [a], hook_root_env: A-B}", "E1005", "name of an environment variable"),
        ("tell: {command: [a], strickt: true}", "E1002", "did you mean `strict`"),
        ("tell: {command: [a, \"--password canary-55-hidden\"]}", "E1110", "secret"),
        ("Tell It: {command: [a]}", "E1105", "invalid hook name"),
    ];
    for (own, code, told) in faults {
        let release = hooked("", own);
        release.run(&["lint", "rel"]).code(65).says(code).says(told).hides("canary-55");
        release.apply(&[]).code(65).says(told).hides("canary-55");
    }
    let release = hooked("", "tell: {command: [a], redact: false}");
    release.run(&["lint", "rel"]).code(0).says("W1111").says("`hooks.tell.redact: false`");
}

#[test]
fn what_a_spec_says_wrong_about_a_hook_is_told_where_it_stands() {
    for (spec, told) in [
        ("tell: {strict: maybe}", "`strict` of the hook `tell` must be `true` or `false`"),
        ("tell: {enabled: 1}", "`enabled` of the hook `tell` must be `true` or `false`"),
        ("tell: {enabeld: false}", "did you mean `enabled`?"),
        ("tell: {enable: no}", "`enable` of the hook `tell` has no effect"),
        ("tell: {Enabled: false, strict: true}", "did you mean `enabled`?"),
        ("tell: {stric: true, enabled: true}", "did you mean `strict`?"),
        ("tell: {api_token: canary-56-hidden}", "`api_token` contains a secret"),
    ] {
        let release = hooked(spec, "tell: {command: [a, \"{api_token}\"]}");
        release.run(&["lint", "rel"]).code(65).says(told).hides("canary-56");
        release.apply(&[]).code(65).says(told).hides("canary-56");
    }
    let own = "tell: {command: [\"true\", \"{street}\", \"{enable}\"]}";
    let release = hooked("tell: {street: main, enable: \"no\", enabled: true}", own);
    release.apply(&[]).code(0).hides("warning");
}
