//! What every error of this crate says.

use opal_core::message::Message;
use opal_core::resolver::TroubleKind;

/// What can be said about an error.
pub(super) type Said = (TroubleKind, Message, Message);
