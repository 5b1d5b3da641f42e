//! Hostile providers, attacks on what providers are used for, and hostile registries: which tests have each.

use crate::attacks::{Attack, Test, each_has_a_test};

const CLI: &str = "crates/opal-cli/tests/it/plugin";
const OWN: &str = "crates/opal-cli/tests/it/plugin/providers";
const HELPER: &str = "crates/opal-terraform/tests/it";
const SOURCE: &str = "crates/opal-terraform/src";

const LINE: Test =
    (HELPER, "processes.rs", "a_program_that_is_not_a_provider_is_refused_with_its_reason");
const CALLS: Test = (HELPER, "hostile.rs", "an_exit_a_hang_and_garbage_in_each_call_are_named");
const RULES: Test = (HELPER, "hostile.rs", "answers_that_the_protocol_does_not_allow_are_refused");
const NOISE: Test = (HELPER, "hostile.rs", "noise_of_a_provider_is_cut_and_does_not_stop_it");
const ENDED: Test =
    (HELPER, "processes.rs", "a_process_that_ignores_term_and_its_children_are_killed");

const PROVIDERS: [Attack; 21] = [
    ("no line, or an endless one", &[LINE]),
    ("protocols 4 and 7", &[LINE]),
    ("tcp", &[LINE]),
    ("a socket elsewhere, or a symlink", &[LINE]),
    (
        "a socket on which somebody else answers",
        &[(HELPER, "processes.rs", "a_socket_on_which_another_process_answers_is_refused")],
    ),
    (
        "exit in each call",
        &[CALLS, (OWN, "processes.rs", "a_provider_that_crashes_is_named_with_its_last_words")],
    ),
    (
        "hang in each call",
        &[
            CALLS,
            (OWN, "processes.rs", "an_object_that_does_not_answer_does_not_hold_up_the_others"),
        ],
    ),
    ("garbage", &[CALLS]),
    (
        "msgpack bombs",
        &[
            (HELPER, "hostile.rs", "values_that_explode_are_refused"),
            (SOURCE, "value/msgpack/tests.rs", "hostile_bytes_are_refused_before_they_cost_memory"),
        ],
    ),
    ("an unknown in an applied state", &[RULES]),
    ("a plan that changes configured values", &[RULES]),
    ("two objects", &[RULES]),
    ("an object of another type", &[RULES]),
    (
        "a schema unlike its manifest",
        &[(HELPER, "helper.rs", "what_cannot_be_asked_is_refused_with_the_name_of_the_provider")],
    ),
    (
        "names with escapes",
        &[(HELPER, "hostile.rs", "a_schema_with_a_name_that_a_terminal_obeys_is_refused")],
    ),
    (
        "a canary in every string",
        &[
            (HELPER, "steps.rs", "secrets_come_as_handles_and_are_in_no_string"),
            (CLI, "providers.rs", "secrets_of_an_object_are_hidden_and_the_rest_of_it_is_not"),
            (
                OWN,
                "data.rs",
                "of_a_data_source_only_sensitive_attributes_and_what_derives_from_them_are_secret",
            ),
        ],
    ),
    ("noise on standard output", &[NOISE]),
    ("TERM that is ignored", &[ENDED]),
    ("a daemon as a child", &[ENDED]),
    ("an endless log", &[NOISE]),
    (
        "a process that outlives opal",
        &[
            (OWN, "processes.rs", "no_provider_outlives_opal"),
            (OWN, "story.rs", "the_whole_story_of_providers_holds"),
        ],
    ),
];

const CHANGED: Test = (HELPER, "packages.rs", "each_changed_byte_is_refused_or_means_nothing");
const ARCHIVES: Test =
    (HELPER, "packages.rs", "archives_that_leave_their_directory_or_grow_are_refused");
const MIRROR: Test =
    (HELPER, "packages.rs", "a_mirror_matches_a_locked_hash_or_is_trusted_by_a_person");

const REGISTRIES: [Attack; 12] = [
    (
        "a byte of the archive changed",
        &[CHANGED, (OWN, "registries.rs", "what_a_registry_changed_is_refused_with_its_reason")],
    ),
    (
        "a byte of the sums changed",
        &[CHANGED, (OWN, "registries.rs", "what_a_registry_changed_is_refused_with_its_reason")],
    ),
    (
        "a byte of the signature changed",
        &[CHANGED, (OWN, "registries.rs", "what_a_registry_changed_is_refused_with_its_reason")],
    ),
    (
        "a byte of the record changed",
        &[CHANGED, (HELPER, "packages.rs", "a_record_about_something_else_is_refused")],
    ),
    (
        "a lock that was changed",
        &[(OWN, "registries.rs", "a_lock_that_somebody_changed_installs_nothing_else")],
    ),
    (
        "an expired key",
        &[(HELPER, "packages.rs", "signatures_of_gnupg_count_until_its_key_expires_or_is_revoked")],
    ),
    (
        "a foreign key",
        &[
            (HELPER, "packages.rs", "each_signature_that_does_not_count_is_refused_by_name"),
            (OWN, "registries.rs", "another_key_needs_a_person_who_trusts_it"),
        ],
    ),
    (
        "another key for a known publisher",
        &[(HELPER, "packages.rs", "another_key_than_the_locked_or_the_known_one_is_refused")],
    ),
    ("names that lead out of an archive, and symlinks", &[ARCHIVES]),
    (
        "an archive that grows",
        &[ARCHIVES, (HELPER, "packages.rs", "an_archive_that_grows_over_the_limit_is_refused")],
    ),
    (
        "a mirror with other bytes",
        &[MIRROR, (OWN, "registries.rs", "a_directory_is_a_mirror_of_what_is_locked_or_trusted")],
    ),
    (
        "other files under a version that is locked",
        &[(OWN, "registries.rs", "another_machine_gets_what_is_locked_and_nothing_else")],
    ),
];

const UNFIXED: Test =
    (OWN, "deletions.rs", "without_a_terminal_nothing_is_deleted_that_nobody_has_fixed");

const ATTACKS: [Attack; 14] = [
    (
        "our mark on another object",
        &[
            UNFIXED,
            (HELPER, "cloud.rs", "an_object_is_found_by_its_mark_and_a_moved_mark_deletes_nothing"),
            (
                OWN,
                "contracts.rs",
                "another_object_with_our_mark_is_refused_even_where_it_is_as_described",
            ),
        ],
    ),
    ("our mark on an object of a fork", &[UNFIXED]),
    (
        "a mark that filters read as a pattern",
        &[(
            SOURCE,
            "identity/tests.rs",
            "a_mark_that_a_service_reads_as_a_pattern_or_a_list_is_refused",
        )],
    ),
    (
        "a list of something else than our mark",
        &[(HELPER, "cloud.rs", "what_a_list_selects_by_something_else_than_the_tag_is_not_ours")],
    ),
    (
        "another account with `.absent` and `--yes`",
        &[UNFIXED, (OWN, "contracts.rs", "another_account_is_refused_even_where_all_is_satisfied")],
    ),
    (
        "a read that is denied, as if the object were gone",
        &[(OWN, "deletions.rs", "a_read_that_fails_is_blocked_and_never_gone")],
    ),
    (
        "an object that hides, as if it were missing",
        &[
            (OWN, "intents.rs", "before_what_may_only_be_hidden_is_created_a_direct_run_warns"),
            (OWN, "intents.rs", "a_contract_creates_what_may_only_be_hidden_if_it_saw_it_missing"),
        ],
    ),
    (
        "`kube-system/x`, an empty namespace, `:` and `,` in ids",
        &[
            (SOURCE, "identity/tests.rs", "a_value_cannot_become_another_id"),
            (HELPER, "cloud.rs", "an_id_that_leads_to_another_object_blocks"),
        ],
    ),
    (
        "two creates at once",
        &[
            (
                OWN,
                "intents.rs",
                "two_creates_at_once_are_a_failure_that_names_both_and_deletes_none",
            ),
            (OWN, "deletions.rs", "runs_of_a_project_wait_for_each_other"),
        ],
    ),
    (
        "a data source that acts in `verify`",
        &[(OWN, "data.rs", "a_data_source_that_acts_is_not_read_by_quick_plans_and_verify")],
    ),
    (
        "`SSH_AUTH_SOCK` and other variables",
        &[
            (
                SOURCE,
                "process/environment.rs",
                "a_provider_gets_only_what_is_usual_listed_or_given",
            ),
            (
                "crates/opal-plugins/src/provider",
                "variables.rs",
                "a_provider_gets_what_is_usual_and_what_is_its_own",
            ),
            (OWN, "attacks.rs", "a_provider_sees_no_agent_and_no_variables_that_are_not_its_own"),
        ],
    ),
    (
        "`credentials/` and `~/.ssh`",
        &[
            (HELPER, "processes.rs", "a_provider_does_not_see_what_is_covered"),
            (OWN, "attacks.rs", "a_provider_does_not_see_the_keys_of_opal"),
        ],
    ),
    (
        "an exchanged local provider",
        &[
            (CLI, "providers.rs", "a_changed_provider_is_refused_until_it_is_accepted_again"),
            (OWN, "contracts.rs", "another_program_is_another_source_even_where_it_is_accepted"),
            (HELPER, "accepted.rs", "a_provider_that_changed_since_it_was_accepted_does_not_start"),
        ],
    ),
    (
        "a message that imitates `help:`",
        &[(SOURCE, "trouble.rs", "what_a_provider_says_is_quoted_and_cut")],
    ),
];

#[test]
fn every_attack_with_providers_has_a_test() {
    for table in [&PROVIDERS[..], &REGISTRIES, &ATTACKS] {
        each_has_a_test(table);
    }
}
