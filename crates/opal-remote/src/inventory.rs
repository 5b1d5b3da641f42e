//! Inventories: the targets of a fleet, from files that others wrote for Ansible, from the user's SSH
//! configuration, or from a program.
//!
//! ```text
//! text ──ini, yaml, listing, ssh_config──▶ Inventory: hosts, groups, variables, each with its place
//! Inventory ──pattern──▶ names, in Ansible's order ──target──▶ Targets
//! ```
//!
//! Names and connection variables are checked when a host is selected: what nobody selects cannot be in
//! the way. An inventory cannot move a block or raise its rights: [`Target::permitted`] says what a block
//! must name itself.
//!
//! | what | where |
//! |---|---|
//! | a source by its name, with the files beside it | `reader` |
//! | Ansible's INI and YAML files, its `--list` JSON | `ini`, `yaml`, `listing` |
//! | the `Host` lines of an SSH configuration | `ssh_config` |
//! | `web[01:20]`, `host:22` | `ranges` |
//! | groups, their order and what overrides what | `groups` |
//! | `web:&prod:!web3` | `pattern` |
//! | connection variables | `target` |
//! | as blocks of the language ask for them | `members` |
//!
//! What Ansible reads and opal does not: TOML, inventory plugins, ranges in IPv6 addresses, programs in a
//! directory of inventories, the implicit `localhost`, and `--host` of programs without `_meta`. Groups
//! at the third level and below are in the order of the file, which Ansible leaves to chance.

mod error;
mod groups;
mod ini;
mod listing;
mod members;
mod pattern;
mod ranges;
mod reader;
mod ssh_config;
mod target;
mod variable;
mod yaml;

pub use error::{Fault, InventoryError};
pub use groups::Inventory;
pub use members::Reader;
pub use pattern::Selected;
pub use reader::{Source, read};
pub use target::{Address, Become, Connection, Permissions, Privilege, Target};
pub use variable::{Given, Place, Variable};

use opal_core::fleet::MAX_TARGETS;

/// Hosts of an inventory at most, of which a block can select [`MAX_TARGETS`].
pub const MAX_HOSTS: usize = 10 * MAX_TARGETS;
/// Bytes of one file at most.
pub const MAX_FILE_BYTES: u64 = 8 << 20;
/// Files of one inventory at most, those of variables included.
pub const MAX_FILES: usize = 20_000;
/// Levels of groups at most.
pub const MAX_LEVELS: usize = 64;
