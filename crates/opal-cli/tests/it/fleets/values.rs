//! Values of a target are hidden in what that target says, and nowhere else.

use std::fs;

use super::{local, records};

/// On `h1` the value is a word that all hosts print.
const READ: &str =
    "@shell.output(\"test @target.index = 0 && echo okay || echo value-@target.name\"";

fn opal(read: &str) -> Option<crate::support::Opal> {
    let block = format!(
        "        var V = {read}\n        echo okay\n        printf '%s\\n' @var.V\n        echo okay >&2\n"
    );
    let opal = local(3, &block, ", max_concurrency=1")?;
    let source = fs::read_to_string(opal.path().join("commands.opl")).unwrap();
    let after = source.trim_end().strip_suffix('}').unwrap();
    fs::write(opal.path().join("commands.opl"), format!("{after}    echo all is okay\n}}\n"))
        .unwrap();
    Some(opal)
}

#[test]
fn a_word_that_one_target_returns_as_a_value_hides_nothing_in_what_others_print() {
    let Some(opal) = opal(&format!("{READ})")) else { return };
    let ran = opal.call(&["task", "--report", "report.html", "--report", "report.xml"]);
    let lines: Vec<&str> = ran.code(0).stdout.lines().collect();
    let [first, value, second, value_2, third, value_3, last] = lines[..] else {
        panic!("{lines:?}")
    };
    // In its own output it is hidden, whoever printed it.
    assert!(!first.contains("okay") && first == value, "{lines:?}");
    assert_eq!((second, third, last), ("okay", "okay", "all is okay"), "{lines:?}");
    assert!(![value_2, value_3].concat().contains("value-h"), "{lines:?}");
    assert_eq!(ran.stderr.lines().filter(|line| *line == "okay").count(), 2, "{}", ran.stderr);
    // The same holds for what is kept of the run.
    let folder = records(&opal).pop().unwrap();
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    for text in [events, opal.read("report.html"), opal.read("report.xml")] {
        assert!(text.contains("okay") && !text.contains("value-h"), "{text}");
    }
    let logs = opal.call(&["runs", "log"]);
    assert!(!logs.stdout.contains("value-h"), "{}", logs.stdout);
}

#[test]
fn a_declared_secret_of_a_target_is_hidden_everywhere() {
    let Some(opal) = opal("@env.WORD(secret=true, default=\"okay\")") else { return };
    let ran = opal.call(&["task"]);
    assert!(!ran.code(0).stdout.contains("okay") && !ran.stderr.contains("\nokay"), "{ran:?}");
}

#[test]
fn what_a_target_captures_is_hidden_there_and_shown_elsewhere() {
    let block = "        let.V = @shell(\"echo captured-@target.index\")\n        \
                 echo captured-0 captured-1 .\n        printf '%s\\n' @let.V.stdout\n";
    let Some(opal) = local(2, block, ", max_concurrency=1") else { return };
    let ran = opal.call(&["task"]);
    // The line end of what was printed is seen, and that of `printf`.
    let lines: Vec<&str> = ran.code(0).stdout.lines().collect();
    let [first, own, "", second, own_2, ""] = lines[..] else { panic!("{lines:?}") };
    assert!(!first.contains("captured-0") && first.ends_with(" captured-1 ."), "{lines:?}");
    assert!(second.starts_with("captured-0 ") && !second.contains("captured-1"), "{lines:?}");
    assert!(![own, own_2].concat().contains("captured"), "{lines:?}");
    // A record that is scrubbed again keeps to the same rule.
    let folder = records(&opal).pop().unwrap();
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert!(events.contains(" captured-1") && events.contains("captured-0 "), "{events}");
}

#[test]
fn more_than_10_000_hidden_values_of_targets_are_an_error() {
    let reads: String =
        (0..1001).map(|n| format!("        true @env.TOKEN_{n}(default=\"none\")\n")).collect();
    let Some(opal) = local(10, &reads, "") else { return };
    opal.call(&["task"]).code(65).says("E1508").says("10,010 values").says("public=true");
}
