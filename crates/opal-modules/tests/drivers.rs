//! The drivers: what they say, and what their tools do with it.
//!
//! The tools are real where a machine has them (`cargo xtask test` brings Ansible), and a stand-in that
//! keeps a log takes the place of `terragrunt`, `tofu` and `terraform`. A run here is that of the
//! runtime in short: copy the stack, write the setting, run the tools, read the outputs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "drivers/ansible.rs"]
mod ansible;
#[path = "drivers/laws.rs"]
mod laws;
#[path = "../../opal-runtime/tests/support/needs.rs"]
mod needs;
#[path = "drivers/shell.rs"]
mod shell;
#[path = "drivers/support.rs"]
mod support;
#[path = "drivers/terragrunt.rs"]
mod terragrunt;
