//! Values in shell text arrive as they are and never as code, in bash and in dash.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use crate::session::payloads;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use opal_core::context::{Context, Place};
use opal_core::resolver::{Probe, Run, ScriptPart, TroubleKind};
use opal_core::script::Case;
use opal_core::shell::{Shell, compile};
use opal_core::{Data, Secret};
use opal_session::world::{OsWorld, Surroundings};
use payloads::PAYLOADS;
use tempfile::TempDir;

const SHELLS: [(&str, &str); 2] = [("bash", "/bin/bash"), ("sh", "/bin/dash")];

fn world(shell: (&str, &str), at: &Path, more: &[(&str, &str)]) -> OsWorld {
    let path = at.join(format!(".{}", shell.0));
    fs::create_dir_all(&path).unwrap();
    let link = path.join(shell.0);
    if !link.exists() {
        symlink(shell.1, link).unwrap();
    }
    let mut environment: BTreeMap<OsString, OsString> =
        more.iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment.insert("PATH".into(), path.into());
    OsWorld::new(Surroundings {
        environment: environment.into(),
        start: at.to_owned(),
        ..Surroundings::default()
    })
}

fn text(text: &str) -> ScriptPart {
    ScriptPart::Text(text.to_owned())
}

fn data(value: &str, place: Place) -> ScriptPart {
    ScriptPart::Data(Data::text(value), Context::new(place))
}

/// Script text around one value, and what it prints, with `{}` for the value.
fn places() -> Vec<(&'static str, Place, &'static str, &'static str)> {
    vec![
        ("printf '[%s]' ", Place::Word, "", "[{}]"),
        ("printf '[%s]' a", Place::Word, "b", "[a{}b]"),
        ("printf '[%s]' {x,", Place::Word, "}", ""),
        ("printf '[%s]' \"a", Place::Quoted, "b\"", "[a{}b]"),
        ("x=", Place::Assignment, "; printf '[%s]' \"$x\"", "[{}]"),
        ("export x=", Place::Assignment, "; printf '[%s]' \"$x\"", "[{}]"),
        ("cat() { command -p cat; }; cat <<EOF\n[", Place::Heredoc, "]\nEOF\n", "[{}]\n"),
        ("printf '[%s]' \"${none:-", Place::Expansion, "}\"", "[{}]"),
        ("printf '[%s]' ${none:-", Place::Expansion, "}", "[{}]"),
        ("printf '[%s]' \"$(printf '%s.' ", Place::Word, ")\"", "[{}.]"),
        ("printf '[%s]' \"`printf '%s.' ", Place::Word, "`\"", "[{}.]"),
        ("printf '[%s]' \"$(printf '%s.' \"", Place::Quoted, "\")\"", "[{}.]"),
        ("case x in ", Place::Word, ") printf is;; *) printf not;; esac", "not"),
        ("y=abc; printf '[%s]' \"${y#", Place::Expansion, "}\"", "[abc]"),
        ("( printf '[%s]' ", Place::Word, " ) | { read -r _; printf done; }", ""),
    ]
}

#[test]
fn hostile_values_arrive_byte_for_byte_in_every_place_and_run_nothing() {
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &[]);
        for (before, place, after, expected) in places() {
            for payload in PAYLOADS {
                let parts = [text(before), data(payload, place), text(after)];
                let at = format!("{} {before}{payload:?}{after}", shell.0);
                let output = world.run(&Run::Script(&parts)).map(|it| it.expose().to_owned());
                if expected.is_empty() {
                    continue;
                }
                assert_eq!(output, Ok(expected.replace("{}", payload)), "{at}");
            }
        }
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn a_value_names_exactly_one_file_in_a_redirection() {
    for shell in SHELLS {
        for payload in PAYLOADS.iter().filter(|it| !it.is_empty() && !it.contains('/')) {
            let directory = TempDir::new().unwrap();
            let world = world(shell, directory.path(), &[]);
            let parts = [text("printf hi > "), data(payload, Place::Redirection)];
            world.run(&Run::Script(&parts)).unwrap();
            assert_eq!(fs::read_to_string(directory.path().join(payload)).unwrap(), "hi");
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "{payload:?}");
        }
    }
}

#[test]
fn a_mebibyte_reaches_builtins_and_heredocs() {
    let long = "'\"\\$(x)\n".repeat(128 * 1024);
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &[]);
        let word = [text("printf %s "), data(&long, Place::Word)];
        assert!(world.run(&Run::Script(&word)).unwrap().expose() == long);
        let heredoc = [text("command -p cat <<E\n"), data(&long, Place::Heredoc), text("\nE\n")];
        assert!(world.run(&Run::Script(&heredoc)).unwrap().expose() == format!("{long}\n"));
    }
}

#[test]
fn an_array_becomes_one_word_an_element_and_none_when_empty() {
    let whole = Context::new(Place::Word).starts_word(true).whole_word(true);
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &[]);
        let count = |items: &[&str]| {
            let items = items.iter().map(|item| Data::text(*item)).collect();
            let parts = [
                text("set -- x "),
                ScriptPart::Data(Data::Array(items), whole),
                text(" ; printf '%s:' $# \"$@\""),
            ];
            world.run(&Run::Script(&parts)).unwrap().expose().to_owned()
        };
        assert_eq!(count(&[]), "1:x:");
        assert_eq!(count(&["a b", "*", ""]), "4:x:a b:*::");
    }
}

#[test]
fn whole_numbers_keep_their_sign_where_the_shell_calculates() {
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &[]);
        for number in [0, 7, -7, i64::MAX, i64::MIN] {
            let value = ScriptPart::Data(Data::Int(number), Context::new(Place::Arithmetic));
            let parts = [text("printf %s $((0 -"), value.clone(), text("))")];
            let output = world.run(&Run::Script(&parts)).unwrap();
            assert_eq!(output.expose(), 0i64.wrapping_sub(number).to_string(), "{}", shell.0);
        }
    }
    let directory = TempDir::new().unwrap();
    let bash = world(SHELLS[0], directory.path(), &[]);
    let minus = |place| ScriptPart::Data(Data::Int(-1), Context::new(place));
    let index = [text("a=(x y z); printf %s ${a["), minus(Place::Subscript), text("]}")];
    assert_eq!(bash.run(&Run::Script(&index)).unwrap_err().kind, TroubleKind::Invalid);
    let test = [text("[[ -1 -eq "), minus(Place::Arithmetic), text(" ]] && printf same")];
    assert_eq!(bash.run(&Run::Script(&test)).unwrap().expose(), "same");
}

#[test]
fn what_the_shell_would_evaluate_is_refused_before_anything_runs() {
    let refused = [
        ScriptPart::Data(Data::text("x"), Context::new(Place::Word).case(Case::DUPLICATED)),
        data("1", Place::Arithmetic),
        data("1", Place::Subscript),
        ScriptPart::Data(Data::Float(1.5), Context::new(Place::Arithmetic)),
        ScriptPart::Data(Data::Array(Vec::new()), Context::new(Place::Quoted)),
        ScriptPart::Data(Data::Map(BTreeMap::new()), Context::new(Place::Word)),
        data("a\0b", Place::Word),
        ScriptPart::Raw(Secret::new("a\0b")),
    ];
    for part in refused {
        let trouble = compile(&[text("echo "), part.clone()]).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Invalid, "{part:?}");
        assert!(!trouble.help.is_empty());
    }
}

#[test]
fn no_value_is_in_an_argument_list_or_an_environment() {
    const CANARY: &str = "canary-19a4";
    let look = "; command -p tr '\\0' '\\n' </proc/$$/cmdline; \
                command -p tr '\\0' '\\n' </proc/$$/environ; command -p env; printf seen";
    let leaky = [("__opal_0", "x"), ("__opal_script", "x"), ("SHELLOPTS", "allexport")];
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &leaky);
        for hidden in [data(CANARY, Place::Word), ScriptPart::Raw(Secret::new(CANARY))] {
            let output = world.run(&Run::Script(&[text(": "), hidden, text(look)])).unwrap();
            assert!(output.expose().ends_with("seen"));
            assert!(!output.expose().contains(CANARY), "{}", output.expose());
        }
    }
}

#[test]
fn raw_text_is_code_and_long_scripts_need_no_argument() {
    for shell in SHELLS {
        let directory = TempDir::new().unwrap();
        let world = world(shell, directory.path(), &[]);
        let raw = [text("printf '%s,' "), ScriptPart::Raw(Secret::new("a b; printf c"))];
        assert_eq!(world.run(&Run::Script(&raw)).unwrap().expose(), "a,b,c");
        let long = format!("{}printf end", ":\n".repeat(200_000));
        assert_eq!(world.run(&Run::Script(&[text(&long)])).unwrap().expose(), "end");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts a shell that is fed nothing")]
fn a_script_does_not_run_without_its_values() {
    let compiled = compile(&[text("echo ran "), data("x", Place::Word)]).unwrap();
    let feed = compiled.feed().unwrap();
    for (shell, program) in [(Shell::Bash, "/bin/bash"), (Shell::Sh, "/bin/dash")] {
        for length in [0, feed.len() / 2, feed.len() - 2] {
            let mut child = Command::new(program)
                .args(["-c", &compiled.command(shell)])
                .env("__opal_0", "from outside")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(&feed.as_bytes()[..length]).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(!output.status.success() && output.stdout.is_empty(), "{shell:?} {length}");
        }
    }
}

#[test]
fn a_pipeline_fails_with_any_of_its_parts_in_bash() {
    let directory = TempDir::new().unwrap();
    let world = world(SHELLS[0], directory.path(), &[]);
    let trouble = world.run(&Run::Script(&[text("false | true")])).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Failed);
}
