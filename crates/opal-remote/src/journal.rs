//! The journal of an order, kept by the helper of a target.

use opal_core::journal::{Entry, Opening};
use opal_core::resolver::Trouble;
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_session::wire::codec::Malformed;
use opal_session::wire::effect::{Effect, Handle};
use opal_session::wire::reply::Reply;

use crate::connection::Acting;
use crate::link::Shape;

/// Its lock goes with the connection.
#[derive(Debug)]
pub(crate) struct RemoteJournal {
    acting: Acting,
    handle: Handle,
    marker: String,
}

impl RemoteJournal {
    pub(crate) fn open(
        acting: &Acting,
        opening: &Opening,
        stop: &Stop,
    ) -> Result<(Self, Vec<Entry>), Trouble> {
        let opening = opening.clone();
        let mut sent = acting.begin(&Effect::Journal { opening }, Shape::default(), stop)?;
        match sent.reply(stop)? {
            Reply::Journal { marker, entries } if is_in_order(&entries) => {
                Ok((Self { acting: acting.clone(), handle: sent.number, marker }, entries))
            }
            Reply::Journal { .. } => {
                let why = Malformed("the entries of a journal are not in order");
                Err(acting.looking().malformed(why))
            }
            _ => Err(acting.looking().nonsense()),
        }
    }

    fn note(&self, effect: &Effect, stop: &Stop) -> Result<u64, Trouble> {
        match self.acting.ask(effect, stop)? {
            Reply::Noted { number } => Ok(number),
            _ => Err(self.acting.looking().nonsense()),
        }
    }
}

fn is_in_order(entries: &[Entry]) -> bool {
    entries.iter().zip(1..).all(|(entry, number)| entry.number == number)
}

impl Journal for RemoteJournal {
    fn marker(&self) -> &str {
        &self.marker
    }

    fn begun(&self, path: &str, stop: &Stop) -> Result<u64, Trouble> {
        let path = path.to_owned();
        self.note(&Effect::Begun { journal: self.handle, path }, stop)
    }

    fn ended(&self, path: &str, code: i32, stop: &Stop) -> Result<u64, Trouble> {
        let path = path.to_owned();
        self.note(&Effect::Ended { journal: self.handle, path, code }, stop)
    }
}
