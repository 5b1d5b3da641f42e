//! Keys from a stream of random bytes.

use base64ct::{Base64, Encoding};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::spki::der::{EncodePem, asn1::OctetStringRef};
use ed25519_dalek::pkcs8::spki::{AlgorithmIdentifierRef, ObjectIdentifier};
use ed25519_dalek::pkcs8::{EncodePrivateKey, KeypairBytes, PrivateKeyInfoRef};
use opal_core::data::Data;
use opal_core::resolver::{Generator, Inputs, Stream, Trouble};
use opal_core::wiped::Wiped;

use crate::value::invalid;

#[derive(Debug)]
pub(super) struct Key;

#[derive(Clone, Copy)]
enum Kind {
    Ed25519,
    X25519,
    Aes256,
}

/// `id-X25519` of RFC 8410.
const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");

fn kind(inputs: &Inputs) -> Result<Kind, Trouble> {
    match inputs.text("type") {
        Some("ed25519") => Ok(Kind::Ed25519),
        Some("x25519") => Ok(Kind::X25519),
        Some("aes256") => Ok(Kind::Aes256),
        _ => Err(invalid(
            "unknown key type in `type`",
            "expected one of: `ed25519`, `x25519`, `aes256`",
        )),
    }
}

/// An Ed25519 private key as PKCS#8 without its public half: older OpenSSL reads only that.
fn ed25519_pem(secret: &[u8; 32]) -> Wiped<String> {
    let pem = KeypairBytes { secret_key: *secret, public_key: None }.to_pkcs8_pem(LineEnding::LF);
    Wiped::new(std::mem::take(&mut *pem.expect("32 bytes have a PEM form")))
}

/// An X25519 private key as PKCS#8 (RFC 8410, section 7).
fn x25519_pem(secret: &[u8; 32]) -> Wiped<String> {
    let mut wrapped = Wiped::new([0; 34]);
    // The key is an OCTET STRING inside the OCTET STRING: tag and length come first.
    wrapped[..2].copy_from_slice(&[0x04, 32]);
    wrapped[2..].copy_from_slice(secret);
    let algorithm = AlgorithmIdentifierRef { oid: X25519, parameters: None };
    let wrapped = OctetStringRef::new(&*wrapped).expect("34 bytes have a DER form");
    let pem = PrivateKeyInfoRef::new(algorithm, wrapped).to_pem(LineEnding::LF);
    Wiped::new(pem.expect("34 bytes have a PEM form"))
}

impl Generator for Key {
    fn check(&self, inputs: &Inputs) -> Result<(), Trouble> {
        kind(inputs).map(|_| ())
    }

    /// PEM begins with hyphens, base64 never does.
    fn may_begin_with_dash(&self, inputs: &Inputs) -> bool {
        !matches!(kind(inputs), Ok(Kind::Aes256))
    }

    fn generate(&self, inputs: &Inputs, stream: &mut dyn Stream) -> Result<Data, Trouble> {
        let kind = kind(inputs)?;
        let mut secret = Wiped::new([0; 32]);
        stream.fill(&mut *secret);
        let mut text = match kind {
            Kind::Ed25519 => ed25519_pem(&secret),
            Kind::X25519 => x25519_pem(&secret),
            Kind::Aes256 => Wiped::new(Base64::encode_string(&*secret)),
        };
        Ok(Data::text(std::mem::take(&mut *text)))
    }
}
