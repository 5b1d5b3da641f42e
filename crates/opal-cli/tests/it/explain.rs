//! `opal explain`.

use crate::support::Opal;

#[test]
fn a_code_is_explained_in_either_case() {
    let upper = Opal::new().args(["explain", "E0401"]).run();
    upper.code(0).says("# E0401: undeclared variable").says("Wrong:").says("Right:");
    assert_eq!(Opal::new().args(["explain", "e0401"]).run().stdout, upper.stdout);
}

#[test]
fn an_unknown_code_gets_a_suggestion() {
    Opal::new().args(["explain", "E0410"]).run().code(2).says("did you mean `opal explain E0");
    Opal::new().args(["explain", "nonsense"]).run().code(2).says("with `opal explain`");
}

#[test]
fn a_decorator_is_explained_from_its_descriptor() {
    let ran = Opal::new().args(["explain", "@retry"]).run();
    ran.code(0).says("attempts: Int (also `times`)").says("strategy").says("Roles: wrapper");
    Opal::new()
        .args(["explain", "@file.copy"])
        .run()
        .code(0)
        .says("\nStatuses:\n\n- `satisfied`: ");
    Opal::new().args(["explain", "@env.HOME"]).run().code(0).says("@env.NAME");
    Opal::new()
        .args(["explain", "@retyr"])
        .run()
        .code(2)
        .says("did you mean `opal explain @retry`?");
}

#[test]
fn without_a_topic_everything_is_listed() {
    Opal::new().args(["explain"]).run().code(0).says("E0101").says("@file.template");
    let document = Opal::new().args(["explain", "--json"]).run().code(0).json();
    assert!(document["codes"].as_array().unwrap().len() > 80);
    assert!(document["decorators"].as_array().unwrap().len() > 40);
}

#[test]
fn json_works_for_codes_and_decorators() {
    let code = Opal::new().args(["explain", "E0401", "--json"]).run().code(0).json();
    assert_eq!(code["severity"], "error");
    let decorator = Opal::new().args(["explain", "@retry", "--json"]).run().code(0).json();
    assert_eq!(decorator["roles"], serde_json::json!(["wrapper"]));
    assert_eq!(decorator["usage"], "@retry(…) { … }");
    assert!(decorator["resource"].is_null());
    let resource = Opal::new().args(["explain", "@file.line", "--json"]).run().code(0).json();
    let told_apart = serde_json::json!({"type": "line_in_file", "key": ["file", "line"]});
    assert_eq!(resource["resource"], told_apart);
}
