//! Signatures and digests for `sigstore-verify`, by the library that TLS uses.

use ring::digest::{Context, SHA256, SHA384, SHA512};
use ring::signature::{self as known, UnparsedPublicKey, VerificationAlgorithm};
use sigstore_verify::crypto::{
    CryptoProvider, Error, HashContext, Result, SigningScheme, install_default_provider,
};
use sigstore_verify::types::HashAlgorithm;

#[derive(Debug)]
struct Ring;

struct Hashing(Context);

/// From now on it is used. A second call changes nothing.
pub(super) fn install() {
    let _ = install_default_provider(&Ring);
}

impl HashContext for Hashing {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

fn algorithm(scheme: SigningScheme) -> Result<&'static dyn VerificationAlgorithm> {
    Ok(match scheme {
        SigningScheme::EcdsaP256Sha256 => &known::ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &known::ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &known::ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &known::ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &known::ED25519,
        SigningScheme::RsaPssSha256 => &known::RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &known::RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &known::RSA_PSS_2048_8192_SHA512,
        SigningScheme::RsaPkcs1Sha256 => &known::RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &known::RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &known::RSA_PKCS1_2048_8192_SHA512,
        other => return Err(unsupported(other)),
    })
}

fn unsupported(what: impl std::fmt::Debug) -> Error {
    Error::UnsupportedAlgorithm(format!("{what:?}"))
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &SHA256,
            HashAlgorithm::Sha2384 => &SHA384,
            HashAlgorithm::Sha2512 => &SHA512,
            other => return Err(unsupported(other)),
        };
        Ok(Box::new(Hashing(Context::new(algorithm))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let found = UnparsedPublicKey::new(algorithm(scheme)?, key).verify(data, signature);
        found.map_err(|_| Error::Verification("the signature does not hold".into()))
    }

    /// Only signatures of files need it; a statement is signed as it is.
    fn verify_prehashed(&self, scheme: SigningScheme, _: &[u8], _: &[u8], _: &[u8]) -> Result<()> {
        Err(unsupported(scheme))
    }
}
