//! What is done stays done, whatever is asked of it meanwhile.

use std::fs::File;

use crate::support::Opal;

fn counts(opal: &Opal) -> [i64; 3] {
    let document = opal.call(&["apply", "a.yaml", "--json", "--jobs", "4"]).code(1).json();
    ["done", "failed", "stopped"].map(|name| document["counts"][name].as_i64().unwrap())
}

#[test]
fn a_command_that_has_ended_is_done_also_where_its_check_is_cut_off() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: made, type: command, command: touch made, \
                check: \"test -e made && { touch verifying; sleep 20; }\"}\n\
                \x20 - {id: bad, type: command, \
                command: \"until test -e verifying; do sleep 0.05; done; exit 3\"}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    assert_eq!(counts(&opal), [1, 1, 0]);
}

#[test]
fn a_file_that_was_written_is_done_also_where_the_look_at_it_is_cut_off() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: big, type: copy, source: big, destination: made}\n\
                \x20 - {id: bad, type: command, \
                command: \"until test -e made; do sleep 0.01; done; exit 3\"}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    File::create(opal.path().join("big")).unwrap().set_len(64 << 20).unwrap();
    assert_eq!(counts(&opal), [1, 1, 0]);
}

#[test]
fn a_command_that_is_cut_off_is_stopped() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: long, type: command, command: \"touch begun; sleep 20\", \
                check: test -e never}\n\
                \x20 - {id: bad, type: command, \
                command: \"until test -e begun; do sleep 0.05; done; exit 3\"}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    assert_eq!(counts(&opal), [0, 1, 1]);
}
