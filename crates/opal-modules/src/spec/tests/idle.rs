//! Keys of a profile that are known, and of which nothing comes.

use super::*;

const PATTERN: &str = "\npolicy: {naming: {workspace_pattern: 'a-{provider}'}}";
const WHY: &str = "workspaces are not created or named";

/// The messages alone; all of them are warnings.
fn reported(driver: &str, more: &str) -> Vec<String> {
    let text = format!(
        "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: a@v1\ndriver: {driver}\n{more}\n"
    );
    let reported = Profile::read(&text).diagnostics.into_iter();
    reported
        .inspect(|one| assert_eq!(one.code, Code::SpecUnused, "{more}"))
        .map(|one| one.message)
        .collect()
}

#[test]
fn a_workspace_policy_is_reported_once_where_it_wants_what_nobody_does() {
    for (policy, names) in [
        ("enabled: true", "`workspace_policy.enabled: true` has"),
        ("strict: true", "`workspace_policy.strict: true` has"),
        ("provider: a", "`workspace_policy.provider` has"),
        (
            "enabled: true, provider: a, mode: local, strict: false",
            "`workspace_policy.enabled: true` and `workspace_policy.provider` have",
        ),
    ] {
        let reported = reported("iac/terragrunt", &format!("workspace_policy: {{{policy}}}"));
        assert_eq!(reported, [format!("{names} no effect: {WHY}")], "{policy}");
    }
    let named = format!("workspace_policy: {{enabled: true, provider: a}}{PATTERN}");
    for driver in ["iac/terragrunt", "shell/script"] {
        let enabled = format!("`workspace_policy.enabled: true` has no effect: {WHY}");
        assert_eq!(reported(driver, &named), [enabled]);
    }
    let mode = format!("workspace_policy: {{mode: local, provider: a}}{PATTERN}");
    assert_eq!(
        reported("shell/script", &mode),
        [format!("`workspace_policy.mode` has no effect: {WHY}")],
        "only one driver has a mode"
    );
}

#[test]
fn a_workspace_policy_that_wants_nothing_is_left_alone() {
    for policy in ["", "enabled: false, provider: a, mode: local, strict: true", "mode: local"] {
        let more = format!("workspace_policy: {{{policy}}}");
        assert_eq!(reported("iac/terragrunt", &more), [""; 0], "{policy}");
    }
    assert_eq!(reported("iac/terragrunt", "workspace_policy:"), [""; 0]);
}

#[test]
fn a_workspace_policy_of_other_keys_or_values_is_reported() {
    let more = "workspace_policy: {enabeld: true}";
    let found = profile("iac/terragrunt", more);
    let [(Code::SpecUnused, one)] = &found[..] else { panic!("{found:?}") };
    assert!(one.contains("`workspace_policy.enabeld` has no effect"), "{one}");
    assert!(one.contains("did you mean `enabled`?"), "{one}");
    for (more, message) in [
        ("workspace_policy: cloud", "`workspace_policy` must be a mapping"),
        ("workspace_policy: {enabled: maybe}", "`enabled` must be `true` or `false`"),
        ("workspace_policy: {strict: 1}", "`strict` must be `true` or `false`"),
        ("workspace_policy: {mode: [cloud]}", "`mode` must be a text"),
        ("workspace_policy: {provider: {a: b}}", "`provider` must be a text"),
    ] {
        let found = profile("iac/terragrunt", more);
        let [(Code::ConfigValue, one)] = &found[..] else { panic!("{more}: {found:?}") };
        assert!(one.contains(message), "{more}: {one}");
    }
}

#[test]
fn keys_of_a_hook_that_its_command_does_not_use_are_reported_together() {
    for (hook, message) in [
        (
            "command: [a, '{b}'], b: c, d: [e], f: 1",
            "`hooks.x.d` and `hooks.x.f` have no effect: its command has no placeholders for them",
        ),
        (
            "command: [a], sync_command: [b]",
            "`hooks.x.sync_command` has no effect: its command has no placeholder for it",
        ),
        ("b: c", "`hooks.x.b` has no effect: it has no command"),
    ] {
        assert_eq!(reported("shell/script", &format!("hooks: {{x: {{{hook}}}}}")), [message]);
    }
    let wrong = profile("shell/script", "hooks: {x: {command: a, b: c}}");
    assert_eq!(wrong.iter().map(|one| one.0).collect::<Vec<_>>(), [Code::ConfigValue]);
    let used = "command: [a, '{b}'], b: c, strict: true, redact: true, timeout_s: 1, \
                hook_root_env: A, hook_root_default: .";
    assert_eq!(reported("shell/script", &format!("hooks: {{x: {{{used}}}, y: }}")), [""; 0]);
}
