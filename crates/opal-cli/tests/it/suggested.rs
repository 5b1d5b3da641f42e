//! Commands that opal suggests: each works as it is pasted, in the same directory.

use std::ffi::OsStr;
use std::process::Stdio;

use crate::support::{Opal, Ran, binary};

const TASKS: &str = "fun deploy(env: \"dev\" | \"prod\") {\n    echo deploying @var.env\n}\n\n\
                     fun greet() = echo hello\n\nfun check() = echo own\n";

/// A project with tasks of its own, and other sources beside it.
fn opal() -> Opal {
    let opal = Opal::machine("fun other() = echo other\n");
    for folder in ["tools", "-odd dir"] {
        std::fs::create_dir(opal.path().join(folder)).unwrap();
    }
    for file in ["tools/it.opl", "my tasks.opl", "-x.opl", "-odd dir/it.opl"] {
        opal.write(file, TASKS);
    }
    opal.write("tools/broken.opl", "fun a() {\n    cat <<EOF\n}\n");
    opal
}

/// The commands in backticks that begin with `opal`. A word in capitals is a place for a value.
fn suggested(text: &str) -> Vec<String> {
    let is_command = |part: &&str| part.starts_with("opal ") || *part == "opal";
    let is_place = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    let parts = text.split('`').skip(1).step_by(2).filter(is_command);
    parts.filter(|part| !part.split(' ').any(is_place)).map(str::to_owned).collect()
}

/// Pastes a command into bash.
fn pasted(opal: &Opal, command: &str) -> Ran {
    let text = format!("opal() {{ '{}' \"$@\"; }}\n{command}", binary().display());
    let mut bash = opal.started_by(&[OsStr::new("bash"), OsStr::new("-c"), OsStr::new(&text)]);
    Ran::from(bash.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_suggested_command_names_the_source_that_was_named_and_works_when_pasted() {
    let opal = opal();
    for (typed, command, says) in [
        (&["-f", "tools/it.opl", "deploy"][..], "opal -f tools/it.opl deploy -h", "ENV"),
        (&["run", "-f", "tools/it.opl", "deploy"], "opal -f tools/it.opl deploy -h", "ENV"),
        (&["-f", "my tasks.opl", "deploy"], "opal -f 'my tasks.opl' deploy -h", "ENV"),
        (&["-f", "-x.opl", "deploy"], "opal -f ./-x.opl deploy -h", "ENV"),
        (&["-C", "tools", "-f", "it.opl", "deploy"], "opal -C tools -f it.opl deploy -h", "ENV"),
        (
            &["-C", "-odd dir", "-f", "it.opl", "deploy"],
            "opal -C './-odd dir' -f it.opl deploy -h",
            "ENV",
        ),
        (
            &["-f", "tools/it.opl", "deploy", "elsewhere-entirely"],
            "opal -f tools/it.opl deploy -h",
            "ENV",
        ),
        (
            &["-f", "tools/it.opl", "deploy", "-h"],
            "opal -f tools/it.opl deploy --help",
            "--dry-run",
        ),
        (&["-f", "tools/it.opl", "zzzzzzzzz"], "opal -f tools/it.opl", "deploy"),
        (&["-f", "tools/it.opl", "run", "zzzzzzzzz"], "opal -f tools/it.opl", "deploy"),
        (&["-f", "tools/it.opl", "plan", "gret"], "opal -f tools/it.opl plan greet", "echo hello"),
        (
            &["-f", "tools/it.opl", "greet", "check"],
            "opal -f tools/it.opl greet && opal -f tools/it.opl run check",
            "own",
        ),
        (&["check", "tools/it.opl"], "opal -f tools/it.opl run check", "own"),
        (&["-C", "tools", "check", "it.opl"], "opal -C tools -f it.opl run check", "own"),
        (&["zzzzzzzzz"], "opal", "other"),
    ] {
        let ran = opal.call(typed);
        let said = suggested(&(ran.stdout.clone() + &ran.stderr));
        assert!(said.iter().any(|it| it == command), "{typed:?}: {said:?} of {ran:#?}");
        for one in &said {
            // A built-in command that the message is about is not what it suggests.
            if one != "opal check" || command == "opal check" {
                let pasted = pasted(&opal, one);
                pasted.code(0);
                if one == command {
                    pasted.says(says);
                }
            }
        }
    }
}

#[test]
fn the_command_that_shows_the_errors_of_a_source_names_it() {
    let opal = opal();
    for (typed, command) in [
        (&["-f", "tools/broken.opl", "lost"][..], "opal check tools/broken.opl"),
        (&["-C", "tools", "-f", "broken.opl", "lost"], "opal -C tools check broken.opl"),
        (&["-f", "tools/broken.opl", "list"], "opal check tools/broken.opl"),
    ] {
        let ran = opal.call(typed);
        let said = suggested(&ran.stderr);
        assert!(said.iter().any(|it| it == command), "{typed:?}: {ran:#?}");
        pasted(&opal, command).code(65).says("tools/broken.opl".rsplit('/').next().unwrap());
    }
}

#[test]
fn a_list_says_how_its_tasks_are_run() {
    let opal = opal();
    let ran = opal.call(&["-f", "tools/it.opl", "list"]);
    ran.code(0).says("(run it with: opal -f tools/it.opl run check)");
    ran.says("opal -f tools/it.opl TASK -h shows the parameters");
    opal.call(&["list"]).code(0).says("\nopal TASK -h shows the parameters");
    opal.call(&["-f", "tools/it.opl", "doc"]).code(0).says("opal -f tools/it.opl deploy ENV");
}

#[test]
fn a_suggested_command_about_records_names_their_root() {
    let opal = opal();
    opal.call(&["--root", "my root", "other"]).code(0);
    for (typed, command) in [
        (&["--root", "my root", "runs", "show", "zzz"][..], "opal --root 'my root' runs list"),
        (&["runs", "show", "zzz", "--root", "my root"], "opal --root 'my root' runs list"),
        (&["--root", "my root", "runs", "diff", "zzz", "zz"], "opal --root 'my root' runs list"),
    ] {
        let ran = opal.call(typed);
        assert!(suggested(&ran.stderr).iter().any(|it| it == command), "{typed:?}: {ran:#?}");
        pasted(&opal, command).code(0).says("other");
    }
    let ran = opal.call(&["--root", "my root", "runs", "show", "last", "--logs=77"]);
    let said = suggested(&ran.stderr);
    assert!(said[0].starts_with("opal --root 'my root' runs show "), "{ran:#?}");
    pasted(&opal, &said[0]).code(0).says("echo other");
}
