//! Attacks of plugins, and of whoever holds packages, each with its tests.

use crate::attacks::{Attack, Test, each_has_a_test};

const CLI: &str = "crates/opal-cli/tests/it/plugin";
const HOST: &str = "crates/opal-plugin-host/tests/it";
const CLIENT: &str = "crates/opal-plugins/src/client";
const CORE: &str = "crates/opal-core/tests/it";
const OWN: Test = (CLI, "hostile.rs", "a_hostile_plugin_is_contained");
const STEP: Test = (CLI, "hostile.rs", "a_hostile_plugin_is_contained_in_a_step_too");

const ATTACKS: [Attack; 31] = [
    ("loop", &[OWN, STEP, (HOST, "hostile.rs", "a_loop_ends_at_the_time_limit")]),
    (
        "memory bomb",
        &[OWN, STEP, (CLI, "native.rs", "a_native_program_can_do_only_what_it_was_granted")],
    ),
    ("trap", &[OWN, STEP, (HOST, "hostile.rs", "what_traps_fails_and_the_helper_goes_on")]),
    ("false manifest", &[(CLI, "wasm.rs", "code_that_is_not_what_its_manifest_says_does_not_run")]),
    ("undeclared network", &[OWN]),
    ("output", &[OWN, (HOST, "hostile.rs", "what_a_guest_prints_is_kept_up_to_64_kib")]),
    ("hang in `end`", &[(CLI, "hostile.rs", "an_end_that_hangs_is_124_and_named")]),
    (
        "crash",
        &[
            (CLI, "cleanup.rs", "a_helper_that_crashes_twice_leaves_what_the_summary_names"),
            (
                HOST,
                "process.rs",
                "a_crash_fails_the_open_call_by_name_and_the_helper_restarts_once",
            ),
        ],
    ),
    (
        "fork bomb",
        &[
            (CLI, "native.rs", "a_fork_bomb_ends_with_its_call"),
            (CLI, "native.rs", "what_a_native_program_started_ends_with_opal_however_opal_ends"),
        ],
    ),
    (
        "bad message",
        &[
            (CORE, "protocol.rs", "hostile_lines_end_the_connection"),
            (
                CLI,
                "native.rs",
                "a_native_program_that_misbehaves_fails_its_call_and_leaves_no_process",
            ),
        ],
    ),
    ("endless host calls", &[OWN]),
    ("a huge answer", &[OWN]),
    (
        "a returned `sh -c` transport",
        &[(CLI, "targets.rs", "what_a_package_returns_is_bound_by_what_it_was_granted")],
    ),
    (
        "other targets than those of the plan",
        &[(
            CLI,
            "targets.rs",
            "targets_that_are_others_when_the_block_runs_are_refused_and_the_object_is_removed",
        )],
    ),
    (
        "`LD_PRELOAD` in `opened.env`",
        &[
            (
                CLI,
                "wasm.rs",
                "a_variable_that_was_not_granted_is_not_set_and_the_wrapper_is_closed",
            ),
            (CLI, "wasm.rs", "a_package_that_sets_what_programs_run_is_accepted_like_a_shell"),
            (CLIENT, "grants.rs", "variables_are_granted_by_name_or_beginning"),
        ],
    ),
    ("`ask:git` with `-c`", &[(CLIENT, "grants.rs", "arguments_begin_as_granted")]),
    (
        "a host that resolves to 169.254.169.254",
        &[(HOST, "serving.rs", "hosts_are_asked_as_granted_and_redirections_are_returned")],
    ),
    (
        "a secret echoed by a program",
        &[(HOST, "serving.rs", "a_secret_reaches_a_program_and_its_echo_is_hidden")],
    ),
    (
        "a secret echoed by a host",
        &[(HOST, "serving.rs", "a_secret_reaches_a_host_and_its_echo_is_hidden")],
    ),
    (
        "a secret variable in results, errors and logs",
        &[(CLI, "hostile.rs", "a_secret_that_a_call_read_is_in_nothing_that_it_says")],
    ),
    (
        "a symlink out of `write:`",
        &[(HOST, "serving.rs", "files_are_read_where_a_grant_covers_them_after_all_symlinks")],
    ),
    ("ptrace", &[(CLI, "native.rs", "a_native_program_can_do_only_what_it_was_granted")]),
    (
        "the SSH agent from native code",
        &[(CLI, "native.rs", "a_native_program_can_do_only_what_it_was_granted")],
    ),
    (
        "the SSH agent in a transport",
        &[(
            CLI,
            "targets.rs",
            "a_block_runs_by_the_program_that_a_package_returns_and_the_plan_shows_it",
        )],
    ),
    (
        "a handle of another call",
        &[(HOST, "hostile.rs", "a_handle_of_another_call_is_denied_by_opal")],
    ),
    (
        "an endless line",
        &[(
            CLI,
            "native.rs",
            "a_native_program_that_misbehaves_fails_its_call_and_leaves_no_process",
        )],
    ),
    (
        "a kernel without Landlock",
        &[(CLI, "native.rs", "without_landlock_native_code_needs_a_policy_of_the_machine")],
    ),
    ("both engines", &[(CLI, "native.rs", "of_both_engines_a_package_runs_the_component")]),
    (
        "compiled code that was changed",
        &[(HOST, "serving.rs", "compiled_code_is_kept_and_whatever_was_changed_is_compiled_again")],
    ),
    (
        "a local package changed after approval",
        &[(CLI, "attacks.rs", "a_file_that_changed_after_it_was_accepted_does_not_run")],
    ),
    (
        "words that paint the terminal",
        &[(CLI, "attacks.rs", "words_of_a_manifest_cannot_paint_the_terminal")],
    ),
];

/// Attacks of whoever holds packages: registries, repositories, and projects that name them.
const SOURCES: [Attack; 16] = [
    ("an archive with `..`, links, a bomb or a newline in a name", &[ARCHIVE]),
    (
        "git URLs",
        &[
            (CLI, "git.rs", "an_address_never_becomes_an_option_or_a_helper_of_git"),
            (
                CLI,
                "git.rs",
                "what_a_repository_could_run_is_not_run_and_what_is_no_file_is_refused",
            ),
        ],
    ),
    (
        "a moved tag",
        &[(CLI, "git.rs", "a_branch_moves_only_with_an_update_and_a_moved_tag_is_refused")],
    ),
    (
        "index rollback",
        &[
            (CLI, "sources.rs", "an_index_that_is_old_expired_incomplete_or_not_signed_is_refused"),
            (CLI, "publish/story.rs", "a_yank_and_a_rollback_reach_whoever_knows_the_key"),
        ],
    ),
    (
        "a hidden yank",
        &[(CLI, "sources.rs", "an_index_that_is_old_expired_incomplete_or_not_signed_is_refused")],
    ),
    (
        "a lock changed together with `--accept`",
        &[
            (CLI, "sources.rs", "a_lock_that_was_changed_together_with_the_list_accepts_nothing"),
            (CLI, "attacks.rs", "a_list_in_the_checkout_accepts_nothing"),
        ],
    ),
    (
        "a project's registry that asks for credentials",
        &[(
            CLI,
            "sources.rs",
            "a_registry_that_a_project_names_gets_no_credentials_of_another_host",
        )],
    ),
    (
        "an unmapped namespace",
        &[(
            CLI,
            "sources.rs",
            "a_dependency_comes_from_no_registry_that_the_project_did_not_name_for_it",
        )],
    ),
    (
        "a registry in the place of the policy's",
        &[(CLI, "sources.rs", "a_registry_of_the_policy_wins_over_that_of_the_project")],
    ),
    (
        "a changed archive, lock or cache",
        &[(CLI, "sources.rs", "what_was_changed_after_it_was_locked_is_refused")],
    ),
    (
        "files swapped after a check",
        &[(CLI, "hostile.rs", "files_that_are_swapped_during_a_run_are_not_used")],
    ),
    (
        "a local package changed after approval",
        &[(CLI, "attacks.rs", "a_file_that_changed_after_it_was_accepted_does_not_run")],
    ),
    (
        "an `.opl` package without `shell`",
        &[(CLI, "attacks.rs", "a_shell_step_in_any_disguise_is_found")],
    ),
    (
        "a bundle that somebody else signed, or about something else",
        &[
            (CLI, "sigstore.rs", "a_bundle_that_does_not_hold_is_not_published"),
            (CLI, "sigstore.rs", "a_certificate_that_does_not_hold_names_no_publisher"),
            (CLI, "sigstore.rs", "a_pinned_identity_is_verified_whenever_the_package_is_read"),
        ],
    ),
    (
        "a verifier written into the cache",
        &[(
            CLI,
            "publish/story.rs",
            "what_a_verifier_passed_is_passed_for_whoever_knows_the_key_of_the_registry",
        )],
    ),
    (
        "another publisher",
        &[(CLI, "registry.rs", "the_lock_pins_the_publisher_and_a_policy_names_those_that_count")],
    ),
];

const ARCHIVE: Test =
    (CLI, "sources.rs", "an_archive_that_could_write_elsewhere_or_fill_the_disk_is_refused");

#[test]
fn every_attack_of_a_plugin_or_a_source_has_a_test() {
    each_has_a_test(&ATTACKS);
    each_has_a_test(&SOURCES);
}
