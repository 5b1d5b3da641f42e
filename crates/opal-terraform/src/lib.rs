//! The bridge to the providers of Terraform and OpenTofu: resources and data sources, without Terraform
//! and without a state file.
//!
//! ```text
//! configuration ──schema──▶ value ──client──▶ provider (a process of its own) ──▶ the world
//! prior state + configuration ──merge──▶ proposed state ──▶ plan
//! step ──identity──▶ find, read, replay ──verify──▶ status ──apply──▶ verified again
//! ```
//!
//! | what | where |
//! |---|---|
//! | the messages of protocols 5 and 6 | [`wire`] |
//! | values, their types and bytes, with all limits | [`value`] |
//! | what resources and data sources consist of | [`schema`] |
//! | the process of a provider | [`process`] |
//! | a provider of the cache, checked before it starts | [`trusted`] |
//! | calls; what may change the world apart from what may not | [`client`] |
//! | what a provider is asked to plan | [`merge`] |
//! | what identifies an object in the world | [`identity`] |
//! | whether it is as a step describes it, in five steps | [`verify`] |
//! | what differs, in what a configuration can say | [`differ`] |
//! | attributes whose actual value a step accepts | [`ignored`] |
//! | what a provider must keep in a plan and in an apply | [`rules`] |
//! | making it so, and removing it | [`apply`] |
//! | the plugin protocol, and one provider with one configuration | [`serve`], `instance` |
//! | getting providers: checked, unpacked, described as decorators | [`package`] |
//! | objects of a state file as steps | [`adopt`] |
//! | what must not be shown | [`secrets`] |
//! | errors, and what is quoted of a provider | [`trouble`] |
//!
//! Deliberately not here: a state file. What a resource is, is read from the world each time.

pub mod adopt;
pub mod apply;
pub mod client;
pub mod differ;
pub mod identity;
pub mod ignored;
mod instance;
pub mod merge;
pub mod package;
pub mod process;
pub mod rules;
pub mod schema;
pub mod secrets;
pub mod serve;
pub mod trouble;
pub mod trusted;
pub mod value;
pub mod verify;
pub mod wire;
