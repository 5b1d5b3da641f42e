//! Running a plan, and verifying the resources that it describes.
//!
//! | what | where |
//! |---|---|
//! | running a plan | [`execute`] |
//! | verifying its resources, without any effect | [`verify`] |
//! | why a step or a verification failed, in words | `error` |
//! | where a resource is verified from | `spot` |
//! | what the threads of both have in common | `threads` |
//!
//! Deliberately not here: the planner and the syntax. A plan comes as `opal_core::plan` has it.

mod error;
pub mod execute;
mod spot;
mod threads;
pub mod verify;
