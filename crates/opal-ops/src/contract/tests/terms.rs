//! What a contract and the policy say about when, how often and by whom it may run.

use super::*;

#[test]
fn what_the_policy_forbids_is_refused() {
    let trusted = SigningKey::generate();
    let other = SigningKey::generate();
    let signature = Policy::requiring_signature(Some(trusted.public()));
    let age = Policy { max_age: Some(HALF_AN_HOUR), ..Policy::default() };
    let expiry = Policy { require_expiry: true, ..Policy::default() };
    let none = Terms::default();
    let by_other = Terms { signer: Some(&other), ..none };
    let by_trusted = Terms { signer: Some(&trusted), ..none };
    let ending = Terms { expires: Some(NOW + HOUR), ..none };
    let signer = Some(other.public());
    let not_trusted = PolicyRefusal::NotTrusted { signer, by_nobody: false };
    let too_old = PolicyRefusal::TooOld { max_age: HALF_AN_HOUR };
    let table = [
        (&signature, none, Some((PolicyRefusal::NotSigned, Reason::Unsigned))),
        (&signature, by_other, Some((not_trusted, Reason::NotTrusted))),
        (&signature, by_trusted, None),
        (&age, none, Some((too_old, Reason::NotTrusted))),
        (&expiry, none, Some((PolicyRefusal::NoExpiry, Reason::NotTrusted))),
        (&expiry, ending, None),
    ];
    for (policy, terms, expected) in table {
        let machine = Machine { policy: policy.clone(), ..Machine::new() };
        let bytes = machine.contract(SOURCE, terms);
        let found = match machine.run(&bytes, SOURCE) {
            Ok(_) => None,
            Err(Stopped::Refused(refusal)) => {
                let Refusal::Policy(all) = &refusal else { panic!("{refusal}") };
                Some((all[0], refusal.reason()))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{policy:?}");
    }
}

#[test]
fn a_contract_that_is_dated_in_the_future_is_refused_where_its_age_matters() {
    let policy = Policy { max_age: Some(HALF_AN_HOUR), ..Policy::default() };
    let machine = Machine { policy, time: NOW - 2 * HOUR, ..Machine::new() };
    let refusal = machine.refusal(&machine.contract(SOURCE, Terms::default()), SOURCE);
    let expected = PolicyRefusal::InTheFuture { max_age: HALF_AN_HOUR };
    assert!(matches!(&refusal, Refusal::Policy(all) if *all == [expected]));
}

#[test]
fn a_contract_is_refused_from_the_second_of_its_end() {
    let mut machine = Machine::new();
    let end = NOW + HOUR;
    let bytes = machine.contract(SOURCE, Terms { expires: Some(end), ..Terms::default() });
    machine.time = end - 1;
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
    machine.time = end;
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(refusal, Refusal::Expired { end: found } if found == end), "{refusal}");
    assert_eq!(refusal.to_string(), "it expired at 2025-01-31T15:05:00Z");
    assert_eq!(refusal.reason(), Reason::Expired);
}

#[test]
fn a_single_use_contract_that_has_run_is_refused_and_others_run_again() {
    let machine = Machine::new();
    let ledger = Ledger::new(&machine.root);
    for once in [true, false] {
        let bytes = machine.contract(SOURCE, Terms { once, ..Terms::default() });
        assert_eq!(machine.how(&bytes, SOURCE), How::Same);
        ledger.claim(&Algorithm::Sha256.digest(&[&bytes])).unwrap();
        let decided = machine.run(&bytes, SOURCE);
        if !once {
            assert_eq!(decided.unwrap().how, How::Same);
            continue;
        }
        let refusal = refusal(decided);
        assert!(matches!(refusal, Refusal::Used), "{refusal}");
        assert_eq!(refusal.reason(), Reason::Used);
    }
}

#[test]
fn a_failed_run_of_a_single_use_contract_is_continued_once_and_no_other_run_is() {
    let machine = Machine::new();
    let ledger = Ledger::new(&machine.root);
    let terms = Terms { once: true, ..Terms::default() };
    let bytes = machine.contract(SOURCE, terms);
    let id = Algorithm::Sha256.digest(&[&bytes]);
    let first = crate::resume::tests::record(&machine.root, 1, Some(id), Ended::Failed);
    let other = crate::resume::tests::record(&machine.root, 2, None, Ended::Failed);
    ledger.claim(&id).unwrap();
    assert!(matches!(machine.refusal(&bytes, SOURCE), Refusal::Used));
    assert!(machine.may_continue(&bytes, &first));
    assert!(!machine.may_continue(&bytes, &other));
    let another = machine.contract(SOURCE, terms);
    ledger.claim(&Algorithm::Sha256.digest(&[&another])).unwrap();
    assert!(!machine.may_continue(&another, &first));
    ledger.claim_continuation(&id, &first.id).unwrap();
    assert!(!machine.may_continue(&bytes, &first));
    assert!(matches!(ledger.claim_continuation(&id, &first.id), Err(ClaimError::AlreadyUsed)));
    // It failed as well: what is left of the one use is there.
    let second = crate::resume::tests::record(&machine.root, 3, Some(id), Ended::Failed);
    assert!(machine.may_continue(&bytes, &second));
    assert!(matches!(machine.refusal(&bytes, SOURCE), Refusal::Used));
}

fn needing(rule: &str) -> Policy {
    let text = format!("[[approval]]\n{rule}\n");
    Policy::parse(std::path::Path::new("policy.toml"), &text).unwrap()
}

#[test]
fn a_contract_that_people_have_not_approved_is_refused() {
    let key = SigningKey::generate().public();
    for (rule, is_refused) in [
        (format!("by = [\"{key} ann\"]"), true),
        (format!("by = [\"{key} ann\"]\ntargets = [\"test\"]"), false),
        ("needed = 0\nlimit = \"refuse\"".to_owned(), false),
        ("needed = 0\nmax_age = \"1s\"".to_owned(), true),
        ("needed = 0\npublic_values = true".to_owned(), true),
        (format!("needed = 0\nmakers = [\"{key} ci\"]"), true),
    ] {
        let machine = Machine { policy: needing(&rule), ..Machine::new() };
        let bytes = machine.contract(SOURCE, Terms::default());
        match machine.run(&bytes, SOURCE) {
            Ok(_) => assert!(!is_refused, "{rule}"),
            Err(Stopped::Refused(refusal @ Refusal::Unapproved(_))) => {
                assert!(is_refused, "{rule}");
                assert_eq!(refusal.reason(), Reason::NotApproved);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn options_that_run_something_else_are_refused_where_people_approve() {
    let key = SigningKey::generate().public();
    let machine = Machine { policy: needing(&format!("by = [\"{key} ann\"]")), ..Machine::new() };
    let bytes = machine.contract(SOURCE, Terms::default());
    let opened = open(&bytes, &machine.runner()).unwrap();
    let rules = Rules {
        forbidden_option: Some("--force"),
        ..Rules::new(&machine.policy, None, machine.time)
    };
    let refusal = accept(&bytes, &opened, &rules).unwrap_err();
    assert!(matches!(refusal, Refusal::OptionForbidden("--force")), "{refusal}");
    assert_eq!(refusal.reason(), Reason::NotTrusted);
}

#[test]
fn a_key_in_reach_and_a_rejection_have_their_reasons() {
    assert_eq!(Refusal::KeyInReach("k".into()).reason(), Reason::NotTrusted);
    assert_eq!(Refusal::Rejected(Vec::new()).reason(), Reason::Rejected);
}
