//! Much at once, much in all, and nothing left: descriptors, processes, bytes.

use std::fs;
use std::thread;

use opal_core::resolver::ScriptPart;
use opal_core::stream::{Closed, Stream};
use opal_session::stop::Stop;
use opal_session::{Input, Session, Taker};

use opal_testing::processes::eventually;

use crate::session::support::{Only, Place, SHELLS, work};

#[test]
fn fifty_threads_share_a_session() {
    for only in SHELLS {
        let place = Place::new(only);
        thread::scope(|scope| {
            for branch in 0..50 {
                let place = &place;
                scope.spawn(move || {
                    for turn in 0..4 {
                        let said = format!("{branch}-{turn}\n");
                        let text = ["echo", "X=1; echo", "env printf '%s\\n'", "sleep 0.01; echo"];
                        let done = place.run(&format!("{} {branch}-{turn}", text[turn]));
                        assert_eq!((done.out(), done.err(), done.code()), (said, String::new(), 0));
                    }
                });
            }
        });
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test needs a process of its own")]
fn nothing_is_left_open_and_nobody_unburied() {
    const ALONE: &str = "as-the-only-test";
    if std::env::args().any(|argument| argument == ALONE) {
        return many_commands_leave_nothing();
    }
    let own = std::env::current_exe().unwrap();
    // Below another name where the tests of sessions run over something.
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::nothing_is_left_open_and_nobody_unburied");
    let output = std::process::Command::new(own).args([&name, "--exact", ALONE]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Counts what the process has open, so nothing else may run in it.
fn many_commands_leave_nothing() {
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let place = Place::new(Only::Bash);
    let once = || {
        for text in ["true", "ls", "X=1; ls | cat", "(sleep 0 &)", "kill -9 $$"] {
            place.run(text);
        }
        let parts = [ScriptPart::Text("cat | cat".to_owned())];
        let (from, _) = opal_session::pipe().unwrap();
        let (script, path) = (&parts, place.path());
        let mut work = work(script, &path);
        work.stdin = Input::From(from);
        place.session.run(work, &Stop::new(), &mut Count(0)).unwrap();
    };
    once();
    let before = count();
    for _ in 0..100 {
        once();
    }
    assert_eq!(count(), before);
    eventually("buried", || {
        place.run("true");
        zombies() == 0
    });
}

/// Children of this process that ended outside any session's sight.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    let fields = stats.map(|it| it.rsplit_once(')').map_or(String::new(), |it| it.1.to_owned()));
    fields.filter(|it| it.trim_start().starts_with(&format!("Z {own} "))).count()
}

struct Count(usize);

impl Taker for Count {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        if stream == Stream::Stdout {
            self.0 += bytes.len();
        }
        Ok(())
    }
}

#[test]
fn two_hundred_megabytes_come_through() {
    let place = Place::new(Only::Bash);
    for text in ["head -c 200000000 /dev/zero", "head -c 200000000 /dev/zero | cat"] {
        let mut count = Count(0);
        let (script, path) = (&[ScriptPart::Text(text.to_owned())], place.path());
        let work = work(script, &path);
        assert_eq!(place.session.run(work, &Stop::new(), &mut count).unwrap().code, 0);
        assert_eq!(count.0, 200_000_000);
    }
}

#[test]
fn who_listens_hears_of_silence_once() {
    struct Idle(Vec<&'static str>);
    impl Taker for Idle {
        fn take(&mut self, _: Stream, _: &[u8]) -> Result<(), Closed> {
            self.0.push("take");
            Ok(())
        }

        fn idle(&mut self) {
            self.0.push("idle");
        }
    }
    let place = Place::new(Only::Bash);
    let mut idle = Idle(Vec::new());
    let (script, path) =
        (&[ScriptPart::Text("printf a; sleep 0.5; printf b".to_owned())], place.path());
    let work = work(script, &path);
    place.session.run(work, &Stop::new(), &mut idle).unwrap();
    // On a busy machine its end can be a silence too.
    let heard = idle.0.strip_suffix(&["idle"]).unwrap_or(&idle.0);
    assert_eq!(heard, ["take", "idle", "take"]);
}
