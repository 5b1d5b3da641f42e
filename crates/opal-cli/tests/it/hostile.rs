//! What others leave lying around, and machines that are not as they should be.

mod builtins;
mod invisible;
mod many;
mod parents;
mod pipes;
mod roots;
mod templates;
mod transports;
mod unwritable;
