//! What is not the contract that this machine was given: other bytes, another seal, another signature.

use super::*;

#[test]
fn what_is_not_a_contract_is_refused() {
    let refusal = Machine::new().refusal(b"#!/bin/sh\nrm -rf /\n", SOURCE);
    assert!(matches!(&refusal, Refusal::Damaged(_)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_of_another_major_version_is_refused() {
    let machine = Machine::new();
    let mut bytes = machine.contract(SOURCE, Terms::default());
    bytes[4] = 9;
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(&refusal, Refusal::OtherVersion(_)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_whose_bytes_were_changed_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let steps = bytes.windows(4).position(|it| it == b"echo").unwrap();
    let refusal = machine.refusal(&changed(&bytes, steps), SOURCE);
    let Refusal::Damaged(error) = &refusal else { panic!("{refusal}") };
    assert_eq!(error.section, Section::Signature);
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_that_is_sealed_to_others_is_refused() {
    let (machine, other) = (Machine::new(), Machine::new());
    let bytes = other.contract(SOURCE, Terms::default());
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(refusal, Refusal::SealedToOthers), "{refusal}");
    assert_eq!(refusal.reason(), Reason::NotSealed);
    let recipients = &[machine.runner().recipient()];
    let bytes = other.contract(SOURCE, Terms { recipients, ..Terms::default() });
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
}

#[test]
fn a_contract_with_a_damaged_envelope_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let envelope = Frame::read(&bytes).unwrap().envelope();
    let last = offset(&bytes, envelope) + envelope.len() - 1;
    let refusal = machine.refusal(&changed(&bytes, last), SOURCE);
    assert!(matches!(refusal, Refusal::EnvelopeDamaged(OpenError::Damaged)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_whose_signature_is_not_its_signers_is_refused() {
    let (machine, key) = (Machine::new(), SigningKey::generate());
    let bytes = machine.contract(SOURCE, Terms { signer: Some(&key), ..Terms::default() });
    let (signature, _) = Frame::read(&bytes).unwrap().ed25519().unwrap();
    let refusal = machine.refusal(&changed(&bytes, offset(&bytes, signature)), SOURCE);
    let Refusal::ForgedSignature(signer) = &refusal else { panic!("{refusal}") };
    assert_eq!(*signer, key.public());
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_with_another_seed_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let frame = Frame::read(&bytes).unwrap();
    let sealed = Envelope::open(frame.envelope(), &machine.runner()).unwrap();
    let opened = open(&bytes, &machine.runner()).unwrap();
    let mut provenance = opened.contract.provenance().clone();
    provenance.seed.as_mut().unwrap().seed_hash = Digest([1; 32]);
    let plan = opened.contract.plan().clone();
    let other = Contract::new(plan, opened.contract.created(), provenance).unwrap();
    let auth_key = &sealed.secret.auth_key();
    let encoding = Encoding { envelope: frame.envelope(), auth_key, compress: false, signer: None };
    let refusal = machine.refusal(&encode(&other, &encoding).unwrap(), SOURCE);
    assert!(matches!(refusal, Refusal::OtherSeed), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}
