//! What a source can say about targets: where hosts come from, what is inside what, and which side a
//! redirection is on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::processes::{eventually, is_running};

use crate::fleets::{local, table};
use crate::servers::servers;
use crate::support::Opal;

#[test]
fn hosts_are_any_expression() {
    let source = "fun task() {\n    \
                  @ssh.hosts(lines(@shell.output(\"cat hosts\", public=true)), max_concurrency=1) {\n        \
                  echo @target.name\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    let opal = opal.file("hosts", "web2\nweb1\n");
    assert_eq!(opal.call(&["task"]).code(0).stdout, "web2\nweb1\n");
}

#[test]
fn a_program_that_lists_hosts_runs_for_a_run_and_a_whole_plan_alone() {
    let source = "fun task() {\n    @ssh.hosts(inventory=\"cmd:./list\", select=\"web\") {\n        \
                  echo @target.name\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    let list = "#!/bin/sh\ntouch asked\necho '{\"web\": {\"hosts\": [\"web1\"]}}'\n";
    let opal = opal.file("list", list);
    fs::set_permissions(opal.path().join("list"), fs::Permissions::from_mode(0o755)).unwrap();
    let asked = || fs::remove_file(opal.path().join("asked")).is_ok();
    for words in [
        &["task", "--dry-run"][..],
        &["plan", "task"],
        &["check"],
        &["list"],
        &["fmt", "--check"],
        &["help", "task"],
    ] {
        opal.call(words);
        assert!(!asked(), "{words:?}");
    }
    let completed = opal.call_with(
        &[
            ("OPAL_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", "2"),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_IFS", "\n"),
        ],
        &["--", "opal", "task", "--"],
    );
    assert!(completed.code(0).stdout.contains("--dry-run") && !asked(), "{completed:?}");
    opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
    assert!(asked());
    let plan = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    plan.code(0).says("→ web1").says("\nReads:\n  cmd:./list = 1 target\n");
    assert_eq!(opal.call(&["task"]).code(0).stdout, "web1\n");
    assert!(asked());
}

#[test]
fn a_redirection_after_a_block_is_here_and_one_inside_is_on_the_host() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        echo there > inside\n        echo here\n    } > @file.write(\"outside\")\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    opal.call(&["task"]).code(0);
    let home = sshd.account().home.clone();
    assert_eq!(fs::read_to_string(home.join("inside")).unwrap(), "there\n");
    assert_eq!(opal.read("outside"), "here\n");
    assert!(!home.join("outside").exists() && !opal.path().join("inside").exists());
}

#[test]
fn fleets_may_be_in_parallel() {
    // Each waits for the other.
    let source = "fun task() {\n    @parallel {\n        @ssh.hosts([\"web1\"]) {\n            \
                  touch a; until test -e b; do sleep 0.05; done\n        }\n        \
                  @ssh.hosts([\"web2\"]) {\n            touch b; until test -e a; do sleep 0.05; done\n        }\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    let ran = opal.call(&["task"]);
    ran.code(0).says("\nweb1    ok ").says("\nweb2    ok ");
}

#[test]
fn jobs_limit_what_runs_on_this_machine_and_not_targets() {
    // Each host waits for the other.
    let block = "        touch @target.name; until test -e h1 && test -e h2; do sleep 0.05; done\n        echo done\n";
    let Some(opal) = local(2, block, "") else { return };
    assert_eq!(opal.call(&["task", "--jobs", "1"]).code(0).stdout, "done\ndone\n");
}

#[test]
fn a_fleet_has_at_most_10_000_targets() {
    for (source, said) in [
        ("@ssh.hosts(inventory=\"hosts.ini\")", "a fleet has at most 10000 targets"),
        (
            "@ssh.hosts(lines(@shell.output(\"seq -f h%.0f 10001\", public=true)))",
            "10001 targets are more than 10000",
        ),
    ] {
        let source = format!("fun task() {{\n    {source} {{\n        id\n    }}\n}}\n");
        let opal = Opal::project(&source).file("hosts.ini", "h[1:10001]\n");
        opal.call(&["task"]).code(65).says(said).says("select fewer");
    }
}

#[test]
fn what_is_inside_a_target_is_limited() {
    let inside =
        |block: &str| format!("fun task() {{\n    @ssh.host(\"web1\") {{\n{block}\n    }}\n}}\n");
    for (block, said) in [
        ("        @ssh.host(\"web2\") {\n            id\n        }", "`ProxyJump`"),
        ("        @ssh.hosts([\"web2\"]) {\n            id\n        }", "`ProxyJump`"),
        (
            "        @container.exec(\"a\") {\n            @as(\"b\") {\n                @as(\"c\") {\n                    \
             id\n                }\n            }\n        }",
            "more than 3 targets inside each other",
        ),
    ] {
        Opal::project(&inside(block))
            .call(&["task", "--dry-run"])
            .code(65)
            .says("E1502")
            .says(said);
    }
    let source = "fun task() {\n    @ssh.hosts([\"web1\"]) {\n        @ssh.hosts([\"web2\"]) {\n            id\n        }\n    }\n}\n";
    let fleet = Opal::project(source).call(&["task", "--dry-run"]);
    fleet.code(65).says("E1502").says("a fleet inside a fleet");
    let three = "        @container.exec(\"a\") {\n            @as(\"b\") {\n                id\n            }\n        }";
    Opal::project(&inside(three)).call(&["task", "--dry-run"]).code(0);
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        let NAME = hostname\n    }\n    echo @var.NAME\n}\n";
    Opal::project(source).call(&["check"]).code(65).says("NAME");
}

#[test]
fn what_still_runs_is_cancelled_where_the_fleet_says_so() {
    let block = "        test @target.name = h1 || { touch @target.name; exec sleep 54329; }\n        \
                 until test -e h2; do sleep 0.05; done\n        exit 3\n";
    let Some(opal) = local(2, block, ", on_failure=\"cancel\"") else { return };
    let ran = opal.call(&["task"]);
    let rows = table(&ran.code(3).stderr);
    assert_eq!((rows[0][1], rows[1][1]), ("failed", "stopped"), "{}", ran.stderr);
    eventually("nothing is left", || !is_running("sleep 54329"));
}

#[test]
fn variables_of_a_host_are_hidden_by_their_name() {
    let block = "        echo @target.vars.region @target.vars.api_token\n";
    let Some(opal) = local(1, block, "") else { return };
    let opal = opal.file(
        "hosts.ini",
        "[web]\nh1 ansible_connection=local region=eu-7 api_token=correct-horse-battery\n",
    );
    let ran = opal.call(&["task"]);
    ran.code(0).hides("correct-horse-battery");
    assert!(ran.stdout.starts_with("eu-7 "), "{ran:?}");
}

#[test]
fn one_password_for_several_targets_is_a_warning_in_the_plan() {
    let task = |around: &str, arguments: &str| {
        format!(
            "fun task() {{\n    {around} {{\n        @as(\"root\"{arguments}) {{\n            id\n        }}\n    }}\n}}\n"
        )
    };
    let password = ", password=@secret.env.SUDO";
    let many = "@ssh.hosts([\"web1\", \"web2\", \"web3\"])";
    for (source, is_said) in [
        (task(many, password), true),
        (task(many, ""), false),
        (task("@ssh.host(\"web1\")", password), false),
        (task("@ssh.hosts([\"web1\"])", password), false),
        (
            format!(
                "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\"], as=\"root\"{password}) {{\n        id\n    }}\n}}\n"
            ),
            true,
        ),
    ] {
        let opal = Opal::project(&source).env("SUDO", "correct-horse");
        for words in [&["plan", "task"][..], &["task", "--dry-run"]] {
            let plan = opal.call(words);
            assert_eq!(plan.code(0).stderr.contains("W1509"), is_said, "{source}\n{plan:?}");
            assert_eq!(plan.stderr.contains("NOPASSWD"), is_said, "{plan:?}");
        }
    }
}
