//! The drivers: what they say, and what their tools do with it.
//!
//! The tools are real where a machine has them (`cargo xtask test` brings Ansible), and a stand-in that
//! keeps a log takes the place of `terragrunt`, `tofu` and `terraform`. A run here is that of the
//! runtime in short: copy the stack, write the setting, run the tools, read the outputs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod ansible;
mod laws;
mod shell;
mod support;
mod terragrunt;
