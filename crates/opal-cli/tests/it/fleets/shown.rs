//! What is shown of a fleet: prefixes, progress, and why hosts failed.

use crate::fleets::{local, records, table};
use crate::servers::servers;

#[test]
fn every_line_about_a_failed_host_has_its_name_before_it() {
    let block = "        case @target.name in *[13579]) exit 1;; esac\n        \
                 @retry(attempts=2, delay=1ms) { case @target.name in *[02]) exit 3;; esac }\n";
    let Some(opal) = local(40, block, ", tolerate=40, max_concurrency=40") else { return };
    for _ in 0..3 {
        let ran = opal.call(&["task", "--output", "prefixed"]);
        ran.code(0);
        let lines = ran.stderr.lines().take_while(|line| !line.starts_with("TARGET"));
        let told: Vec<&str> =
            lines.filter(|it| it.contains("failed") || it.contains("attempt")).collect();
        let named = |line: &&str| line.split_once('│').map(|(name, _)| name.trim().to_owned());
        let of = |text: &str| -> Vec<String> {
            let mut names: Vec<String> = told
                .iter()
                .filter(|line| line.contains(text))
                .map(|line| named(line).unwrap_or_else(|| format!("nobody: {line}")))
                .collect();
            names.sort();
            names
        };
        let hosts = |ends: &str| -> Vec<String> {
            let all = (1..=40).map(|number| format!("h{number}"));
            let mut all: Vec<String> =
                all.filter(|it| ends.contains(&it[it.len() - 1..])).collect();
            all.sort();
            all
        };
        assert_eq!(of("failed: exit code 1"), hosts("13579"), "{}", ran.stderr);
        assert_eq!(of("attempt 1 of 2"), hosts("02"), "{}", ran.stderr);
        assert_eq!(of("attempt 2 of 2"), hosts("02"), "{}", ran.stderr);
    }
}

#[test]
fn hosts_that_others_were_the_reason_to_stop_have_not_failed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let block = format!(
        "        ( if test @target.name = h1; then until test -e {at}/h2 && test -e {at}/h3; do sleep 0.05; done; exit 9; fi ) || exit 9; \
         touch {at}/@target.name; sleep 600\n"
    );
    let options = ", max_concurrency=3, on_failure=\"cancel\"";
    let Some(opal) = local(4, &block, options) else { return };
    let ran = opal.call(&["task"]);
    ran.code(9).says("1 of 4 targets failed (tolerate=0)");
    let rows = table(&ran.stderr);
    let ends: Vec<&str> = rows.iter().map(|row| row[1]).collect();
    assert_eq!(ends, ["failed", "stopped", "stopped", "skipped"], "{}", ran.stderr);
    let counted = ran.stderr.lines().filter(|line| line.contains(" ended, "));
    for line in counted {
        assert!(line.ends_with(", 1 failed"), "{line}");
    }
    // The record has the same, and so has what reads it.
    let text = std::fs::read_to_string(records(&opal)[0].join("targets.json")).unwrap();
    assert_eq!(text.matches("\"stopped\"").count(), 2, "{text}");
    let shown = opal.call(&["runs", "show"]);
    assert_eq!(table(&shown.stdout)[1][1], "stopped");
    // They are continued at their step, the other one starts.
    std::fs::write(folder.path().join("h4"), "").unwrap();
    ran.says("continues h1, h2 and h3 and starts h4");
}

#[test]
fn without_a_terminal_the_output_of_a_host_stays_together() {
    let block = "        echo @target.name one\n        sleep 0.1\n        echo @target.name two\n";
    let Some(opal) = local(8, block, ", max_concurrency=4") else { return };
    let ran = opal.call(&["task"]);
    ran.code(0);
    let mut inside = None;
    for line in ran.stderr.lines().take_while(|line| !line.starts_with("TARGET")) {
        if let Some(name) = line.strip_suffix(':') {
            inside = Some(name.to_owned());
        } else if line.contains(" ended") {
            // It is said before the next host, and so after the last step of this one.
            inside = None;
        } else if line.starts_with('▸') {
            assert!(inside.is_some(), "{}", ran.stderr);
        }
    }
}

#[test]
fn why_hosts_failed_is_said_whole_and_once() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], tolerate=3) {\n        id\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1", "web2", "web3"], source) else { return };
    let opal = opal.args(["--root", "root"]);
    sshd.know_host();
    sshd.change_host_key(&[]);
    let ran = opal.call(&["task"]);
    ran.code(0);
    assert_eq!(ran.stderr.matches(" unreachable ").count(), 3, "{}", ran.stderr);
    let name = format!("[127.0.0.1]:{}", sshd.port());
    let shown = opal.call(&["runs", "show"]);
    for text in [&ran.stderr, &shown.code(0).stdout] {
        let reason = "web1, web2 and web3: host key is SHA256:";
        assert_eq!(text.matches(reason).count(), 1, "{text}");
        assert!(text.contains("now, and another one in `known_hosts`\n  help: if "), "{text}");
        // What `known_hosts` has, and not what the configuration calls the host.
        assert!(text.contains(&format!("`ssh-keygen -R '{name}'")), "{text}");
    }
    let document = opal.call(&["runs", "show", "--json"]).json();
    let help = document["fleets"][0]["targets"][1]["help"][0].as_str().unwrap();
    assert!(help.contains("ssh-keygen"), "{document:#}");
}
