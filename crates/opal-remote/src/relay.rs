//! A target inside a target: its pipes are streams of the connection to the outer one.

use std::sync::mpsc::channel;
use std::thread;

use opal_core::resolver::Trouble;
use opal_core::stream::{Closed, Stream};
use opal_core::target::Hop;
use opal_session::reach::Dialling;
use opal_session::stop::Stop;
use opal_session::wire::effect::{Effect, Windows};
use opal_session::wire::look::Look;
use opal_session::wire::reaching::Reaching;
use opal_session::{Ends, Output, Taker, pipe};

use crate::carrier::Relay;
use crate::connection::{Acting, Looking};
use crate::link::{Sent, Shape};
use crate::run;

/// The pipes of what was started there.
#[derive(Debug)]
pub(crate) struct Relayed {
    pub(crate) ends: Ends,
    pub(crate) stderr: std::os::fd::OwnedFd,
    pub(crate) relay: Relay,
}

/// From a target that can only be read.
pub(crate) fn look(
    looking: &Looking,
    hop: &Hop,
    dialling: &Dialling,
    has_password: bool,
) -> Result<Relayed, Trouble> {
    let stop = Stop::new();
    let windows = windows(looking);
    let reaching = reaching(hop, dialling, has_password, windows);
    let mut sent = looking.begin(&Look::Reach { reaching }, shape(windows), &stop)?;
    // It goes on for long: others shall not wait for it.
    sent.look = None;
    carry(sent, windows, stop)
}

/// From a target with effects.
pub(crate) fn act(
    acting: &Acting,
    hop: &Hop,
    dialling: &Dialling,
    has_password: bool,
) -> Result<Relayed, Trouble> {
    let stop = Stop::new();
    let windows = windows(acting.looking());
    let reaching = reaching(hop, dialling, has_password, windows);
    let sent = acting.begin(&Effect::Reach { reaching }, shape(windows), &stop)?;
    carry(sent, windows, stop)
}

fn windows(looking: &Looking) -> Windows {
    let budget = &looking.inner().budget;
    Windows { output: budget.take(), error: budget.take() }
}

fn shape(windows: Windows) -> Shape {
    let (output, error) = (Some(windows.output), Some(windows.error));
    Shape { output, error, has_input: true, ..Shape::default() }
}

fn reaching(hop: &Hop, dialling: &Dialling, has_password: bool, windows: Windows) -> Reaching {
    Reaching { hop: hop.clone(), dialling: dialling.clone(), has_password, windows }
}

fn carry(sent: Sent, windows: Windows, stop: Stop) -> Result<Relayed, Trouble> {
    let target = sent.link.inner.target.clone();
    let failed = |error: std::io::Error| -> Trouble {
        crate::error::RemoteError::NotStarted { target: &target, why: error.kind() }.into()
    };
    let (inner_input, input) = pipe().map_err(failed)?;
    let (output, inner_output) = pipe().map_err(failed)?;
    let (stderr, inner_stderr) = pipe().map_err(failed)?;
    let (say, over) = channel();
    let order = stop.clone();
    let work = move || {
        let outputs = [Output::To(inner_output), Output::To(inner_stderr)];
        let ended = run::command(&sent, Some(inner_input), outputs, &order, &mut Nobody);
        let budget = &sent.link.inner.budget;
        budget.give_back(windows.output);
        budget.give_back(windows.error);
        // Whoever asks may have gone.
        let _ = say.send(ended);
    };
    thread::Builder::new().name("relay".to_owned()).spawn(work).map_err(failed)?;
    let relay = Relay::new(stop, over);
    Ok(Relayed { ends: Ends { output, input }, stderr, relay })
}

/// All output goes to pipes.
struct Nobody;

impl Taker for Nobody {
    fn take(&mut self, _: Stream, _: &[u8]) -> Result<(), Closed> {
        Ok(())
    }
}
