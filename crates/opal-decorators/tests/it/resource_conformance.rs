//! Every built-in resource obeys the laws, and the suite finds those that do not.

mod broken;
mod files;
mod system;

use std::path::Path;

use opal_core::Value;
use opal_core::decorator::{Block, Descriptor};
use opal_decorators::{BUILT_IN, registry};
use opal_testing::conformance::{self, Case, check_resource};

type Args = std::io::Result<conformance::Args>;

fn text(text: impl Into<String>) -> Value {
    Value::String(text.into().into())
}

/// A path in the directory of a case.
fn within(folder: &Path, name: &str) -> Value {
    text(folder.join(name).to_string_lossy())
}

fn holds(path: &str, cases: &[Case]) {
    let descriptor = registry().get(path).expect("it is built in");
    let broken = check_resource(descriptor, cases);
    assert!(broken.is_empty(), "@{path}: {broken:#?}");
}

#[test]
fn no_resource_is_forgotten() {
    // One with a block needs steps: `@cached` is tried with the binary.
    // What is copied from a target needs one: `opal-cli/tests/it/fetching.rs` has it.
    let is_alone = |it: &&&Descriptor| {
        it.resource.is_some() && it.block == Block::Forbidden && it.path != "file.fetch"
    };
    let mut resources: Vec<&str> = BUILT_IN.iter().filter(is_alone).map(|it| it.path).collect();
    resources.sort_unstable();
    assert_eq!(
        resources,
        [
            "file.absent",
            "file.copy",
            "file.directory",
            "file.line",
            "file.symlink",
            "file.template",
            "git.repo",
            "pkg.install",
            "service.running",
            "shell",
            "user.present",
        ],
        "each has its cases in this suite"
    );
}
