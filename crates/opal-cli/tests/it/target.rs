//! `opal self target`: the target helper in `opal` itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use opal_core::action::Limits;
use opal_core::resolver::ScriptPart;
use opal_core::stream::{Closed, Stream};
use opal_remote::local::{self, Helper};
use opal_remote::{RemoteSession, Terms};
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{Input, Output, Session, Taker, Work};

use crate::support::{Opal, binary};

struct Heard(String);

impl Taker for Heard {
    fn take(&mut self, _: Stream, bytes: &[u8]) -> Result<(), Closed> {
        self.0.push_str(&String::from_utf8_lossy(bytes));
        Ok(())
    }
}

#[test]
fn opal_is_its_own_helper_on_this_machine() {
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let helper = Helper {
        program: binary(),
        arguments: &["self".into(), "target".into()],
        environment: &environment,
        directory: Path::new("/"),
        is_read_only: false,
        timing: Timing::default(),
    };
    let greeting = local::start("here", &helper).unwrap();
    assert_eq!(greeting.hello().start, Path::new("/"));
    let origin = Arc::new(OsWorld::new(Surroundings::default()));
    let session = RemoteSession::new(greeting.act(Terms::default()).unwrap(), origin);
    let mut heard = Heard(String::new());
    let script = [ScriptPart::Text("echo served from $PWD".to_owned())];
    let work = Work {
        script: &script,
        interpreter: None,
        arguments: &[],
        directory: Path::new("/"),
        previous: None,
        environment: &BTreeMap::new(),
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    assert_eq!(session.run(work, &Stop::new(), &mut heard).unwrap().code, 0);
    assert_eq!(heard.0, "served from /\n");
}

#[test]
fn a_helper_that_nobody_talks_to_says_so_and_ends() {
    let opal = Opal::new();
    let ended = opal.call(&["self", "target", "--read-only"]);
    ended.code(1).says("connection lost: the connection was closed");
    opal.call(&["self", "target", "--odd"]).code(1).says("unknown argument `--odd`");
}
