//! Steps under an order: what an earlier runner has noted in the journal of a target, and what becomes of
//! the steps then.

use std::collections::BTreeMap;
use std::path::Path;

use opal_core::action::Why;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_testing::planning::Project;
use opal_testing::processes::eventually;
use opal_testing::running::{LONG, Ran, Running};
use opal_testing::{
    Answer, Happens, LoggedFencing, LoggedJournal, LoggedReach, LoggedSession, MemoryWorld,
};

/// A fleet of one, whose block is this.
struct Order {
    block: &'static str,
    session: LoggedSession,
    /// Of the user root there.
    root: LoggedSession,
    fencing: LoggedFencing,
}

/// What came of it.
struct Came {
    ran: Ran,
    /// Commands that ran, with those of root after a `#`.
    log: Vec<String>,
    journal: Vec<String>,
    heard: Vec<String>,
}

fn order(block: &'static str) -> Order {
    let (session, root) = (LoggedSession::new(), LoggedSession::new());
    Order { block, session, root, fencing: LoggedFencing::default() }
}

impl Order {
    fn on(self, command: &str, answer: Answer) -> Self {
        Self { session: self.session.on(command, answer), ..self }
    }

    /// Runs it after what is in a journal.
    fn after(self, journal: &[&str]) -> Came {
        self.with(&LoggedJournal::of(journal), |_| {})
    }

    fn with(self, journal: &LoggedJournal, prepare: impl FnOnce(&mut Running<'_>)) -> Came {
        let source = format!("@ssh.hosts([\"a\"]) {{\n{}\n}}\n", self.block);
        let (own, fencing) = (LoggedSession::new(), self.fencing);
        let mut running = Running::on(Project::new(&source), &own, Path::new("/p"));
        let session = self.session.keeping(journal);
        let reach = LoggedReach::default().target("a", session).target("a/root", self.root);
        running.reach = Some(reach);
        running.fence = Some(&fencing);
        prepare(&mut running);
        let ran = running.run();
        let reach = running.reach.take().unwrap();
        let command =
            |line: String| Some(line.strip_prefix("run `")?.split_once('`')?.0.to_owned());
        let mut log: Vec<String> = reach.log("a").into_iter().filter_map(command).collect();
        let root = reach.log("a/root").into_iter().filter_map(command);
        log.extend(root.map(|command| format!("# {command}")));
        Came { ran, log, journal: journal.lines(), heard: fencing.heard() }
    }
}

impl Came {
    /// How the target ended, and why.
    fn row(&self) -> String {
        let row = &self.ran.outcome.fleets[0].rows[0];
        let part = |text: Option<String>| text.map(|it| format!(" {it}")).unwrap_or_default();
        let step = part(row.step.as_ref().map(|it| format!("`{}`", it.text())));
        let message = part(row.message.as_ref().map(|it| it.text().into_owned()));
        format!("{}{step}{message}", row.end.name())
    }

    fn skipped(&self) -> Vec<&str> {
        self.ran
            .seen
            .iter()
            .filter_map(|line| line.strip_prefix("skip script.ssh.hosts[0]."))
            .collect()
    }

    /// What was added to the journal.
    fn added(&self, before: &[&str]) -> Vec<String> {
        self.journal[before.len()..]
            .iter()
            .map(|it| it.replace("script.ssh.hosts[0].", ""))
            .collect()
    }
}

const TWO: &str = "    one\n    two";

#[test]
fn each_step_is_noted_before_it_begins_and_after_it_has_ended() {
    let came = order(TWO).on("two", Answer::code(3)).after(&[]);
    assert_eq!(came.log, ["one", "two"]);
    assert_eq!(came.added(&[]), ["+shell[0]", "-shell[0] 0", "+shell[1]", "-shell[1] 3"]);
    assert_eq!(came.heard, ["start a", "a 1", "a 2", "a 3", "a 4", "a failed"]);
    assert_eq!(came.row(), "failed `two`");
}

#[test]
fn without_an_order_nobody_is_asked_and_no_journal_is_opened() {
    let source = "@ssh.hosts([\"a\"]) {\n    one\n}\n";
    let own = LoggedSession::new();
    let mut running = Running::on(Project::new(source), &own, Path::new("/p"));
    // This session has no journal: asking for one would end the test.
    running.reach = Some(LoggedReach::default().target("a", LoggedSession::new()));
    running.run().ok();
}

#[test]
fn a_target_that_may_not_start_is_skipped_with_the_reason() {
    let mut order = order(TWO);
    order.fencing.denied = BTreeMap::from([("a".to_owned(), "the batch is not open".to_owned())]);
    let came = order.after(&[]);
    assert_eq!((came.row().as_str(), came.log.len()), ("skipped the batch is not open", 0));
    assert_eq!(came.heard, ["start a", "a skipped"]);
    assert!(came.journal.is_empty());
}

#[test]
fn steps_that_have_ended_are_skipped_and_the_others_run() {
    let before = ["+script.ssh.hosts[0].shell[0]", "-script.ssh.hosts[0].shell[0] 0"];
    let came = order(TWO).after(&before);
    came.ran.ok();
    assert_eq!(came.log, ["two"]);
    assert_eq!(came.skipped(), ["shell[0]: ended before: journal entry 2"]);
    assert_eq!(came.added(&before), ["+shell[1]", "-shell[1] 0"]);
    assert_eq!(came.heard, ["start a", "a 2", "a 3", "a 4", "a ok"]);
    assert_eq!(came.row(), "ok");
    let all =
        [before[0], before[1], "+script.ssh.hosts[0].shell[1]", "-script.ssh.hosts[0].shell[1] 0"];
    let came = order(TWO).after(&all);
    came.ran.ok();
    assert!(came.log.is_empty() && came.added(&all).is_empty());
    assert_eq!(came.ran.outcome.steps.skipped, 2);
}

#[test]
fn a_step_that_has_begun_and_not_ended_leaves_the_target_lost() {
    let before = ["+script.ssh.hosts[0].shell[0]"];
    let came = order(TWO).after(&before);
    assert!(came.log.is_empty(), "{:?}", came.log);
    assert_eq!(
        came.row(),
        "lost `one` `script.ssh.hosts[0].shell[0]` has begun, and its runner was lost before it ended: its \
         outcome is unknown"
    );
    assert_eq!(came.added(&before), [""; 0]);
    assert_eq!(came.ran.outcome.failed.unwrap().code, 69);
    assert_eq!(came.heard.last().unwrap(), "a lost");
}

/// Whatever the source does about failures: nothing more is known about the target.
#[test]
fn nothing_deals_with_a_target_that_is_lost_to_another_runner() {
    for block in [
        "    try {\n        one\n    } catch {\n        two\n    } finally {\n        three\n    }\n    four",
        "    @timeout(1m) {\n        one\n    } || two\n    four",
        "    @timeout(1m) {\n        one\n    } ; two",
        "    @retry(3, delay=1ms) {\n        one\n    }\n    four",
        "    try {\n        one\n    } catch {\n        @log(\"x\")\n    }",
    ] {
        let first = LoggedJournal::default();
        let whole = order(block).with(&first, |_| {});
        let path = first.lines().iter().find(|line| line.contains("shell[")).unwrap().clone();
        assert_eq!(whole.log[0], "one", "{block}");
        let came = order(block).after(&[&path]);
        assert!(came.log.is_empty(), "{block}: {:?}", came.log);
        assert!(came.row().starts_with("lost `one`"), "{block}: {}", came.row());
    }
}

#[test]
fn a_step_that_may_be_repeated_when_it_is_lost_runs_again_with_its_block() {
    let block =
        "    @retry(2, delay=1ms, lost=\"retry\") {\n        one\n        two\n    }\n    three";
    let (one, two) =
        ("script.ssh.hosts[0].retry[0].shell[0]", "script.ssh.hosts[0].retry[0].shell[1]");
    let before = [format!("+{one}"), format!("-{one} 0"), format!("+{two}")];
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let came = order(block).after(&before);
    came.ran.ok();
    // As a run that lost its connection in the middle would have gone on.
    assert_eq!(came.log, ["one", "two", "three"]);
    assert_eq!(came.row(), "ok");
    // The last attempt is not repeated.
    let (one, two) = (second(one), second(two));
    let last = [format!("+{one}"), format!("-{one} 0"), format!("+{two}")];
    let last: Vec<&str> = before.iter().copied().chain(last.iter().map(String::as_str)).collect();
    let came = order(block).after(&last);
    assert!(came.log.is_empty() && came.row().starts_with("lost `two`"), "{}", came.row());
}

/// The same in the second attempt.
fn second(path: &str) -> String {
    path.replace("retry[0]", "retry[0]#2")
}

/// What an attempt has done that was lost, or that came after one, is not taken for another attempt's.
#[test]
fn an_attempt_is_continued_with_its_own_steps_alone() {
    let block = "    @retry(2, delay=1ms) {\n        @retry(2, delay=1ms, lost=\"retry\") {\n            \
                 one\n            two\n        }\n        three\n    }";
    let inner = "script.ssh.hosts[0].retry[0].retry[0]";
    let (one, two) = (format!("{inner}.shell[0]"), format!("{inner}.shell[1]"));
    let again = |path: &str| path.replace(inner, &format!("{inner}#2"));
    let three = "script.ssh.hosts[0].retry[0].shell[0]".to_owned();
    let ended = |path: &str, code: i32| [format!("+{path}"), format!("-{path} {code}")];
    // `two` was lost in the first attempt of the inner block; in its second all was well, then `three` failed.
    let before = [
        &ended(&one, 0)[..],
        &[format!("+{two}")],
        &ended(&again(&one), 0),
        &ended(&again(&two), 0),
        &ended(&three, 1),
    ]
    .concat();
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let came = order(block).after(&before);
    came.ran.ok();
    // The second attempt of the outer block, with all of its steps.
    assert_eq!(came.log, ["one", "two", "three"]);
}

#[test]
fn attempts_that_were_made_are_not_made_again() {
    let block = "    @retry(3, delay=1ms) {\n        one\n        two\n    }";
    let (one, two) =
        ("script.ssh.hosts[0].retry[0].shell[0]", "script.ssh.hosts[0].retry[0].shell[1]");
    let attempt = [format!("+{one}"), format!("-{one} 0"), format!("+{two}"), format!("-{two} 7")];
    let before: Vec<&str> = attempt.iter().map(String::as_str).collect();
    let came = order(block).on("two", Answer::code(8)).after(&before);
    assert_eq!(came.log, ["one", "two", "one", "two"]);
    assert_eq!(came.row(), "failed `two`");
    assert_eq!(came.skipped()[1], "retry[0].shell[1]: failed before with 7: journal entry 4");
    // All three were made, and failed.
    let attempt = |number| {
        before.iter().map(move |line| line.replace("retry[0]", &format!("retry[0]#{number}")))
    };
    let all: Vec<String> =
        before.iter().map(|it| (*it).to_owned()).chain(attempt(2)).chain(attempt(3)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let came = order(block).after(&all);
    assert!(came.log.is_empty());
    assert_eq!(came.row(), "failed `two` it failed with 7 under another runner of this order");
    assert_eq!(came.ran.outcome.failed.as_ref().unwrap().code, 7);
}

#[test]
fn a_failure_of_another_runner_is_dealt_with_as_the_source_says() {
    let block = "    try {\n        one\n    } catch {\n        two\n    }\n    three";
    let one = "script.ssh.hosts[0].try[0].shell[0]";
    let came = order(block).after(&[&format!("+{one}"), &format!("-{one} 4")]);
    came.ran.ok();
    assert_eq!(came.log, ["two", "three"]);
}

#[test]
fn a_resource_or_a_command_with_a_check_is_verified_again() {
    let block = "    @shell(\"touch x\", check=\"test -e x\")\n    two";
    let before = ["+script.ssh.hosts[0].shell[0]"];
    let done = MemoryWorld::default().command("test -e x", "");
    let session = LoggedSession::new().world(done);
    let came = Order { session, ..order(block) }.after(&before);
    came.ran.ok();
    assert_eq!(came.log, ["two"]);
    assert_eq!(came.added(&before)[..2], ["+shell[0]", "-shell[0] 0"]);
}

#[test]
fn a_value_of_a_skipped_step_is_not_there_and_who_needs_it_leaves_the_target_lost() {
    let block = "    let.x = @shell(\"one\")\n    two\n    echo @let.x\n    four";
    let whole = LoggedJournal::default();
    let came = order(block).on("one", Answer::prints("value\n")).with(&whole, |_| {});
    came.ran.ok();
    let before: Vec<String> = whole.lines()[..2].to_vec();
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let came = order(block).after(&before);
    assert_eq!(came.log, ["two"]);
    let said = came.row();
    assert!(said.starts_with("lost `echo "), "{said}");
    assert!(said.contains("needs `@let.x` of `script.ssh.hosts[0]."), "{said}");
    // Where all who need it have ended, nobody does.
    let all: Vec<String> = whole.lines()[..6].to_vec();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let came = order(block).after(&all);
    came.ran.ok();
    assert_eq!(came.log, ["four"]);
}

#[test]
fn a_directory_is_followed_where_it_is_known_and_leaves_the_target_lost_where_it_is_not() {
    let first = ["+script.ssh.hosts[0].shell[0]", "-script.ssh.hosts[0].shell[0] 0"];
    let known = order("    cd /srv\n    two").after(&first);
    known.ran.ok();
    assert!(known.ran.seen.iter().any(|line| line.contains("start script.ssh.hosts[0].shell[1]")));
    let moved = order("    cd /srv && make\n    two").after(&first);
    assert!(moved.log.is_empty());
    let said = moved.row();
    assert!(said.contains("needs the directory after `script.ssh.hosts[0].shell[0]`"), "{said}");
    // It ends with its block, and a block with a directory of its own does not need it.
    let block = "    @environ(A=\"1\") {\n        cd /srv && make\n    }\n    two";
    let inner =
        ["+script.ssh.hosts[0].environ[0].shell[0]", "-script.ssh.hosts[0].environ[0].shell[0] 0"];
    let came = order(block).after(&inner);
    came.ran.ok();
    assert_eq!(came.log, ["two"]);
    let block = "    cd /srv && make\n    @workdir(\"/opt\") {\n        two\n    }";
    let came = order(block).after(&first);
    came.ran.ok();
    assert_eq!(came.log, ["two"]);
}

#[test]
fn a_block_of_another_user_is_one_entry_and_is_continued_inside() {
    let block = "    @as(\"root\") {\n        one\n        two\n    }\n    three";
    let whole = LoggedJournal::default();
    let came = order(block).with(&whole, |_| {});
    assert_eq!(came.log, ["three", "# one", "# two"]);
    let lines = whole.lines();
    assert_eq!(lines.len(), 8, "{lines:?}");
    let before: Vec<&str> = lines.iter().map(String::as_str).collect();
    let came = order(block).after(&before[..3]);
    came.ran.ok();
    assert_eq!(came.log, ["three", "# two"]);
    assert_eq!(came.journal, lines);
    // Whoever has left it is not reached again.
    let came = order(block).after(&before[..6]);
    assert_eq!(came.log, ["three"]);
    assert_eq!(came.skipped().len(), 2);
    assert!(!came.ran.seen.iter().any(|line| line.contains("start script.ssh.hosts[0].as[0]")));
}

#[test]
fn a_pipe_runs_as_one_step_or_not_at_all() {
    let block = "    one | @to.display()\n    three";
    let whole = LoggedJournal::default();
    order(block).with(&whole, |_| {}).ran.ok();
    let lines = whole.lines();
    let before: Vec<&str> = lines.iter().map(String::as_str).collect();
    let pipe = before.iter().position(|line| line.starts_with('-') && line.contains("| ")).unwrap();
    assert!(before[0].ends_with('|'), "{before:?}");
    let came = order(block).after(&before[..=pipe]);
    came.ran.ok();
    assert_eq!(came.log, ["three"]);
    assert_eq!(came.journal, lines);
    // It was about to begin.
    let came = order(block).after(&before[..1]);
    assert_eq!(came.log, ["one", "three"]);
    for count in 2..=pipe {
        let came = order(block).after(&before[..count]);
        assert!(came.log.is_empty() && came.row().starts_with("lost"), "{count}: {}", came.row());
    }
}

#[test]
fn branches_are_continued_each_by_itself() {
    let block = "    @parallel {\n        one\n        two\n        three\n    }\n    four";
    let one = "script.ssh.hosts[0].parallel[0].shell[0]";
    let came = order(block).after(&[&format!("+{one}"), &format!("-{one} 0")]);
    came.ran.ok();
    let mut log = came.log.clone();
    log.sort();
    assert_eq!(log, ["four", "three", "two"]);
}

#[test]
fn a_journal_that_cannot_be_trusted_leaves_the_target_lost_before_its_first_step() {
    let trouble = Trouble::new(TroubleKind::Lost, "the journal has a gap", "look");
    let came = order(TWO).with(&LoggedJournal::broken(trouble), |_| {});
    assert!(came.log.is_empty());
    assert_eq!(came.row(), "lost the journal has a gap");
    assert_eq!(came.heard, ["start a", "a lost"]);
}

#[test]
fn a_step_that_was_stopped_with_the_run_has_not_ended() {
    let session = |order: Order| order.on("one", Answer::code(0).takes(LONG));
    let journal = LoggedJournal::default();
    let came = session(order(TWO)).with(&journal, |running| {
        let (stop, journal) = (running.stop.clone(), journal.clone());
        std::thread::spawn(move || {
            eventually("the step has begun", || !journal.lines().is_empty());
            stop.ask(Why::Signal(15));
        });
    });
    assert_eq!(came.added(&[]), ["+shell[0]"]);
    assert_eq!(came.heard.last().unwrap(), "a stopped");
    // A limit of its own is its own end.
    let block = "    try {\n        @timeout(20ms) {\n            one\n        }\n    } catch {\n        two\n    }";
    let came = session(order(block)).after(&[]);
    let ended = came.journal.iter().filter(|line| line.starts_with('-')).count();
    assert_eq!(ended, 2, "{:?}", came.journal);
}

#[test]
fn a_step_whose_connection_was_lost_has_not_ended() {
    let lost = || Answer::fails(Trouble::new(TroubleKind::Lost, "connection lost", "look"));
    let came = order(TWO).on("one", lost()).after(&[]);
    assert_eq!(came.added(&[]), ["+shell[0]"]);
    assert_eq!(came.row(), "lost `one` connection lost");
    let block = "    @retry(2, delay=1ms, lost=\"retry\") {\n        one\n    }";
    let came = order(block).on("one", lost()).on("one", Answer::code(0)).after(&[]);
    came.ran.ok();
    let (first, second) = ("retry[0].shell[0]", "retry[0]#2.shell[0]");
    assert_eq!(
        came.added(&[]),
        [format!("+{first}"), format!("+{second}"), format!("-{second} 0")]
    );
}

/// Whatever the source does about failures.
const GUARDED: &str = "    try {\n        @retry(3, delay=1ms) {\n            one\n            two\n        }\n    } \
                       catch {\n        three\n    } finally {\n        four\n    }\n    five";

#[test]
fn an_entry_is_there_once_where_its_connection_was_lost_and_another_is_made() {
    for happens in [Happens::Unsent, Happens::Unheard, Happens::Heard] {
        for at in 1..=4 {
            let journal = LoggedJournal::default().with(at, happens, &[]);
            let came = order(TWO).with(&journal, |_| {});
            came.ran.ok();
            assert_eq!(came.log, ["one", "two"], "{happens:?} {at}");
            let lines = ["+shell[0]", "-shell[0] 0", "+shell[1]", "-shell[1] 0"];
            assert_eq!(came.added(&[]), lines, "{happens:?} {at}");
        }
    }
}

#[test]
fn a_runner_that_comes_back_after_another_one_does_nothing_more() {
    let path = |step: usize| format!("script.ssh.hosts[0].try[0].retry[0].shell[{step}]");
    let whole = [format!("+{}", path(0)), format!("-{} 0", path(0)), format!("+{}", path(1))];
    for (at, ran) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        for happens in [Happens::Unsent, Happens::Unheard, Happens::Heard] {
            // Another runner has begun the same step, has begun another one, or has gone through it.
            for others in [&whole[..1], &whole[2..], &whole[..2], &whole[..]] {
                let others: Vec<&str> = others.iter().map(String::as_str).collect();
                let journal = LoggedJournal::default().with(at, happens, &others);
                let came = order(GUARDED).with(&journal, |_| {});
                let case = format!("{happens:?} {at} {others:?}: {:?}", came.log);
                assert_eq!(came.log, ["one", "two"][..ran], "{case}");
                assert!(came.row().starts_with("lost "), "{case}: {}", came.row());
                assert!(
                    came.row().ends_with("while its connection to this one was lost"),
                    "{case}"
                );
                let own = if happens == Happens::Unsent { at - 1 } else { at };
                assert_eq!(came.journal.len(), own + others.len(), "{case}");
            }
        }
    }
}

#[test]
fn a_target_whose_journal_cannot_be_written_is_lost_whatever_the_source_does_about_failures() {
    for (at, ran) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let journal = LoggedJournal::default().with(at, Happens::Refused, &[]);
        let came = order(GUARDED).with(&journal, |_| {});
        assert_eq!(came.log, ["one", "two"][..ran], "{at}");
        let step = ["one", "one", "two", "two"][at - 1];
        assert_eq!(came.row(), format!("lost `{step}` the disk is full"), "{at}");
        assert_eq!(came.journal.len(), at - 1);
    }
}

#[test]
fn a_try_that_was_cleaned_up_when_its_runner_was_stopped_does_not_go_on() {
    let block =
        "    try {\n        one\n        two\n    } finally {\n        three\n    }\n    four";
    let path = |name: &str| format!("script.ssh.hosts[0].try[0].{name}");
    let (one, last) = (path("shell[0]"), path("finally.shell[0]"));
    let begun = [format!("+{one}"), format!("-{one} 0"), format!("+{last}"), format!("-{last} 0")];
    let before: Vec<&str> = begun.iter().map(String::as_str).collect();
    let came = order(block).after(&before);
    assert!(came.log.is_empty(), "{:?}", came.log);
    let said = came.row();
    assert!(said.starts_with("lost `two`") && said.contains("has cleaned up already"), "{said}");
    // Where all of it had run, it goes on after it.
    let two = path("shell[1]");
    let whole = [begun[0].clone(), begun[1].clone(), format!("+{two}"), format!("-{two} 0")];
    let whole: Vec<&str> = whole.iter().chain(&begun[2..]).map(String::as_str).collect();
    let came = order(block).after(&whole);
    came.ran.ok();
    assert_eq!(came.log, ["four"]);
}
