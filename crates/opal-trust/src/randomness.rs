//! Random values that a seed determines, so that every run of a contract gets the same ones.
//!
//! | what | where |
//! |---|---|
//! | the stream of bytes at one place of a plan | [`Drbg`] |
//!
//! Deliberately not here: the seed. It is drawn for a contract, or for one run, and comes in.

mod drbg;

pub use drbg::{Drbg, Site};

use opal_core::data::Data;
use opal_core::gather::Gather as _;
use opal_core::placeholder;
use opal_core::resolver::{Input, Inputs};
use opal_core::wiped::Wiped;

/// The parameters that decide a value with a `regen_key`, as bytes: all but `regen_key` itself,
/// which is named beside them, and `dash`, which says how the value may be used.
#[must_use]
pub fn canonical_parameters(inputs: &Inputs) -> Wiped<Vec<u8>> {
    let data = inputs.args.iter().filter_map(|(name, input)| match input {
        Input::Data(data) if !matches!(*name, "regen_key" | "dash") => {
            Some(((*name).to_owned(), data.clone()))
        }
        _ => None,
    });
    Wiped::new(placeholder::bytes(&Data::Map(data.gathered())))
}
