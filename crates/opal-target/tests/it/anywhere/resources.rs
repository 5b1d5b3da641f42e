//! Resources on a target, through a helper: the tests of the resources of this machine.

#[path = "../../../../opal-decorators/tests/it/resources/absent.rs"]
mod absent;
#[path = "../../../../opal-decorators/tests/it/resources/command.rs"]
mod command;
#[path = "../../../../opal-decorators/tests/it/resources/copy.rs"]
mod copy;
#[path = "../../../../opal-decorators/tests/it/resources/diff.rs"]
mod diff;
#[path = "../../../../opal-decorators/tests/it/resources/directory.rs"]
mod directory;
#[path = "../../../../opal-decorators/tests/it/resources/files.rs"]
mod files;
#[path = "../../../../opal-decorators/tests/it/resources/line.rs"]
mod line;
#[path = "../../../../opal-decorators/tests/it/resources/package.rs"]
mod package;
#[path = "../../../../opal-decorators/tests/it/resources/races.rs"]
mod races;
#[path = "../../../../opal-decorators/tests/it/resources/repo.rs"]
mod repo;
#[path = "../../../../opal-decorators/tests/it/resources/service.rs"]
mod service;
#[path = "../../../../opal-decorators/tests/it/resources/support.rs"]
mod support;
#[path = "../../../../opal-decorators/tests/it/resources/symlink.rs"]
mod symlink;
#[path = "../../../../opal-decorators/tests/it/resources/template.rs"]
mod template;
#[path = "../../../../opal-decorators/tests/it/resources/user.rs"]
mod user;
