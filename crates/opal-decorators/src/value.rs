//! Decorators that give a value at plan time and change nothing.

pub(super) mod args;
pub(super) mod cli_directory;
pub(super) mod crypto_generate_key;
pub(super) mod env;
pub(super) mod file_exists;
pub(super) mod file_glob;
pub(super) mod file_hash;
pub(super) mod file_read;
mod git;
pub(super) mod git_branch;
pub(super) mod git_commit;
mod globbing;
pub(super) mod http_get;
pub(super) mod r#let;
pub(super) mod os_arch;
pub(super) mod os_hostname;
pub(super) mod os_name;
pub(super) mod random_password;
pub(super) mod raw;
mod reading;
pub(super) mod secret_cmd;
pub(super) mod secret_env;
pub(super) mod secret_file;
pub(super) mod shell_output;
pub(super) mod target;
pub(super) mod time_now;
pub(super) mod var;

use opal_core::message::Message;
use opal_core::resolver::{Trouble, TroubleKind};

fn invalid(message: impl Into<Message>, help: impl Into<Message>) -> Trouble {
    Trouble::new(TroubleKind::Invalid, message, help)
}
