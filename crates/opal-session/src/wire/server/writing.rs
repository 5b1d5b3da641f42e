//! Files that opal writes: the request that begins one owns it, and does what later requests wish.

use std::io::{ErrorKind, Write as _};
use std::sync::Arc;

use opal_core::action::Pending;
use opal_core::resolver::Trouble;

use super::inlet::{Piece, Wish};
use super::requests::{Held, Helper, Open, Thing};
use crate::error::SessionError;
use crate::wire::WINDOW;
use crate::wire::frame::{Channel, Kind, StreamId};
use crate::wire::reply::Reply;

/// Says that it has begun, and stays until it is kept, or let go of. What was not kept is gone then.
pub(super) fn write(
    helper: &Helper,
    held: &Held,
    number: u32,
    open: &Arc<Open>,
    mut pending: Box<dyn Pending>,
) -> Option<Reply> {
    let stream = StreamId::new(number, Channel::Input);
    open.inlet.open(WINDOW);
    held.lock().insert(number, Thing::File(Arc::clone(open)));
    helper.say(number, &Reply::Done);
    let _ = helper.sender.window(stream, WINDOW);
    let (mut failed, mut is_whole) = (None, false);
    while let Some(piece) = open.inlet.next() {
        match piece {
            Piece::Bytes(bytes) => {
                if failed.is_none()
                    && let Err(error) = pending.write_all(&bytes)
                {
                    failed = Some(error.kind());
                    let _ = helper.sender.message(Kind::Fail, stream, &error.kind());
                }
                if let Some(window) = open.inlet.taken(bytes.len()) {
                    let _ = helper.sender.window(stream, window);
                }
            }
            Piece::End => is_whole = true,
            Piece::Wish(request, Wish::Resemble(path)) => {
                reply(helper, request, pending.resemble(&path));
            }
            Piece::Wish(request, Wish::Keep) => {
                let cut = (!is_whole).then_some(ErrorKind::UnexpectedEof);
                let kept = match failed.or(cut) {
                    None => pending.keep(),
                    Some(why) => {
                        drop(pending);
                        Err(SessionError::System { what: NOT_WRITTEN, why }.into())
                    }
                };
                // Before it is said, so that nothing comes after it.
                helper.leave(number);
                reply(helper, request, kept);
                return None;
            }
            Piece::Wish(request, Wish::Release) => {
                drop(pending);
                helper.leave(number);
                reply(helper, request, Ok(()));
                return None;
            }
        }
    }
    None
}

const NOT_WRITTEN: &str = "the file cannot be written";

fn reply(helper: &Helper, request: u32, done: Result<(), Trouble>) {
    helper.reply(
        request,
        &match done {
            Ok(()) => Reply::Done,
            Err(trouble) => Reply::Trouble { trouble },
        },
    );
}
