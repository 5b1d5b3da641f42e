//! Decorators after `<` and `>`: they run beside a step, and its streams reach them in chunks.

use opal_core::action::{Halt, Incoming, Outgoing, Source, SourceFailure, Stage, StreamedSink};
use opal_core::data::Secret;
use opal_core::protocol::call::Function;
use opal_core::protocol::request::{Content, Service};
use opal_core::protocol::{Body, Kind, Refusal};
use opal_core::resolver::{Inputs, Probe};

use super::{Adapter, Nothing};
use crate::client::Serve;
use crate::client::failure::Why;
use crate::client::serving::{Acting, Reading, shape};

/// The answers of a source: those of a call that reads, and the input of the step.
struct Giving<'a> {
    reading: Reading<'a>,
    to: &'a mut dyn Outgoing,
}

impl Serve for Giving<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        if service != Service::OutputWrite {
            return self.reading.serve(service, params);
        }
        let content: Content = shape(params)?;
        let written = self.to.write(&content.bytes);
        written.map_err(|error| Refusal::new(Kind::Failed, error.kind().to_string()))?;
        Ok(Body::default())
    }

    fn is_stopped(&self) -> bool {
        self.reading.is_stopped() || self.to.is_closed()
    }

    fn masked(&self, text: &Secret) -> Secret {
        self.reading.masked(text)
    }
}

/// The answers of a sink: those of a call that acts, and the output of the step.
struct Taking<'a> {
    acting: Acting<'a>,
    from: &'a mut dyn Incoming,
}

impl Serve for Taking<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        if service != Service::InputRead {
            return self.acting.serve(service, params);
        }
        let read = self.from.read();
        let bytes = read.map_err(|_| Refusal::new(Kind::Failed, "the step has failed"))?;
        Ok(Body::of(&Content { bytes }))
    }

    fn is_stopped(&self) -> bool {
        self.acting.is_stopped() || self.from.is_given_up()
    }

    fn masked(&self, text: &Secret) -> Secret {
        self.acting.masked(text)
    }
}

impl Source for Adapter {
    fn give(
        &self,
        inputs: &Inputs,
        to: &mut dyn Outgoing,
        probe: &dyn Probe,
    ) -> Result<(), SourceFailure> {
        let (invocation, handles) = self.invocation(inputs);
        let given = self.powers().and_then(|powers| {
            let mut giving = Giving { reading: Reading { probe, powers, handles }, to };
            self.call::<Nothing>(Function::Read, &invocation, &mut giving)
        });
        match given {
            Ok(_) => Ok(()),
            Err(failure) => Err(SourceFailure { code: failure.code(), trouble: failure.trouble() }),
        }
    }
}

impl StreamedSink for Adapter {
    fn take(
        &self,
        inputs: &Inputs,
        from: &mut dyn Incoming,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        let (invocation, handles) = self.invocation(inputs);
        let (taken, halt, is_complete) = {
            let acting = self.acting(stage, handles)?;
            let mut taking = Taking { acting, from };
            let taken = self.call::<Nothing>(Function::Write, &invocation, &mut taking);
            (taken, taking.acting.halt.take(), taking.from.is_complete())
        };
        if let Some(halt) = halt {
            return Err(halt);
        }
        let (Nothing, log) = taken.map_err(|failure| Self::halt(stage, &failure))?;
        Self::printed(stage, log)?;
        if is_complete {
            return Ok(());
        }
        let what = "it ended before it had read the whole output".to_owned();
        Err(Self::halt(stage, &self.failure(Why::Strange(what))))
    }
}
