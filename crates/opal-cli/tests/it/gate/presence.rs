//! Hardware keys: what a touch proves, and answering by one.

use super::Gate;
use crate::hardware::Hardware;
use crate::support::Opal;

/// A machine whose `ssh-keygen` reaches a hardware key.
pub(crate) fn with_hardware() -> Option<(Gate, Hardware)> {
    let hardware = Hardware::new()?;
    let Gate { opal } = Gate::new();
    let add = |opal: Opal, (name, value): &(&str, String)| opal.env(name, value);
    let opal = hardware.environment().iter().fold(opal, add);
    Some((Gate { opal }, hardware))
}

#[test]
fn only_a_touch_is_presence() {
    let Some((gate, hardware)) = with_hardware() else { return };
    let key = hardware.key().display().to_string();
    let rule = format!("[[approval]]\nby = [{}, ANN]\npresence = true\n", hardware.listed());
    gate.policy(&rule);
    for (how, counts) in [("without", false), ("yes", true)] {
        let plan = format!("{how}.plan");
        gate.plan(&["deploy", "-o", &plan]);
        hardware.touched(how);
        let (code, shown) = gate.says(&["plan", "approve", &plan, "--key", &key], "y\r");
        assert_eq!(code, 0, "{shown}");
        match counts {
            true => gate.run(&plan).code(0).stdout("deploying to eu-west-1\n"),
            false => gate.run(&plan).code(77).says("`presence` needs a hardware key"),
        };
    }
    // A key without a device is none, whoever it belongs to.
    gate.plan(&["deploy", "-o", "soft.plan"]);
    gate.approve("soft.plan", "ann");
    gate.run("soft.plan").code(77).says("`presence` needs a hardware key");
}

#[test]
fn a_touch_answers_where_nobody_can_be_asked_and_nothing_else_does() {
    let Some((gate, hardware)) = with_hardware() else { return };
    let key = hardware.key().display().to_string();
    gate.policy(&format!("[[approval]]\nby = [{}]\npresence = true\n", hardware.listed()));
    gate.plan(&["deploy", "-o", "d.plan"]);
    let approve = |words: &[&str]| {
        gate.opal.call(&[&["plan", "approve", "d.plan", "--key", &key], words].concat())
    };
    let approvals = gate.opal.path().join("d.plan.approvals");
    approve(&[]).code(2).says("or answer by touching the key: `--touch`");
    hardware.touched("no");
    approve(&["--touch"]).code(69).says("`ssh-keygen` did not sign");
    hardware.touched("without");
    approve(&["--touch"]).code(77).says("signed without a touch").says("nothing was written");
    assert!(!approvals.exists());
    // A key that is not in a device cannot be touched.
    let ann = gate.key("ann").display().to_string();
    let ran = gate.opal.call(&["plan", "approve", "d.plan", "--touch", "--key", &ann]);
    ran.code(2).says("`--touch` needs a hardware key");
    assert!(!approvals.exists());
    hardware.touched("yes");
    let ran = approve(&["--touch"]);
    ran.code(0).says("echo deploying to").says("You approve these unseen:");
    gate.run("d.plan").code(0);
    gate.plan(&["test", "-o", "t.plan"]);
    let words = ["plan", "reject", "t.plan", "--touch", "--key", &key];
    gate.opal.call(&words).code(0);
    gate.run("t.plan").code(77).says("rejected by zoe");
}
