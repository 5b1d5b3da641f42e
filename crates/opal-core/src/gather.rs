//! Maps from iterators, and lists in order, without a sort for each.
//!
//! `collect` makes an ordered map by sorting: the compiler then writes a whole sort for every iterator
//! that ends in one, 5 KB each. Here the entries are put in one after the other, by code that all
//! maps of the same type share. The result is the same: the last of several equal keys counts.

use std::cmp::Ordering;

/// What [`slice::sort_by`] does, for lists that are short or that few runs have: all share one sort, which
/// puts their places in order.
pub fn sort_by<T>(list: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(list.len(), &|one, other| compare(&list[one], &list[other]));
    let mut taken: Vec<Option<T>> = list.drain(..).map(Some).collect();
    list.extend(order.into_iter().filter_map(|place| taken[place].take()));
}

/// What [`slice::sort_by_key`] does, the same way.
pub fn sort_by_key<T, K: Ord>(list: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

fn order(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

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

    #[test]
    fn a_list_is_in_the_order_that_sort_gives_it() {
        let entries = ["bb", "a", "cc", "", "b", "aaa"];
        let mut sorted = entries.map(str::to_owned).to_vec();
        let mut expected = sorted.clone();
        sort_by_key(&mut sorted, String::len);
        expected.sort_by_key(String::len);
        assert_eq!(sorted, expected);
    }
}
