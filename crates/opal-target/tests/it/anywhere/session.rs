//! What holds for the session of this machine holds for a helper's: the same tests.

#[path = "../../../../opal-session/tests/it/session/checking.rs"]
mod checking;
#[path = "../../../../opal-session/tests/it/session/commands.rs"]
mod commands;
#[path = "../../../../opal-session/tests/it/session/files.rs"]
mod files;
#[path = "../../../../opal-session/tests/it/session/hostile.rs"]
mod hostile;
#[path = "../../../../opal-session/tests/it/session/interpreters.rs"]
mod interpreters;
#[path = "../../../../opal-session/tests/it/session/many.rs"]
mod many;
#[path = "../../../../opal-session/tests/it/session/moving.rs"]
mod moving;
#[path = "../../../../opal-session/tests/it/session/payloads.rs"]
pub(crate) mod payloads;
#[path = "../../../../opal-session/tests/it/session/places.rs"]
mod places;
#[path = "../../../../opal-session/tests/it/session/stopping.rs"]
mod stopping;
#[path = "../../../../opal-session/tests/it/session/support.rs"]
pub(crate) mod support;
#[path = "../../../../opal-session/tests/it/session/texts.rs"]
mod texts;
#[path = "../../../../opal-session/tests/it/session/words.rs"]
mod words;
