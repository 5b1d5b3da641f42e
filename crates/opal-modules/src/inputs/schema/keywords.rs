//! The keywords of one schema, read as rules.

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::number::{compare, whole};
use super::places::below;
use super::rules::{Id, Keys, Reader, Rule, Side, Sized};

/// The types of values, by their names in schemas, in the order in which they are named to people.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Keywords that only describe: a text, a yes or no, or a list.
const TEXTS: [&str; 7] = [
    "$comment",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "description",
    "format",
    "title",
];
const SWITCHES: [&str; 3] = ["deprecated", "readOnly", "writeOnly"];
const LISTS: [&str; 1] = ["examples"];

pub(super) struct Keywords<'k, 'd> {
    place: &'k str,
    schema: &'k Map<String, Value>,
    reader: &'k mut Reader<'d>,
}

impl<'k, 'd> Keywords<'k, 'd> {
    pub(super) fn new(
        place: &'k str,
        schema: &'k Map<String, Value>,
        reader: &'k mut Reader<'d>,
    ) -> Self {
        Self { place, schema, reader }
    }

    pub(super) fn rules(mut self) -> Result<Vec<Rule>, String> {
        self.descriptions()?;
        let mut rules = Vec::new();
        self.about_one_value(&mut rules)?;
        self.about_numbers(&mut rules)?;
        self.about_sizes(&mut rules)?;
        self.about_texts_and_keys(&mut rules)?;
        self.about_lists(&mut rules)?;
        self.about_other_schemas(&mut rules)?;
        self.about_the_rest(&mut rules);
        Ok(rules)
    }

    fn descriptions(&self) -> Result<(), String> {
        for key in TEXTS {
            self.want(key, "a text", Value::as_str)?;
        }
        for key in SWITCHES {
            self.want(key, "`true` or `false`", Value::as_bool)?;
        }
        for key in LISTS {
            self.want(key, "a list", Value::as_array)?;
        }
        Ok(())
    }

    fn about_one_value(&self, rules: &mut Vec<Rule>) -> Result<(), String> {
        rules.extend(self.types()?.map(Rule::Type));
        rules.extend(self.schema.get("const").cloned().map(Rule::Const));
        rules.extend(self.want("enum", "a list", Value::as_array)?.cloned().map(Rule::Enum));
        Ok(())
    }

    fn types(&self) -> Result<Option<Vec<&'static str>>, String> {
        let Some(value) = self.schema.get("type") else { return Ok(None) };
        let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let types: Vec<&str> =
            TYPES.into_iter().filter(|known| names.iter().any(|name| name == known)).collect();
        if types.is_empty() || types.len() != names.len() {
            return self.must("type", "a type, or a list of different types");
        }
        Ok(Some(types))
    }

    fn about_numbers(&self, rules: &mut Vec<Rule>) -> Result<(), String> {
        for (key, side) in [
            ("minimum", Side::AtLeast),
            ("maximum", Side::AtMost),
            ("exclusiveMinimum", Side::Above),
            ("exclusiveMaximum", Side::Below),
        ] {
            let number = self.want(key, "a number", number)?;
            rules.extend(number.map(|number| Rule::Limit(side, number)));
        }
        let positive = |value: &Value| {
            number(value).filter(|number| compare(number, &Number::from(0)).is_gt())
        };
        let number = self.want("multipleOf", "a number above 0", positive)?;
        rules.extend(number.map(Rule::MultipleOf));
        Ok(())
    }

    fn about_sizes(&self, rules: &mut Vec<Rule>) -> Result<(), String> {
        for (least, most, what) in [
            ("minLength", "maxLength", Sized::Text),
            ("minItems", "maxItems", Sized::List),
            ("minProperties", "maxProperties", Sized::Map),
        ] {
            rules.extend(self.count(least)?.map(|count| Rule::AtLeast(what, count)));
            rules.extend(self.count(most)?.map(|count| Rule::AtMost(what, count)));
        }
        Ok(())
    }

    fn about_texts_and_keys(&mut self, rules: &mut Vec<Rule>) -> Result<(), String> {
        rules
            .extend(self.want("required", "a list of different texts", texts)?.map(Rule::Required));
        let dependent = self.want("dependentRequired", "a map of lists of texts", |value| {
            let entries = value.as_object()?.iter();
            entries.map(|(key, keys)| Some((key.clone(), texts(keys)?))).collect::<Option<Vec<_>>>()
        })?;
        rules.extend(dependent.map(Rule::DependentRequired));
        if let Some(text) = self.want("pattern", "a text", Value::as_str)? {
            let pattern = pattern(&below(self.place, "pattern"), text)?;
            rules.push(Rule::Pattern(pattern, text.to_owned()));
        }
        if self.want("uniqueItems", "`true` or `false`", Value::as_bool)? == Some(true) {
            rules.push(Rule::UniqueItems);
        }
        let named = self.map("properties").into_iter().collect();
        let mut matched = Vec::new();
        let at = below(self.place, "patternProperties");
        for (text, id) in self.map("patternProperties") {
            matched.push((pattern(&at, &text)?, id));
        }
        let keys = Keys { named, matched, others: self.one("additionalProperties") };
        if !keys.named.is_empty() || !keys.matched.is_empty() || keys.others.is_some() {
            rules.push(Rule::Keys(keys));
        }
        rules.extend(self.one("propertyNames").map(Rule::PropertyNames));
        Ok(())
    }

    fn about_lists(&mut self, rules: &mut Vec<Rule>) -> Result<(), String> {
        let first = self.list("prefixItems").unwrap_or_default();
        let rest = self.one("items");
        if !first.is_empty() || rest.is_some() {
            rules.push(Rule::Items { first, rest });
        }
        let (least, most) = (self.count("minContains")?, self.count("maxContains")?);
        let contains = self.one("contains");
        rules.extend(contains.map(|schema| Rule::Contains {
            schema,
            least: least.unwrap_or(1),
            most,
        }));
        Ok(())
    }

    fn about_other_schemas(&mut self, rules: &mut Vec<Rule>) -> Result<(), String> {
        let dependent = self.map("dependentSchemas");
        if !dependent.is_empty() {
            rules.push(Rule::DependentSchemas(dependent));
        }
        rules.extend(self.list("allOf").map(Rule::AllOf));
        rules.extend(self.list("anyOf").map(Rule::AnyOf));
        rules.extend(self.list("oneOf").map(Rule::OneOf));
        let not = self.one("not").zip(self.schema.get("not").cloned());
        rules.extend(not.map(|(id, schema)| Rule::Not(id, schema)));
        if let Some(condition) = self.one("if") {
            let (then, otherwise) = (self.one("then"), self.one("else"));
            rules.push(Rule::If { condition, then, otherwise });
        }
        if let Some(to) = self.want("$ref", "a text", Value::as_str)? {
            rules.push(Rule::Reference(self.reader.target(self.place, to)?.0));
        }
        if let Some(to) = self.want("$dynamicRef", "a text", Value::as_str)? {
            rules.push(match self.reader.target(self.place, to)? {
                (id, Some(name)) => Rule::DynamicReference(id, name),
                (id, None) => Rule::Reference(id),
            });
        }
        Ok(())
    }

    fn about_the_rest(&mut self, rules: &mut Vec<Rule>) {
        rules.extend(self.one("unevaluatedItems").map(Rule::UnevaluatedItems));
        rules.extend(self.one("unevaluatedProperties").map(Rule::UnevaluatedProperties));
    }

    fn must<T>(&self, key: &str, what: &str) -> Result<T, String> {
        Err(format!("`{}` must be {what}", below(self.place, key)))
    }

    /// What a keyword says, where it is there.
    fn want<T>(
        &self,
        key: &str,
        what: &str,
        read: impl FnOnce(&'k Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.schema.get(key) else { return Ok(None) };
        read(value).map_or_else(|| self.must(key, what), |read| Ok(Some(read)))
    }

    fn count(&self, key: &str) -> Result<Option<u64>, String> {
        self.want(key, "a whole number, 0 or more", |value| {
            u64::try_from(whole(value.as_number()?)?).ok()
        })
    }

    fn one(&mut self, key: &str) -> Option<Id> {
        self.schema.contains_key(key).then(|| self.reader.id(below(self.place, key)))
    }

    fn list(&mut self, key: &str) -> Option<Vec<Id>> {
        let at = below(self.place, key);
        let length = self.schema.get(key)?.as_array()?.len();
        Some((0..length).map(|index| self.reader.id(format!("{at}/{index}"))).collect())
    }

    fn map(&mut self, key: &str) -> Vec<(String, Id)> {
        let at = below(self.place, key);
        let keys = self.schema.get(key).and_then(Value::as_object).into_iter().flat_map(Map::keys);
        keys.map(|key| (key.clone(), self.reader.id(below(&at, key)))).collect()
    }
}

fn number(value: &Value) -> Option<Number> {
    value.as_number().cloned()
}

/// A list of different texts.
fn texts(value: &Value) -> Option<Vec<String>> {
    let texts: Option<Vec<String>> =
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let texts = texts?;
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1]).then_some(texts)
}

/// A pattern, for the engine without backtracking: it cannot take for ever.
fn pattern(at: &str, text: &str) -> Result<Regex, String> {
    let unknown =
        || format!("`{at}` must be a regular expression without look-around and back-references");
    let text = jsonschema_regex::to_rust_regex(text).map_err(|()| unknown())?;
    Regex::new(&text).map_err(|_| unknown())
}
