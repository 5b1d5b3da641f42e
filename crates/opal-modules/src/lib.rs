//! Modules: the desired result, separate from who produces it, by which rules, and with which
//! files.
//!
//! | what | where |
//! |---|---|
//! | names of modules, packs, drivers, profiles | `reference` |
//! | where their files are | `place` |
//! | the specs: a module, the profile of a driver, a blueprint | `spec`, `profile`, `blueprint`; keys in `document`, open parts in `value` |
//! | files of Terraform and Terragrunt | `hcl` |
//! | what is checked before and after a run | `constraint`, `probe` |
//! | inputs: precedence, placeholders, schema | [`inputs`] |
//! | a new module | [`skeleton`] |
//! | a tree of specs and packs, looked through | [`lint`] |
//! | one module with all it needs, and what it lacks | [`load`], [`named`], what exists instead in `offer` |
//! | a run: drivers, its plan, its outputs | [`run`] |
//! | what is kept of runs, and credentials: the runtime root | [`keep`] |
//!
//! Reading a tree of modules changes nothing; [`keep`] writes below the runtime root. Variables of the
//! environment are handed in.

mod blueprint;
mod check_kind;
mod constraint;
mod document;
mod hcl;
pub mod inputs;
pub mod keep;
pub mod lint;
pub mod load;
pub mod named;
mod offer;
mod place;
mod probe;
mod profile;
mod programs;
mod reference;
pub mod run;
pub mod skeleton;
mod spec;
mod value;

pub use blueprint::{Blueprint, Step};
pub use check_kind::CheckKind;
pub use constraint::{Constraint, Rule, Subject};
pub use document::Checked;
pub use place::{Hints, NotFound, Places};
pub use probe::{Part, Probe, ProbeKind};
pub use profile::{
    BackendMode, Pattern, Policy, Profile, ProfileHook, Template, ToolVersion, Workspace,
};
pub use reference::{ModuleRef, Name, NoReference};
pub use spec::{Dependency, Execution, Hook, Spans, Spec};
