//! The examples of a decorator.

use opal_core::decorator::Example;
use opal_yaml::NodeKind;
use opal_yaml::fields::Fields;

use super::Reader;
use crate::manifest::schema::leak;

impl<'n> Reader<'n, '_, '_> {
    pub(super) fn examples(&mut self, fields: &mut Fields<'n>) -> &'static [Example] {
        let Some(field) = fields.take("examples") else { return &[] };
        let NodeKind::List(items) = &field.value.kind else {
            self.schemas.value(field.key, "`examples` expects a list", "write `- title: …`");
            return &[];
        };
        let mut found = Vec::new();
        for item in items {
            let Some(mut inner) = Fields::of(item, "an example", self.schemas.problems) else {
                continue;
            };
            let title = self.words(&mut inner, "title");
            let source = self.words(&mut inner, "source");
            inner.typos(&["title", "source"], self.schemas.problems);
            if let (Some(title), Some(source)) = (title, source) {
                found.push(Example { title: leak(&title), source: leak(&source) });
            }
        }
        Box::leak(found.into_boxed_slice())
    }
}
