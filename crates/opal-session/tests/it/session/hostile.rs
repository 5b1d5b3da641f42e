//! Values that would be code if they were text: they arrive byte for byte, and nothing runs.

use std::fs;

use opal_core::context::{Context, Place as At};
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_core::script::Case;
use opal_core::{Data, Secret};

use crate::session::payloads::PAYLOADS;
use crate::session::support::{Only, Place, SHELLS};

/// Text around one value, and what it prints, with `{}` for the value; none where that depends.
const PLACES: [(&str, At, &str, Option<&str>); 22] = [
    ("printf '[%s]' ", At::Word, "", Some("[{}]")),
    ("printf '[%s]' a", At::Word, "b", Some("[a{}b]")),
    ("env printf '[%s]' ", At::Word, "", Some("[{}]")),
    ("env printf '[%s]' \"a", At::Quoted, "b\"", Some("[a{}b]")),
    ("env printf '[%s]' ", At::Word, " ;", Some("[{}]")),
    ("printf '[%s]' {x,", At::Word, "}", None),
    ("printf '[%s]' \"a", At::Quoted, "b\"", Some("[a{}b]")),
    ("x=", At::Assignment, "; printf '[%s]' \"$x\"", Some("[{}]")),
    ("export x=", At::Assignment, "; env printf '[%s]' \"$x\"", Some("[{}]")),
    ("x=", At::Assignment, " printenv x", Some("{}\n")),
    ("cat <<EOF\n[", At::Heredoc, "]\nEOF\n", Some("[{}]\n")),
    ("cat <<-EOF | cat\n[", At::Heredoc, "]\nEOF\n", Some("[{}]\n")),
    ("printf '[%s]' \"${none:-", At::Expansion, "}\"", Some("[{}]")),
    ("printf '[%s]' ${none:-", At::Expansion, "}", Some("[{}]")),
    ("y=abc; printf '[%s]' \"${y#", At::Expansion, "}\"", None),
    ("printf '[%s]' \"$(printf '%s.' ", At::Word, ")\"", Some("[{}.]")),
    ("printf '[%s]' \"`printf '%s.' ", At::Word, "`\"", Some("[{}.]")),
    ("printf '[%s]' \"$(printf '%s.' \"", At::Quoted, "\")\"", Some("[{}.]")),
    ("printf '[%s]' \"$(cat <<EOF\n", At::Heredoc, ".\nEOF\n)\"", Some("[{}.]")),
    ("case x in ", At::Word, ") printf is;; *) printf not;; esac", None),
    ("( printf '[%s]' ", At::Word, " ) | { cat; }", Some("[{}]")),
    ("f() { printf '[%s]' \"$@\"; }; f -- ", At::Word, "", Some("[--][{}]")),
];

fn text(text: &str) -> ScriptPart {
    ScriptPart::Text(text.to_owned())
}

fn data(value: &str, place: At) -> ScriptPart {
    ScriptPart::Data(Data::text(value), Context::new(place))
}

#[track_caller]
fn assert_untouched(place: &Place) {
    let left: Vec<_> =
        fs::read_dir(place.path()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn hostile_values_arrive_byte_for_byte_in_every_place_and_run_nothing() {
    for only in SHELLS {
        let place = Place::new(only);
        for (before, at, after, expected) in PLACES {
            for payload in PAYLOADS {
                let done = place.parts(&[text(before), data(payload, at), text(after)]);
                let Some(expected) = expected else { continue };
                let case = format!("{only:?} {before}{payload:?}{after}");
                assert_eq!(done.out(), expected.replace("{}", payload), "{case} {}", done.err());
                assert_eq!(done.code(), 0, "{case}");
            }
        }
        assert_untouched(&place);
    }
}

#[test]
fn a_value_names_exactly_one_file_in_a_redirection() {
    for only in SHELLS {
        for payload in PAYLOADS.iter().filter(|it| !it.is_empty() && !it.contains('/')) {
            let place = Place::new(only);
            let done = place.parts(&[text("printf hi > "), data(payload, At::Redirection)]);
            assert_eq!(done.code(), 0, "{payload:?} {}", done.err());
            assert_eq!(fs::read_to_string(place.path().join(payload)).unwrap(), "hi");
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "{payload:?}");
        }
    }
}

#[test]
fn numbers_are_numbers_where_the_shell_calculates_and_nothing_else_gets_there() {
    for only in SHELLS {
        let place = Place::new(only);
        for number in [0, 7, -7, i64::MAX, i64::MIN] {
            let value = ScriptPart::Data(Data::Int(number), Context::new(At::Arithmetic));
            let done = place.parts(&[text("printf %s $((0 -"), value, text("))")]);
            assert_eq!(done.out(), 0i64.wrapping_sub(number).to_string(), "{only:?}");
        }
        for at in [At::Arithmetic, At::Subscript] {
            let done =
                place.parts(&[text("echo $((1 + "), data("a[$(touch pwned)]", at), text("))")]);
            assert_eq!(done.ended.unwrap_err().kind, TroubleKind::Invalid);
        }
        assert_untouched(&place);
    }
    let place = Place::new(Only::Bash);
    let index = ScriptPart::Data(Data::Int(-1), Context::new(At::Subscript));
    let done = place.parts(&[text("a=(x y z); echo ${a["), index, text("]}")]);
    assert_eq!(done.ended.unwrap_err().kind, TroubleKind::Invalid);
}

#[test]
fn what_would_be_evaluated_again_is_refused_and_so_is_a_nul() {
    let place = Place::new(Only::Bash);
    let again = ScriptPart::Data(Data::text("x"), Context::new(At::Word).case(Case::DUPLICATED));
    let nul = [data("a\0b", At::Word), ScriptPart::Raw(Secret::new("a\0b")), text("a\0b"), again];
    for part in nul {
        for command in ["echo ", "env echo "] {
            let done = place.parts(&[text(command), part.clone()]);
            assert_eq!(done.ended.unwrap_err().kind, TroubleKind::Invalid, "{part:?}");
        }
    }
}

#[test]
fn no_value_is_in_an_argument_list_or_an_environment() {
    const CANARY: &str = "canary-19a4";
    let look = " && tr '\\0' '\\n' </proc/$$/cmdline && tr '\\0' '\\n' </proc/$$/environ && env && printf seen";
    for only in SHELLS {
        let leaky = [("__opal_0", "x"), ("__opal_script", "x"), ("SHELLOPTS", "allexport")];
        let place = Place::with(only, &leaky);
        for hidden in [data(CANARY, At::Word), ScriptPart::Raw(Secret::new(CANARY))] {
            let done = place.parts(&[text(": "), hidden, text(look)]);
            assert!(done.out().ends_with("seen"), "{only:?} {}", done.err());
            assert!(!done.out().contains(CANARY), "{}", done.out());
        }
    }
}

/// Numbers that look random, and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn value(&mut self) -> String {
        const SHARP: [char; 40] = [
            '\'', '"', '\\', '$', '`', '(', ')', '{', '}', '[', ']', ';', '&', '|', '<', '>', '*',
            '?', '~', '#', '!', '=', '%', '^', '-', ' ', '\t', '\n', '\r', '\u{1}', '\u{7f}',
            '\u{80}', 'ä', '漢', '🦀', '\u{202e}', '@', ',', ':', '/',
        ];
        let length = self.roll(24);
        let one = |dice: &mut Self| match dice.roll(3) {
            0 => char::from(b'a' + dice.roll(26) as u8),
            1 => char::from_u32(1 + dice.roll(0xd7ff) as u32).unwrap(),
            _ => SHARP[dice.roll(SHARP.len())],
        };
        (0..length).map(|_| one(self)).collect()
    }
}

#[test]
fn random_values_arrive_byte_for_byte() {
    // Each command carries a batch, each value as a word, in quotes, and in a heredoc.
    const BATCH: usize = 250;
    let batches = if cfg!(debug_assertions) { 8 } else { 2_000 };
    for only in SHELLS {
        let place = Place::new(only);
        let mut dice = Dice(batches as u64);
        for batch in 0..batches {
            let values: Vec<String> = (0..BATCH).map(|_| dice.value()).collect();
            let mut parts =
                vec![text(if batch % 2 == 0 { "printf '%s\\0'" } else { "env printf '%s\\0'" })];
            for value in &values {
                parts.extend([
                    text(" "),
                    data(value, At::Word),
                    text(" \""),
                    data(value, At::Quoted),
                    text("\""),
                ]);
            }
            let expected: String = values.iter().map(|it| format!("{it}\0{it}\0")).collect();
            let done = place.parts(&parts);
            assert!(done.out() == expected, "{only:?} batch {batch}");
            let mut parts = vec![text("cat <<'' <<E_N_D\n\n")];
            parts.extend(values.iter().flat_map(|it| [data(it, At::Heredoc), text("\n")]));
            parts.push(text("E_N_D\n"));
            let expected: String = values.iter().map(|it| format!("{it}\n")).collect();
            assert!(place.parts(&parts).out() == expected, "{only:?} batch {batch}");
        }
        assert_untouched(&place);
    }
}
