//! `[terraform.recipes]` of an `opal.mod`: how objects of some types are identified.

use std::collections::BTreeMap;

use opal_core::data::{Data, Secret};
use opal_core::protocol::line;
use opal_core::recipe::Recipes;
use opal_core::recipe::template::Invalid;
use opal_core::{Code, LineIndex, Span};
use opal_yaml::problems::Problems;
use toml_edit::{Item, TableLike, Value};

use crate::codes::CODES;
use crate::project::ModError;
use crate::toml;

/// The recipes of a project.
#[derive(Clone, Debug)]
pub struct ProjectRecipes {
    /// With opal's own after them.
    pub rows: Recipes,
    /// For the helper: a JSON object, in whose order the first that matches counts.
    pub document: Secret,
}

/// The recipes of a project.
///
/// # Errors
/// The first thing that is wrong.
pub fn recipes(text: &str) -> Result<ProjectRecipes, ModError> {
    let mut problems = Problems::new(CODES);
    let found = read(text, &mut problems).unwrap_or_default();
    let rows = problems.is_empty().then(|| Recipes::new(&found));
    let (Some(Ok(rows)), true) = (rows, problems.is_empty()) else {
        let first = problems.into_errors().into_iter().next();
        let (span, message, help) = match first {
            Some(first) => (first.primary.span, first.message, first.help.join("; ")),
            None => (Span::at(0), "invalid recipes".to_owned(), String::new()),
        };
        let line = LineIndex::new(text).line(span.start);
        return Err(ModError { line, message, help });
    };
    Ok(ProjectRecipes { rows, document: line::json(&Data::Map(found)) })
}

fn read(text: &str, problems: &mut Problems) -> Option<BTreeMap<String, Data>> {
    if !text.contains("terraform") {
        return None;
    }
    let document = toml::document(text, problems)?;
    let table = toml::table(document.as_table().get("terraform")?, "`[terraform]`", problems)?;
    toml::unknown(table, "`[terraform]`", &["recipes"], problems);
    let recipes = toml::table(table.get("recipes")?, "`[terraform.recipes]`", problems)?;
    let mut found = BTreeMap::new();
    for (number, (name, item)) in recipes.iter().enumerate() {
        let what = format!("the recipe `{name}`");
        let Some(Data::Map(mut fields)) = data(item) else {
            let message = format!("{what} is not a table of texts, numbers, arrays and tables");
            let help = "write it as `[terraform.recipes.TYPE]`";
            problems.error(Code::PackageValue, toml::place(item.span()), message, help);
            continue;
        };
        fields.entry("match".to_owned()).or_insert_with(|| Data::text(name));
        // The helper reads them in the order of their names.
        let row = (format!("{number:06}"), Data::Map(fields));
        if let Err(Invalid(why)) = Recipes::new(&BTreeMap::from([row.clone()])) {
            let span = toml::place(recipes.get_key_value(name).and_then(|(key, _)| key.span()));
            let help = "see the table of recipes: `opal explain E1403`";
            problems.error(Code::InvalidRecipe, span, format!("{what}: {why} (E1403)"), help);
        }
        found.insert(row.0, row.1);
    }
    Some(found)
}

/// What TOML says; none for dates.
fn data(item: &Item) -> Option<Data> {
    match item {
        Item::None => None,
        Item::Value(value) => plain(value),
        Item::Table(table) => map(table),
        Item::ArrayOfTables(all) => {
            Some(Data::Array(all.iter().map(|table| map(table)).collect::<Option<_>>()?))
        }
    }
}

fn plain(value: &Value) -> Option<Data> {
    Some(match value {
        Value::String(text) => Data::text(text.value().as_str()),
        Value::Integer(number) => Data::Int(*number.value()),
        Value::Float(number) => Data::Float(*number.value()),
        Value::Boolean(it) => Data::Bool(*it.value()),
        Value::Datetime(_) => return None,
        Value::Array(items) => Data::Array(items.iter().map(plain).collect::<Option<_>>()?),
        Value::InlineTable(table) => return map(table),
    })
}

fn map(table: &dyn TableLike) -> Option<Data> {
    let fields = table.iter().map(|(name, item)| Some((name.to_owned(), data(item)?)));
    Some(Data::Map(fields.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_keep_their_order_and_their_shape() {
        let text = "name = \"shop\"\n[terraform.recipes.b]\nimport = \"{x}\"\n\
                    [terraform.recipes.\"a_*\"]\nmark = { in = \"tags\", list = {} }\n";
        let read = recipes(text).unwrap();
        let expected = r#"{"000000":{"import":"{x}","match":"b"},"000001":{"mark":{"in":"tags","list":{}},"match":"a_*"}}"#;
        assert_eq!(read.document.expose(), expected);
        assert_eq!(recipes("name = \"shop\"\n").unwrap().document.expose(), "{}");
        assert!(recipes("[terraform.recipes]\na = 1\n").is_err());
        assert!(recipes("[terraform.recipes.a]\nimport = \"{x\"\n").is_err());
        assert!(recipes("[terraform]\nrecipe = {}\n").is_err());
    }
}
