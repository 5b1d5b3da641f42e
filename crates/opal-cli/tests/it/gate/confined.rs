//! `tree` and `environment`: what an approved contract runs in.

use std::fs;
use std::process::Command;

use super::Gate;

const SOURCE: &str =
    "fun deploy() {\n    ./deploy.sh\n    echo \"opts=$NODE_OPTIONS region=\"@env.REGION\n}\n";

/// A repository with a task that starts a script of it.
fn committed() -> Gate {
    let gate = Gate::with(SOURCE);
    gate.opal.write("deploy.sh", "#!/bin/sh\necho approved script\n");
    gate.opal.write(".gitignore", "*\n!commands.opl\n!deploy.sh\n");
    let make = "chmod +x deploy.sh && git init -q && git add -f commands.opl deploy.sh && \
                git -c user.name=t -c user.email=t@example.com commit -q -m one";
    let made = Command::new("sh").args(["-c", make]).current_dir(gate.opal.path()).status();
    assert!(made.unwrap().success());
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate
}

/// What an agent could do after somebody approved.
fn attack(gate: &Gate) -> crate::support::Ran {
    gate.opal.write("deploy.sh", "#!/bin/sh\necho harm\n");
    gate.opal.call_with(&[("NODE_OPTIONS", "--require=./harm.js")], &["run", "--plan", "d.plan"])
}

#[test]
fn without_the_policies_a_changed_script_and_a_variable_are_not_noticed() {
    let gate = committed();
    gate.policy("[[approval]]\nby = [ANN]\n");
    let shown = gate.approve("d.plan", "ann");
    assert!(shown.contains("not fixed by the policy here: scripts and programs"), "{shown}");
    attack(&gate).code(0).stdout("harm\nopts=--require=./harm.js region=eu-west-1\n");
}

#[test]
fn under_tree_and_environment_the_approved_script_runs_without_the_variable() {
    let gate = committed();
    gate.policy(
        "tree = \"commit\"\nenvironment = [\"HOME\", \"PATH\"]\n\n[[approval]]\nby = [ANN]\n",
    );
    let shown = gate.approve("d.plan", "ann");
    assert!(shown.contains("a fresh checkout of this commit"), "{shown}");
    assert!(shown.contains("policy: only HOME PATH=/usr/local/sbin:"), "{shown}");
    attack(&gate).code(0).stdout("approved script\nopts= region=eu-west-1\n");
    // Nothing of the checkout is left, and the working tree is as it was.
    let left = fs::read_dir(gate.opal.path().join("home/.opal/checkouts")).unwrap().count();
    assert_eq!(left, 0);
    assert!(gate.opal.read("deploy.sh").contains("harm"));
}

#[test]
fn a_rule_can_demand_both_for_its_targets() {
    let gate = committed();
    gate.policy(
        "[[approval]]\nby = [ANN]\ntree = \"commit\"\nenvironment = [\"PATH=/usr/bin:/bin\"]\n",
    );
    gate.approve("d.plan", "ann");
    attack(&gate).code(0).stdout("approved script\nopts= region=eu-west-1\n");
}

#[test]
fn hooks_filters_and_settings_of_the_repository_are_not_used() {
    let gate = committed();
    gate.policy("tree = \"commit\"\n");
    let harm = gate.opal.path().join("harmed");
    let set = format!(
        "printf '#!/bin/sh\\ntouch {0}\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout && \
         git config filter.x.smudge 'touch {0}; cat' && git config uploadpack.packObjectsHook 'touch {0}; false' && \
         git config core.fsmonitor 'touch {0}' && echo '* filter=x' > .git/info/attributes && \
         printf '[filter \"x\"]\\n\\tsmudge = touch {0}\\n' > home/.gitconfig",
        harm.display()
    );
    let made = Command::new("sh").args(["-c", &set]).current_dir(gate.opal.path()).status();
    assert!(made.unwrap().success());
    gate.run("d.plan").code(0).says("approved script");
    assert!(!harm.exists());
}

#[test]
fn an_object_that_was_exchanged_in_the_repository_is_not_the_commit() {
    let gate = committed();
    gate.policy("tree = \"commit\"\n");
    // The object of the script gets the content of another one.
    let exchange = "script=$(git rev-parse HEAD:deploy.sh); other=$(echo harm | git hash-object -w --stdin); \
                    o() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }; \
                    chmod u+w $(o $script); cp $(o $other) $(o $script)";
    let made = Command::new("sh").args(["-c", exchange]).current_dir(gate.opal.path()).status();
    assert!(made.unwrap().success());
    gate.run("d.plan").code(77).says("cannot be checked out");
}

#[test]
fn a_source_that_is_not_committed_is_refused_under_tree() {
    let gate = committed();
    gate.policy("tree = \"commit\"\n");
    gate.opal.write("commands.opl", SOURCE.replace("./deploy.sh", "./deploy.sh now"));
    gate.plan(&["deploy", "-o", "e.plan"]);
    gate.run("e.plan")
        .code(77)
        .says("was not made from an unmodified commit")
        .says("commit the changes");
    gate.opal
        .call(&["run", "--plan", "d.plan", "-f", "commands.opl"])
        .code(77)
        .says("`-f commands.opl` cannot be used");
    // The commit is what runs, and the contract is compared with it.
    gate.run("d.plan").code(0).stdout("approved script\nopts= region=eu-west-1\n");
}
