//! Contracts between the planner and the file: making one, opening one, the keys of both.
//!
//! | what | where |
//! |---|---|
//! | the keys of a plan that is made here, for a view, a run or a contract | [`OwnKeys`] |
//! | a resolved plan to the bytes of a contract | [`make`] |
//! | bytes to a contract that is whole and meant for this runner | [`open`] |
//! | the keys of a plan that is held against a contract | [`ContractKeys`] |
//!
//! Deliberately not here: reading files, policies, and what to do about a difference.

mod make;
mod plan_keys;

use opal_core::contract::{Contract, FormatError, Frame};
use opal_core::hash::{Algorithm, Digest};
use opal_core::journal::JournalKey;
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::{Inputs, Stream};

pub use make::{Making, Unmade, make};
pub use plan_keys::{Load, OwnKeys};

use crate::keys::{Envelope, KeyError, OpenError, PublicKey, Runner, verify};
use crate::randomness::{Drbg, Site, canonical_parameters};
use opal_core::keys::{Draw, Keys};

/// A contract that is whole and that this runner may run.
#[derive(Debug)]
pub struct Opened {
    pub contract: Contract,
    pub keys: ContractKeys,
    /// Of the file's bytes: what the ledger knows it by.
    pub id: Digest,
}

/// Why a file is not a contract for this runner.
#[derive(Debug)]
pub enum Unopened {
    /// It is damaged, or of another version.
    Format(FormatError),
    /// It was sealed to others, or its envelope is damaged.
    Envelope(OpenError),
    /// It says who signed it, and the signature is not theirs.
    Signature(PublicKey),
    /// The seed is not the one that the contract speaks of.
    Seed,
}

/// Reads, unseals and authenticates a contract, and only then looks into it.
///
/// The signature comes after that, since the key to check it with is named in PROVENANCE. Whose it
/// must be is policy. Without one nothing is known about who wrote the file: the public key of this
/// runner is enough to seal a file to it.
pub fn open(bytes: &[u8], runner: &Runner) -> Result<Opened, Unopened> {
    let frame = Frame::read(bytes).map_err(Unopened::Format)?;
    let envelope = Envelope::open(frame.envelope(), runner).map_err(Unopened::Envelope)?;
    let contract = frame.open(&envelope.secret.auth_key()).map_err(Unopened::Format)?;
    let contract = signed(&frame, contract)?;
    let seed = contract.provenance().seed.as_ref();
    if seed.is_some_and(|seed| seed.seed_hash != envelope.secret.seed_hash()) {
        return Err(Unopened::Seed);
    }
    crate::seeding::of_contract(&envelope.secret);
    let id = Algorithm::Sha256.digest(&[bytes]);
    Ok(Opened { contract, keys: ContractKeys { envelope }, id })
}

/// Reads a contract without opening its envelope: enough to show it, not to trust it.
pub fn peek(bytes: &[u8]) -> Result<Contract, Unopened> {
    let frame = Frame::read(bytes).map_err(Unopened::Format)?;
    let contract = frame.decode().map_err(Unopened::Format)?;
    signed(&frame, contract)
}

/// The contract, if the signature that it names is there and fits.
fn signed(frame: &Frame<'_>, contract: Contract) -> Result<Contract, Unopened> {
    if let (Some((signature, covered)), Some(signer)) =
        (frame.ed25519(), contract.provenance().signer)
    {
        let signer = PublicKey::from_bytes(signer);
        if !verify(&signer, signature, covered) {
            return Err(Unopened::Signature(signer));
        }
    }
    Ok(contract)
}

/// The keys that came sealed with a contract: they give the placeholders and the random values
/// that it was made with.
#[derive(Debug)]
pub struct ContractKeys {
    envelope: Envelope,
}

impl ContractKeys {
    /// What the journal of an order on one target is authenticated with.
    #[must_use]
    pub fn journal_key(&self, order: &str, target: &str) -> JournalKey {
        self.envelope.secret.journal_key(order, target)
    }
}

impl Keys for ContractKeys {
    fn placeholder_key(&mut self) -> Result<PlaceholderKey, KeyError> {
        Ok(self.envelope.placeholder_key.clone())
    }

    fn draw(&mut self, draw: &Draw<'_>) -> Result<Box<dyn Stream>, KeyError> {
        let lasting = lasting_name(draw).and_then(|name| self.envelope.regen.get(&name));
        // One that the contract does not know is another value, and the comparison says so.
        Ok(Box::new(match lasting {
            Some(subkey) => Drbg::of_regen(subkey),
            None => Drbg::of_site(&self.envelope.secret.seed(), &site(draw)),
        }))
    }
}

fn site<'d>(draw: &'d Draw<'d>) -> Site<'d> {
    Site {
        plan: draw.plan_hash,
        path: draw.path,
        decorator: draw.decorator.path,
        counter: u64::from(draw.counter),
    }
}

/// What a value with a `regen_key` is called inside the envelope.
fn lasting_name(draw: &Draw<'_>) -> Option<String> {
    let regen_key = regen_key(draw.inputs)?;
    let parameters = canonical_parameters(draw.inputs);
    let digest = Algorithm::Sha256.digest(&[&parameters]);
    Some(format!("{}\n{}\n{regen_key}", draw.decorator.path, digest.hex()))
}

fn regen_key(inputs: &Inputs) -> Option<&str> {
    inputs.text("regen_key")
}
