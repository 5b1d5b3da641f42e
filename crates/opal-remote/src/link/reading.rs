//! The thread that reads what a target says.

use opal_session::wire::codec::Malformed;
use opal_session::wire::frame::{Frame, Kind, Loss, Receiver};

use super::Inner;

/// Reads until the connection is gone.
pub(super) fn read(mut receiver: Receiver, inner: &Inner) {
    let loss = loop {
        let frame = receiver.frame();
        inner.hear();
        match frame {
            Ok(frame) if frame.kind == Kind::Ping => {}
            Ok(frame) => {
                if let Err(why) = deliver(inner, frame) {
                    break Loss::Malformed(why);
                }
            }
            Err(loss) => break loss,
        }
    };
    inner.lose(loss);
}

fn deliver(inner: &Inner, frame: Frame) -> Result<(), Malformed> {
    let number = frame.stream.request;
    let mailbox = inner.table().get(&number).cloned();
    let mailbox = mailbox.ok_or(Malformed("an answer without a request"))?;
    if mailbox.deliver(frame)? {
        inner.table().remove(&number);
    }
    Ok(())
}
