//! The nouns of opal.
//!
//! | what | where |
//! |---|---|
//! | places in a source text | [`text`] |
//! | what went wrong, where, and what to do | [`diagnostic`], codes in [`code`] |
//! | where a reference is in shell text, and what is allowed there | [`context`], [`script`] |
//! | shell text in which values are data | [`shell`] |
//! | constants and types of the language | [`value`], [`types`], [`duration`] |
//! | values that may be secret, and what stands for them | [`data`], [`placeholder`], [`hash`] |
//! | who may see a value | [`class`]; of a plan's values [`showing`] |
//! | how a value decorator gets its value | [`resolver`]; without leaving copies [`wiped`] |
//! | which variables programs that lead to targets do not get | [`withheld`] |
//! | what is said about a failure, and which parts of it were given to us | [`message`](mod@message) |
//! | the keys of placeholders and random values | [`keys`] |
//! | what would run | [`plan`] |
//! | what an execution decorator does, and may do | [`action`] |
//! | states of the world, and what a verification of them reports | [`resource`], files in [`files`] |
//! | files with digests, and what is remembered of them | [`inventory`] |
//! | which resources of a plan were selected, and why it cannot run | [`selection`], [`unready`] |
//! | the streams of a program; which programs are started at the same time | [`stream`], [`starting`] |
//! | a plan as bytes: canonical form, hash, file, comparison | [`contract`] |
//! | how a plan is shown | [`view`] |
//! | what a decorator is, and all of them together | [`decorator`], [`registry`] |
//! | how arguments are bound to parameters and checked | [`parameter`] |
//! | documents held against JSON Schemas | [`schema`] |
//! | templates, and whoever renders them | [`template`] |
//! | files of variables | [`dotenv`] |
//! | what opal and the helpers that run plugins say to each other | [`protocol`] |
//! | what a language says about the text of a block | [`block_rules`] |
//! | how objects of other worlds are identified | [`recipe`]; whether a call does so [`identified`] |
//! | which steps of an order have begun and ended on a target | [`journal`] |
//! | batches of a fleet, and how many targets may fail | [`fleet`] |
//! | how `git` is started | [`git`] |
//! | other machines, users and containers: names, and the way there | [`target`] |
//! | blocks that run on them | [`crossing`], decorators for that in [`boundary`]; many at once [`fleet`], [`hosts`] |
//! | names of functions that the command line keeps | [`reserved`] |
//! | "did you mean"; cycles among things that need each other | [`suggest`], [`cycles`] |
//!
//! Deliberately not here: files, the environment, the clock, processes, the network. Nothing in
//! this crate reads or changes the world, so everything in it can be tested with plain values.
//! It also knows no syntax: a `Span` is a pair of offsets, never a token.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

pub mod action;
pub mod block_rules;
pub mod boundary;
pub mod class;
pub mod code;
pub mod context;
pub mod contract;
pub mod crossing;
pub mod cycles;
pub mod data;
pub mod decorator;
pub mod diagnostic;
pub mod dotenv;
pub mod duration;
pub mod files;
pub mod fleet;
pub mod gather;
pub mod git;
pub mod hash;
pub mod hosts;
pub mod identified;
pub mod inventory;
pub mod journal;
pub mod keys;
pub mod message;
pub mod on;
pub mod pages;
pub mod parameter;
pub mod percent;
pub mod placeholder;
pub mod plan;
pub mod protocol;
pub mod recipe;
pub mod registry;
pub mod reserved;
pub mod resolver;
pub mod resource;
pub mod schema;
pub mod script;
pub mod selection;
pub mod shape;
pub mod shell;
pub mod showing;
pub mod starting;
pub mod stream;
pub mod suggest;
pub mod target;
pub mod template;
pub mod text;
pub mod tree;
pub mod types;
pub mod unreached;
pub mod unready;
pub mod value;
pub mod view;
pub mod wiped;
pub mod withheld;

pub use class::{Class, Ground};
pub use code::{Code, Group, Severity};
pub use data::{Data, Secret};
pub use diagnostic::{Diagnostic, Edit, Fix, Label};
pub use duration::Duration;
pub use registry::Registry;
pub use showing::Showing;
pub use text::{LineIndex, Position, Span};
pub use types::Type;
pub use value::Value;
