//! Old records go, running ones stay.

use std::fs;

use opal_core::hash::Digest;
use opal_vault::record::retention::{KEPT_RUNS, MOST_RUNS, Policy, prune};
use opal_vault::record::{Contract, Header, RunId, reader};

use crate::record::support::*;

fn seconds(place: &Place) -> Vec<u64> {
    let runs = reader::list(&place.root).unwrap();
    runs.iter().map(|found| found.id.as_str()[17..19].parse().unwrap()).collect()
}

#[test]
fn the_newest_hundred_of_a_target_stay_and_up_to_ten_more() {
    let place = Place::new();
    place.writer("other", 0).finish(&done()).unwrap();
    let most = MOST_RUNS as u64;
    for second in 0..most {
        place.writer("deploy", second).finish(&done()).unwrap();
    }
    assert_eq!(place.names("deploy").len(), MOST_RUNS);
    place.writer("deploy", most).finish(&done()).unwrap();
    let names = place.names("deploy");
    assert_eq!(names.len(), KEPT_RUNS);
    assert!(names[0].starts_with("run-20261115T120011Z-"), "{}", names[0]);
    assert_eq!(place.names("other").len(), 1);
}

#[test]
fn what_is_half_made_does_not_count_as_a_run() {
    let place = Place::new();
    for second in 0..=KEPT_RUNS as u64 {
        place.writer("deploy", second).finish(&done()).unwrap();
    }
    for number in 0..MOST_RUNS - KEPT_RUNS {
        let name = format!(".new-run-20261115T1300{number:02}Z-00000000");
        fs::create_dir(place.target("deploy").join(name)).unwrap();
    }
    place.writer("deploy", 200).finish(&done()).unwrap();
    assert_eq!(reader::list(&place.root).unwrap().len(), KEPT_RUNS + 2);
}

#[test]
fn a_run_that_is_going_on_stays() {
    let place = Place::new();
    let running = place.writer("deploy", 0);
    drop(place.writer("deploy", 1));
    for second in 2..5 {
        place.writer("deploy", second).finish(&done()).unwrap();
    }
    let policy = Policy { keep: 1, before: None };
    let gone = prune(&place.root, &policy, true).unwrap();
    assert_eq!((gone.len(), seconds(&place).len()), (3, 5));
    assert_eq!(prune(&place.root, &policy, false).unwrap(), gone);
    assert_eq!(seconds(&place), [4, 0]);
    running.finish(&done()).unwrap();
    prune(&place.root, &policy, false).unwrap();
    assert_eq!(seconds(&place), [4]);
    prune(&place.root, &Policy { keep: 0, before: None }, false).unwrap();
    assert_eq!(seconds(&place), [0; 0]);
}

#[test]
fn only_what_is_old_enough_goes() {
    let place = Place::new();
    for second in 0..5 {
        place.writer("deploy", second).finish(&done()).unwrap();
    }
    let before = Some(header("deploy", 3).id);
    let gone = prune(&place.root, &Policy { keep: 1, before }, false).unwrap();
    assert_eq!((gone.len(), seconds(&place)), (3, vec![4, 3]));
}

#[test]
fn what_a_killed_process_left_half_done_goes_too() {
    let place = Place::new();
    place.writer("deploy", 5).finish(&done()).unwrap();
    let folder = place.target("deploy");
    for name in [".new-run-20261115T120001Z-00000000", ".old-run-20261115T120002Z-00000000"] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("events.jsonl"), "{").unwrap();
    }
    // This one may belong to a run that is just beginning.
    fs::create_dir(folder.join(".new-run-20261115T120009Z-00000000")).unwrap();
    assert_eq!(seconds(&place), [5]);
    prune(&place.root, &Policy { keep: 9, before: None }, false).unwrap();
    let left = [".new-run-20261115T120009Z-00000000", "run-20261115T120005Z-00000001"];
    assert_eq!(place.names("deploy"), left);
}

#[test]
fn without_any_run_there_is_nothing_to_prune() {
    let place = Place::new();
    assert_eq!(prune(&place.root, &Policy { keep: 0, before: None }, false).unwrap(), []);
    assert!(!place.root.path().exists());
}

#[test]
fn records_of_contracts_are_not_counted_and_go_by_their_age() {
    let place = Place::new();
    let contract = Contract::new(Digest([7; 32]), "c.plan");
    place
        .writer_of(Header { contract: Some(contract), ..header("deploy", 0) })
        .finish(&done())
        .unwrap();
    for second in 1..=200 {
        place.writer("deploy", second).finish(&done()).unwrap();
    }
    let names = place.names("deploy");
    assert!(names[0].starts_with("run-20261115T120000Z-"), "{}", names[0]);
    assert!(names.len() <= MOST_RUNS + 1, "{}", names.len());
    let policy = Policy { keep: 0, before: None };
    prune(&place.root, &policy, false).unwrap();
    assert_eq!(place.names("deploy").len(), 1);
    let before = Some(RunId::new(at(1), [0; 4]));
    prune(&place.root, &Policy { keep: 0, before }, false).unwrap();
    assert_eq!(place.names("deploy").len(), 0);
}
