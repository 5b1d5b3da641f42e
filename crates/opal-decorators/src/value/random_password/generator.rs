//! Passwords from a stream of random bytes.

use opal_core::data::Data;
use opal_core::resolver::{Generator, Inputs, Stream, Trouble};
use opal_core::wiped::Wiped;

use super::alphabet::Alphabet;
use crate::value::invalid;

#[derive(Debug)]
pub(super) struct Password;

/// Characters of a password.
pub(super) const PASSWORD_LENGTHS: (i64, i64) = (4, 1024);

fn parameters(inputs: &Inputs) -> Result<(usize, Alphabet), Trouble> {
    let (shortest, longest) = PASSWORD_LENGTHS;
    let length = match inputs.data("length") {
        Some(Data::Int(length)) if (shortest..=longest).contains(length) => *length as usize,
        _ => {
            return Err(invalid(
                format!("`length` must be a whole number between {shortest} and {longest}"),
                "write it as a number, such as `length=24`",
            ));
        }
    };
    let alphabet = inputs.text("alphabet").ok_or_else(|| {
        invalid("`alphabet` must be a text", "write characters and ranges, such as `A-Za-z0-9`")
    })?;
    Ok((length, Alphabet::parse(alphabet)?))
}

impl Generator for Password {
    fn check(&self, inputs: &Inputs) -> Result<(), Trouble> {
        parameters(inputs).map(|_| ())
    }

    fn may_begin_with_dash(&self, inputs: &Inputs) -> bool {
        parameters(inputs).is_ok_and(|(_, alphabet)| alphabet.contains('-'))
    }

    fn generate(&self, inputs: &Inputs, stream: &mut dyn Stream) -> Result<Data, Trouble> {
        let (length, alphabet) = parameters(inputs)?;
        // With room for the longest characters the text never moves and leaves no copy.
        let mut password = Wiped::new(String::with_capacity(4 * length));
        for _ in 0..length {
            password.push(alphabet.draw(stream));
        }
        Ok(Data::text(std::mem::take(&mut *password)))
    }
}
