//! How many questions a target is asked: each costs the way there and back.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use opal_core::Data;
use opal_core::resolver::{Input, Inputs};
use opal_core::resource::Status;
use opal_remote::{Greeting, RemoteSession, Terms};
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::wire::frame::{Kind, Receiver, header};
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{Ends, Place, Session, pipe};

use crate::served::PROGRAM;

/// Verifies a copy on a target: the status, and the questions that it took.
fn copied(source: &Path, destination: &Path) -> (Status, usize) {
    let mut helper = Command::new(PROGRAM);
    helper.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut helper = helper.spawn().unwrap();
    let (mut to_helper, from_helper) =
        (helper.stdin.take().unwrap(), helper.stdout.take().unwrap());
    let (inner, input) = pipe().unwrap();
    let questions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&questions);
    let relay = thread::spawn(move || {
        let mut receiver = Receiver::new(inner, Timing::default().lost);
        while let Ok(frame) = receiver.frame() {
            counted.fetch_add(usize::from(frame.kind == Kind::Look), Ordering::Relaxed);
            let head = header(frame.kind, false, frame.stream, frame.payload.len());
            let written =
                to_helper.write_all(&head).and_then(|()| to_helper.write_all(&frame.payload));
            if written.is_err() {
                return;
            }
        }
    });
    let ends = Ends { output: from_helper.into(), input };
    let greeting = Greeting::hear("web1", ends, &[], None, Timing::default()).unwrap();
    let origin = Arc::new(OsWorld::new(Surroundings::default()));
    let session = RemoteSession::new(greeting.act(Terms::default()).unwrap(), origin);
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
    relay.join().unwrap();
    helper.wait().unwrap();
    (status, questions.load(Ordering::Relaxed))
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
