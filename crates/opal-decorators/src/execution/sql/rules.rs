//! What is wrong with a text in SQL and its variables.

use std::collections::BTreeMap;

use opal_core::block_rules::{BlockFault, BlockPlace, BlockRules};
use opal_core::resolver::Trouble;
use opal_core::types::Type;
use opal_core::{Code, Data};

use super::scan::{Dialect, Holds, How, Use, uses};
use super::{VALUES, invalid};

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) dialect: Dialect,
}

impl BlockRules for Rules {
    fn values(&self) -> &'static str {
        VALUES
    }

    fn faults(&self, text: &str, values: &[(&str, Type)]) -> Vec<BlockFault> {
        let mut faults: Vec<BlockFault> = Vec::new();
        for (index, (name, ty)) in values.iter().enumerate() {
            let wrong = self.wrong_name(name).or_else(|| wrong_type(name, ty));
            faults.extend(wrong.map(|(message, help)| BlockFault {
                code: Code::InvalidVariable,
                at: BlockPlace::Value(index),
                message,
                help,
            }));
        }
        // Other ways to set a parameter are in the text itself.
        let sets = self.dialect != Dialect::Sqlite || text.contains(".param");
        let ty = |name: &str| values.iter().find(|(it, _)| *it == name).map(|(_, ty)| ty);
        let is_text = |name: &str| ty(name).map(could_be_code);
        // Without a value of opal's, what the text makes of its own is its own.
        let has_text = values.iter().any(|(_, ty)| could_be_code(ty));
        for found in uses(self.dialect, text, &is_text) {
            let wrong = match ty(found.name) {
                _ if found.how == How::Unset => {
                    unset(&text[found.at.clone()], found.name).filter(|_| !sets)
                }
                Some(ty) if found.holds.is_none() => self.wrong_use(&found, ty),
                _ if found.holds.is_some() => {
                    let is_command = matches!(found.how, How::Command(_));
                    let is_value = match found.holds {
                        Some(Holds::Value) => true,
                        Some(Holds::Literal) => is_command,
                        _ => false,
                    };
                    let is_wrong = has_text && is_value && !matches!(found.how, How::Quoted(_));
                    self.wrong_use(&found, &Type::String).filter(|_| is_wrong)
                }
                _ if found.how == How::Replaced && !sets => Some((
                    Code::InvalidVariable,
                    format!("unknown variable `@{}`: SQLite would read NULL", found.name),
                    format!("add it: `vars={{{}: …}}`", found.name),
                )),
                _ => None,
            };
            faults.extend(wrong.map(|(code, message, help)| BlockFault {
                code,
                at: BlockPlace::Text(found.at.clone()),
                message,
                help,
            }));
        }
        faults
    }
}

impl Rules {
    /// The same with the values of a run.
    pub(super) fn check(&self, text: &str, vars: &BTreeMap<String, Data>) -> Result<(), Trouble> {
        let typed: Vec<(&str, Type)> =
            vars.iter().map(|(name, data)| (name.as_str(), type_of(data))).collect();
        match self.faults(text, &typed).into_iter().next() {
            Some(fault) => Err(invalid(fault.message, &fault.help)),
            None => Ok(()),
        }
    }

    fn wrong_name(&self, name: &str) -> Option<(String, String)> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = name.chars().all(is_part)
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && (1..=63).contains(&name.len());
        if !is_name {
            let help = "write letters, digits and `_`, at most 63";
            return Some((format!("invalid name `{name}` of a variable"), help.to_owned()));
        }
        let is_setting =
            self.dialect == Dialect::Psql && name.chars().any(|c| c.is_ascii_uppercase());
        is_setting.then(|| {
            let message = format!("`{name}` is in capitals, as the settings of psql are");
            (message, format!("write `{}`", name.to_lowercase()))
        })
    }

    fn wrong_use(&self, found: &Use<'_>, ty: &Type) -> Option<(Code, String, String)> {
        let name = found.name;
        let mark = if self.dialect == Dialect::Psql { ":" } else { "@" };
        let right = match self.dialect {
            Dialect::Psql => format!(":'{name}'"),
            _ => format!("@{name}"),
        };
        match &found.how {
            How::Replaced | How::Unset => None,
            How::Pasted if !matches!(ty, Type::String | Type::OneOf(_)) => None,
            How::Pasted if found.holds.is_some() => Some((
                Code::PastedVariable,
                format!("psql pastes `:{name}` as SQL, and a value can be in it"),
                format!("write `:'{name}'`: the server makes a number of it where it needs one"),
            )),
            How::Pasted => Some((
                Code::PastedVariable,
                format!("psql pastes `:{name}` as SQL, and it is a String"),
                format!(
                    "write `:'{name}'` for a text, or `:\"{name}\"` for the name of a column or table"
                ),
            )),
            How::Quoted(quotes) => {
                let joined = match self.dialect {
                    Dialect::Mysql => format!("CONCAT('…', {right})"),
                    _ => format!("'…' || {right}"),
                };
                Some((
                    Code::UnreadVariable,
                    format!("`{mark}{name}` inside `{quotes}` is not replaced"),
                    format!("write `{right}` outside, and join texts: `{joined}`"),
                ))
            }
            How::Command(command) => Some((
                Code::UnreadVariable,
                format!("`{mark}{name}` in `{command}` is not a value of SQL"),
                format!(
                    "use `{right}` in a statement of SQL, or run the command in a step of its own"
                ),
            )),
        }
    }
}

/// SQLite knows variables by their marks, and opal sets those with `@`.
fn unset(written: &str, name: &str) -> Option<(Code, String, String)> {
    let message = format!("`{written}` has no value: SQLite would read NULL");
    let is_name = !name.is_empty() && !written.starts_with('?');
    let name = if is_name { name } else { "name" };
    Some((Code::InvalidVariable, message, format!("write `@{name}`, with `vars={{{name}: …}}`")))
}

/// A number or a Bool is only itself, wherever it goes.
fn could_be_code(ty: &Type) -> bool {
    !matches!(ty, Type::Int | Type::Float | Type::Bool)
}

fn wrong_type(name: &str, ty: &Type) -> Option<(String, String)> {
    let what = match ty {
        Type::Array(_) => "an Array",
        Type::Map(_) | Type::Object(_) => "a Map",
        Type::Null => "null",
        Type::Duration => "a Duration",
        Type::Regex => "a regular expression",
        _ => return None,
    };
    let help =
        "give it a String, a number or a Bool; `join(list, \",\")` makes one String of a list";
    Some((format!("`{name}` is {what}: a variable of SQL has one value"), help.to_owned()))
}

fn type_of(data: &Data) -> Type {
    match data {
        Data::Null => Type::Null,
        Data::Bool(_) => Type::Bool,
        Data::Int(_) => Type::Int,
        Data::Float(_) => Type::Float,
        Data::Text(_) => Type::String,
        Data::Duration(_) => Type::Duration,
        Data::Array(_) => Type::Array(opal_core::types::TypeRef::Static(&Type::Any)),
        Data::Map(_) => Type::Map(opal_core::types::TypeRef::Static(&Type::Any)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(dialect: Dialect, text: &str) -> String {
        let values = [("name", Type::String), ("n", Type::Int), ("any", Type::Any)];
        let faults = Rules { dialect }.faults(text, &values);
        let shown = |fault: &BlockFault| match &fault.at {
            BlockPlace::Text(range) => format!("{} {}", fault.code.as_str(), &text[range.clone()]),
            BlockPlace::Value(index) => format!("{} #{index}", fault.code.as_str()),
        };
        faults.iter().map(shown).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn psql_replaces_variables_only_outside_quotes() {
        for (text, expected) in [
            ("SELECT :'name', :\"name\", :n, :any, x::name, a[1:n] FROM t;", ""),
            ("SELECT :name;", "E1521 :name"),
            ("SELECT ':name';", "E1522 :name"),
            ("SELECT 'a :''name''';", ""),
            ("SELECT 'it''s :name' || :'name';", "E1522 :name"),
            ("SELECT E'\\' :name';", "E1522 :name"),
            ("SELECT \"a :name\";", "E1522 :name"),
            ("DO $$ BEGIN RAISE ':name'; END $$;", "E1522 :name"),
            ("DO $x$ :'name' $$ $x$; SELECT :'name';", "E1522 :'name'"),
            ("-- :name\n/* :name /* :name */ :name */ SELECT 1;", ""),
            ("\\copy t FROM :'name'", "E1522 :'name'"),
            ("\\! echo :name", "E1522 :name"),
            ("\\echo :name \\\\ SELECT :name;", "E1521 :name"),
            ("\\set x `echo :name`", "E1522 :name"),
            ("\\o :name", "E1522 :name"),
            // What a value has gone into is pasted as little as the value.
            ("SELECT 1 AS a\\gset\nSELECT :a;", "E1521 :a"),
            ("SELECT 1 AS a\\gset\nSELECT :'a', :n;", ""),
            ("SELECT 'x' AS n\\gset\nSELECT :n;", "E1521 :n"),
            ("SELECT :n AS a\\gset\nSELECT :n;", ""),
            ("SELECT :'name' AS z\\gset\n\\o :z", "E1522 :z"),
            ("SELECT :'name' AS z\\gset\nSELECT 1 \\g :z", "E1522 :z"),
            ("\\set y :name\nSELECT :y;", "E1521 :y"),
            ("\\set y :any\nSELECT :y;", "E1521 :y"),
            ("\\set y :name\n\\set z a :y b\nSELECT :z, :'z';", "E1521 :z"),
            ("\\set y :name\n\\echo `:y`", "E1522 :y"),
            ("\\set y :name\n\\o :y", "E1522 :y"),
            ("\\set y :name\n\\i :'y'", "E1522 :'y'"),
            ("\\set y `cat file`\nSELECT :y;", "E1521 :y"),
            ("\\prompt 'which' y\nSELECT :y;", "E1521 :y"),
            ("\\getenv y HOME\nSELECT :y;", "E1521 :y"),
            ("SELECT :'name' \\gexec", "E1522 :'name'"),
            ("SELECT format('DROP TABLE %I', :'name') \\gexec", ""),
            ("SELECT :'name'; SELECT 'VACUUM' \\gexec", ""),
            // These are what they look like.
            ("\\set y 10\nSELECT :y;", ""),
            ("\\set y :n\nSELECT :y;", ""),
            ("\\set y :'name'\nSELECT :y;", ""),
            ("\\set y :'name'\n\\o :y", "E1522 :y"),
            ("\\set y :name\n\\echo :y\nSELECT :'y', \"a\".:\"y\";", ""),
            ("SELECT :y;\n\\set y :name", ""),
            ("SELECT '12:30', other:=1, :other, :1;", ""),
            ("SELECT $1, a$b:name$c;", "E1521 :name"),
        ] {
            assert_eq!(said(Dialect::Psql, text), expected, "{text}");
        }
    }

    #[test]
    fn the_others_replace_at_signs_outside_quotes() {
        for (text, expected) in [
            ("SELECT @name, @n FROM t WHERE mail = 'a@name.com';", ""),
            ("SELECT '@name';", "E1522 @name"),
            ("SELECT \"x @name\";", "E1522 @name"),
            ("-- @name\n/* @name */ SELECT 1;", ""),
            ("SELECT 'it''s @name';", "E1522 @name"),
        ] {
            assert_eq!(said(Dialect::Mysql, text), expected, "{text}");
            assert_eq!(said(Dialect::Sqlite, text), expected, "{text}");
        }
        assert_eq!(
            said(Dialect::Mysql, "SELECT 'a\\' @name', @@name, @free; # @name"),
            "E1522 @name"
        );
        assert_eq!(said(Dialect::Sqlite, "SELECT @free;"), "E1523 @free");
        assert_eq!(said(Dialect::Sqlite, ".parameter set @free 1\nSELECT @free;"), "");
        assert_eq!(said(Dialect::Sqlite, ".import @name t\n"), "E1522 @name");
        for (text, expected) in [
            ("SELECT $name, :name, ?, ?1;", "E1523 $name; E1523 :name; E1523 ?; E1523 ?1"),
            ("SELECT $free + :free;", "E1523 $free; E1523 :free"),
            ("SELECT ':name $name ?', a$name, [x:y ?] -- :name", ""),
            ("SELECT j ->> '$.name' FROM t;", ""),
            (".parameter set :name 1\nSELECT :name;", ""),
        ] {
            assert_eq!(said(Dialect::Sqlite, text), expected, "{text}");
        }
        assert_eq!(said(Dialect::Mysql, "SELECT ?, :name;"), "");
    }

    #[test]
    fn names_and_types_of_variables_are_checked() {
        let array = || Type::Array(opal_core::types::TypeRef::Static(&Type::Any));
        for (name, ty, is_wrong) in [
            ("a_1", Type::Int, false),
            ("1a", Type::Int, true),
            ("a-b", Type::Int, true),
            ("a b", Type::Int, true),
            ("", Type::Int, true),
            ("x", array(), true),
            ("x", Type::Duration, true),
            ("x", Type::Any, false),
        ] {
            for dialect in [Dialect::Psql, Dialect::Sqlite, Dialect::Mysql] {
                let faults = Rules { dialect }.faults("", &[(name, ty.clone())]);
                assert_eq!(!faults.is_empty(), is_wrong, "{name} {ty:?}");
            }
        }
        let capitals = [("AUTOCOMMIT", Type::String)];
        assert_eq!(Rules { dialect: Dialect::Psql }.faults("", &capitals).len(), 1);
        assert_eq!(Rules { dialect: Dialect::Mysql }.faults("", &capitals).len(), 0);
    }
}
