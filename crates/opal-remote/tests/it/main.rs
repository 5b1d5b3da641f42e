//! Inventories, read from real files and compared with Ansible.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod ansible;
mod inventory;
mod site;
