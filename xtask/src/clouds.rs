//! Objects of real clouds: of a Docker daemon, and of the services of AWS that moto answers for. Their
//! providers take minutes to build, so they are apart from the other tests. The results of the last time are in
//! `docs/benchmarks.md`.

mod aws;

use std::path::Path;

use crate::chores::run;
use crate::providers::{self, Module};
use crate::tools::{pip, provide};

/// What pretends to be AWS.
const MOTO: &str = "moto[server]==5.2.5";
const MOTO_FOLDER: &str = "target/tools/moto";

/// Without the resource that runs Docker Compose, which is most of the code.
const DOCKER: Module = Module {
    program: "target/tools/providers/terraform-provider-docker",
    path: "github.com/kreuzwerker/terraform-provider-docker",
    version: "v0.0.0-20260916201441-96d331c98ff4",
    package: ".",
    flags: &["-tags=no_compose"],
};

pub(crate) fn test(root: &Path, arguments: &[&str]) -> Result<(), String> {
    match arguments {
        ["docker"] => {
            provide(root, &[("docker.io", "/usr/sbin/dockerd")]);
            DOCKER.build(root, &providers::go(root)?)?;
            tests(root, "clouds::docker")
        }
        ["aws", checkout] => {
            aws::build(root, &providers::go(root)?, Path::new(checkout))?;
            pip(root, MOTO_FOLDER, MOTO)?;
            tests(root, "clouds::aws")
        }
        _ => Err("`clouds` expects `docker`, or `aws` and a checkout of the provider".to_owned()),
    }
}

/// The tests of one cloud, with what they say.
fn tests(root: &Path, names: &str) -> Result<(), String> {
    run(root, &["cargo", "build", "--bins"])?;
    let line = ["cargo", "test", "-p", "opal-cli", "--test", "long", names, "--", "--nocapture"];
    run(root, &line)
}
