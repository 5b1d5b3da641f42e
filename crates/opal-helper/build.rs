//! Names the build that a program is of: the version, and for a release the revision of its source.

use std::path::Path;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "a build script gets its settings from the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn main() {
    let version = variable("CARGO_PKG_VERSION").unwrap_or_default();
    // A debug build is not shipped, and must not be built again after every commit.
    let is_release = variable("PROFILE").is_some_and(|profile| profile == "release");
    let revision = is_release.then(revision).flatten().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=OPAL_BUILD={version}+{revision}");
    println!("cargo::rerun-if-env-changed=OPAL_REVISION");
    println!("cargo::rerun-if-changed=build.rs");
}

fn revision() -> Option<String> {
    variable("OPAL_REVISION").or_else(|| {
        let git = |arguments: &[&str]| {
            #[expect(
                clippy::disallowed_methods,
                reason = "a build script asks git and waits for it"
            )]
            let output = Command::new("git").args(arguments).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
        };
        let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
        if Path::new(&head).is_file() {
            println!("cargo::rerun-if-changed={head}");
        }
        git(&["rev-parse", "HEAD"])
    })
}
