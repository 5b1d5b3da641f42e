//! What a provider can see of this machine: the real `local` reads whatever files it is told to.

#![expect(clippy::disallowed_methods, reason = "the helper only tries, and is waited for")]

use std::fs;
use std::process::Command;

use opal_testing::needs;

use super::{accept_as, executable, real, rooted};
use crate::support::{Opal, binary};

/// A project with the real provider `local`, accepted, whose task `peek` shows a file.
fn peeking(path: &str) -> Option<Opal> {
    let program = real("local")?;
    let wanted =
        "name = \"shop\"\n\n[plugins]\n\"terraform/hashicorp/local\" = { path = \"bin/box\" }\n";
    let source = format!(
        "fun peek() {{\n    @local.provider(env={{GIVEN: \"given-value\"}}) {{\n        \
         var file = @local.data.file(filename=\"{path}\")\n        \
         printf %s @var.file.content_base64 | base64 -d > seen\n    }}\n}}\n"
    );
    let opal = rooted(&source).file("opal.mod", wanted);
    fs::create_dir_all(opal.path().join("bin")).unwrap();
    fs::copy(program, opal.path().join("bin/box")).unwrap();
    executable(&opal);
    accept_as(&opal, "terraform/hashicorp/local");
    Some(opal)
}

#[test]
fn a_provider_sees_no_agent_and_no_variables_that_are_not_its_own() {
    let Some(opal) = peeking("/proc/self/environ") else { return };
    let given = [
        ("SSH_AUTH_SOCK", "/nowhere/agent"),
        ("AWS_SECRET_ACCESS_KEY", "canary-aws"),
        ("GITHUB_TOKEN", "canary-github"),
        ("LD_PRELOAD", ""),
        ("TF_LOG", "TRACE"),
        ("LANG", "C.UTF-8"),
    ];
    opal.call_with(&given, &["peek"]).code(0);
    let seen = opal.read("seen");
    let variables: Vec<&str> = seen.split('\0').collect();
    assert!(variables.contains(&"LANG=C.UTF-8"), "{seen}");
    assert!(variables.contains(&"GIVEN=given-value"), "{seen}");
    assert!(variables.contains(&"TF_LOG=OFF"), "{seen}");
    for hidden in ["SSH_AUTH_SOCK", "canary", "LD_PRELOAD", "TRACE", "OPAL_"] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
}

#[test]
fn a_provider_does_not_see_the_keys_of_opal() {
    let Some(opal) = peeking(".opal/credentials/canary") else { return };
    let folder = opal.path().join(".opal/credentials");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("canary"), "key").unwrap();
    let helper = binary().with_file_name("opal-terraform");
    let tried = Command::new(helper).arg("cover").output().unwrap();
    if !needs::has("namespaces of mounts", tried.status.success()) {
        return;
    }
    // Also where the root is named from here.
    let whole = opal.path().join(".opal").display().to_string();
    for root in [&*whole, ".opal"] {
        let ran = opal.call_with(&[("OPAL_ROOT", root)], &["peek"]);
        assert_ne!(ran.code, 0);
        assert!(!opal.path().join("seen").exists(), "{ran:?}");
    }
}
