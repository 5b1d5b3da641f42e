//! Values as text that sets variables of a client. Strings are written as digits, byte by byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opal_core::Data;
use opal_core::resolver::Trouble;

use super::invalid;
use super::scan::Dialect;

/// What precedes the text. Where the client allows it, it is on the line of the text, so that the lines
/// of its messages are those of the text.
pub(super) fn prelude(dialect: Dialect, vars: &BTreeMap<String, Data>) -> Result<String, Trouble> {
    let mut out = String::new();
    if dialect == Dialect::Sqlite {
        out.push_str(".parameter init\n");
    }
    let mut assignments = Vec::new();
    for (name, data) in vars {
        let value = written(dialect, name, data)?;
        match dialect {
            Dialect::Psql => {
                let _ = write!(out, "\\set {name} {value} \\\\ ");
            }
            Dialect::Sqlite => {
                let _ = writeln!(out, ".parameter set @{name} \"{value}\"");
            }
            Dialect::Mysql => assignments.push(format!("@{name} = {value}")),
        }
    }
    if !assignments.is_empty() {
        let _ = write!(out, "SET {}; ", assignments.join(", "));
    }
    Ok(out)
}

fn written(dialect: Dialect, name: &str, data: &Data) -> Result<String, Trouble> {
    let number = |text: String| match dialect {
        Dialect::Psql => format!("'{text}'"),
        _ => text,
    };
    Ok(match data {
        Data::Int(value) => number(value.to_string()),
        Data::Float(value) if value.is_finite() => number(format!("{value:?}")),
        Data::Bool(value) => match dialect {
            Dialect::Psql => number(value.to_string()),
            _ => u8::from(*value).to_string(),
        },
        Data::Text(text) if text.expose().contains('\0') => {
            let message = format!("`{name}` contains a NUL character");
            return Err(invalid(message, "remove it: no text of a database can contain one"));
        }
        Data::Text(text) => encoded(dialect, text.expose()),
        _ => {
            let message = format!("`{name}` is neither a String nor a number");
            return Err(invalid(
                message,
                "give the variable one value: `json_encode` makes one of many",
            ));
        }
    })
}

fn encoded(dialect: Dialect, text: &str) -> String {
    let hex = || text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    match dialect {
        Dialect::Psql => {
            let octal: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
            format!("'{octal}'")
        }
        Dialect::Sqlite => format!("CAST(x'{}' AS TEXT)", hex()),
        Dialect::Mysql => format!("CONVERT(x'{}' USING utf8mb4)", hex()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_end_its_literal() {
        let hostile = Data::text("'\"; DROP \\ \n$(x)`:@\u{202e}");
        let vars = BTreeMap::from([("a".to_owned(), hostile), ("n".to_owned(), Data::Int(-3))]);
        for dialect in [Dialect::Psql, Dialect::Sqlite, Dialect::Mysql] {
            let prelude = prelude(dialect, &vars).unwrap();
            assert!(!prelude.contains("DROP") && !prelude.contains('$'), "{prelude}");
            assert!(prelude.is_ascii(), "{prelude}");
        }
    }

    #[test]
    fn each_client_gets_its_own_form() {
        let vars = BTreeMap::from([
            ("b".to_owned(), Data::Bool(true)),
            ("f".to_owned(), Data::Float(1.5)),
            ("n".to_owned(), Data::Int(-3)),
            ("s".to_owned(), Data::text("s'")),
        ]);
        let of = |dialect| prelude(dialect, &vars).unwrap();
        assert_eq!(
            of(Dialect::Psql),
            "\\set b 'true' \\\\ \\set f '1.5' \\\\ \\set n '-3' \\\\ \\set s '\\163\\047' \\\\ "
        );
        assert_eq!(
            of(Dialect::Mysql),
            "SET @b = 1, @f = 1.5, @n = -3, @s = CONVERT(x'7327' USING utf8mb4); "
        );
        assert_eq!(
            of(Dialect::Sqlite),
            ".parameter init\n.parameter set @b \"1\"\n.parameter set @f \"1.5\"\n.parameter set @n \"-3\"\n\
             .parameter set @s \"CAST(x'7327' AS TEXT)\"\n"
        );
    }
}
