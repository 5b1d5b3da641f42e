//! Shell text with values in it: which value is allowed in which place.
//!
//! | what | where |
//! |---|---|
//! | the table of places that a shell reads a second time | [`CASES`] in `cases` |
//! | how programs take their options, and which run another program | `programs` |
//! | a command's words, without their quotes, matched with the table | [`read`] in `reading`, `words` |
//! | variables that a shell, a loader or opal interprets | [`interpreted`] in `names` |
//! | the decision, for a value or for its type alone | [`admit`], [`admit_type`] |
//!
//! The rule that the table follows: a value is one word, byte for byte, wherever the shell expands
//! a word once. Wherever it expands, evaluates or interprets the word again, a value would become
//! code, so it is refused there.
//!
//! | a second, strict reading of the whole text | [`prove`] in `proof` |
//!
//! Deliberately not here: where words and commands begin and end in text of every kind, which the
//! lexer knows.

mod admit;
mod builtins;
mod cases;
mod instead;
mod names;
mod programs;
mod proof;
mod reading;
mod words;

pub use admit::{Refusal, admit, admit_list, admit_type};
pub use cases::{At, CASES, Case, Role};
pub use names::{INTERPRETED, InterpretedName, interpreted, is_run_by_program, runs_at_start};
pub use programs::ReadBy;
pub use proof::{Construct, Part, prove, prove_environment};
pub use reading::{Mark, Reading, read};
pub use words::{Kind, Spare, Word, dequote};
