//! This machine, with a helper of its own.

use std::path::Path;

use opal_core::target::Hop;
use opal_remote::{Mode, Terms};
use opal_session::Session as _;

use super::support::{Caller, act, run, world};

#[test]
fn a_helper_of_this_machine_acts_or_only_reads() {
    let caller = Caller::new(std::env::vars_os().collect());
    let session = act(caller.dial(&Hop::Local, Mode::Effect).unwrap());
    assert_eq!(run(&session, Path::new("/tmp"), "pwd; exit 4"), ("/tmp\n".to_owned(), 4));
    let dialled = caller.dial(&Hop::Local, Mode::ReadOnly).unwrap();
    assert!(dialled.facts().is_read_only);
    let session = dialled.look(Terms::default(), world()).unwrap();
    assert!(session.finds("sh"));
    assert!(session.open(Path::new("/"), "etc/passwd").is_err(), "it only reads");
    let refused = caller.dial(&Hop::Local, Mode::ReadOnly).unwrap();
    assert!(refused.act(Terms::default(), world()).is_err(), "it cannot act");
}
