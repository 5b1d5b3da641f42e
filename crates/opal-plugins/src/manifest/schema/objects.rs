//! Objects: known fields, maps, and unions.

use opal_core::shape::{ShapeField, ShapeKind};
use opal_yaml::NodeKind;
use opal_yaml::fields::{Field, Fields};

use super::{Described, Schemas, leak};

impl<'n> Schemas<'n, '_> {
    pub(super) fn object(&mut self, fields: &mut Fields<'n>, what: &str) -> Option<ShapeKind> {
        if let Some(field) = fields.take("x-opal-union") {
            return self.union(field);
        }
        if let Some(additional) = fields.get_field("additionalProperties") {
            if !matches!(additional.value.word(), Some("false")) {
                fields.take("additionalProperties");
                if additional.value.word() == Some("true") || fields.get("properties").is_some() {
                    let message = format!("{what} must be closed");
                    let help = "write `additionalProperties: false`, or only `additionalProperties` \
                                with a schema for a map";
                    self.keyword(additional, message, help);
                    return None;
                }
                let element = self.read(additional.value, "`additionalProperties`")?;
                return Some(ShapeKind::Map(Box::leak(Box::new(element.shape))));
            }
            fields.take("additionalProperties");
        }
        let found = self.properties(fields, None)?;
        let field = |(name, required, described): (String, bool, Described)| ShapeField {
            name: leak(&name),
            required,
            shape: described.shape,
        };
        Some(ShapeKind::Fields(Box::leak(found.into_iter().map(field).collect())))
    }

    /// `properties` and `required`, in the order of the file.
    pub(in crate::manifest) fn properties(
        &mut self,
        fields: &mut Fields<'n>,
        tag: Option<&str>,
    ) -> Option<Vec<(String, bool, Described)>> {
        let required = match fields.take("required") {
            Some(field) => self.words(field, "required")?,
            None => Vec::new(),
        };
        let mut found = Vec::new();
        let Some(properties) = fields.take("properties") else { return Some(found) };
        Fields::of(properties.value, "`properties`", self.problems)?;
        let NodeKind::Map(entries) = &properties.value.kind else { return None };
        for (key, value) in entries {
            let Some(name) = key.word().filter(|name| Some(*name) != tag) else { continue };
            let described = self.read(value, &format!("`{name}`"))?;
            found.push((name.to_owned(), required.contains(&name), described));
        }
        let is_known = |name: &&&str| Some(**name) == tag || found.iter().any(|it| it.0 == **name);
        if let Some(name) = required.iter().find(|name| !is_known(name)) {
            let message = format!("`{name}` is required, and not a property");
            self.value(properties.key, &message, "declare it in `properties`");
            return None;
        }
        Some(found)
    }

    /// `discriminator` and `cases`.
    fn union(&mut self, field: Field<'n>) -> Option<ShapeKind> {
        let mut fields = Fields::of(field.value, "`x-opal-union`", self.problems)?;
        let (tag, cases) = (fields.take("discriminator"), fields.take("cases"));
        fields.typos(&["discriminator", "cases"], self.problems);
        let (Some(tag), Some(cases)) = (tag, cases) else {
            let help = "add `discriminator: FIELD` and `cases:`";
            self.value(field.key, "`x-opal-union` needs `discriminator` and `cases`", help);
            return None;
        };
        let tag = self.text(tag, "discriminator")?;
        Fields::of(cases.value, "`cases`", self.problems)?;
        let NodeKind::Map(entries) = &cases.value.kind else { return None };
        let mut found = Vec::new();
        for (key, value) in entries {
            let name = key.word()?;
            let mut fields = Fields::of(value, &format!("the case `{name}`"), self.problems)?;
            let parts = self.properties(&mut fields, Some(&tag))?;
            fields.typos(&["type", "additionalProperties", "description"], self.problems);
            let field = |(name, required, described): (String, bool, Described)| ShapeField {
                name: leak(&name),
                required,
                shape: described.shape,
            };
            let parts: &'static [ShapeField] = Box::leak(parts.into_iter().map(field).collect());
            found.push((leak(name), parts));
        }
        Some(ShapeKind::Union { tag: leak(&tag), cases: Box::leak(found.into_boxed_slice()) })
    }
}
