//! The reference of refused places: made of the table that the lexer uses. With `UPDATE_EXPECT=1` the
//! page is written.

use std::fmt::Write as _;
use std::fs;

use opal_core::script::{At, CASES, Case, INTERPRETED, Role};

use crate::support::repository;

const PAGE: &str = "docs/reference/shell-places.md";
const COMMAND: &str = "UPDATE_EXPECT=1 cargo test -p opal-cli --test it places_of_shell_text";

fn rows(out: &mut String, select: impl Fn(&Case) -> bool) {
    out.push_str("\n| example | reason | allowed |\n|---|---|---|\n");
    for case in CASES.iter().filter(|case| select(case)) {
        let allowed = match case.role {
            Role::Code | Role::Name => "nothing",
            Role::Sum => "an Int",
            Role::Warn => "with a warning",
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {} | {allowed} |", cell(case.example), cell(case.why));
    }
}

fn page() -> String {
    let mut out = format!("<!-- Not written by hand: {COMMAND} -->\n");
    out.push_str(
        "# Shell text: places that are refused\n\n\
         A value is one word, byte for byte, wherever the shell expands a word once. Wherever bash, \
         dash or a program that they start reads the word again, a reference is refused (`E0701`, \
         `E0702`), and `@raw(…)` pastes text that is yours. Each line of these tables is a row of the \
         one table that opal uses, and each row is tested in real shells with values that would be \
         code.\n\n\
         A program is known by its name without quotes, escapes, directory and version, also after \
         `sudo`, `doas`, `env`, `xargs`, `timeout`, `nice`, `nohup`, `exec`, `command`, `builtin`, \
         `time` and other programs that run a command. Options count however they are written: `-c x`, \
         `-cx`, `-ec x`, `--command=x`, `--comm x`.\n\n\
         A value at the beginning of a word is read as the program reads it: as an option of these \
         tables, as a setting of `env` or `sudo`, as the command of a program that runs one. Where \
         code would be in it, it is refused, each element of an array included, after `--` and with \
         `dash=true` too, and also if it was given on the command line. A constant of the source may \
         say everything.\n\n## The shell's own syntax\n",
    );
    rows(&mut out, |case| case.at == At::Syntax && case.role != Role::Warn);
    out.push_str("\n## Builtins, shells and programs that start a shell\n");
    rows(&mut out, |case| case.at != At::Syntax && case.role != Role::Warn);
    out.push_str(
        "\n## Programs that run an option\n\nThe value is data for the shell. The program may run it, \
         so opal warns (`W0706`). It also warns about variables that only a program runs or takes \
         options from, such as `GIT_SSH_COMMAND`, `NODE_OPTIONS` and `PERL5OPT`.\n",
    );
    rows(&mut out, |case| case.role == Role::Warn);
    out.push_str(
        "\n## Interpreted variables\n\nNo reference may be assigned to these variables: not in a step, \
         not by `env` or `export`, not in `@environ`.\n\n| variable | reason |\n|---|---|\n",
    );
    for row in INTERPRETED {
        let _ = writeln!(out, "| `{}` | {} |", row.name, row.why);
    }
    out.push_str(
        "\n## What opal does not follow\n\n\
         A shell variable counts as the value that it is given, in all of its step. Not followed are files \
         that a step writes, sources or runs, text in single quotes that `eval`, `trap` or another shell \
         runs, and the environment of programs. An expansion among the words of a command (`printf \
         \"$format\" @var.x`) is taken for an ordinary word, not for an option, unless the program is a \
         shell. Forms of shell text that the second, strict reading of a step does not follow are in \
         [Interpolation](../language/04-interpolation.md#text-that-opal-does-not-follow).\n",
    );
    out
}

#[test]
fn places_of_shell_text_are_documented_from_their_table() {
    let path = repository().join(PAGE);
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests")]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, page(), "{COMMAND}");
}
