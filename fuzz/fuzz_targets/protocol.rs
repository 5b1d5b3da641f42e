//! Any bytes: reading lines of the plugin protocol never panics, and what is read is written again so
//! that it reads the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::protocol::call::{Acted, Finding, Invocation, Judged, Load, Opened, Targets};
use opal_core::protocol::request::{Command, Completed, HttpRequest, HttpResponse, WriteFile};
use opal_core::protocol::{Body, Message, line};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some(message)) = line::read(&mut rest) {
        match &message {
            Message::Call(call) => shapes(&call.params),
            Message::Reply(reply) => {
                if let Ok(body) = &reply.result {
                    shapes(body);
                }
            }
            Message::Cancel(_) => {}
        }
        // A line that was as long as allowed may be longer when it is written again.
        let Ok(once) = line::bytes(&message) else { continue };
        let again = line::read(&mut &once[..]).expect("it reads").expect("it is whole");
        let again = line::bytes(&again).expect("it is written again");
        assert!(*again == *once);
    }
});

fn shapes(body: &Body) {
    let _ = body.read::<Invocation>();
    let _ = body.read::<Load>();
    let _ = (body.read::<Acted>(), body.read::<Finding>(), body.read::<Opened>());
    let _ = (body.read::<Judged>(), body.read::<Targets>());
    let _ = (body.read::<Command>(), body.read::<Completed>(), body.read::<WriteFile>());
    let _ = (body.read::<HttpRequest>(), body.read::<HttpResponse>());
}
