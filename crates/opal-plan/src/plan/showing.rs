//! What is handed on about who may see which value.

use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::Key;
use opal_core::showing::{Hidden, Showing};
use opal_core::{Data, Value};

use super::datum::{Datum, Joint, Taint};

/// Makes placeholders.
#[derive(Clone, Copy)]
pub(super) struct Maker<'m> {
    pub(super) key: &'m PlaceholderKey,
    pub(super) algorithm: Algorithm,
}

impl Maker<'_> {
    /// Takes up a value of the plan, and what it was put together of.
    pub(super) fn add(self, showing: &mut Showing, key: &Key, datum: &Datum, taint: &Taint) {
        let class = showing.classes.entry(key.clone()).or_insert(taint.class);
        *class = (*class).max(taint.class);
        if !taint.class.is_secret() {
            let clear = datum.clear().filter(|_| !taint.class.is_public());
            showing.visible.extend(clear.map(|value| (key.clone(), value)));
            return;
        }
        let Some(data) = datum.to_data() else { return };
        let mut label = self.placeholder(key, &data);
        if let Some(mask) = taint.join.as_deref().and_then(|join| self.masked(showing, join)) {
            showing.visible.insert(key.clone(), Value::String(mask.clone().into()));
            label = mask;
        }
        let data = taint.parts.map_or(data.clone(), |parts| parts.hidden(&data));
        let target = taint.target.as_deref().filter(|_| !taint.class.is_declared());
        let target = target.map(Into::into);
        let member = taint.member.as_deref().map(Into::into);
        let hidden = Hidden { data, label: label.into(), class: taint.class, target, member };
        showing.hidden.insert(key.clone(), hidden);
    }

    /// A text with secrets in it, each as its placeholder and the rest in clear.
    fn masked(self, showing: &mut Showing, join: &[Joint]) -> Option<String> {
        let mut mask = String::new();
        for joint in join {
            match joint {
                Joint::Clear(text) => mask.push_str(text.expose()),
                Joint::Hidden(part) => {
                    let (taint, data) = (part.taint.as_ref()?, part.to_data()?);
                    mask.push_str(&self.placeholder(&taint.key, &data));
                    self.add(showing, &taint.key, part, taint);
                }
            }
        }
        Some(mask)
    }

    fn placeholder(self, key: &str, data: &Data) -> String {
        self.key.placeholder(self.algorithm, key, data).to_string()
    }
}
