//! Commands that are asked and answer with their exit code, and machines seen from a place.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use opal_core::action::Why;
use opal_core::resolver::{Answer, Ask, Probe, Run, ScriptPart, Trouble, TroubleKind};
use opal_core::{Data, Secret};
use opal_session::stop::{Stop, USUAL_GRACE};
use opal_session::{LocalSession, Place, Session, Setup};
use opal_testing::processes::{eventually, is_alive};

use super::{PATH, hasty, refused, world};

fn text(script: &str) -> Vec<ScriptPart> {
    vec![ScriptPart::Text(script.to_owned())]
}

fn ask(probe: &dyn Probe, script: &str) -> Result<Answer, Trouble> {
    ask_by(probe, script, None, None, &BTreeMap::new())
}

fn ask_by(
    probe: &dyn Probe,
    script: &str,
    interpreter: Option<&str>,
    directory: Option<&str>,
    environment: &BTreeMap<String, Secret>,
) -> Result<Answer, Trouble> {
    let parts = text(script);
    let run = Run::Script(&parts);
    probe.ask(&Ask { run, interpreter, directory, environment, drops_excess: false })
}

fn reported(answer: &Answer) -> (i32, &str, &str) {
    (answer.code, answer.stdout.expose(), answer.stderr.expose())
}

#[test]
fn an_answer_is_the_exit_code_and_both_outputs() {
    let at = tempfile::tempdir().unwrap();
    let world = world(at.path());
    let both = ask(&world, "echo out; echo err >&2; exit 3").unwrap();
    assert_eq!(reported(&both), (3, "out\n", "err\n"));
    assert_eq!(ask(&world, "kill -9 $$").unwrap().code, 137);
    assert_eq!(ask(&world, "no-such-command-here").unwrap().code, 127);
    assert_eq!(reported(&ask(&world, r"printf 'a\377b'").unwrap()), (0, "a\u{fffd}b", ""));
    let program = world.ask(&Ask::program(&["sh", "-c", "echo $0 >&2; exit 7", "a b"])).unwrap();
    assert_eq!(reported(&program), (7, "", "a b\n"));
}

#[test]
fn what_is_missing_is_the_program_and_nothing_else() {
    let at = tempfile::tempdir().unwrap();
    let (world, none) = (world(at.path()), BTreeMap::new());
    let absent = world.ask(&Ask::program(&["no-such-program-here"]));
    refused(absent, TroubleKind::Missing, "`no-such-program-here`");
    let by = ask_by(&world, "x", Some("no-such-shell-here"), None, &none);
    refused(by, TroubleKind::Missing, "`no-such-shell-here`");
    let elsewhere = ask_by(&world, "true", None, Some("no/such/place"), &none);
    refused(elsewhere, TroubleKind::Failed, "no/such/place`");
}

#[test]
fn interpreter_directory_and_environment_count() {
    let at = tempfile::tempdir().unwrap();
    fs::create_dir_all(at.path().join("home/sub")).unwrap();
    let world = world(at.path());
    let more = BTreeMap::from([("NAME".to_owned(), Secret::new("ä"))]);
    let there =
        ask_by(&world, "printf '%s %s' \"${PWD##*/}\" \"$NAME\"", None, Some("~/sub"), &more);
    assert_eq!(reported(&there.unwrap()), (0, "sub ä", ""));
    let by = ask_by(&world, "echo ${BASH_VERSION-none}", Some("sh"), None, &more).unwrap();
    assert_eq!(by.code, 0);
    let parts = [text("echo "), vec![ScriptPart::Data(Data::text("$(x); y"), word())]].concat();
    let run = Run::Script(&parts);
    let ask = Ask { run, interpreter: Some("sh"), environment: &more, ..Ask::program(&[]) };
    assert_eq!(reported(&world.ask(&ask).unwrap()), (0, "$(x); y\n", ""));
    let ask = Ask { interpreter: Some("env"), ..ask };
    refused(world.ask(&ask), TroubleKind::Invalid, "would become code");
}

fn word() -> opal_core::context::Context {
    let place = opal_core::context::Place::Word;
    opal_core::context::Context::new(place).starts_word(true).whole_word(true)
}

#[test]
fn what_takes_too_long_or_says_too_much_is_ended_with_all_it_started() {
    let at = tempfile::tempdir().unwrap();
    let script = "sh -c 'echo $$ > pid; sleep 600 >/dev/null' & wait";
    refused(ask(&hasty(at.path()), script), TroubleKind::TimedOut, "it timed out");
    let pid = fs::read_to_string(at.path().join("pid")).unwrap();
    eventually("it has ended", || !is_alive(&pid));
    for stream in ["", " >&2"] {
        let much = ask(&world(at.path()), &format!("yes{stream}"));
        refused(much, TroubleKind::TooLarge, "8 MiB");
    }
}

#[test]
fn where_the_exit_code_counts_what_is_printed_too_much_is_dropped() {
    let at = tempfile::tempdir().unwrap();
    for stream in ["", " >&2"] {
        let parts = text(&format!("yes | head -c 9000000{stream}; exit 4"));
        let ask = Ask { run: Run::Script(&parts), drops_excess: true, ..Ask::program(&[]) };
        let answer = world(at.path()).ask(&ask).unwrap();
        let printed = answer.stdout.expose().len() + answer.stderr.expose().len();
        assert_eq!((answer.code, printed), (4, 8 << 20));
    }
}

fn session(at: &Path) -> LocalSession {
    LocalSession::new(Setup {
        environment: BTreeMap::from([
            ("PATH".into(), PATH.into()),
            ("BOTH".into(), "session".into()),
            ("OWN".into(), "own".into()),
        ])
        .into(),
        start: at.to_owned(),
        home: Some(at.join("home")),
        marker: format!("run-test-{}", at.display()),
        terminal: None,
        entries: None,
        pages: None,
    })
}

#[test]
fn a_machine_is_seen_from_where_a_step_is() {
    let at = tempfile::tempdir().unwrap();
    for name in ["base", "place"] {
        fs::create_dir(at.path().join(name)).unwrap();
    }
    fs::write(at.path().join("base/file"), "f").unwrap();
    let session = session(at.path());
    let environment = BTreeMap::from([("BOTH".to_owned(), Secret::new("step"))]);
    let (base, directory) = (at.path().join("base"), at.path().join("place"));
    let stop = Stop::new();
    let place = Place {
        base: &base,
        directory: &directory,
        environment: &environment,
        sources: None,
        stop: &stop,
    };
    let probe = session.probe(&place);
    assert_eq!(probe.place("file").unwrap(), base.join("file"));
    assert_eq!(probe.place("~/file").unwrap(), at.path().join("home/file"));
    assert!(probe.stat(&base.join("file")).unwrap().is_some());
    assert_eq!(probe.env("BOTH").unwrap().unwrap().expose(), "step");
    assert_eq!(probe.env("OWN").unwrap().unwrap().expose(), "own");
    let answer = ask(&*probe, "printf '%s ' \"${PWD##*/}\" \"$BOTH\" \"$OWN\"").unwrap();
    assert_eq!(reported(&answer), (0, "place step own ", ""));
}

#[test]
fn what_only_looks_ends_with_the_step_that_asks() {
    let at = tempfile::tempdir().unwrap();
    let session = session(at.path());
    let none = BTreeMap::new();
    let run = Stop::new();
    let look = |stop: &Stop| {
        let place = Place {
            base: at.path(),
            directory: at.path(),
            environment: &none,
            sources: None,
            stop,
        };
        ask(&*session.probe(&place), "echo $$ > pid; sleep 600")
    };
    // A busy machine may not start it in so little time: then it gets more.
    let begun = (0..10).find_map(|round| {
        let limited = run.limited(Duration::from_millis(300 << round), USUAL_GRACE);
        refused(look(&limited), TroubleKind::TimedOut, "it timed out");
        fs::read_to_string(at.path().join("pid")).ok()
    });
    let pid = begun.unwrap();
    eventually("it has ended", || !is_alive(&pid));
    run.ask(Why::Signal(2));
    refused(look(&run), TroubleKind::Failed, "opal was asked to stop");
}
