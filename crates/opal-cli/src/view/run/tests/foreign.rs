//! What steps on targets print.

use std::sync::atomic::Ordering;

use opal_core::stream::Stream;
use opal_testing::{records, shown};
use opal_vault::event::{End, Event, Kind, Started};
use opal_vault::witness::Audience as _;

use super::play::{PLAIN, Play, QUIET, TERMINAL};
use crate::view::run::{Style, Talk};

const ODD: &str = "a\x1b]52;c;aGk=\x07\x1b[31mb\x1b[2J";

/// What is shown of `ODD` that step 7 prints. The terminal is raw if a step has it.
fn shown_of(style: Style, target: Option<&str>, has_terminal: Option<u64>) -> String {
    let mut play = Play::new(Style { talk: Talk::Quiet, ..style });
    let tell = |number, kind| {
        let target = target.filter(|_| number == 7).map(Into::into);
        play.live.event(&Event { at: crate::clock::now(), target, alike: None, kind });
    };
    let started = |number| {
        let text = shown("x");
        Kind::Started(Started { text, is_block: false, ..records::started(number, "a") })
    };
    tell(7, started(7));
    tell(8, started(8));
    play.is_raw.store(has_terminal.is_some(), Ordering::SeqCst);
    has_terminal.into_iter().for_each(|number| play.live.has_terminal(number));
    play.print(7, Stream::Stdout, ODD);
    tell(7, Kind::Finished(records::finished(7, "a", End::Done, 0)));
    play.number = 8;
    play.paper.take()
}

#[test]
fn on_a_terminal_only_text_and_colours_of_a_target_are_shown() {
    let whole = format!(">{ODD}");
    let plain = ">a\x1b[31mb>\x1b[0m";
    assert_eq!(shown_of(TERMINAL, Some("web1"), None), plain);
    assert_eq!(shown_of(TERMINAL, None, None), whole);
    for style in [PLAIN, QUIET] {
        assert_eq!(shown_of(style, Some("web1"), None), whole);
    }
    // A program that has the terminal may draw, unless it is another one that has it.
    assert_eq!(shown_of(TERMINAL, Some("web1"), Some(7)), whole);
    assert_eq!(shown_of(TERMINAL, Some("web1"), Some(8)), plain);
}
