//! Terraform providers: what takes too long for every run of the tests.

mod agreement;

use std::fs;
use std::path::{Path, PathBuf};

use opal_core::hash::Algorithm;

use crate::needs;
use crate::support::Opal;

#[test]
fn whichever_process_is_killed_in_whichever_call_200_times_leaves_nothing() {
    // Six calls, three processes.
    crate::script::run(200_u32.div_ceil(18));
}

/// A provider that was built.
pub(crate) fn built(name: &str, by: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("target/tools/providers/terraform-provider-{name}"));
    let needs = format!("terraform-provider-{name} (`{by}`)");
    needs::has(&needs, path.is_file()).then(|| path.canonicalize().unwrap())
}

/// A project with a provider that somebody accepted: `namespace/name`. `rest` follows in `opal.mod`.
pub(crate) fn project(program: &Path, source: &str, rest: &str) -> Opal {
    use std::os::unix::fs::PermissionsExt as _;
    let key = format!("terraform/{source}");
    let opal = Opal::machine("fun none() = echo\n");
    let root = opal.path().join(".opal").display().to_string();
    let opal = opal.env("OPAL_ROOT", &root).file(
        "opal.mod",
        format!("name = \"shop\"\n\n[plugins]\n\"{key}\" = {{ path = \"bin/it\" }}\n{rest}"),
    );
    let own = opal.path().join("bin/it");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::copy(program, &own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let digest = Algorithm::Sha256.digest(&[&fs::read(&own).unwrap()]).hex();
    let list = format!(
        "version = 1\n\n[[accepted]]\nname = \"{key}\"\nversion = \"local\"\n\
         checksum = \"sha256:{digest}\"\ncapabilities = []\n"
    );
    let opal = opal.file("accepted.toml", list);
    opal.call(&["plugin", "install", "--accept", "accepted.toml"]).code(0);
    opal
}
