//! What must hold for a value that a resolver gave. Which class it has is decided in
//! [`crate::class`].
//!
//! Resolvers give values and do not judge them. Whoever calls one, a plugin's included, asks here
//! afterwards, so that the rules are in one place.

use crate::Data;
use crate::class::{Class, Flags, HIDDEN_ALONE_FROM};
use crate::decorator::{Descriptor, Subject};
use crate::resolver::{Inputs, Trouble, TroubleKind};

/// The class of what a call gives; without `value` by everything else.
#[must_use]
pub fn class(descriptor: &Descriptor, inputs: &Inputs, value: Option<&Data>) -> Class {
    let flags = Flags { public: inputs.is_true("public"), secret: inputs.is_true("secret") };
    let name = match descriptor.subject {
        Subject::None => None,
        Subject::Required(_) | Subject::OrParam(_) => inputs.subject.as_deref(),
    };
    Class::of(descriptor.exposure, flags, name, value)
}

/// Refuses a call that says both.
pub fn agrees(descriptor: &Descriptor, inputs: &Inputs) -> Result<(), Trouble> {
    if !(inputs.is_true("public") && inputs.is_true("secret")) {
        return Ok(());
    }
    let message = format!("`{}` is declared public and secret", written(descriptor, inputs));
    Err(Trouble::new(TroubleKind::Invalid, message, "keep one of the two arguments"))
}

fn written(descriptor: &Descriptor, inputs: &Inputs) -> String {
    let name = inputs.subject.as_ref().map_or_else(String::new, |subject| format!(".{subject}"));
    format!("@{}{name}", descriptor.path)
}

/// Refuses a declared secret that is too short to be found in output.
///
/// A `default` of the source may be short, and mostly is empty: it is not a secret.
pub fn check(descriptor: &Descriptor, inputs: &Inputs, value: &Data) -> Result<(), Trouble> {
    let Data::Text(text) = value else { return Ok(()) };
    let is_default = inputs.text("default") == Some(text.expose());
    let is_declared = class(descriptor, inputs, None).is_declared();
    if is_default || text.characters() >= HIDDEN_ALONE_FROM || !is_declared {
        return Ok(());
    }
    let name = written(descriptor, inputs);
    let message = format!(
        "the secret `{name}` has fewer than {HIDDEN_ALONE_FROM} characters, too few to \
         hide it in output"
    );
    let mut trouble = Trouble::new(TroubleKind::Invalid, message, "use a longer secret");
    if descriptor.param("secret").is_some() {
        trouble.help.push("if it is not a secret, remove `secret=true`".into());
    }
    Err(trouble)
}
