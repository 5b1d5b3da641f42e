//! Contracts as a program can write them that has the keys of the machine.

use opal_core::contract::{Contract, Encoding, Frame, Provenance, encode};
use opal_core::plan::Plan;
use opal_trust::contracts::peek;
use opal_trust::keys::{Envelope, IdentitySource};

use super::Gate;

/// The same contract with another plan or other facts; it opens on this machine.
pub(crate) fn rewritten(
    gate: &Gate,
    contract: &str,
    change: impl FnOnce(&mut Plan, &mut Provenance),
) -> Vec<u8> {
    let bytes = gate.opal.bytes(contract);
    let known = peek(&bytes).unwrap();
    let (mut plan, mut made) = (known.plan().clone(), known.provenance().clone());
    change(&mut plan, &mut made);
    let frame = Frame::read(&bytes).unwrap();
    let key = gate.opal.path().join("home/.opal/credentials/runner.key");
    let runner = IdentitySource::File(key).load().unwrap();
    let envelope = Envelope::open(frame.envelope(), &runner).unwrap();
    let auth_key = envelope.secret.auth_key();
    let encoding =
        Encoding { envelope: frame.envelope(), auth_key: &auth_key, compress: false, signer: None };
    let contract = Contract::new(plan, known.created(), made).unwrap();
    encode(&contract, &encoding).unwrap()
}
