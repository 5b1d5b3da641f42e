//! The functions of a unit by their names.

use super::Function;

/// In the order of the names, so that a lookup halves; of those that are alike the first comes first.
#[derive(Debug)]
pub(crate) struct FunctionNames<'u> {
    sorted: Vec<(&'u str, usize)>,
}

impl<'u> FunctionNames<'u> {
    pub(crate) fn new(functions: &'u [Function]) -> Self {
        let names = functions.iter().map(|function| function.name.text.as_str());
        let mut sorted: Vec<(&str, usize)> = names.zip(0..).collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// The first function that is called so.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let at = self.sorted.partition_point(|(known, _)| *known < name);
        let (known, index) = self.sorted.get(at)?;
        (*known == name).then_some(*index)
    }

    /// Each name once.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'u str> {
        self.alike().map(|alike| alike[0].0)
    }

    /// Every function whose name another had before, with the first that had it.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (usize, usize)> {
        self.alike().flat_map(|alike| alike[1..].iter().map(|(_, again)| (*again, alike[0].1)))
    }

    fn alike(&self) -> impl Iterator<Item = &[(&'u str, usize)]> {
        self.sorted.chunk_by(|a, b| a.0 == b.0)
    }
}
