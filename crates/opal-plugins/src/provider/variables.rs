//! Which variables of the environment a provider gets: of the step's only what every program needs, and
//! what providers of its name are configured with.

/// What every provider gets. Never `SSH_AUTH_SOCK`: an agent signs for whoever reaches it.
const USUAL: [&str; 12] = [
    "HOME",
    "PATH",
    "LANG",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
];

/// What providers document as their own, by their names.
const LISTED: [(&str, &[&str]); 8] = [
    ("aws", &["AWS_"]),
    ("azurerm", &["ARM_"]),
    ("cloudflare", &["CLOUDFLARE_"]),
    ("docker", &["DOCKER_"]),
    ("github", &["GITHUB_"]),
    ("google", &["GOOGLE_", "GCLOUD_", "CLOUDSDK_"]),
    ("kubernetes", &["KUBE_", "KUBECONFIG"]),
    ("vault", &["VAULT_"]),
];

/// Whether the provider of this name gets a variable.
pub(super) fn gets(provider: &str, variable: &str) -> bool {
    let own = LISTED.iter().find(|(name, _)| *name == provider).map_or(&[][..], |(_, own)| own);
    USUAL.contains(&variable) || own.iter().any(|start| variable.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_gets_what_is_usual_and_what_is_its_own() {
        for (provider, variable, expected) in [
            ("aws", "AWS_PROFILE", true),
            ("aws", "HOME", true),
            ("aws", "GITHUB_TOKEN", false),
            ("aws", "SSH_AUTH_SOCK", false),
            ("box", "AWS_PROFILE", false),
            ("box", "LD_PRELOAD", false),
        ] {
            assert_eq!(gets(provider, variable), expected, "{provider} {variable}");
        }
    }
}
