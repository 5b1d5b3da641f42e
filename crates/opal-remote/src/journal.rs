//! The journal of an order, kept by the helper of a target.

use opal_core::journal::{Entry, Opening};
use opal_core::resolver::Trouble;
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_session::wire::codec::Malformed;
use opal_session::wire::effect::Effect;
use opal_session::wire::reply::Reply;

use crate::connection::Acting;

/// Its lock goes with the connection.
#[derive(Debug)]
pub(crate) struct RemoteJournal(Acting);

impl RemoteJournal {
    pub(crate) fn open(
        acting: &Acting,
        opening: &Opening,
        stop: &Stop,
    ) -> Result<(Self, Vec<Entry>), Trouble> {
        let opening = opening.clone();
        match acting.ask(&Effect::Journal { opening }, stop)? {
            Reply::Journal { entries } if is_in_order(&entries) => {
                Ok((Self(acting.clone()), entries))
            }
            Reply::Journal { .. } => {
                let why = Malformed("the entries of a journal are not in order");
                Err(acting.looking().malformed(why))
            }
            _ => Err(acting.looking().nonsense()),
        }
    }

    fn note(&self, effect: &Effect, stop: &Stop) -> Result<u64, Trouble> {
        match self.0.ask(effect, stop)? {
            Reply::Noted { number } => Ok(number),
            _ => Err(self.0.looking().nonsense()),
        }
    }
}

fn is_in_order(entries: &[Entry]) -> bool {
    entries.iter().zip(1..).all(|(entry, number)| entry.number == number)
}

impl Journal for RemoteJournal {
    fn begun(&self, path: &str, stop: &Stop) -> Result<u64, Trouble> {
        self.note(&Effect::Begun { path: path.to_owned() }, stop)
    }

    fn ended(&self, path: &str, code: i32, stop: &Stop) -> Result<u64, Trouble> {
        self.note(&Effect::Ended { path: path.to_owned(), code }, stop)
    }
}
