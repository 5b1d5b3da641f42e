//! Findings in, effects out.

use std::time::{Duration, SystemTime};

use opal_testing::shown;
use opal_vault::verification::{Blocked, Refusal};

use super::*;

fn found(path: &str, status: Status) -> Verification {
    Verification {
        id: path.to_owned(),
        name: None,
        path: path.into(),
        target: None,
        key: shown(path),
        status,
        message: shown(""),
        details: None,
        blocked: None,
        refusal: None,
        unmet: Vec::new(),
        digest: None,
        identity: None,
        account: None,
        took: Duration::ZERO,
        at: SystemTime::UNIX_EPOCH,
    }
}

fn blocked(by_prerequisite: bool) -> Verification {
    let why = Blocked { error: shown(""), help: Vec::new(), by_prerequisite };
    Verification { blocked: Some(why), ..found("a", Status::Blocked) }
}

#[test]
fn each_status_has_its_effect() {
    let refused = Refusal { error: shown(""), help: Vec::new() };
    for (found, expected) in [
        (found("a", Status::Satisfied), Effect::Skip),
        (found("a", Status::Missing), Effect::Create),
        (found("a", Status::Drifted), Effect::Correct),
        (found("a", Status::Unknown), Effect::Run),
        (blocked(true), Effect::Wait),
        (blocked(false), Effect::Blocked),
        (Verification { refusal: Some(refused), ..found("a", Status::Drifted) }, Effect::Blocked),
    ] {
        assert_eq!(effect(&found), expected, "{found:?}");
    }
}

#[test]
fn every_effect_is_counted_once_and_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = Effect::ALL.into_iter().map(Effect::name).collect();
    assert_eq!(names.len(), Effect::ALL.len());
}
