//! Texts: patterns, formats and closed sets.

use opal_core::shape::{Format, ShapeKind};
use opal_core::{Code, Diagnostic};
use opal_yaml::fields::{Field, Fields};

use super::{Schemas, leak};

impl<'n> Schemas<'n, '_> {
    pub(super) fn string(&mut self, fields: &mut Fields<'n>) -> Option<ShapeKind> {
        if let Some(field) = fields.take("enum") {
            let mut choices = self.words(field, "enum")?;
            let deprecated = match fields.take("x-opal-deprecated-values") {
                Some(field) => self.pairs(field)?,
                None => Vec::new(),
            };
            // They are still accepted, with a warning.
            choices.extend(deprecated.iter().map(|(name, _)| *name));
            choices.dedup();
            return Some(ShapeKind::Choice {
                choices: Box::leak(choices.into_boxed_slice()),
                deprecated: Box::leak(deprecated.into_boxed_slice()),
            });
        }
        if let Some(field) = fields.take("x-opal-duration")
            && self.flag(field)
        {
            return Some(ShapeKind::Duration);
        }
        let pattern = match fields.take("pattern") {
            Some(field) => Some(self.pattern(field)?),
            None => None,
        };
        let least = self.integer(fields, "minLength")?.unwrap_or(0);
        let most = self.integer(fields, "maxLength")?.unwrap_or(i64::MAX);
        let named = ["format", "x-opal-format"];
        let format = match named.into_iter().find_map(|key| Some((key, fields.take(key)?))) {
            Some((key, field)) => Some(self.format(key, field)?),
            None => None,
        };
        let most = if most == i64::MAX { u64::MAX } else { most.max(0) as u64 };
        Some(ShapeKind::Text { pattern, characters: (least.max(0) as u64, most), format })
    }

    /// JSON Schema looks for a pattern anywhere in the text, opal holds it against all of it.
    fn pattern(&mut self, field: Field<'_>) -> Option<&'static str> {
        let text = self.text(field, "pattern")?;
        let start =
            text.strip_prefix('^').map_or_else(|| format!(".*(?:{text}"), |it| format!("(?:{it}"));
        let whole = match start.strip_suffix('$') {
            Some(rest) if !rest.ends_with('\\') => format!("{rest})"),
            _ => format!("{start}).*"),
        };
        let whole = format!("(?s:{whole})");
        if text.len() > 1024 || !opal_core::parameter::is_pattern(&whole) {
            let help = "write a regular expression of at most 1024 bytes, without look-around";
            self.value(field.value.span, "`pattern` is not a regular expression", help);
            return None;
        }
        Some(leak(&whole))
    }

    fn format(&mut self, key: &str, field: Field<'_>) -> Option<Format> {
        let text = self.text(field, key)?;
        let is_own = |format: &Format| (*format == Format::Semver) == (key == "x-opal-format");
        let known = Format::ALL.into_iter().filter(is_own);
        let found = known.clone().find(|format| format.name() == text);
        if found.is_none() {
            let message = format!("{text:?} is not a `{key}` that opal checks");
            let error = Diagnostic::new(Code::PackageKeyword, field.value.span, message);
            self.problems.unknown(error, &text, known.map(Format::name));
        }
        found
    }
}
