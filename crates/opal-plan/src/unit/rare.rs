//! Lists that are mostly empty.

use std::ops::{Deref, DerefMut};

/// A list in the memory of one address while it is empty: a large file has many of them, and what is not
/// written need not be made room for.
#[expect(clippy::box_collection, reason = "a list has three words, its box one")]
#[derive(Debug)]
pub struct Rare<T>(Option<Box<Vec<T>>>);

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Rare<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

impl<T> From<Vec<T>> for Rare<T> {
    fn from(list: Vec<T>) -> Self {
        Self((!list.is_empty()).then(|| Box::new(list)))
    }
}

impl<T> Extend<T> for Rare<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        for one in more {
            self.0.get_or_insert_default().push(one);
        }
    }
}

impl<T> FromIterator<T> for Rare<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut list = Self::default();
        list.extend(all);
        list
    }
}

impl<'l, T> IntoIterator for &'l Rare<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
