//! Data sources that are known to act: they are refused where opal only reads.

/// Types, as patterns in which `*` is any text. They run programs, or make credentials.
const ACTING: [&str; 9] = [
    "aws_lambda_invocation",
    "azapi_resource_action",
    "external",
    "github_actions_registration_token",
    "google_service_account_access_token",
    "google_service_account_id_token",
    "shell_script",
    "vault_*_access_credentials",
    "vault_kubernetes_service_account_token",
];

/// Whether a data source is known to act.
#[must_use]
pub fn acts(of: &str) -> bool {
    ACTING.iter().any(|pattern| crate::identity::recipes::matches(pattern, of))
}
