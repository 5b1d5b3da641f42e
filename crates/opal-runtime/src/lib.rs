//! The verbs of opal.
//!
//! | what | where |
//! |---|---|
//! | the built-in decorators: what each is | [`decorators`] |
//! | the program in the form that every front end lowers to | [`unit`] |
//! | from the events of a source text to that form | [`lower`] |
//! | names, arguments, types, run-time bindings: all that needs no values | [`check`] |
//! | from a unit to a plan | [`plan`] |
//! | what the lexer must know of the registry | [`words`] |
//! | the directory opal keeps its own files in | [`root`] |
//! | opening files that opal reads for itself | [`regular`] |
//! | files that get their name when they are complete | [`atomic`] |
//! | whether nobody else can have written a file | [`trusted`] |
//! | contracts: making and opening them | [`contracts`] |
//! | keys, sealing, signatures | [`keys`] |
//! | which contracts are accepted here, and which were used | [`policy`], [`ledger`] |
//! | random values from a seed | [`randomness`] |
//! | the outside world: this machine, or one of plain data | [`world`] |
//! | shell text in which values are data | [`script`] |
//! | looking at the resources of a plan | [`verify`] |
//! | running a plan | [`execute`] |
//! | where steps run | [`session`] |
//! | telling work to stop | [`stop`] |
//! | values that must not be seen, and the scrubber | [`vault`] |
//! | who is told about a run | [`witness`] |
//! | what is kept of a run, and reading it | [`record`] |
//! | the laws that every decorator obeys, plugins included | [`conformance`] |
//!
//! Deliberately not here: printing and the command line. What a plan knows of the world comes through
//! [`world`], what a run changes goes through [`session`];
//! opal's own files are read and written by the modules that own them.

pub mod atomic;
pub mod check;
pub mod conformance;
pub mod contracts;
pub mod decorators;
pub mod execute;
pub mod keys;
pub mod ledger;
pub mod lower;
pub mod plan;
pub mod policy;
pub mod randomness;
pub mod record;
pub mod regular;
pub mod root;
pub mod script;
pub mod selection;
pub mod session;
pub mod stop;
pub mod trusted;
pub mod unit;
pub mod vault;
pub mod verify;
pub mod witness;
pub mod words;
pub mod world;

pub use words::Words;
