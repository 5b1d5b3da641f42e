//! Runs the script `tests/fixtures/packages.sh`.

#![expect(clippy::disallowed_methods, reason = "the script is waited for")]

use std::path::Path;
use std::process::Command;

use opal_testing::guest::build_directory;

/// What the script needs.
pub(crate) struct Story<'a> {
    /// The directory of `opal` and its helpers.
    pub(crate) programs: &'a Path,
    /// The languages whose templates are built.
    pub(crate) languages: &'a str,
    /// The component that plays every part, well and badly.
    pub(crate) guest: &'a Path,
    /// The host of an OCI registry.
    pub(crate) registry: Option<&'a str>,
}

impl Story<'_> {
    pub(crate) fn run(&self) {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/packages.sh");
        let tools = build_directory().join("tools/guests");
        let places = [self.programs.to_owned(), tools.join("bin"), tools.join("node_modules/.bin")];
        let places: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
        let path = format!("{}:{}", places.join(":"), std::env::var("PATH").unwrap());
        let done = Command::new("bash")
            .arg(script)
            .current_dir(folder.path())
            .env("PATH", path)
            .env("GUEST", self.guest)
            .env("LANGUAGES", self.languages)
            .env("REGISTRY", self.registry.unwrap_or_default())
            .env("OPAL_C_TOOLS", &tools)
            .env("CARGO_TARGET_DIR", build_directory().join("guests/templates"))
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert!(done.status.success() && said.ends_with("the whole story holds\n"), "{said}");
    }
}
