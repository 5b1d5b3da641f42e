//! Files that try to put something of their own into the result.

use opal_convert::{Format, Grade, Options, convert};
use proptest::prelude::*;

use crate::{assert_program, converted, options, registry};

/// Text that would be a reference, a step, a function or the end of something.
const ATTACKS: [&str; 26] = [
    "@secret.env.CANARY",
    "@env.CANARY",
    "@var.CANARY",
    "@cmd.CANARY()",
    "@raw(\"CANARY\")",
    "@shell(\"touch CANARY\")",
    "@shell.output(\"touch CANARY\")",
    "@file.read(\"CANARY\")",
    "@needs.CANARY()",
    "user@var.CANARY",
    "\"\"\"",
    "\"",
    "'",
    "}\nfun CANARY() {\n",
    "} fun CANARY() { x",
    "\r@secret.env.CANARY",
    "\u{2028}@secret.env.CANARY",
    "\u{202e}x",
    "\u{1b}[2J",
    "//",
    "# x",
    "\\@env.CANARY",
    "\\",
    "$(",
    "<<EOF",
    "{{",
];

#[test]
fn no_text_becomes_more_than_text() {
    for attack in ATTACKS {
        let quoted = attack.replace('\'', "").replace('\n', " ");
        for text in [
            format!("a:\n    echo {attack}\n"),
            format!("a:\n    echo \"{attack}\" x\n"),
            format!("a:\n    echo x # {attack}\n"),
            format!("# {attack}\na:\n    echo x\n"),
            format!("x := '{quoted}'\na:\n    echo {{{{x}}}} \"{{{{x}}}}\" '{{{{x}}}}'\n"),
            format!("a:\n    echo `{attack}`\n    echo \"$(echo '{attack}')\"\n"),
            format!("[confirm('{quoted}')]\na:\n    cat <<EOF\n"),
            format!("a x='{quoted}':\n    echo {{{{x}}}}\nb: (a '{quoted}')\n"),
            format!("a:\n    #!/usr/bin/env bash\n    echo {attack}\n    }}\n"),
            format!("x := `{}`\na:\n    echo {{{{x}}}}\n", attack.replace('`', "")),
            format!("a:\n    echo {{{{sha1('x')}}}} {attack}\n"),
        ] {
            converted(Format::Just, &text);
        }
        let value = serde_json::to_string(attack).expect("a text is JSON");
        let command = serde_json::to_string(&format!("echo {attack}")).expect("a text is JSON");
        for text in [
            format!("version: '3'\ntasks:\n  a:\n    desc: {value}\n    cmds: [{command}]\n"),
            format!(
                "version: '3'\nvars: {{X: {value}}}\ntasks:\n  a:\n    cmds: ['echo {{{{.X}}}}']\n"
            ),
            format!(
                "version: '3'\ntasks:\n  {value}:\n    prompt: {value}\n    dir: {value}\n    cmds: [ls]\n"
            ),
        ] {
            let registry = registry();
            let options = options(&registry);
            if let Ok(found) = convert(&text, Format::Task, options) {
                assert_program(&found, &registry);
            }
        }
    }
}

#[test]
fn no_text_of_a_makefile_or_a_script_becomes_more_than_text() {
    for attack in ATTACKS {
        let line = attack.replace('\n', " ");
        for text in [
            format!("a:\n\techo {line}\n"),
            format!("# {line}\na: ## {line}\n\techo \"{line}\" '{line}'\n"),
            format!("X = {line}\na:\n\techo $(X) \"$(X)\" '$(X)'\n"),
            format!("X := $(shell echo {line})\nexport X\na:\n\techo $(X)\n"),
            format!(
                "ifeq ($(X),{line})\nY = {line}\nendif\na:\n\t@echo $(Y) $(foreach x,y,{line})\n"
            ),
        ] {
            // A `\` at its end takes the next line away, and with it the rule.
            if attack != "\\" {
                converted(Format::Make, &text);
            }
        }
        let script = serde_json::json!({"scripts": {"a": format!("echo {attack}"), "b": attack}});
        let registry = registry();
        for inline in [false, true] {
            let options = Options { inline, ..options(&registry) };
            let found = convert(&script.to_string(), Format::Package, options).expect("it is JSON");
            assert_program(&found, &registry);
        }
    }
}

#[test]
fn a_few_lines_cannot_become_a_mountain() {
    let doubled = "X := $(X)$(X)a\n".repeat(200);
    converted(Format::Make, &format!("{doubled}a:\n\techo $(X)\n"));
    let called: String =
        (0..100).map(|n| format!("f{n} = $(call f{0})$(call f{0})\n", n + 1)).collect();
    converted(Format::Make, &format!("{called}a:\n\techo $(call f0)\n"));
    let chain: String = (0..60).map(|n| format!("else ifeq ($(Z),{n})\nX := $(X){n}\n")).collect();
    converted(Format::Make, &format!("ifeq ($(Z),x)\nX := 1\n{chain}endif\na:\n\techo $(X)\n"));
    let laughs: String = (0..60).map(|n| format!("v{n} := v{0} + v{0}\n", n + 1)).collect();
    converted(Format::Just, &format!("{laughs}v60 := 'ha'\na:\n    echo {{{{v0}}}}\n"));
}

#[test]
fn a_file_that_is_not_text_or_not_of_the_format_is_refused() {
    let registry = registry();
    let options = options(&registry);
    for (format, text, message) in [
        (Format::Just, "\u{7f}ELF\0\0", "NUL"),
        (Format::Task, "a: [", "YAML"),
        (Format::Task, "", "empty"),
        (Format::Task, "x: 1\n", "no `tasks`"),
        (Format::Make, "X = 1\n", "no rules"),
        (Format::Package, "{\"name\": \"x\"}", "no `scripts`"),
        (Format::Package, "{", "invalid JSON"),
    ] {
        let found = convert(text, format, options).expect_err(text);
        assert!(found.message.contains(message), "{found:?}");
    }
    let noise = "%%% &&&\n".repeat(50);
    assert_eq!(
        convert(&noise, Format::Just, options).expect_err("noise").message,
        "this is not a justfile"
    );
}

#[test]
fn limits_hold() {
    let registry = registry();
    let options = options(&registry);
    let many: String = (0..10_001).map(|number| format!("t{number}:\n")).collect();
    assert!(
        convert(&many, Format::Just, options).expect_err("many").message.contains("10000 tasks")
    );
    let deep =
        format!("x := {}'a'{}\na:\n    echo {{{{x}}}}\n", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(converted(Format::Just, &deep).count(Grade::Exact), 0);
    let cycle = "a := b\nb := a\nx:\n    echo {{a}}\n";
    assert_eq!(converted(Format::Just, cycle).count(Grade::Exact), 0);
}

const PIECES: [&str; 44] = [
    "a:\n",
    "b x:\n",
    "c *x: a\n",
    "    ",
    "echo ",
    "\n",
    "\n\n",
    "x := ",
    "'v'",
    "\"w\"",
    "`pwd`",
    "{{x}}",
    "{{",
    "}}",
    "{{ x + 'y' }}",
    "if x == 'v' { 'a' } else { 'b' }",
    " && ",
    " | ",
    ";",
    "\\\n",
    "#",
    "#!/bin/sh\n",
    "@",
    "-",
    "@secret.env.CANARY",
    "@var.CANARY",
    "CANARY@env.CANARY",
    "}\n",
    "{\n",
    "fun CANARY() {",
    "\"",
    "'",
    "$(",
    ")",
    "(",
    "<<EOF\n",
    "EOF\n",
    "[private]\n",
    "set export\n",
    "alias q := a\n",
    "import 'CANARY'\n",
    "\t",
    "\r",
    "\u{2028}",
];

const MAKE: [&str; 40] = [
    "a:\n",
    "b: a\n",
    "%.o: %.c\n",
    "\t",
    "echo ",
    "\n",
    "\n\n",
    "X = ",
    "X += ",
    "X ?= ",
    "export ",
    "v",
    "$(X)",
    "${X}",
    "$(",
    ")",
    "$(shell ",
    "$(foreach x,y,z)",
    "$(call X,",
    "$@",
    "$<",
    "$$",
    "ifeq ($(X),v)\n",
    "else\n",
    "endif\n",
    "define X\n",
    "endef\n",
    " && ",
    ";",
    "\\\n",
    "#",
    "@secret.env.CANARY",
    "@var.CANARY",
    "}\n",
    "\"",
    "'",
    "<<EOF\n",
    "include CANARY\n",
    "\r",
    "\u{2028}",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn whatever_a_justfile_holds_the_result_is_a_program(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)
    ) {
        let registry = registry();
        let options = options(&registry);
        if let Ok(found) = convert(&pieces.concat(), Format::Just, options) {
            assert_program(&found, &registry);
        }
    }

    #[test]
    fn whatever_a_makefile_holds_the_result_is_a_program(
        pieces in prop::collection::vec(prop::sample::select(MAKE.to_vec()), 0..40)
    ) {
        let registry = registry();
        if let Ok(found) = convert(&pieces.concat(), Format::Make, options(&registry)) {
            assert_program(&found, &registry);
        }
    }

    #[test]
    fn whatever_a_command_of_a_taskfile_holds_the_result_is_a_program(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..20)
    ) {
        let registry = registry();
        let options = options(&registry);
        let text = pieces.concat();
        let command = serde_json::to_string(&text.replace("{{x", "{{.X")).expect("a text is JSON");
        let text = format!("version: '3'\ntasks:\n  a:\n    desc: {command}\n    cmds: [{command}, 'echo']\n");
        if let Ok(found) = convert(&text, Format::Task, options) {
            assert_program(&found, &registry);
        }
    }
}
