//! Whose plans are run: keys, seals, signatures, policies, and the contracts made with them.
//!
//! | what | where |
//! |---|---|
//! | keys, sealing, signatures | [`keys`] |
//! | which contracts are accepted here | [`policy`] |
//! | which people approved one | [`approvals`] |
//! | signed exports of records | [`audit`] |
//! | what every kind of signed message begins with | [`domains`] |
//! | orders: contracts that are sent to runners | [`order`] |
//! | what runners say about an order, and who sent it | [`messages`] |
//! | contracts: making and opening them | [`contracts`] |
//! | signed documents (DSSE), and what people vouch for in them | [`dsse`], [`statements`] |
//! | entries of `@cached` that this machine has made | [`entries`] |
//! | MACs of compiled plugins, and what they opened | [`code`] |
//! | whether the keys came from another machine | [`machine`] |
//! | what random numbers of plugins come from | [`seeding`] |
//! | the bytes of random values, from a seed | [`randomness`] |
//!
//! Deliberately not here: running a step.

pub mod approvals;
pub mod audit;
pub mod code;
pub mod contracts;
pub mod domains;
pub mod dsse;
pub mod entries;
pub mod keys;
pub mod machine;
pub mod messages;
pub mod order;
pub mod policy;
pub mod randomness;
pub mod seeding;
pub mod statements;
