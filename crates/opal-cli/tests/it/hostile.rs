//! What others leave lying around, and machines that are not as they should be.

mod builtins;
mod parents;
mod pipes;
mod roots;
mod unwritable;
