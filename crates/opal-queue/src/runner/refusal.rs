//! Why a share is not run.

use opal_trust::order::Order;

/// Why a share is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u8,
    pub(crate) message: String,
    /// Whether no other runner could accept it either.
    pub(crate) is_final: bool,
    /// The order, where it was accepted so far: who sent it hears why.
    pub(crate) order: Option<Box<Order>>,
}

impl Refusal {
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self { code: 76, message: message.into(), is_final: true, order: None }
    }

    pub(crate) fn not_here(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_final: false, order: None }
    }

    /// The server could not be asked: that says nothing about the order.
    pub(crate) fn away(trouble: &crate::trouble::Trouble) -> Self {
        Self::not_here(69, trouble.to_string())
    }
}
