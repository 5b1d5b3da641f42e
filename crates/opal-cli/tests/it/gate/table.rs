//! Attacks on the gate, the pages and agents, and which tests have each of them: those in which it fails, and where
//! the gate has a limit, one that shows it.

use crate::attacks::{Attack, each_has_a_test};

const CLI: &str = "crates/opal-cli/tests/it";

const ATTACKS: [Attack; 13] = [
    (
        "an agent hides harm in a long plan or script",
        &[
            (
                CLI,
                "gate/attacks.rs",
                "what_a_reviewer_must_not_miss_is_marked_wherever_a_plan_is_shown",
            ),
            (CLI, "gate/compared.rs", "every_use_of_a_value_every_mark_and_every_line_is_shown"),
            (CLI, "gate/compared.rs", "both_scripts_are_shown_where_one_has_changed"),
            (
                CLI,
                "gate/compared.rs",
                "only_what_the_persons_own_key_has_approved_is_compared_with",
            ),
            (CLI, "gate/compared.rs", "another_package_is_named_wherever_contracts_are_compared"),
        ],
    ),
    (
        "an agent changes the source or a compared value after the approval",
        &[
            (CLI, "gate.rs", "what_would_run_something_else_than_was_approved_is_refused"),
            (CLI, "agents/demo.rs", "an_agent_plans_a_person_approves_and_exactly_that_runs"),
            (CLI, "gate/inbox.rs", "a_file_with_the_name_of_an_id_is_not_taken_for_the_contract"),
            (CLI, "agents/attacks.rs", "a_file_with_the_name_of_an_id_is_not_what_runs"),
        ],
    ),
    (
        "an agent changes a file that a step executes, or the environment",
        &[
            (
                CLI,
                "gate/confined.rs",
                "under_tree_and_environment_the_approved_script_runs_without_the_variable",
            ),
            (
                CLI,
                "gate/confined.rs",
                "without_the_policies_a_changed_script_and_a_variable_are_not_noticed",
            ),
        ],
    ),
    (
        "an agent signs with its own key; a maker with a second one",
        &[
            (CLI, "gate.rs", "what_does_not_count_is_named_with_its_reason"),
            (CLI, "gate.rs", "two_keys_of_one_person_are_one_person"),
            (CLI, "gate.rs", "makers_and_what_they_may_not_do"),
            (CLI, "agents/attacks.rs", "without_a_rule_of_the_machine_nothing_runs"),
            (
                CLI,
                "gate/inbox.rs",
                "a_key_that_no_rule_lists_counts_for_nothing_and_is_called_unknown",
            ),
            (CLI, "ui/pages.rs", "a_key_that_no_rule_lists_is_an_unknown_key_on_pages_too"),
        ],
    ),
    (
        "an agent renames the task",
        &[
            (
                CLI,
                "gate/limits.rs",
                "the_same_steps_under_another_name_are_free_unless_a_rule_has_no_targets",
            ),
            (CLI, "gate.rs", "a_rule_holds_for_what_it_names_and_for_what_calls_it"),
        ],
    ),
    (
        "an old approval; a dropped rejection; one id twice",
        &[
            (CLI, "gate/attacks.rs", "clocks_may_differ_by_five_minutes_and_no_more"),
            (CLI, "gate.rs", "a_contract_runs_once_it_is_approved_and_then_never_again"),
            (CLI, "gate.rs", "a_rejection_binds_also_when_its_line_is_gone"),
            (CLI, "gate/attacks.rs", "a_damaged_ledger_does_not_forget_a_rejection"),
            (CLI, "gate/inbox.rs", "an_id_is_long_and_what_is_not_unique_is_refused"),
        ],
    ),
    (
        "an agent uses a key or an SSH agent of its account",
        &[
            (CLI, "gate/presence.rs", "only_a_touch_is_presence"),
            (
                CLI,
                "gate/system.rs",
                "a_key_that_every_step_can_use_is_refused_where_the_machine_demands_approvals",
            ),
            (
                CLI,
                "gate/limits.rs",
                "another_account_can_change_neither_policy_nor_root_nor_inbox_and_runs_nothing",
            ),
            (CLI, "gate/limits.rs", "a_key_that_only_an_ssh_agent_has_approves"),
            (CLI, "ui/deciding.rs", "what_was_typed_before_the_question_is_not_its_answer"),
        ],
    ),
    (
        "an agent plans to read secrets",
        &[
            (CLI, "agents/tools.rs", "commands_of_the_source_run_only_where_the_policy_enables_it"),
            (CLI, "agents/attacks.rs", "other_projects_are_neither_named_nor_seen"),
            (CLI, "agents/hostile.rs", "a_source_that_is_a_link_to_another_file_is_not_read"),
        ],
    ),
    (
        "the text of the project instructs the agent",
        &[
            (CLI, "agents/attacks.rs", "text_of_a_project_is_marked_wherever_it_comes_from"),
            (
                CLI,
                "agents/attacks.rs",
                "no_tool_approves_signs_forces_sets_variables_or_reads_files",
            ),
        ],
    ),
    (
        "a web page, rebinding, another local user, a leaked path",
        &[
            (CLI, "ui/attacks.rs", "only_the_right_host_and_the_right_path_reach_a_page"),
            (CLI, "ui/attacks.rs", "a_form_counts_only_from_a_page_of_this_place"),
            (CLI, "ui/attacks.rs", "a_token_counts_once_and_only_for_the_digest_that_was_shown"),
            (
                CLI,
                "ui/tickets.rs",
                "a_ticket_opens_the_pages_once_and_a_second_use_is_refused_and_reported",
            ),
            (
                CLI,
                "ui/tickets.rs",
                "the_path_is_in_no_argument_no_file_and_nothing_that_is_printed",
            ),
            (
                CLI,
                "ui/socket.rs",
                "another_user_of_the_machine_has_neither_the_ticket_nor_the_socket",
            ),
        ],
    ),
    (
        "hostile text",
        &[
            (
                CLI,
                "gate/hostile.rs",
                "a_hostile_text_in_any_field_of_a_contract_is_text_wherever_it_is_shown",
            ),
            (CLI, "ui/pages.rs", "hostile_texts_stay_text_on_every_page"),
            (CLI, "report/pages.rs", "a_plan_and_what_differs_hold_hostile_texts_as_text"),
        ],
    ),
    (
        "edited approvals, an edited export",
        &[
            (CLI, "gate/attacks.rs", "a_file_of_approvals_may_come_from_anywhere"),
            (CLI, "audit.rs", "an_export_has_runs_and_refusals_and_its_last_line_signs_them"),
            (
                CLI,
                "audit.rs",
                "an_export_has_contracts_and_what_people_signed_and_each_signature_is_checked",
            ),
        ],
    ),
    (
        "edited or removed records",
        &[
            (CLI, "audit.rs", "what_was_edited_or_removed_is_found"),
            (
                CLI,
                "audit.rs",
                "what_is_removed_at_the_end_leaves_no_trace_here_and_stays_in_an_export",
            ),
        ],
    ),
];

#[test]
fn every_attack_and_every_limit_has_a_test() {
    each_has_a_test(&ATTACKS);
}
