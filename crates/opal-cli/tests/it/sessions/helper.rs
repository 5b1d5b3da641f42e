//! The target helper beside `opal`, where it is not what it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::servers::servers;
use crate::support::{Ran, binary};

#[test]
fn a_helper_of_another_build_is_named_with_the_fix() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        true\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    let bin = opal.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).unwrap();
    if fs::hard_link(binary(), bin.join("opal")).is_err() {
        fs::copy(binary(), bin.join("opal")).unwrap();
    }
    let call = || {
        let program = bin.join("opal");
        Ran::from(opal.started_by(&[program.as_os_str()]).arg("task").output().unwrap())
    };
    let helper = bin.join("opal-target");
    let put = |from: &Path| {
        let _ = fs::remove_file(&helper);
        fs::copy(from, &helper).unwrap();
    };
    call()
        .code(69)
        .says("the helper `opal-target` is not in `")
        .says("cargo install --path crates/opal-target");
    // A program that is not a helper, and one that answers like a helper of another build.
    put(Path::new("/bin/false"));
    call().code(69).says("`opal-target` is of another build").says("install it with opal");
    fs::write(&helper, "#!/bin/sh\nexit 1\n").unwrap();
    call().code(69).says("`opal-target` is of another build").hides("no directory");
    put(&binary().with_file_name("opal-target"));
    call().code(0);
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o777)).unwrap();
    call().code(77).says("other users can write to `").says("chmod go-w");
}
