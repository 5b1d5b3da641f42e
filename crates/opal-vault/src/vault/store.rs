//! Whose values are whose.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use opal_core::showing::MAX_TARGET_VALUES;

use super::Sight;
use super::forms::Forms;
use super::search::Layer;

/// There are more than [`MAX_TARGET_VALUES`] values of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = opal_core::resource::details::grouped(MAX_TARGET_VALUES);
        write!(f, "a run can hide at most {most} values that were read on targets")
    }
}

#[derive(Default)]
pub(super) struct Store {
    /// Hidden everywhere.
    everywhere: Values,
    /// Those of all targets: for what is said about several of them.
    of_all_targets: Values,
    of_targets: BTreeMap<Arc<str>, Values>,
    target_values: usize,
    /// What targets call a value that another one has too, by what that one calls it.
    own_labels: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<str>>>,
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    New,
    /// It is known, or has no form that could be hidden.
    Known,
    TooMany,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.everywhere.seen.len() + self.target_values
    }

    pub(super) fn knows(&self, target: Option<&str>, digest: &[u8; 32]) -> bool {
        let of_target = target.and_then(|target| self.of_targets.get(target));
        self.everywhere.seen.contains_key(digest)
            || of_target.is_some_and(|values| values.seen.contains_key(digest))
    }

    pub(super) fn take(&mut self, target: Option<&str>, digest: [u8; 32], forms: Forms) -> Taken {
        if self.knows(target, &digest) {
            return Taken::Known;
        }
        let Some(target) = target else {
            return self.everywhere.take(digest, forms);
        };
        if self.target_values >= MAX_TARGET_VALUES {
            return Taken::TooMany;
        }
        self.target_values += 1;
        self.of_all_targets.take(digest, forms.clone());
        self.of_targets.entry(target.into()).or_default().take(digest, forms)
    }

    /// Gives a value that is hidden everywhere a label for what one target says. That two of them have the
    /// same value is not to be seen.
    pub(super) fn call(&mut self, target: &str, digest: &[u8; 32], own: &str) {
        let Some(label) = self.everywhere.seen.get(digest).filter(|label| ***label != *own) else {
            return;
        };
        let labels = self.own_labels.entry(target.into()).or_default();
        labels.entry(Arc::clone(label)).or_insert_with(|| own.into());
    }

    /// What a target calls a value.
    pub(super) fn own_label(&self, target: &str, label: &Arc<str>) -> Arc<str> {
        let own = self.own_labels.get(target).and_then(|labels| labels.get(label));
        Arc::clone(own.unwrap_or(label))
    }

    pub(super) fn layers(&mut self, sight: &Sight) -> Arc<[Arc<Layer>]> {
        let others = match sight {
            Sight::All => Some(&mut self.of_all_targets),
            Sight::On(None) => None,
            Sight::On(Some(target)) => self.of_targets.get_mut(target),
        };
        let everywhere = self.everywhere.layers();
        match others.map(Values::layers).filter(|layers| !layers.is_empty()) {
            Some(others) => everywhere.iter().chain(&*others).map(Arc::clone).collect(),
            None => everywhere,
        }
    }
}

/// They are put in order when a stream first needs them. That costs time for each value, so a new
/// one does not touch what is there: it begins a layer of its own, and takes up those before it
/// that are not much larger. There are never more layers than the number of
/// values has binary digits, and each value is taken up no more often than that.
#[derive(Default)]
struct Values {
    /// Their digests, and what replaces each.
    seen: BTreeMap<[u8; 32], Arc<str>>,
    pending: Vec<Forms>,
    layers: Arc<[Arc<Layer>]>,
}

impl Values {
    fn take(&mut self, digest: [u8; 32], forms: Forms) -> Taken {
        if self.seen.insert(digest, Arc::clone(&forms.label)).is_some() || forms.is_empty() {
            return Taken::Known;
        }
        self.pending.push(forms);
        Taken::New
    }

    fn layers(&mut self) -> Arc<[Arc<Layer>]> {
        if !self.pending.is_empty() {
            let newest = std::mem::take(&mut self.pending);
            let mut layers = self.layers.to_vec();
            let mut count = newest.len();
            let mut older = Vec::new();
            while let Some(layer) = layers.pop_if(|layer| layer.len() <= 2 * count) {
                count += layer.len();
                older.push(layer);
            }
            older.reverse();
            layers.push(Arc::new(Layer::new(&older, &newest)));
            self.layers = layers.into();
        }
        Arc::clone(&self.layers)
    }
}

#[cfg(test)]
mod tests {
    use opal_core::Data;

    use super::super::Vault;
    use super::*;

    #[test]
    fn a_value_of_a_target_is_hidden_there_and_where_several_targets_are_named() {
        let vault = Vault::new();
        vault.register(&Data::text("everywhere"), "<e>");
        vault.register_on("web1", &Data::text("okay"), "<1>").unwrap();
        vault.register_on("web2/app", &Data::text("fine"), "<2>").unwrap();
        let text = "okay, fine, everywhere";
        for (target, shown) in [
            (Some("web1"), "<1>, fine, <e>"),
            (Some("web1/root"), "<1>, fine, <e>"),
            (Some("web2"), "okay, <2>, <e>"),
            (Some("web3"), "okay, fine, <e>"),
            (None, "okay, fine, <e>"),
        ] {
            assert_eq!(vault.on(target).scrub(text).text(), shown, "{target:?}");
        }
        assert_eq!(vault.scrub(text).text(), "<1>, <2>, <e>");
        // Streams that have begun get to know of it too.
        let mut stream = vault.on(Some("web3")).scrubber();
        assert_eq!(stream.push(b"okay ").text(), "okay ");
        vault.register_on("web3", &Data::text("okay"), "<3>").unwrap();
        let late = [stream.push(b"okay ").text().into_owned(), stream.finish().text().into_owned()];
        assert_eq!(late.concat(), "<3> ");
    }

    #[test]
    fn a_value_that_two_targets_have_has_another_label_on_each() {
        let vault = Vault::new();
        for (target, label) in [("web1", "<1>"), ("web2", "<2>")] {
            vault.register_of(target, &Data::text("the same secret"), label);
        }
        for (target, shown) in
            [("web1", "<1>"), ("web2", "<2>"), ("web2/root", "<2>"), ("web3", "<1>")]
        {
            let vault = vault.on(Some(target));
            assert_eq!(vault.scrub("the same secret").text(), shown, "{target}");
            assert_eq!(&*vault.hidden_in("the same secret")[0].label, shown, "{target}");
        }
        assert_eq!(vault.scrub("the same secret").text(), "<1>");
        assert!(vault.has_used("<2>"));
    }

    #[test]
    fn beyond_the_limit_a_value_is_hidden_everywhere_and_that_is_an_error() {
        let vault = Vault::new();
        for number in 0..MAX_TARGET_VALUES {
            let value = Data::text(format!("value-{number}"));
            vault.register_on("web1", &value, "<v>").unwrap();
        }
        // One that is known does not count again.
        vault.register_on("web1", &Data::text("value-7"), "<v>").unwrap();
        let more = Data::text("one-too-many");
        assert_eq!(vault.register_on("web1", &more, "<m>"), Err(TooMany));
        assert_eq!(vault.on(None).scrub("one-too-many value-7").text(), "<m> value-7");
    }
}
