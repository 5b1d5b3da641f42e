//! Blocks in containers of a real Docker daemon.

use std::process::Stdio;

use opal_testing::docker::{Docker, NAME};
use opal_testing::processes::eventually;

use crate::needs;
use crate::support::{Opal, binary};

#[test]
fn blocks_run_in_containers_of_docker_and_leave_nothing() {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    let Some(docker) = Docker::start(&helper) else { return };
    let source = format!(
        "fun inside() {{\n    @container.exec(\"{NAME}\", engine=\"docker\") {{\n        \
         @file.copy(destination=\"/etc/x\", content=\"x\\n\")\n        cat /etc/x\n        exit 7\n    }}\n}}\n\n\
         fun made() {{\n    @container.run(\"{NAME}\", engine=\"docker\", network=\"host\", mounts=[\"./src:/src\"]) {{\n        \
         cat /src/a\n        echo made > /src/made\n        exit 7\n    }}\n}}\n\n\
         fun long() {{\n    @container.run(\"{NAME}\", engine=\"docker\", network=\"host\", mounts=[\"./src:/src\"], lost=3s) {{\n        \
         echo x > /src/started\n        sleep 54321\n    }}\n}}\n\n\
         fun auto() {{\n    @container.exec(\"{NAME}\") {{\n        echo found\n    }}\n}}\n"
    );
    let opal = Opal::project(&source)
        .file("src/a", "mounted\n")
        .env("PATH", docker.path().to_str().unwrap());
    let call = |words: &[&str]| opal.call(&[&["--root", "root"], words].concat());
    call(&["verify", "inside"]).code(1).says("missing");
    assert_eq!(call(&["inside"]).code(7).stdout, "x\n");
    call(&["verify", "inside"]).code(0);
    assert_eq!(call(&["auto"]).code(0).stdout, "found\n");
    let before = docker.names();
    assert_eq!(call(&["made"]).code(7).stdout, "mounted\n");
    assert_eq!(opal.read("src/made"), "made\n");
    eventually("the container is removed", || docker.names() == before);
    // Whoever kills opal leaves none.
    let mut command = opal.command();
    let mut child =
        command.arg("long").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the step runs", || opal.path().join("src/started").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the container is removed", || docker.names() == before);
    // A contract knows the image.
    call(&["plan", "auto", "-o", "c.plan"]).code(0);
    assert_eq!(call(&["run", "--plan", "c.plan"]).code(0).stdout, "found\n");
    assert!(docker.run(&["commit", "--change", "LABEL other=1", NAME, "other"]));
    assert!(docker.run(&["rm", "--force", NAME]));
    let stays = ["other", "sh", "-c", "while :; do sleep 60; done"];
    let run = ["run", "-d", "--name", NAME, "--network", "host"];
    assert!(docker.run(&[&run[..], &stays].concat()));
    call(&["run", "--plan", "c.plan"]).code(76).says(&format!("infra_mutated:{NAME}: "));
}
