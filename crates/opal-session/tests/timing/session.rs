//! The helpers of the other binary, under the names that they have there.

#[path = "../it/session/seat.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
pub(crate) mod seat;
#[path = "../it/session/support.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
pub(crate) mod support;
