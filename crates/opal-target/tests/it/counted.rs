//! What a target is asked, and how much of it at a time: each question costs the way there and back.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use opal_core::Data;
use opal_core::resolver::{Input, Inputs};
use opal_core::resource::Status;
use opal_remote::{Greeting, RemoteSession, Terms};
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::wire::codec::decoded;
use opal_session::wire::effect::Effect;
use opal_session::wire::frame::{Frame, Kind, Receiver, header};
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{Ends, Place, Session, pipe};
use opal_testing::planning::Project;
use opal_testing::running::Running;

use crate::served::PROGRAM;

/// A helper, and what passes all frames to it.
struct Relayed {
    helper: Child,
    relay: JoinHandle<()>,
}

/// `pass` says which frames go on to the helper now.
fn relayed(
    start: &Path,
    mut pass: impl FnMut(Frame) -> Vec<Frame> + Send + 'static,
) -> (RemoteSession, Relayed) {
    let mut helper = Command::new(PROGRAM);
    helper.current_dir(start).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut helper = helper.spawn().unwrap();
    let (mut to_helper, from_helper) =
        (helper.stdin.take().unwrap(), helper.stdout.take().unwrap());
    let (inner, input) = pipe().unwrap();
    let relay = thread::spawn(move || {
        let mut receiver = Receiver::new(inner, Timing::default().lost);
        while let Ok(frame) = receiver.frame() {
            for frame in pass(frame) {
                let head = header(frame.kind, false, frame.stream, frame.payload.len());
                let _ =
                    to_helper.write_all(&head).and_then(|()| to_helper.write_all(&frame.payload));
            }
        }
    });
    let ends = Ends { output: from_helper.into(), input };
    let greeting = Greeting::hear("web1", ends, &[], None, Timing::default()).unwrap();
    let start = start.to_owned();
    let origin = Arc::new(OsWorld::new(Surroundings { start, ..Surroundings::default() }));
    let session = RemoteSession::new(greeting.act(Terms::default()).unwrap(), origin);
    (session, Relayed { helper, relay })
}

impl Relayed {
    fn finish(mut self) {
        self.relay.join().unwrap();
        self.helper.wait().unwrap();
    }
}

/// Verifies a copy on a target: the status, and the questions that it took.
fn copied(source: &Path, destination: &Path) -> (Status, usize) {
    let (count, questions) = channel();
    let (session, relayed) = relayed(Path::new("/"), move |frame| {
        if frame.kind == Kind::Look {
            count.send(()).unwrap();
        }
        vec![frame]
    });
    let status = {
        let (root, none, stop) = (Path::new("/"), BTreeMap::new(), Stop::new());
        let place =
            Place { base: root, directory: root, environment: &none, sources: None, stop: &stop };
        let mut inputs = Inputs::default();
        for (name, path) in [("source", source), ("destination", destination)] {
            let text = Data::text(path.to_str().unwrap());
            inputs.args.insert(name, Input::Data(text));
        }
        for flag in ["overwrite", "recursive", "preserve_mode"] {
            inputs.args.insert(flag, Input::Data(Data::Bool(true)));
        }
        let registry = opal_decorators::registry();
        let resource = registry.get("file.copy").unwrap().resource.as_ref().unwrap();
        resource.verify.verify(&inputs, &*session.probe(&place)).unwrap().status
    };
    drop(session);
    relayed.finish();
    (status, questions.into_iter().count())
}

#[test]
fn a_copy_asks_a_target_once_and_that_of_a_directory_once_for_each_directory() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (source, destination) = (folder.path().join("s"), folder.path().join("d"));
    for root in [&source, &destination] {
        for inner in ["", "one", "two", "two/three"] {
            std::fs::create_dir_all(root.join(inner))?;
            for name in 0..50 {
                std::fs::write(root.join(inner).join(format!("{name}.conf")), name.to_string())?;
            }
            std::os::unix::fs::symlink("0.conf", root.join(inner).join("link"))?;
        }
    }
    let (file, copy) = (source.join("7.conf"), destination.join("7.conf"));
    assert_eq!(copied(&file, &copy), (Status::Satisfied, 1));
    // The root, and what is in each of four directories.
    assert_eq!(copied(&source, &destination), (Status::Satisfied, 5));
    std::fs::write(destination.join("two/three/7.conf"), "8")?;
    assert_eq!(copied(&source, &destination).0, Status::Drifted);
    Ok(())
}

/// How long a target waits for the next file before the test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Copies to a target that gets no file before so many have been sent: whether that ends.
fn is_written(source: &Path, at_once: usize) -> bool {
    let (done, is_done) = channel();
    let folder = source.to_owned();
    let (mut held, mut is_open) = (Vec::new(), false);
    let (session, relayed) = relayed(&folder, move |frame| {
        let is_write = frame.kind == Kind::Effect
            && matches!(decoded(&frame.payload), Ok(Effect::Write { .. }));
        if is_open || !is_write {
            return vec![frame];
        }
        held.push(frame);
        is_open = held.len() == at_once;
        if is_open { std::mem::take(&mut held) } else { Vec::new() }
    });
    thread::spawn(move || {
        let project = Project::read("@file.copy(\"s\", \"d\", recursive=true)\n");
        Running::on(project, &session, &folder).run().ok();
        drop(session);
        relayed.finish();
        done.send(()).unwrap();
    });
    is_done.recv_timeout(PATIENCE).is_ok()
}

#[test]
fn files_of_a_directory_are_written_to_a_target_several_at_a_time() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for inner in ["", "one", "one/two"] {
        std::fs::create_dir_all(folder.path().join("s").join(inner))?;
        for name in 0..20 {
            let path = folder.path().join("s").join(inner).join(format!("{name}.conf"));
            std::fs::write(path, format!("{inner}{name}"))?;
        }
    }
    assert!(is_written(folder.path(), 16));
    for path in ["0.conf", "one/7.conf", "one/two/19.conf"] {
        let [ours, theirs] = ["s", "d"].map(|root| folder.path().join(root).join(path));
        assert_eq!(std::fs::read(ours)?, std::fs::read(theirs)?, "{path}");
    }
    Ok(())
}
