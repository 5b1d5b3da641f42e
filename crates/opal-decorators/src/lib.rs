//! The built-in decorators: what each of them is, for planning, help, the editor and the tests.
//!
//! | what | where |
//! |---|---|
//! | values, read at plan time: `@env`, `@file.read`, `@secret.cmd` | `value/` |
//! | actions at run time: `@retry`, `@parallel`, `@file.write` | `execution/` |
//! | states of the world: `@file.template`, `@pkg.install` | `resource/` |
//! | parameters that mean the same everywhere: `public`, `verify_timeout` | `common` |
//! | all of them together | [`BUILT_IN`], [`registry`] |
//!
//! One decorator, one file, named after its path with `_` for `.`. `@shell` is an action that is
//! also a resource and is listed with the actions.
//!
//! Deliberately not here: roles, which follow from what a descriptor says.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

use opal_core::Registry;
use opal_core::decorator::Descriptor;

mod common;
mod execution;
mod resource;
mod value;

pub use resource::diff::patch;

/// Every built-in decorator, in the order in which the groups are explained to users.
pub static BUILT_IN: &[&Descriptor] = &[
    &value::var::DESCRIPTOR,
    &value::env::DESCRIPTOR,
    &value::r#let::DESCRIPTOR,
    &value::args::DESCRIPTOR,
    &value::raw::DESCRIPTOR,
    &value::shell_output::DESCRIPTOR,
    &value::file_read::DESCRIPTOR,
    &value::file_hash::DESCRIPTOR,
    &value::file_exists::DESCRIPTOR,
    &value::file_glob::DESCRIPTOR,
    &value::git_commit::DESCRIPTOR,
    &value::git_branch::DESCRIPTOR,
    &value::http_get::DESCRIPTOR,
    &value::secret_file::DESCRIPTOR,
    &value::secret_cmd::DESCRIPTOR,
    &value::secret_env::DESCRIPTOR,
    &value::random_password::DESCRIPTOR,
    &value::crypto_generate_key::DESCRIPTOR,
    &value::time_now::DESCRIPTOR,
    &value::os_name::DESCRIPTOR,
    &value::os_arch::DESCRIPTOR,
    &value::os_hostname::DESCRIPTOR,
    &value::cli_directory::DESCRIPTOR,
    &value::target::NAME,
    &value::target::HOST,
    &value::target::INDEX,
    &value::target::GROUPS,
    &value::target::VARS,
    &execution::shell::DESCRIPTOR,
    &execution::script::DESCRIPTOR,
    &execution::psql::DESCRIPTOR,
    &execution::mysql::DESCRIPTOR,
    &execution::sqlite::DESCRIPTOR,
    &execution::cmd::DESCRIPTOR,
    &execution::needs::DESCRIPTOR,
    &execution::retry::DESCRIPTOR,
    &execution::timeout::DESCRIPTOR,
    &execution::limits::DESCRIPTOR,
    &execution::parallel::DESCRIPTOR,
    &execution::workdir::DESCRIPTOR,
    &execution::environ::DESCRIPTOR,
    &execution::ssh_host::DESCRIPTOR,
    &execution::ssh_hosts::DESCRIPTOR,
    &execution::as_user::DESCRIPTOR,
    &execution::container_exec::DESCRIPTOR,
    &execution::container_run::DESCRIPTOR,
    &execution::k8s_exec::DESCRIPTOR,
    &execution::confirm::DESCRIPTOR,
    &execution::fail::DESCRIPTOR,
    &execution::rethrow::DESCRIPTOR,
    &execution::print::DESCRIPTOR,
    &execution::log::DESCRIPTOR,
    &execution::to_display::DESCRIPTOR,
    &execution::file_write::DESCRIPTOR,
    &resource::file_template::DESCRIPTOR,
    &resource::file_copy::DESCRIPTOR,
    &resource::file_symlink::DESCRIPTOR,
    &resource::file_line::DESCRIPTOR,
    &resource::file_directory::DESCRIPTOR,
    &resource::file_fetch::DESCRIPTOR,
    &resource::file_absent::DESCRIPTOR,
    &resource::pkg_install::DESCRIPTOR,
    &resource::git_repo::DESCRIPTOR,
    &resource::service_running::DESCRIPTOR,
    &resource::user_present::DESCRIPTOR,
    &resource::cached::DESCRIPTOR,
];

/// The registry of the built-in decorators.
#[must_use]
pub fn registry() -> Registry {
    Registry::new(BUILT_IN).expect("built-in paths are distinct, which a test proves")
}
