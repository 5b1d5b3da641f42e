//! Attacks on targets that must fail: which tests have each of them.

use crate::attacks::{Attack, each_has_a_test};
use crate::servers::servers;

const CLI: &str = "crates/opal-cli/tests/it";
const DIAL: &str = "crates/opal-target/tests/it/dial";

const ATTACKS: [Attack; 34] = [
    (
        "a banner that imitates a key",
        &[
            (CLI, "contract_targets.rs", "a_banner_cannot_imitate_a_key"),
            (DIAL, "keys.rs", "a_banner_that_imitates_a_changed_key_changes_nothing"),
        ],
    ),
    (
        "another machine after a reconnect",
        &[
            (CLI, "contract_targets.rs", "another_machine_after_a_reconnect_gets_nothing"),
            (DIAL, "faults.rs", "another_user_or_machine_after_a_loss_is_noticed"),
        ],
    ),
    (
        "a tree with `..`, links, names twice",
        &[
            (
                "crates/opal-target/tests/it",
                "hostile.rs",
                "a_tree_that_leads_out_of_itself_is_the_end_of_the_connection",
            ),
            (
                "crates/opal-session/src/wire",
                "trees.rs",
                "what_leads_out_of_a_tree_or_is_there_twice_is_refused",
            ),
            (CLI, "fetching.rs", "a_directory_that_leads_out_of_the_project_is_not_written_to"),
        ],
    ),
    (
        "a tree of ten million names",
        &[(
            "crates/opal-session/src/wire",
            "trees.rs",
            "millions_of_names_are_refused_before_they_are_all_read",
        )],
    ),
    (
        "answers that nobody asked for",
        &[
            (
                "crates/opal-target/tests/it",
                "hostile.rs",
                "an_answer_that_cannot_be_is_the_end_of_the_connection_with_the_reason",
            ),
            (
                "crates/opal-target/tests/it",
                "hostile.rs",
                "a_second_answer_is_the_end_of_the_connection",
            ),
        ],
    ),
    (
        "two targets that fetch one file",
        &[
            (CLI, "fetching.rs", "two_hosts_that_fetch_one_file_to_one_place_are_refused"),
            (CLI, "fetching.rs", "hosts_of_a_fleet_that_fetch_one_file_do_not_write_one_file"),
        ],
    ),
    (
        "`local`, `become` and `ssh_common_args` in an inventory",
        &[(CLI, "servers.rs", "an_inventory_cannot_move_a_block_or_raise_its_rights")],
    ),
    (
        "newline, `../x` and bidirectional characters in names",
        &[(
            "crates/opal-remote/tests/it",
            "inventory.rs",
            "a_hostile_name_is_refused_with_its_place_and_shown_harmless",
        )],
    ),
    (
        "helper, cache or `/tmp` directory of another user",
        &[(DIAL, "ssh.rs", "what_others_can_write_is_never_run")],
    ),
    (
        "sudo that keeps `HOME`, `sudo` in `~/bin`",
        &[(DIAL, "user.rs", "sudo_is_never_looked_up_in_the_path_and_its_home_is_not_believed")],
    ),
    (
        "a jump host that asks for the password",
        &[(DIAL, "questions.rs", "a_jump_host_that_asks_for_the_password_does_not_get_it")],
    ),
    (
        // There is no socket: `ssh` asks on a terminal that only it has.
        "a stranger who asks for the password",
        &[
            (
                "crates/opal-remote/src/dial",
                "terminal.rs",
                "the_password_is_for_one_question_of_the_target_and_for_no_other",
            ),
            (DIAL, "questions.rs", "a_password_is_not_for_a_host_whose_key_is_unknown"),
        ],
    ),
    (
        "a half-open connection with `@retry`: never two at once",
        &[
            (
                CLI,
                "acceptance/cut.rs",
                "a_step_whose_network_comes_back_is_repeated_and_never_runs_twice_at_once",
            ),
            (
                DIAL,
                "faults.rs",
                "a_half_open_connection_is_lost_and_the_next_one_waits_until_the_old_helper_is_gone",
            ),
        ],
    ),
    (
        "OSC 52",
        &[
            (CLI, "fleets/hygiene.rs", "only_text_and_colours_of_targets_reach_a_terminal"),
            (
                CLI,
                "sessions/terminal.rs",
                "what_a_host_writes_to_the_terminal_cannot_set_the_clipboard_or_ask_it_anything",
            ),
        ],
    ),
    (
        "`ok` returned as a secret",
        &[
            (
                CLI,
                "acceptance/attacks.rs",
                "a_host_that_returns_ok_as_a_secret_hides_nothing_of_others",
            ),
            (
                CLI,
                "fleets/values.rs",
                "a_word_that_one_target_returns_as_a_value_hides_nothing_in_what_others_print",
            ),
        ],
    ),
    (
        "another block's master",
        &[
            (CLI, "sessions/persist.rs", "a_block_never_uses_the_master_of_another_block"),
            ("crates/opal-remote/src/dial", "ssh.rs", "ssh_gets_these_options_and_no_other"),
            (DIAL, "ssh.rs", "a_hostile_configuration_of_the_client_changes_nothing"),
        ],
    ),
    (
        "`--limit` around a batch",
        &[(CLI, "fleets/limits.rs", "a_limit_never_moves_a_target_into_another_batch")],
    ),
    (
        "a label on a foreign pod",
        &[(CLI, "pods.rs", "a_secret_does_not_reach_a_foreign_pod_that_has_the_label")],
    ),
    (
        "a process group number that is used again",
        &[(DIAL, "plain.rs", "a_number_of_a_process_that_is_used_again_is_not_signalled")],
    ),
    // What else must be withstood.
    (
        "wrong, unknown and revoked keys",
        &[
            (DIAL, "keys.rs", "a_changed_or_revoked_key_is_refused_in_a_direct_run_too"),
            (DIAL, "keys.rs", "an_unknown_key_and_a_refused_login_are_not_a_refused_key"),
        ],
    ),
    (
        "noise and banners of 10 MB",
        &[
            (DIAL, "shells.rs", "noise_of_a_login_is_passed_over_up_to_a_limit"),
            (DIAL, "shells.rs", "a_banner_is_neither_noise_nor_shown"),
        ],
    ),
    (
        "login shells that are not POSIX",
        &[
            (DIAL, "shells.rs", "every_login_shell_leads_to_the_helper"),
            (DIAL, "shells.rs", "busybox_alone_is_enough"),
            (DIAL, "shells.rs", "an_account_without_a_login_says_so"),
        ],
    ),
    (
        "`noexec`, full and read-only homes",
        &[(
            DIAL,
            "shells.rs",
            "a_home_in_which_nothing_runs_or_fits_is_replaced_by_a_directory_that_is_removed",
        )],
    ),
    (
        "a server that lets few in (`MaxStartups`)",
        &[(DIAL, "ssh.rs", "a_server_that_turns_many_away_lets_all_in_after_a_while")],
    ),
    (
        "one session for each connection (`MaxSessions 1`)",
        &[(CLI, "acceptance/attacks.rs", "one_session_is_enough_for_a_block_with_many_steps")],
    ),
    (
        "sudo with a password, a pty, a log and a required terminal",
        &[
            (DIAL, "user.rs", "a_password_is_given_once_and_only_to_the_prompt"),
            (DIAL, "user.rs", "sudo_with_a_pty_a_log_and_a_terminal_required_works"),
        ],
    ),
    (
        "a jump host that lets few in",
        &[(DIAL, "ssh.rs", "a_jump_host_that_turns_many_away_lets_all_in_after_a_while")],
    ),
    (
        "a server that prints megabytes before it is one",
        &[(DIAL, "shells.rs", "a_server_that_prints_megabytes_before_its_version_is_not_reached")],
    ),
    (
        "start-up files that take their time",
        &[(DIAL, "shells.rs", "a_login_that_takes_its_time_is_waited_for")],
    ),
    (
        "hostile configurations of `ssh`",
        &[
            (DIAL, "ssh.rs", "a_hostile_configuration_of_the_client_changes_nothing"),
            (CLI, "sessions/configured.rs", "a_broken_configuration_of_ssh_is_named_with_its_line"),
            (
                "crates/opal-remote/tests/it",
                "inventory.rs",
                "the_hosts_of_an_ssh_configuration_are_those_with_a_name",
            ),
        ],
    ),
    (
        "a helper that lies",
        &[
            (
                "crates/opal-target/tests/it",
                "hostile.rs",
                "a_stream_that_is_cut_off_or_too_long_is_never_shorter_content",
            ),
            (
                "crates/opal-target/tests/it",
                "hostile.rs",
                "a_helper_of_another_build_or_version_is_not_accepted",
            ),
            (CLI, "servers.rs", "a_stored_helper_that_hangs_is_replaced_and_ended"),
        ],
    ),
    (
        "a target that reboots",
        &[(CLI, "fleets/lost.rs", "a_host_that_reboots_is_reached_again_once_it_is_up")],
    ),
    (
        "without a helper: another machine, another key, a half-open connection",
        &[
            (
                CLI,
                "sessions/plain.rs",
                "a_command_is_not_sent_to_another_machine_than_the_first_one",
            ),
            (CLI, "sessions/plain.rs", "a_changed_host_key_is_77_without_a_helper_too"),
            (DIAL, "plain.rs", "a_half_open_connection_is_lost"),
        ],
    ),
    (
        "a contract that names another key",
        &[(CLI, "contract_targets.rs", "a_contract_with_another_key_in_its_provenance_is_damaged")],
    ),
];

#[test]
fn every_attack_has_a_test() {
    each_has_a_test(&ATTACKS);
}

#[test]
fn a_host_that_returns_ok_as_a_secret_hides_nothing_of_others() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"], max_concurrency=1) {\n        \
                  : @file.read(\"answer\")\n        echo \"it is ok\"\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    std::fs::write(sshd.account().home.join("answer"), "ok").unwrap();
    let ran = opal.call(&["task"]);
    assert_eq!(ran.code(0).stdout, "it is ok\nit is ok\n");
    let rows = crate::fleets::table(&ran.stderr);
    assert!(rows.iter().all(|row| row[1] == "ok") && rows.len() == 2, "{}", ran.stderr);
}

#[test]
fn one_session_is_enough_for_a_block_with_many_steps() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @parallel {\n            echo a\n            echo b\n        }\n        \
                  @file.copy(destination=\"x\", content=\"x\")\n        echo c\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    sshd.restart(&["MaxSessions 1"]);
    assert_eq!(opal.call(&["task"]).code(0).stdout, "a\nb\nc\n");
}
