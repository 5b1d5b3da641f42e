//! Runs that start in the middle.

use crate::support::Opal;

const THREE: &str = "fun main() {\n    echo one\n    test -e go\n    echo three\n}\n";

#[test]
fn a_run_is_taken_up_where_it_failed() {
    let opal = Opal::machine(THREE);
    opal.call(&["main"]).code(1).stdout("one\n");
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("three\n");
    opal.call(&["main", "--resume"]).code(2).says("did not fail at a step");
}

#[test]
fn another_plan_is_not_taken_up() {
    let opal = Opal::machine(THREE);
    opal.call(&["main", "--resume"]).code(2).says("no earlier run");
    opal.call(&["main"]).code(1);
    opal.write("commands.opl", THREE.replace("three", "four"));
    opal.call(&["main", "--resume"]).code(76).stdout("").says("not the plan of today");
}

#[test]
fn steps_before_the_first_are_skipped_and_recorded() {
    let opal = Opal::machine(THREE);
    opal.call(&["main", "--from", "step:3"]).code(0).stdout("three\n");
    opal.call(&["main", "--from", "main.shell[2]"]).code(0).stdout("three\n");
    opal.call(&["main", "--from", "step:4"]).code(2).says("no step 4");
    opal.call(&["main", "--from", "main.shell[7]"]).code(2).says("no step `main.shell[7]`");
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(shown["run"]["status"], "executed");
}

#[test]
fn what_a_skipped_step_would_have_given_is_missed_before_anything_runs() {
    let text = "fun main() {\n    let.id = @shell(\"echo 7\")\n    echo first\n    echo @let.id\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main", "--from", "step:2"]).code(65).stdout("").says("E0902").says("let.id");
    let text = "fun main() {\n    cd sub\n    . ./move.sh\n    pwd\n}\n";
    let opal = Opal::machine(text).file("sub/move.sh", "cd deep\n").file("sub/deep/.keep", "");
    opal.call(&["main", "--from", "step:3"]).code(65).stdout("").says("E0902");
    let whole = opal.path().canonicalize().unwrap().join("sub/deep");
    let ran = opal.call(&["main", "--from", "step:2"]);
    ran.code(0).stdout(&format!("{}\n", whole.display()));
}
