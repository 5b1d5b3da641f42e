//! Where a decorator comes from that is not built in.

/// Who provides a decorator, as contracts record it.
#[derive(Debug)]
pub struct Plugin {
    pub name: &'static str,
    pub version: &'static str,
    /// `registry:…`, `git:…`, `local:…`.
    pub source: &'static str,
    /// `passed`, `local-only`.
    pub verification: &'static str,
    pub signed_by: Option<&'static str>,
    /// Of all its files: `sha256:…`.
    pub checksum: &'static str,
    /// `opal`, `wasm`, `native`: what runs its code.
    pub engine: &'static str,
    /// What it may do here, as it is written.
    pub capabilities: &'static [&'static str],
}

/// A decorator that is written in opal: a function of a package.
#[derive(Debug)]
pub struct Expansion {
    /// The package that it belongs to, by its name.
    pub package: &'static str,
    /// Where its text is, as the user knows it.
    pub file: &'static str,
    /// The text of that file.
    pub text: &'static str,
    /// What the function is called there.
    pub function: &'static str,
    /// Whether others than its own package may use it.
    pub is_exported: bool,
}
