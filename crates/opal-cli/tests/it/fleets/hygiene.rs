//! What targets print cannot take over the terminal.

use crate::run_view::on_a_terminal;
use crate::servers::servers;
use crate::support::Opal;

/// Sets the clipboard and the title, asks for a report, and prints something red.
const ODD: &str = "printf '\\033]52;c;aGk=\\007\\033]0;ti\\007\\033[6n\\033[31mred\\033[0m\\n'";

#[test]
fn only_text_and_colours_of_targets_reach_a_terminal() {
    let hosts = format!("@ssh.hosts([\"web1\", \"web2\"]) {{\n        {ODD}\n    }}");
    let host = format!(
        "@parallel {{\n        @ssh.host(\"web1\") {{\n            {ODD}\n        }}\n        true\n    }}"
    );
    for block in [hosts, host] {
        let source = format!("fun task() {{\n    {block}\n}}\n");
        for output in ["grouped", "prefixed"] {
            let Some((_sshd, opal)) = servers(&["web1", "web2"], &source) else { return };
            let (code, shown) = on_a_terminal(&opal.args(["task", "--output", output]));
            assert_eq!(code, 0, "{shown}");
            assert!(shown.contains("\x1b[31mred\x1b[0m"), "{shown:?}");
            for odd in ["\x1b]", "aGk=\x07", "ti\x07", "\x1b[6n"] {
                assert!(!shown.contains(odd), "{output}: {shown:?}");
            }
        }
        // A file or a program gets every byte.
        let Some((_sshd, opal)) = servers(&["web1", "web2"], &source) else { return };
        let ran = opal.call(&["task", "--output", "grouped"]);
        assert!(ran.code(0).stdout.starts_with("\x1b]52;c;aGk=\x07"), "{:?}", ran.stdout);
    }
}

#[test]
fn what_steps_on_this_machine_print_is_unchanged() {
    let source = format!("fun task() {{\n    {ODD}\n}}\n");
    let (code, shown) = on_a_terminal(&Opal::project(&source).args(["task"]));
    assert!(code == 0 && shown.contains("\x1b]52;c;aGk=\x07"), "{shown:?}");
}
