//! What the journal calls a step: its path, and in which attempt of the `@retry` blocks around it.

use std::borrow::Cow;
use std::sync::Arc;

/// The attempts that a step is in, as its name has them: `retry[0]#2.shell[1]` is the second step of a
/// block in its second attempt. First attempts are not named.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Attempts(Option<Arc<Renamed>>);

#[derive(Debug)]
struct Renamed {
    /// The path of the nearest block in a later attempt.
    path: Box<str>,
    name: String,
}

impl Attempts {
    /// The name of the step at a path. No two turns of a step have the same one.
    pub(in super::super) fn name<'s>(&self, path: &'s str) -> Cow<'s, str> {
        let Some(renamed) = &self.0 else { return Cow::Borrowed(path) };
        match path.strip_prefix(&*renamed.path) {
            Some(rest) => Cow::Owned(format!("{}{rest}", renamed.name)),
            None => Cow::Borrowed(path),
        }
    }

    /// In the block at a path, in one of its attempts.
    pub(in super::super) fn within(&self, path: &str, attempt: u32) -> Self {
        if attempt <= 1 {
            return self.clone();
        }
        let name = format!("{}#{attempt}", self.name(path));
        Self(Some(Arc::new(Renamed { path: path.into(), name })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_a_name_of_its_own_also_in_other_attempts() {
        let first = Attempts::default().within("a.retry[0]", 1);
        assert_eq!(first.name("a.retry[0].b"), "a.retry[0].b");
        let second = Attempts::default().within("a.retry[0]", 2);
        assert_eq!(second.name("a.retry[0].b"), "a.retry[0]#2.b");
        let inner = second.within("a.retry[0].retry[1]", 3);
        assert_eq!(inner.name("a.retry[0].retry[1].c"), "a.retry[0]#2.retry[1]#3.c");
        let again = second.within("a.retry[0].retry[1]", 1);
        assert_eq!(again.name("a.retry[0].retry[1].c"), "a.retry[0]#2.retry[1].c");
        assert_eq!(second.name("a.shell[0]"), "a.shell[0]");
    }
}
