//! `--output folded`: equal outputs of a fleet once.

use serde_json::Value;

use super::local;
use crate::run_view::on_a_terminal;

const BLOCK: &str = "        uname -s\n        if @target.index == 1 {\n            echo odd >&2\n        \
                     }\n        test -n \"\" || echo told | cat\n";

/// Without the lines that count.
fn told(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines().filter(|line| !line.contains(" of ") && !line.is_empty());
    lines.take_while(|line| !line.starts_with("TARGET")).collect()
}

#[test]
fn equal_outputs_are_shown_once_with_the_names_of_their_targets() {
    for (options, flags) in [("", &["--output", "folded"][..]), (", output=\"folded\"", &[])] {
        let Some(opal) = local(4, BLOCK, options) else { return };
        let ran = opal.call(&[&["task"], flags].concat());
        assert_eq!(ran.code(0).stdout, "Linux\ntold\n");
        assert_eq!(
            told(&ran.stderr),
            [
                "h1 h2 h3 h4:",
                "▸ uname -s",
                "h2:",
                "▸ echo odd >&2",
                "odd",
                "h1 h2 h3 h4:",
                "▸ test -n \"\" || echo told | cat",
            ]
        );
        let (code, shown) = on_a_terminal(&opal.args([&["task"], flags].concat()));
        assert_eq!((code, shown.matches("Linux").count()), (0, 1), "{shown}");
        assert!(shown.contains("h1 h2 h3 h4:"), "{shown}");
    }
}

#[test]
fn the_flag_overrides_the_source_and_branches_are_grouped() {
    let Some(opal) = local(2, "        echo same\n", ", output=\"folded\"") else { return };
    assert_eq!(opal.call(&["task", "--output", "grouped"]).code(0).stdout, "same\nsame\n");
    let inner = "        @parallel(output=\"prefixed\") {\n            echo one\n            echo two\n        }\n";
    let Some(opal) = local(2, inner, ", output=\"folded\"") else { return };
    assert_eq!(opal.call(&["task"]).code(0).stdout, "one\ntwo\n");
    let around = "fun task() {\n    @parallel {\n        echo one\n        echo one\n    }\n}\n";
    let opal = crate::support::Opal::project(around);
    assert_eq!(opal.call(&["task", "--output", "folded"]).code(0).stdout, "one\none\n");
    let folded = around.replace("@parallel", "@parallel(output=\"folded\")");
    crate::support::Opal::project(&folded).call(&["task"]).code(65).says("`prefixed`, `grouped`");
}

#[test]
fn a_long_list_of_targets_is_shortened_and_the_record_has_all_of_them() {
    let Some(opal) =
        local(48, "        echo same\n        test @target.index != 7\n", ", tolerate=1")
    else {
        return;
    };
    let ran = opal.call(&["task", "--output", "folded", "--json"]);
    ran.code(0);
    assert_eq!(ran.stderr.lines().filter(|line| *line == "same").count(), 1, "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let rows = json["fleets"][0]["targets"].as_array().unwrap();
    assert_eq!(rows.len(), 48, "{json}");
    let ran = opal.call(&["task", "--output", "folded"]);
    ran.code(0).says("h1 h2 ").says(" … (48 targets):").stdout("same\n");
    let show = opal.call(&["runs", "show"]).code(0).stdout.clone();
    assert_eq!(show.matches("echo same").count(), 48, "{show}");
}

#[test]
fn values_are_hidden_before_outputs_are_compared() {
    let block = "        printf '%s\\n' @var.TOKEN\n        test @target.index != 1\n";
    let Some(opal) = local(3, block, ", output=\"folded\"") else { return };
    let source = std::fs::read_to_string(opal.path().join("commands.opl")).unwrap();
    let source = format!("var TOKEN = @secret.env.TOKEN\n\n{source}");
    std::fs::write(opal.path().join("commands.opl"), source).unwrap();
    let ran = opal.call_with(&[("TOKEN", "hunter2-canary")], &["task"]);
    ran.code(1);
    assert!(!ran.stdout.contains("canary") && !ran.stderr.contains("canary"), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    // A step that ends in another way is shown for itself.
    ran.says("h1:").says("h2:").says("failed: exit code 1");
}
