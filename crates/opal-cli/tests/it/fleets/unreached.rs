//! Hosts that do not answer when the plan needs a value of theirs.

use opal_testing::sshd::Sshd;

use super::{local, records, targets_of};
use crate::servers::servers;
use crate::support::{Opal, Ran};

const NAMES: [&str; 3] = ["web1", "web2", "web3"];

/// A fleet of three hosts with such a block.
fn fleet(options: &str, block: &str) -> Option<(Sshd, Opal)> {
    let source = format!(
        "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], max_concurrency=1{options}) {{\n{block}    }}\n}}\n"
    );
    servers(&NAMES, &source).map(|(sshd, opal)| (sshd, opal.args(["--root", "root"])))
}

/// Whether the table says so.
fn is_unreachable(ran: &Ran, name: &str) -> bool {
    let row = format!("{name}    unreachable ");
    ran.stderr.lines().any(|line| line.starts_with(&row))
}

const READS: &str = "        echo \"@target.name\" @shell.output(\"echo said\", public=true)\n";

#[test]
fn a_host_whose_value_cannot_be_read_is_unreachable_and_tolerated() {
    // Whichever of them it is: what is checked before the run takes the values of one that answers.
    for gone in NAMES {
        let Some((mut sshd, opal)) = fleet(", tolerate=1", READS) else { return };
        sshd.configure(&format!("Host {gone}\n  Port 1\n"));
        let ran = opal.call(&["task"]);
        let said: Vec<String> =
            NAMES.iter().filter(|it| **it != gone).map(|it| format!("{it} said\n")).collect();
        assert_eq!(ran.code(0).stdout, said.concat(), "{ran:?}");
        assert!(is_unreachable(&ran, gone), "{ran:?}");
        ran.says("host unreachable: connection refused").says("check the port");
        let kept = targets_of(&records(&opal).pop().unwrap());
        assert!(kept.to_string().contains("\"unreachable\""), "{kept}");
    }
}

#[test]
fn more_of_them_than_are_tolerated_are_an_error_before_the_first_step() {
    for (options, gone) in
        [("", "web3"), (", tolerate=1", "web2 web3"), (", tolerate=\"50%\"", "web1 web3")]
    {
        let Some((mut sshd, opal)) = fleet(options, READS) else { return };
        sshd.configure(&format!("Host {gone}\n  Port 1\n"));
        let ran = opal.call(&["task"]);
        ran.code(69).says("E0821").says("host unreachable");
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_host_that_is_back_is_continued_with_the_same_plan() {
    let block = "        echo \"@target.name\" @shell.output(\"echo said\", public=true)\n        test ! -e fails\n";
    let Some((mut sshd, opal)) = fleet(", tolerate=1", block) else { return };
    std::fs::write(sshd.account().home.join("fails"), "").unwrap();
    sshd.configure("Host web1\n  Port 1\n");
    let ran = opal.call(&["task"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    std::fs::remove_file(sshd.account().home.join("fails")).unwrap();
    sshd.configure(&format!("Host web1\n  Port {}\n", sshd.port()));
    let resumed = opal.call(&["task", "--resume"]);
    assert!(resumed.code(0).stdout.starts_with("web1 said\n"), "{resumed:?}");
    assert!(!resumed.stdout.contains("web2 said"), "{resumed:?}");
}

#[test]
fn a_value_that_shapes_the_block_may_be_missing_too() {
    let block = "        if @shell.output(\"test @target.index = 0 && echo a || echo b\", public=true) == \"a\" {\n            \
                 echo \"first @target.name\"\n        } else {\n            echo \"other @target.name\"\n        }\n";
    let Some((mut sshd, opal)) = fleet(", tolerate=1", block) else { return };
    for (gone, said) in [("web1", "other web2\nother web3\n"), ("web3", "first web1\nother web2\n")]
    {
        sshd.configure(&format!("Host {gone}\n  Port 1\nHost *\n  Port {}\n", sshd.port()));
        let ran = opal.call(&["task"]);
        assert_eq!(ran.code(0).stdout, said, "{ran:?}");
        assert!(is_unreachable(&ran, gone), "{ran:?}");
    }
    // Without any of them nobody knows what the block is.
    let Some((mut sshd, opal)) = fleet(", tolerate=3", block) else { return };
    sshd.configure("Host *\n  Port 1\n");
    opal.call(&["task"]).code(69).says("E0821");
}

#[test]
fn resources_of_a_host_whose_value_cannot_be_read_are_blocked() {
    let block =
        "        @file.line(\"~/@target.name\", @shell.output(\"echo said\", public=true))\n";
    let Some((mut sshd, opal)) = fleet("", block) else { return };
    opal.call(&["task"]).code(0);
    sshd.configure("Host web2\n  Port 1\n");
    let shown = opal.call(&["verify", "task"]);
    shown.code(1);
    let is_blocked = |line: &str| line.contains("web2") && line.contains("blocked");
    assert!(shown.stdout.lines().any(is_blocked), "{shown:?}");
    assert_eq!(shown.stdout.matches(" satisfied  ").count(), 2, "{shown:?}");
    // A block on one host ends in the same way.
    let source = "fun task() {\n    @ssh.host(\"web2\") {\n        \
                  @file.line(\"~/one\", @shell.output(\"echo said\", public=true))\n    }\n}\n";
    let opal = opal.file("commands.opl", source);
    let shown = opal.call(&["verify", "task"]);
    assert!(shown.code(1).stdout.lines().any(is_blocked), "{shown:?}");
}

#[test]
fn a_host_that_answers_is_not_unreachable_because_a_file_for_it_cannot_be_sent() {
    for options in ["", ", preflight=true"] {
        for (file, why) in [("missing", "missing"), ("folder", "folder")] {
            let options = format!("{options}, max_concurrency=1, files={{\"a\": \"{file}\"}}");
            let Some(opal) = local(2, "        echo never\n", &options) else { return };
            std::fs::create_dir(opal.path().join("folder")).unwrap();
            let ran = opal.call(&["task"]);
            ran.code(1).says("1 of 2 targets failed").says(why).hides("unreachable");
            assert_eq!(ran.stdout, "");
            let kept = targets_of(&records(&opal).pop().unwrap());
            let row = &kept["fleets"][0]["targets"][0];
            assert_eq!((&row["status"], &row["code"]), (&"failed".into(), &1.into()), "{kept}");
        }
    }
}

/// This machine under the names of hosts, by an `ssh` that is a script: on `web2` nobody answers.
fn stood_in(source: &str) -> Opal {
    use std::os::unix::fs::PermissionsExt as _;
    let ssh = "#!/bin/sh\n[ \"$1\" = -V ] && { echo OpenSSH_9.2p1 >&2; exit; }\n\
               while [ \"$1\" != -- ]; do shift; done\n\
               [ \"$2\" = web2 ] || exec sh -c \"$3\"\n\
               echo \"ssh: connect to host $2 port 22: Connection refused\" >&2; exit 255\n";
    let opal = Opal::project(source).file("bin/ssh", ssh).args(["--root", "root"]);
    let bin = opal.path().join("bin");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("ssh"), mode).unwrap();
    opal.env("PATH", &format!("{}:/usr/bin:/bin", bin.display()))
}

#[test]
fn preflight_connects_to_all_hosts_before_the_first_step_runs_on_any() {
    for (option, printed) in [("", "on web1\n"), (", preflight=true", "")] {
        let opal = stood_in(&format!(
            "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], helper=\"none\", max_concurrency=1{option}) {{\n        \
             echo on @target.name\n    }}\n}}\n"
        ));
        let ran = opal.call(&["task"]);
        ran.code(69).says("1 of 3 targets failed");
        assert_eq!(ran.stdout, printed, "{ran:?}");
        assert!(is_unreachable(&ran, "web2"), "{ran:?}");
    }
}
