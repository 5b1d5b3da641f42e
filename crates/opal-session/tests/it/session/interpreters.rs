//! Commands for other programs than the shell of the session.

use opal_core::action::Limits;
use opal_core::context::{Context, Place as At};
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_core::{Data, Secret};
use opal_session::Session;
use opal_session::stop::Stop;

use crate::session::support::{Done, Heard, Only, Place, work};

fn text(text: &str) -> ScriptPart {
    ScriptPart::Text(text.to_owned())
}

fn by(place: &Place, interpreter: &str, script: &[ScriptPart]) -> Done {
    let path = place.path();
    let mut work = work(script, &path);
    work.interpreter = Some(interpreter);
    let mut heard = Heard::default();
    let ended = place.session.run(work, &Stop::new(), &mut heard);
    Done { ended, stdout: heard.stdout, stderr: heard.stderr }
}

#[test]
fn a_shell_that_is_named_gets_values_as_data() {
    let place = Place::new(Only::Bash);
    let value = || ScriptPart::Data(Data::text("'; touch x $("), Context::new(At::Word));
    for shell in ["bash", "/bin/dash", "/bin/bash"] {
        let done = by(&place, shell, &[text("printf '[%s]' "), value(), text("; exit 3")]);
        assert_eq!((done.out().as_str(), done.code()), ("['; touch x $(]", 3), "{shell}");
        let done =
            by(&place, shell, &[text("printf '%s' "), ScriptPart::Raw(Secret::new("a; printf b"))]);
        assert_eq!(done.out(), "ab", "{shell}");
        assert_eq!(by(&place, shell, &[text("echo $0 plain")]).code(), 0);
        let look = "; tr '\\0' ' ' </proc/$$/cmdline; tr '\\0' ' ' </proc/$$/environ";
        let done = by(&place, shell, &[text(": "), value(), text(look)]);
        assert!(!done.out().is_empty() && !done.out().contains("touch x"), "{}", done.out());
    }
    assert_eq!(by(&place, "bash", &[text("false | true")]).code(), 1);
}

#[test]
fn what_a_shell_reads_its_values_from_is_not_the_steps() {
    let place = Place::new(Only::Bash);
    let value = ScriptPart::Data(Data::text("x"), Context::new(At::Word));
    for shell in ["/bin/bash", "/bin/dash"] {
        let without = by(&place, shell, &[text("ls /proc/self/fd; :")]);
        let with = by(&place, shell, &[text("ls /proc/self/fd; : "), value.clone()]);
        assert_eq!((with.out(), with.code()), (without.out(), 0), "{shell}");
    }
}

#[test]
fn another_language_gets_its_text_and_no_values() {
    let place = Place::with(Only::Bash, &[("PATH", "/usr/bin:/bin")]);
    let done = by(&place, "perl", &[text("print 'from perl'; exit 4")]);
    assert_eq!((done.out().as_str(), done.code()), ("from perl", 4));
    let value = ScriptPart::Data(Data::text("1"), Context::new(At::Word));
    for part in [value, ScriptPart::Raw(Secret::new("1"))] {
        let trouble = by(&place, "perl", &[text("print "), part]).ended.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Invalid);
        assert!(trouble.help[0].contains("@environ"));
    }
}

#[test]
fn an_interpreter_that_is_missing_is_reported_without_its_name_which_may_be_a_value() {
    let place = Place::new(Only::Bash);
    let trouble = by(&place, "nosuchshell", &[text("true")]).ended.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Missing);
    assert!(trouble.message.starts_with("the interpreter is not installed"));
    assert!(!format!("{trouble:?}").contains("nosuchshell"));
}

#[test]
fn limits_need_a_shell_and_nothing_runs_without_them() {
    let place = Place::new(Only::None);
    let (path, script) = (place.path(), [text("print 1")]);
    let mut work = work(&script, &path);
    work.interpreter = Some("/usr/bin/perl");
    work.limits = Limits { cpu: Some(5), ..Limits::default() };
    let trouble = place.session.run(work, &Stop::new(), &mut Heard::default()).unwrap_err();
    let said = "`@limits` cannot be enforced: neither `bash` nor `sh` is in `PATH`";
    assert_eq!((trouble.kind, &*trouble.message), (TroubleKind::Missing, said));
}
