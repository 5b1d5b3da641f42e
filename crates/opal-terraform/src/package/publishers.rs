//! Keys of known publishers. A registry that signs their providers with another key is refused.

use super::source::Source;

/// Host, namespace, and the fingerprint of the key.
const KEYS: [(&str, &str, &str); 2] = [
    // OpenTofu builds and signs the providers of this namespace itself.
    ("registry.opentofu.org", "hashicorp", "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80"),
    ("registry.terraform.io", "hashicorp", "C874011F0AB405110D02105534365D9472D7468F"),
];

/// The key of the publisher of a provider, if opal knows it: `openpgp:FINGERPRINT`.
#[must_use]
pub fn key(source: &Source) -> Option<String> {
    let found = KEYS
        .iter()
        .find(|(host, namespace, _)| *host == source.host && *namespace == source.namespace);
    found.map(|(_, _, key)| format!("openpgp:{key}"))
}
