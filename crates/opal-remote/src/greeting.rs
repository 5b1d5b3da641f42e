//! The first words of a target, before anything is sent to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::resolver::Trouble;
use opal_session::stop::Stop;
use opal_session::wire::codec::{Malformed, decoded};
use opal_session::wire::frame::{Kind, Loss, Receiver, StreamId};
use opal_session::wire::hello::{Begin, Hello};
use opal_session::wire::link::Sender;
use opal_session::wire::{Timing, VERSION};
use opal_session::{Ends, Transport};

use crate::carrier::Carrier;
use crate::connection::{Acting, Looking};
use crate::error::RemoteError;
use crate::link::Link;

/// A helper that has said hello, and knows nothing of us yet.
#[derive(Debug)]
pub struct Greeting {
    target: String,
    hello: Hello,
    sender: Sender,
    receiver: Receiver,
    timing: Timing,
    carrier: Option<Carrier>,
}

/// What a session begins with.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Tells the processes of this run from all others.
    pub marker: String,
    /// Where steps start; the helper's own directory where it is not said.
    pub start: Option<PathBuf>,
    /// On top of the environment there.
    pub environment: BTreeMap<String, Secret>,
    /// Whether the environment there is first that of a login shell.
    pub is_login: bool,
}

impl Greeting {
    /// Waits for the hello of the helper at the other end of two pipes. `noise` is what was read
    /// already.
    pub fn hear(
        target: &str,
        ends: Ends,
        noise: &[u8],
        transport: Option<Transport>,
        timing: Timing,
    ) -> Result<Self, Trouble> {
        let carrier = transport.map(Carrier::Process);
        Self::heard(target, ends, noise, carrier, timing, &Stop::new())
            .map_err(|loss| RemoteError::NoHelper { target, loss }.into())
    }

    pub(crate) fn heard(
        target: &str,
        ends: Ends,
        begun: &[u8],
        carrier: Option<Carrier>,
        timing: Timing,
        stop: &Stop,
    ) -> Result<Self, Loss> {
        let Ends { output, input } = ends;
        rustix::io::ioctl_fionbio(&input, true)
            .map_err(|error| Loss::System(std::io::Error::from(error).kind()))?;
        let mut receiver = Receiver::new(output, timing.lost);
        receiver.begin_with(begun);
        let hello = hello(&mut receiver, timing.lost, stop)?;
        let (target, sender) = (target.to_owned(), Sender::new(input));
        Ok(Self { target, hello, sender, receiver, timing, carrier })
    }

    /// Who is there. Nothing of it is proven.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    pub(crate) fn timing(&self) -> Timing {
        self.timing
    }

    /// A connection that can only read.
    pub fn look(self, terms: Terms) -> Result<Looking, Trouble> {
        self.begin(terms).map(Looking::new)
    }

    /// A connection that can also act.
    pub fn act(self, terms: Terms) -> Result<Acting, Trouble> {
        match self.hello.is_read_only {
            true => Err(RemoteError::OnlyReads { target: &self.target }.into()),
            false => self.begin(terms).map(Acting::new),
        }
    }

    fn begin(self, terms: Terms) -> Result<std::sync::Arc<Link>, Trouble> {
        let Terms { marker, start, environment, is_login } = terms;
        let begin = Begin { version: VERSION, marker, start, environment, is_login };
        let target = self.target.clone();
        let sent = self.sender.message(Kind::Begin, StreamId::LINK, &begin);
        let Self { target: name, hello, sender, receiver, timing, carrier } = self;
        sent.and_then(|()| Link::new(name, hello, sender, receiver, timing, carrier)).map_err(
            |error| {
                let loss = Loss::System(error.kind());
                RemoteError::NoHelper { target: &target, loss }.into()
            },
        )
    }
}

/// All of the first words have as much time as a target may be silent.
fn hello(receiver: &mut Receiver, most: Duration, stop: &Stop) -> Result<Hello, Loss> {
    let end = Instant::now() + most;
    loop {
        let frame = receiver.frame_before(end, stop)?;
        match frame.kind {
            Kind::Ping => {}
            Kind::Hello => {
                let hello: Hello = decoded(&frame.payload)?;
                hello.check()?;
                return Ok(hello);
            }
            _ => return Err(Malformed("the first frame is not a hello").into()),
        }
    }
}
