//! Maps from iterators, without a sort for each.
//!
//! `collect` makes an ordered map by sorting: the compiler then writes a whole sort for every iterator
//! that ends in one, 5 KB each. Here the entries are put in one after the other, by code that all
//! maps of the same type share. The result is the same: the last of several equal keys counts.

/// What [`Iterator::collect`] does, for `BTreeMap` and maps of JSON.
pub trait Gather: Iterator + Sized {
    /// All items, put in one after the other.
    fn gathered<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_map_is_the_one_that_collect_makes() {
        let entries = [(2, "b"), (1, "a"), (2, "c"), (3, "d"), (1, "e")];
        let gathered: BTreeMap<i32, &str> = entries.into_iter().gathered();
        assert_eq!(gathered, entries.into_iter().collect());
    }
}
