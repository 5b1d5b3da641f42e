//! Any bytes: reading frames and decoding requests and replies never panics, and what is decoded is
//! encoded again as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_session::wire::codec::{Wire, decoded, encoded};
use opal_session::wire::effect::Effect;
use opal_session::wire::frame::{Assembly, Kind};
use opal_session::wire::hello::{Begin, Hello};
use opal_session::wire::look::Look;
use opal_session::wire::reply::{Halting, Reply};
use opal_session::wire::trees::Tree;

fuzz_target!(|bytes: &[u8]| {
    // Without a header, so that mutations reach the decoders at once.
    check::<Look>(bytes);
    check::<Effect>(bytes);
    check::<Reply>(bytes);
    check::<Tree>(bytes);
    let mut assembly = Assembly::default();
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    for part in [first, rest] {
        assembly.add(part);
        while let Ok(Some(frame)) = assembly.frame() {
            match frame.kind {
                Kind::Hello => check::<Hello>(&frame.payload),
                Kind::Begin => check::<Begin>(&frame.payload),
                Kind::Look => check::<Look>(&frame.payload),
                Kind::Effect => check::<Effect>(&frame.payload),
                Kind::Reply => check::<Reply>(&frame.payload),
                Kind::Stop => check::<Halting>(&frame.payload),
                _ => {}
            }
        }
    }
});

fn check<T: Wire>(bytes: &[u8]) {
    if let Ok(it) = decoded::<T>(bytes) {
        assert_eq!(**encoded(&it), *bytes);
    }
}
