//! `--limit`: fewer targets, in the batches that they have.

use std::fs;

use opal_testing::sshd::Sshd;

use super::{local, records, table};
use crate::servers::servers;

const BLOCK: &str = "        echo on @target.name @target.index\n";

#[test]
fn a_limit_narrows_a_fleet_and_the_record_names_it() {
    let Some(opal) = local(5, BLOCK, ", max_concurrency=1") else { return };
    for (pattern, expected) in [
        ("h2,h4", "on h2 1\non h4 3\n"),
        ("web:!h1:!h3:!h5", "on h2 1\non h4 3\n"),
        ("web[3:4]", "on h4 3\non h5 4\n"),
        ("~h[12]", "on h1 0\non h2 1\n"),
    ] {
        let ran = opal.call(&["task", "--limit", pattern]);
        assert_eq!(ran.code(0).stdout, expected, "{pattern}");
        assert_eq!(table(&ran.stderr).len(), 2, "{}", ran.stderr);
        let newest = records(&opal).pop().unwrap();
        let summary = fs::read_to_string(newest.join("summary.json")).unwrap();
        assert!(summary.contains(&format!("\"limit\":\"{pattern}\"")), "{summary}");
    }
    opal.call(&["runs", "show"]).says("limit      ~h[12]");
    let plan = opal.call(&["task", "--dry-run", "--limit", "h3"]);
    plan.code(0).says("inventory=\"hosts.ini\", max_concurrency=1) → h3\n");
    opal.call(&["plan", "task", "--limit", "h3", "-o", "c.plan"]).code(2).says("--limit");
}

#[test]
fn a_limit_that_leaves_nothing_lists_the_targets() {
    let Some(opal) = local(3, BLOCK, "") else { return };
    let ran = opal.call(&["task", "--limit", "h9"]);
    ran.code(2).says("`--limit h9` leaves no target").says("the targets are: h1, h2, h3");
    assert_eq!(ran.stdout, "");
    opal.write("commands.opl", "fun task() {\n    true\n}\n");
    opal.call(&["task", "--limit", "h1"]).code(2).says("the plan has no fleet to narrow");
}

#[test]
fn an_empty_limit_is_refused_and_runs_nowhere() {
    let Some(opal) = local(3, BLOCK, "") else { return };
    for pattern in ["", " ", ",", ":", ", ,", "!", "web:!", "web,&"] {
        for command in [&["task"][..], &["task", "--dry-run"], &["verify", "task"]] {
            let ran = opal.call(&[command, &["--limit", pattern]].concat());
            ran.code(2).says("has an empty pattern").says("omit `--limit`");
            assert_eq!(ran.stdout, "", "{pattern}");
        }
    }
    assert_eq!(opal.call(&["task", "--limit", "!h1"]).code(0).stdout, "on h2 1\non h3 2\n");
    let Some(opal) = local(3, BLOCK, ", select=\"\"") else { return };
    let ran = opal.call(&["task"]);
    ran.says("the pattern for hosts is empty").says("write `all` for every host");
    assert_ne!(ran.code, 0);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_limit_never_moves_a_target_into_another_batch() {
    // `h2` and `h3` would be one batch if the others were not there at all.
    let block = "        echo @target.name\n        test @target.name != h2\n";
    let Some(opal) = local(5, block, ", batch=2") else { return };
    let ran = opal.call(&["task", "--limit", "h2,h3"]);
    ran.code(1).says("1 of 2 targets failed").says("continues h2 and starts h3");
    assert_eq!(ran.stdout, "h2\n");
    ran.says("--limit h2,h3 task --resume`");
}

#[test]
fn failed_targets_of_a_run_are_a_pattern() {
    let block = "        echo @target.name\n        test @target.name != h2\n        test @target.name != h4\n";
    let Some(opal) = local(5, block, ", max_concurrency=1, tolerate=5") else { return };
    opal.call(&["task", "--limit", "@failed"]).code(66).says("no earlier run of `task`");
    opal.call(&["task"]).code(0);
    let first = records(&opal).pop().unwrap();
    let id = first.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(opal.call(&["task", "--limit", "@failed"]).code(0).stdout, "h2\nh4\n");
    assert_eq!(opal.call(&["task", "--limit", "@failed:!h2"]).code(0).stdout, "h4\n");
    assert_eq!(opal.call(&["task", "--limit", &format!("@failed:{id}")]).stdout, "h2\nh4\n");
    let others = opal.call(&["task", "--limit", &format!("all:!@failed:{id}")]);
    assert_eq!(others.code(0).stdout, "h1\nh3\nh5\n");
    opal.call(&["task", "--limit", "@failed"]).code(2).says("no target failed in");
    opal.call(&["task", "--limit", "@failed:zz"]).code(66).says("unknown run `zz`");
}

#[test]
fn hosts_that_a_limit_leaves_out_are_neither_asked_nor_compared() {
    let same = "echo @target.name @file.read(\"role\")";
    let other = "if @target.index == 0 {\n            echo first @file.read(\"role\")\n        }";
    for block in [same, other] {
        let source = format!(
            "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], max_concurrency=1) {{\n        {block}\n        echo on @target.name\n    }}\n}}\n"
        );
        let Some((mut sshd, opal)) = servers(&["web1", "web2", "web3"], &source) else { return };
        fs::write(sshd.account().home.join("role"), "front\n").unwrap();
        opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
        // Nobody is there any more.
        sshd.configure("Host web3\n  Port 1\n");
        opal.call(&["--root", "root", "task"]).code(69);
        let ran = opal.call(&["--root", "root", "task", "--limit", "!web3"]);
        ran.code(0).hides("web3");
        let run = ["--root", "root", "run", "--plan", "c.plan"];
        assert_ne!(opal.call(&run).code, 0);
        for (pattern, names) in [("web1", 1), ("web1,web2", 2)] {
            let ran = opal.call(&[&run[..], &["--limit", pattern]].concat());
            assert_eq!(table(&ran.code(0).stderr).len(), names, "{}", ran.stderr);
        }
        opal.call(&[&run[..], &["--limit", "web9"]].concat()).code(2).says("web1, web2, web3");
        fs::write(sshd.account().home.join("role"), "back\n").unwrap();
        let limited = [&run[..], &["--limit", "web1"]].concat();
        opal.call(&limited).code(76).says("web1/file.read(path=\"role\")");
    }
}

#[test]
fn verify_with_a_limit_verifies_only_what_it_leaves() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"]) {\n        \
                  @file.copy(\"app.conf\", \"app.conf\")\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1", "web2", "web3"], source) else { return };
    let opal = opal.file("app.conf", "port=80\n");
    // Nobody is there.
    sshd.configure("Host web3\n  Port 1\n");
    let limited = ["verify", "task", "--limit", "web1,web2"];
    opal.call(&limited).code(1).says("web1").says("web2").hides("web3");
    fs::write(sshd.account().home.join("app.conf"), "port=80\n").unwrap();
    opal.call(&limited).code(0).hides("web3");
    assert_ne!(opal.call(&["verify", "task"]).says("web3").code, 0);
    opal.call(&["verify", "task", "--limit", "web9"]).code(2).says("web1, web2, web3");
}

#[test]
fn a_contract_with_a_limit_compares_only_the_machines_that_it_leaves() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"], max_concurrency=1) {\n        \
                  echo on @target.name\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    let Some(mut other) = Sshd::start() else { return };
    let (port, user) = (other.port(), other.account().name.clone());
    let folder = other.directory().display().to_string();
    sshd.configure(&format!(
        "Host web2\nHostName 127.0.0.1\nPort {port}\nUser {user}\nIdentityFile {folder}/id\n\
         UserKnownHostsFile {folder}/known_hosts\n"
    ));
    opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
    other.change_host_key(&[]);
    other.know_host();
    let run = ["--root", "root", "run", "--plan", "c.plan"];
    opal.call(&run).code(76).says("infra_mutated:web2: host key is ");
    let limited = |name| opal.call(&[&run[..], &["--limit", name]].concat());
    assert_eq!(limited("web1").code(0).stdout, "on web1\n");
    let refused = limited("web2");
    refused.code(76).says("infra_mutated:web2: host key is ");
    assert_eq!(refused.stdout, "");
}
