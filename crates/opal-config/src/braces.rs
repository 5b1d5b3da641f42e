//! `{{ NAME }}`: how other tools write a variable, which a configuration does not replace.

use opal_core::Code;

use super::document::{Node, NodeKind};
use super::report::Report;

/// Whether a value of `name` has a variable of the configuration in braces; says so.
pub(super) fn refuses(name: &str, is_shell: bool, node: &Node, report: &mut Report<'_>) -> bool {
    let Some(variable) = found(node, &report.variables) else { return false };
    let help = match is_shell {
        true => {
            let shouted = variable.to_uppercase();
            format!("pass it in `env: {{{shouted}: \"@var.{variable}\"}}`, and write `${shouted}`")
        }
        false => format!("write `@var.{variable}`; for this text itself, use a file"),
    };
    let message = format!("`{{{{ {variable} }}}}` in `{name}` is not replaced");
    report.error(Code::ConfigValue, node.head(), message, help);
    true
}

/// The first of `names` that is in braces anywhere in a value.
fn found(node: &Node, names: &[String]) -> Option<String> {
    match &node.kind {
        NodeKind::Scalar { text, .. } => in_text(text, names).map(str::to_owned),
        NodeKind::List(items) => items.iter().find_map(|item| found(item, names)),
        NodeKind::Map(pairs) => pairs.iter().find_map(|(_, value)| found(value, names)),
    }
}

fn in_text<'t>(text: &'t str, names: &[String]) -> Option<&'t str> {
    let inside = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    let words = inside.map(|(inside, _)| inside.trim().trim_start_matches('.'));
    words.into_iter().find(|word| names.iter().any(|name| name == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_variable_of_the_configuration_alone_in_braces_is_found() {
        let names = ["port".to_owned()];
        for (text, expected) in [
            ("x {{ port }}", Some("port")),
            ("{{a}}{{.port}}", Some("port")),
            ("{{ port | int }}", None),
            ("{{ ports }}", None),
            ("{{ port", None),
            ("{ port }", None),
            ("'{{.State.Status}}'", None),
        ] {
            assert_eq!(in_text(text, &names), expected, "{text}");
        }
    }
}
