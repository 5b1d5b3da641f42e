//! The names that a template can use, and what to write for one that does not exist.

use minijinja::ErrorKind;
use opal_core::suggest::nearest;

use crate::methods;

const FILTERS: &str = "abs attr batch bool capitalize chain count d default dictsort e escape first \
                       float format groupby indent int items join last length lines list lower map \
                       max min pprint reject rejectattr replace reverse round safe select selectattr \
                       slice sort split string sum title tojson trim unique upper zip";

const TESTS: &str = "boolean defined divisibleby endingwith eq equalto escaped even false filter float \
                     ge greaterthan gt in int integer iterable le lessthan lower lt mapping ne none \
                     number odd safe sameas sequence startingwith string test true undefined upper";

const FUNCTIONS: &str = "debug dict namespace range";

/// What other tools call them, and what to write here.
const ELSEWHERE: [(&str, &str); 8] = [
    ("to_json", "tojson"),
    ("toJson", "tojson"),
    ("strip", "trim"),
    ("len", "length"),
    ("size", "length"),
    ("uppercase", "upper"),
    ("lowercase", "lower"),
    ("toString", "string"),
];

/// What is wrong and what to write, where the engine does not find a name.
pub(super) fn unknown(kind: ErrorKind, detail: &str) -> Option<(String, String)> {
    let (what, name) = match kind {
        ErrorKind::UnknownFilter => ("filter", detail.strip_prefix("filter ")?),
        ErrorKind::UnknownTest => ("test", detail.strip_prefix("test ")?),
        ErrorKind::UnknownFunction => ("function", detail),
        ErrorKind::UnknownMethod => {
            let (of, name) = detail.split_once(" has no method named ")?;
            return Some((format!("a {of} has no method `{name}`"), method(name)));
        }
        _ => return None,
    };
    let name = name.strip_suffix(" is unknown")?;
    let help = match what {
        "filter" => filter(name),
        "test" => one_of("tests", TESTS, name),
        _ if has(FILTERS, name) => format!("it is a filter: write `VALUE|{name}`"),
        _ => one_of("functions", FUNCTIONS, name),
    };
    Some((format!("unknown {what} `{name}`"), help))
}

fn filter(name: &str) -> String {
    if methods::NAMES.contains(&name) && !ELSEWHERE.iter().any(|(other, _)| *other == name) {
        return format!("it is a method: write `VALUE.{name}()`");
    }
    one_of("filters", FILTERS, name)
}

fn method(name: &str) -> String {
    if has(FILTERS, name) {
        return format!("it is a filter: write `VALUE|{name}`");
    }
    match nearest(name, methods::NAMES) {
        Some(near) if near != name => format!("did you mean `.{near}()`?"),
        _ => format!("the methods are {}", methods::NAMES.join(", ")),
    }
}

fn one_of(what: &str, all: &str, name: &str) -> String {
    let elsewhere = ELSEWHERE.iter().find(|(other, here)| *other == name && has(all, here));
    let near = elsewhere.map(|(_, here)| *here).or_else(|| nearest(name, all.split(' ')));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{what} are {}", all.replace(' ', ", ")),
    }
}

fn has(all: &str, name: &str) -> bool {
    all.split(' ').any(|one| one == name)
}

/// The names that a template sets itself: in `for`, `set` and `macro`.
pub(super) fn set_in(template: &str) -> impl Iterator<Item = &str> {
    let tags = template.split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
    tags.flat_map(|tag| {
        let tag = tag.trim_start_matches(['-', '+']).trim_start();
        let (word, rest) = tag.split_once(char::is_whitespace).unwrap_or_default();
        let names = match word {
            "for" => rest.split(" in ").next(),
            "set" | "macro" => rest.split(['=', '(']).next(),
            _ => None,
        };
        names.unwrap_or_default().split([',', '(', ')']).map(str::trim)
    })
    .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    use super::*;

    #[test]
    fn every_name_that_is_suggested_exists() {
        let environment = Environment::new();
        let is_unknown = |expression: String, kind| {
            environment.render_str(&expression, ()).is_err_and(|error| error.kind() == kind)
        };
        for name in FILTERS.split(' ') {
            let tag = format!("{{{{ 1|{name} }}}}");
            assert!(!is_unknown(tag, ErrorKind::UnknownFilter), "{name}");
        }
        for name in TESTS.split(' ') {
            let tag = format!("{{{{ 1 is {name} }}}}");
            assert!(!is_unknown(tag, ErrorKind::UnknownTest), "{name}");
        }
        for name in FUNCTIONS.split(' ') {
            let tag = format!("{{{{ {name}() }}}}");
            assert!(!is_unknown(tag, ErrorKind::UnknownFunction), "{name}");
        }
    }

    #[test]
    fn what_a_template_sets_itself_is_found() {
        let template = "{% for key, item in list %}{%- set own = 1 %}{% macro make(x) %}{% if y %}";
        let names: Vec<&str> = set_in(template).collect();
        assert_eq!(names, ["key", "item", "own", "make"]);
    }
}
