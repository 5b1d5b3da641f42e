//! Looks that fail, hang, panic or are interrupted.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::action::{Pending, Replace, TextFile, Why};
use opal_core::files::Files;
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::{Probe, ScriptPart, Trouble};
use opal_core::resource::Status;
use opal_plan::plan::Purpose;
use opal_session::stop::Stop;
use opal_session::{Ended, Place, Session, Taker, Work};
use opal_testing::LoggedSession;

use crate::verify::things::log;
use crate::verify::verifying::{Verifying, lines};

#[test]
fn an_error_in_one_hides_no_other() {
    let source = "@test.thing(\"errors/a\", id=\"a\", is=\"panic\")\n\
                  @test.thing(\"errors/b\", id=\"b\", is=\"blocked\")\n\
                  @test.thing(\"errors/c\", id=\"c\")\n";
    let looked = Verifying::new(source).look();
    assert_eq!(
        looked.lines(),
        [
            "a blocked: the verification panicked",
            "b blocked: `errors/b` cannot be read",
            "c missing: `errors/c` does not exist",
        ]
    );
    let help = |id: &str| looked.of(id).blocked.as_ref().unwrap().help[0].text().into_owned();
    assert_eq!(help("a"), "this is a bug in opal: please report it");
    assert_eq!(help("b"), "ask for permission");
}

#[test]
fn what_takes_too_long_is_blocked_and_says_so() {
    let source = "@test.thing(\"slow/a\", id=\"a\", takes=1m, verify_timeout=100ms)\n\
                  @test.thing(\"slow/b\", id=\"b\", takes=1m, is=\"hanging\", verify_timeout=50ms)\n\
                  @test.thing(\"slow/c\", id=\"c\")\n\
                  @test.thing(\"slow/d\", id=\"d\", depends_on=[\"a\"])\n";
    let since = Instant::now();
    let looked = Verifying::new(source).look();
    assert_eq!(
        looked.lines(),
        [
            "a blocked: did not answer within 100ms",
            "b blocked: did not answer within 50ms",
            "c missing: `slow/c` does not exist",
            "d missing: `slow/d` does not exist; depends on a (blocked)",
        ]
    );
    assert!(since.elapsed() < Duration::from_secs(30), "a thread that hangs is abandoned");
    let blocked = looked.of("a").blocked.as_ref().unwrap();
    assert!(!blocked.by_prerequisite);
    assert!(blocked.help[0].text().contains("`verify_timeout`"));
}

#[test]
fn hanging_looks_hold_nobody_up() {
    let hung = "takes=1m, is=\"hanging\", verify_timeout=20ms";
    let source = format!(
        "for i in 1...4 {{ @test.thing(\"hung/\" + str(i), {hung}) }}\n\
         @test.thing(\"hung/last\", id=\"last\")\n"
    );
    let looked = Verifying { jobs: 2, ..Verifying::new(&source) }.look();
    assert_eq!(looked.report.verifications.len(), 5);
    assert_eq!(looked.of("last").status, Status::Missing);
}

#[test]
fn a_time_for_all_counts_more_than_that_of_a_step() {
    let source = "@test.thing(\"times/a\", id=\"a\", takes=1m, verify_timeout=1h)\n\
                  @test.thing(\"times/b\", id=\"b\", takes=200ms, verify_timeout=1ms)\n";
    let one = Verifying { timeout: Some(Duration::from_millis(100)), ..Verifying::new(source) };
    assert_eq!(one.look().lines()[0], "a blocked: did not answer within 100ms");
    let other = Verifying {
        timeout: Some(Duration::from_mins(1)),
        only: vec!["b".into()],
        ..Verifying::new(source)
    };
    assert_eq!(other.look().lines(), ["b missing: `times/b` does not exist"]);
}

#[test]
fn an_interruption_ends_it_and_nothing_more_is_verified() {
    let source = "@test.thing(\"stopped/a\", id=\"a\")\n\
                  @test.thing(\"stopped/b\", id=\"b\", takes=1m)\n\
                  @test.thing(\"stopped/c\", id=\"c\", takes=1m, is=\"hanging\")\n\
                  for i in 1...20 { @test.thing(\"stopped/\" + str(i)) }\n";
    let looking = Verifying { jobs: 2, ..Verifying::new(source) };
    let stop = looking.stop.clone();
    let since = Instant::now();
    let looked = std::thread::scope(|scope| {
        scope.spawn(move || {
            while log("stopped").len() < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.ask(Why::Signal(2));
        });
        looking.look()
    });
    assert_eq!(looked.report.stopped, Some(Why::Signal(2)));
    assert_eq!(looked.lines(), ["a missing: `stopped/a` does not exist"]);
    assert_eq!(log("stopped").len(), 3);
    assert!(since.elapsed() < Duration::from_secs(30));
}

#[test]
fn of_a_quick_plan_what_is_left_open_is_unknown_and_the_rest_is_verified() {
    let source = "@test.thing(@shell.output(\"x\"), id=\"a\")\n@test.thing(\"quick/b\", id=\"b\")\n\
                  if @shell.output(\"y\") == \"z\" {\n    @test.thing(\"quick/c\", id=\"c\")\n}\n\
                  @workdir(@shell.output(\"x\")) {\n    @test.thing(\"quick/d\", id=\"d\")\n}\n\
                  @test.thing(\"quick/e\", id=\"e\", depends_on=[\"a\"])\n";
    let mut looking = Verifying::new(source);
    looking.project.purpose = Purpose::Quick;
    assert_eq!(
        looking.look().lines(),
        [
            "a unknown: it uses a value that a quick plan does not resolve",
            "b missing: `quick/b` does not exist",
            "c unknown: whether it runs depends on a value that a quick plan does not resolve",
            "d unknown: `@workdir` around it uses a value that a quick plan does not resolve",
            "e missing: `quick/e` does not exist",
        ]
    );
    let mut looks = log("quick");
    looks.sort();
    assert_eq!(looks, ["look b", "look e"], "in parallel");
}

#[test]
fn a_directory_that_does_not_answer_holds_nobody_up() {
    let source = "@workdir(\"/mnt/one\") {\n    @shell(\"m\", check=\"c\", id=\"one\")\n}\n\
                  @workdir(\"/mnt/two\") {\n    @shell(\"m\", check=\"c\", id=\"two\")\n}\n\
                  @test.thing(\"silent/a\", id=\"a\")\n";
    let since = Instant::now();
    let session: Arc<dyn Session + Send> = Arc::new(Silent(LoggedSession::new()));
    let timeout = Some(Duration::from_millis(100));
    let looked = Verifying { session, timeout, ..Verifying::new(source) }.look();
    let lost = "unknown: its directory is unknown: did not answer within 100ms";
    assert_eq!(
        looked.lines(),
        [
            format!("one {lost}"),
            format!("two {lost}"),
            "a missing: `silent/a` does not exist".to_owned(),
        ]
    );
    assert!(since.elapsed() < Duration::from_secs(30));
}

/// Its directories are on a server that is gone.
#[derive(Debug)]
struct Silent(LoggedSession);

impl Session for Silent {
    fn check(
        &self,
        scripts: &[&[ScriptPart]],
        stop: &Stop,
    ) -> Result<Vec<opal_core::shell::syntax::Fault>, Trouble> {
        self.0.check(scripts, stop)
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        self.0.run(work, stop, taker)
    }

    fn directory(&self, _: &Path, _: &str, _: bool, _: &Stop) -> Result<PathBuf, Trouble> {
        loop {
            std::thread::park();
        }
    }

    fn replace(
        &self,
        from: &Path,
        replace: &Replace<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn Pending>, Trouble> {
        self.0.replace(from, replace, stop)
    }

    fn folder(&self, stop: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        self.0.folder(stop)
    }

    fn text_file(
        &self,
        text: &str,
        extension: &str,
        stop: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble> {
        self.0.text_file(text, extension, stop)
    }

    fn finds(&self, program: &str) -> bool {
        self.0.finds(program)
    }

    fn open(&self, from: &Path, path: &str, stop: &Stop) -> Result<OwnedFd, Trouble> {
        self.0.open(from, path, stop)
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        self.0.probe(place)
    }

    fn files<'s>(&'s self, stop: &Stop) -> Box<dyn Files + 's> {
        self.0.files(stop)
    }
}

#[test]
fn differences_have_digests_under_the_key_of_a_contract_and_only_there() {
    let source = "@test.thing(\"digest/a\", id=\"a\", is=\"drifted\")\n\
                  @test.thing(\"digest/b\", id=\"b\", is=\"drifted\")\n\
                  @test.thing(\"digest/c\", id=\"c\")\n";
    assert!(Verifying::new(source).look().of("a").digest.is_none());
    let with = |key: u8| {
        let key = Some(PlaceholderKey::new([key; 32]));
        Verifying { key, ..Verifying::new(source) }.look()
    };
    let (one, other) = (with(1), with(2));
    let digest = one.of("a").digest.clone().unwrap();
    assert_eq!(Some(&digest), one.of("b").digest.as_ref(), "what is the same has the same");
    assert_ne!(Some(&digest), other.of("a").digest.as_ref());
    assert!(one.of("c").digest.is_none());
}

#[test]
fn values_are_hidden_in_all_that_is_said() {
    let mut looking =
        Verifying::new("@test.thing(@env.NAME(secret=true), id=\"a\", is=\"blocked\")\n");
    looking.project.world =
        std::mem::take(&mut looking.project.world).env("NAME", "hidden/canary-5150");
    let looked = looking.look();
    let all = format!("{:?} {:?}", looked.lines(), looked.report);
    assert!(all.contains("cannot be read") && !all.contains("canary-5150"), "{all}");
}

#[test]
fn a_plan_without_resources_has_nothing_to_tell() {
    assert_eq!(lines("make\n"), [""; 0]);
}
