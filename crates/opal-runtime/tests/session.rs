//! Commands in sessions on this machine: what they end with, print, leave and see.

#[path = "session/support.rs"]
mod support;

use support::{Only, Place, SHELLS};

#[test]
fn a_command_ends_with_its_own_code() {
    for only in SHELLS {
        let place = Place::new(only);
        for (text, code) in [
            ("true", 0),
            ("false", 1),
            ("exit 7", 7),
            ("( exit 9 )", 9),
            ("test a = b", 1),
            ("kill -9 $$", 137),
            ("sh -c 'kill -TERM $$'", if only == Only::Dash { 143 } else { 127 }),
            ("true && exit 3", 3),
            ("printf x >/dev/null; false", 1),
            ("exec sleep 0", 0),
            ("exec false", 1),
            ("nosuchprogram", 127),
            ("./nosuchprogram", 127),
            (".", if only == Only::Dash { 2 } else { 2 }),
            ("true", 0),
        ] {
            assert_eq!(place.run(text).code(), code, "{only:?} {text}");
        }
    }
}
