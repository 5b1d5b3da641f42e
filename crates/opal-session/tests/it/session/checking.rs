//! Texts that no shell understands are found before anything runs.

use std::fs;

use opal_core::context::{Context, Place as At};
use opal_core::resolver::ScriptPart;
use opal_core::{Data, Secret};
use opal_session::Session;
use opal_session::stop::Stop;

use crate::session::support::{Place, SHELLS};

fn text(text: &str) -> ScriptPart {
    ScriptPart::Text(text.to_owned())
}

#[test]
fn only_what_is_wrong_is_found_and_nothing_runs() {
    let texts = [
        "echo fine",
        "touch ran; echo $(touch ran)",
        "if true; then touch ran",
        "echo 'open",
        "cat <<E\nbody $(touch ran)\nE",
        "touch ran )",
        "echo 'open too",
        "( touch ran",
        "a && touch ran; # comment",
        "touch ran ) ; ( touch ran",
        "case x in x) touch ran;; esac",
    ];
    for only in SHELLS {
        let place = Place::new(only);
        let parts: Vec<[ScriptPart; 1]> = texts.iter().map(|it| [text(it)]).collect();
        let scripts: Vec<&[ScriptPart]> = parts.iter().map(|it| it.as_slice()).collect();
        let found = place.session.check(&scripts, &Stop::new()).unwrap();
        let wrong: Vec<usize> = found.iter().map(|fault| fault.text).collect();
        assert_eq!(wrong, [2, 3, 5, 6, 7, 9], "{only:?} {found:?}");
        for fault in &found {
            let message = &fault.message;
            let is_ours =
                ["opal", "eval", "/dev/fd", "line 1"].iter().any(|it| message.contains(it));
            assert!(message.starts_with("shell syntax error") && !is_ours, "{message}");
            assert_eq!(fault.line, 1, "{message}");
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn the_line_is_that_of_the_text() {
    for only in SHELLS {
        let place = Place::new(only);
        let parts = [text("echo fine &&\n  true\necho ) x\necho y")];
        let found = place.session.check(&[&parts], &Stop::new()).unwrap();
        let lines: Vec<u32> = found.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [3], "{only:?} {found:?}");
    }
}

#[test]
fn texts_that_are_right_are_right_together() {
    for only in SHELLS {
        let place = Place::new(only);
        let value = ScriptPart::Data(Data::text("'; $("), Context::new(At::Word));
        let scripts: Vec<Vec<ScriptPart>> = vec![
            vec![text("echo $X \\")],
            vec![text("echo "), value, text(" | cat # it's")],
            vec![text("true\n\nfalse\n")],
            vec![text("echo "), ScriptPart::Raw(Secret::new("'")), text(" | cat")],
            vec![text("cat <<'E'\n'\nE\n")],
            vec![text("echo \"$(echo \")\")\"")],
        ];
        let scripts: Vec<&[ScriptPart]> = scripts.iter().map(Vec::as_slice).collect();
        assert_eq!(place.session.check(&scripts, &Stop::new()).unwrap(), [], "{only:?}");
        assert_eq!(place.session.check(&[], &Stop::new()).unwrap(), []);
    }
}

#[test]
fn a_thousand_texts_are_checked_at_once() {
    let place = Place::new(crate::session::support::Only::Bash);
    let parts: Vec<[ScriptPart; 1]> =
        (0..1_000).map(|n| [text(&format!("echo $X {n} | cat"))]).collect();
    let scripts: Vec<&[ScriptPart]> = parts.iter().map(|it| it.as_slice()).collect();
    assert_eq!(place.session.check(&scripts, &Stop::new()).unwrap(), []);
}
