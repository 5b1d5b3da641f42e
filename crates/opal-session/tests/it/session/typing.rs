//! Where keys go that are typed while a command runs, and what is never shown of its end.

use crate::session::seat::Seat;
use crate::session::support::{Only, SHELLS};

/// What a pager does: keys come from the terminal of standard error, one by one.
const PAGER: &str = "stty -icanon -echo min 1 <&2; printf ready; head -c 2 <&2 | tr a-z A-Z; echo";

#[test]
fn a_pager_gets_its_keys_from_the_terminal_of_its_standard_error() {
    for only in SHELLS {
        let seat = Seat::new(only);
        assert_eq!(seat.typing(PAGER, b"qx").out(), "readyQX\r\n", "{only:?}");
        // And the next command is not a pager.
        let done = seat.typing("echo ready; read x; echo \"got $x\"", b"y\n");
        assert_eq!(done.out(), "ready\r\ny\r\ngot y\r\n", "{only:?}");
        assert_eq!(seat.run("stty size <&2").out(), "30 90\r\n");
    }
}

#[test]
fn less_and_more_can_be_left() {
    let seat = Seat::new(Only::Bash);
    for pager in ["/usr/bin/less", "/usr/bin/more"].map(std::path::Path::new) {
        if pager.exists() {
            let text = format!("{{ echo ready; seq 200; }} | {}; echo left", pager.display());
            let done = seat.typing_until("27", &text, b"q");
            assert!(done.out().ends_with("left\r\n"), "{}", done.out());
            assert!(!done.out().contains("150"), "{}", done.out());
        }
    }
}

#[test]
fn an_interrupt_reaches_a_pager_and_opal() {
    let seat = Seat::new(Only::Bash);
    let text = "trap 'exit 7' INT; stty -icanon -echo <&2; printf ready; \
                while :; do sleep 0.01; done";
    assert_eq!(seat.typing(text, b"\x03").code(), 7);
    assert_eq!(seat.signals(), [2]);
}

#[test]
fn whoever_interrupts_a_command_that_takes_keys_as_they_are_means_the_run_where_it_ends_by_that() {
    for (ending, signals) in [("exit 130", vec![2]), ("kill -INT $$", vec![2]), ("exit 3", vec![])]
    {
        let seat = Seat::new(Only::Bash);
        let text = format!("stty raw -echo; printf ready; head -c 1 >/dev/null; {ending}");
        seat.typing(&text, b"\x03");
        assert_eq!(seat.signals(), signals, "{ending}");
        let seat = Seat::new(Only::Bash);
        seat.typing(&text, b"x");
        assert_eq!(seat.signals(), Vec::<i32>::new(), "{ending}");
    }
}
