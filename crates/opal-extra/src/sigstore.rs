//! Sigstore bundles: who signed a package with an identity instead of a key of opal.
//!
//! ```text
//! trust roots ──verifier──▶ for each bundle: certificate ──▶ log or timestamp ──▶ signature ──▶ subject
//! ```
//!
//! `sigstore-verify` checks all of that. What counts as a publisher is decided here: a bundle of format 0.3
//! with SLSA provenance about the checksum of the package. Nothing is fetched.

mod provider;

use opal_helper::Parcel;
use serde_json::json;
use sigstore_verify::trust_root::TrustedRoot;
use sigstore_verify::types::bundle::MediaType;
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent, Statement};
use sigstore_verify::{VerificationPolicy, VerificationResult, Verifier};

/// What a publisher says. Others may say something about a package too, such as what a scanner found in it.
const PROVENANCE: &str = "https://slsa.dev/provenance/v1";
/// Cosign writes the older of them, with the same members.
const STATEMENTS: [&str; 2] =
    ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"];

const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle";
const MAX_LINES: usize = 64;
const MAX_NAME: usize = 1024;

/// A Sigstore instance that somebody trusts.
struct Instance {
    verifier: Verifier,
    policy: VerificationPolicy,
}

impl Instance {
    fn read(json: &str) -> Result<Self, String> {
        let root = TrustedRoot::from_json(json).map_err(|error| error.to_string())?;
        let mut policy = VerificationPolicy::any_identity();
        // An instance has what its root lists. Without a log, a timestamp must say when a certificate was used.
        if root.tlogs.is_empty() {
            if root.timestamp_authorities.is_empty() {
                return Err("it lists neither a transparency log nor a timestamp authority".into());
            }
            policy = policy.skip_tlog_unsafe();
        }
        if root.ctlogs.is_empty() {
            policy = policy.skip_sct();
        }
        let verifier = Verifier::new(&root).map_err(|error| error.to_string())?;
        Ok(Self { verifier, policy })
    }
}

/// The publishers that lines name, and why the other bundles do not count. The roots are the parts after
/// the lines.
pub(crate) fn answer(request: &Parcel) -> Option<Parcel> {
    provider::install();
    let checksum = request.head.pointer("/sigstore/checksum")?.as_str()?;
    let checksum = Sha256Hash::from_hex(checksum).ok()?;
    let lines = request.text(0)?;
    let mut instances = Vec::new();
    for (number, root) in (1..request.blobs.len()).enumerate() {
        match Instance::read(request.text(root)?) {
            Ok(instance) => instances.push(instance),
            Err(why) => return Some(Parcel::new(json!({"invalid": {"root": number, "why": why}}))),
        }
    }
    let (mut publishers, mut refused) = (Vec::new(), Vec::new());
    for line in lines.lines().filter(|line| line.contains(MEDIA_TYPE)).take(MAX_LINES) {
        match publisher(&instances, line, &checksum) {
            Ok(publisher) => publishers.push(publisher),
            Err(why) => refused.push(why),
        }
    }
    publishers.sort_unstable();
    publishers.dedup();
    Some(Parcel::new(json!({"publishers": publishers, "refused": refused})))
}

fn publisher(instances: &[Instance], line: &str, checksum: &Sha256Hash) -> Result<String, String> {
    let bundle = Bundle::from_json(line).map_err(|error| format!("not a bundle: {error}"))?;
    if bundle.media_type() != MediaType::Bundle0_3 {
        return Err(format!("{} is not format 0.3", bundle.media_type()));
    }
    is_provenance(&bundle)?;
    let mut why = "no trust root".to_owned();
    for instance in instances {
        match instance.verifier.verify(checksum, &bundle, &instance.policy) {
            Ok(found) => return name(&found),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// Whether a bundle has what a publisher says. That the statement is about the package, and is signed, is
/// checked by the verifier.
fn is_provenance(bundle: &Bundle) -> Result<(), String> {
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
        return Err("the bundle has no statement, only a signature".into());
    };
    let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
        .map_err(|error| format!("not an in-toto statement: {error}"))?;
    if !STATEMENTS.contains(&statement.type_.as_str()) {
        return Err(format!("`{}` is not a statement", statement.type_));
    }
    match statement.predicate_type.as_str() {
        PROVENANCE => Ok(()),
        other => Err(format!("`{other}` is not provenance")),
    }
}

/// The same identity can be anybody's at another issuer, so a publisher has both.
fn name(found: &VerificationResult) -> Result<String, String> {
    let identity = found.identity().ok_or("the certificate has no identity")?.as_str();
    let issuer = found.issuer().ok_or("the certificate has no issuer of identities")?;
    let is_name = |text: &str| {
        !text.is_empty()
            && text.len() <= MAX_NAME
            && text.chars().all(|c| c.is_ascii_graphic() && !"()\"\\".contains(c))
    };
    match is_name(identity) && is_name(issuer) && found.certificate_verified() {
        true => Ok(format!("sigstore:{identity} ({issuer})")),
        false => Err("the identity has characters that no name has".into()),
    }
}
