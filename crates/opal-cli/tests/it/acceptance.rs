//! The story that blocks on targets are accepted by, point by point. What other files test already is
//! named here, and not tested twice.
//!
//! | point | test |
//! |---|---|
//! | every screen of the design | [`story`] |
//! | the block in a container | [`story`] |
//! | another user, by `sudo` with a password | [`sampled`] |
//! | 50 hosts, 7 fail, `tolerate=3`, `--resume` | `fleets.rs`, `of_50_hosts_7_fail_…` |
//! | a changed host key: 77, then 76, and nothing ran | [`story`], `contract_targets.rs` |
//! | a network that is cut: `lost`, and nothing is left | [`cut`]; with the usual times in `tests/long` |
//! | no value in arguments and environments | [`sampled`] |
//! | an inventory of Ansible, unchanged | [`inventory`] |
//! | every attack | [`attacks`] names the tests |

mod attacks;
mod cut;
mod inventory;
mod sampled;
mod story;
