//! Volumes of a real Docker daemon.

use opal_testing::docker::Docker;

use crate::needs;
use crate::providers::{built, project};
use crate::support::binary;

const RECIPE: &str = "\n[terraform.recipes.docker_volume]\nimport = \"{name}\"\n";

#[test]
fn a_volume_is_missing_made_satisfied_and_missing_again() {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    let Some(program) = built("docker", "cargo xtask clouds docker") else { return };
    let Some(docker) = Docker::start(&helper) else { return };
    let host = docker.host();
    let opal = project(&program, "kreuzwerker/docker", RECIPE).file(
        "commands.opl",
        format!(
            "fun infra(kind: String = \"logs\") {{\n    @docker.provider(host=\"{host}\") {{\n        \
             let.data = @docker.volume(name=\"data\", labels=[{{label: \"kind\", value: kind}}])\n        \
             echo made @let.data.name with @let.data.driver\n    }}\n}}\n\n\
             fun gone() {{\n    @docker.provider(host=\"{host}\") {{\n        \
             @docker.volume.absent(name=\"data\")\n    }}\n}}\n"
        ),
    );
    opal.call(&["verify", "infra"]).code(1).says("docker_volume:data").says("missing");
    opal.call(&["infra"]).code(0).says("made data with local").says("created: data");
    opal.call(&["verify", "infra"]).code(0).says("satisfied");
    opal.call(&["infra"]).code(0).says("1 already satisfied");
    // Labels of a volume are given once.
    opal.call(&["verify", "infra", "cache"]).code(1).says("labels cannot be changed in place");
    assert_ne!(opal.call(&["infra", "cache"]).code, 0);
    // Nobody says whose daemon it is, so a person has to.
    opal.call(&["gone", "--yes"]).code(2).says("would be deleted");
    assert!(docker.run(&["volume", "inspect", "data"]));
    assert!(docker.run(&["volume", "rm", "data"]));
    opal.call(&["verify", "infra"]).code(1).says("missing");
    opal.call(&["gone"]).code(0);
}
