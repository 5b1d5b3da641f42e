//! `providers`: what configures Terraform providers for all steps.

use opal_core::decorator::Settings;
use opal_core::{Code, Diagnostic};

use super::arguments::arguments;
use super::config::ProviderSettings;
use super::document::{Node, NodeKind};
use super::report::Report;
use opal_yaml::fields::Fields;

pub(super) fn read(node: &Node, report: &mut Report<'_>) -> Vec<ProviderSettings> {
    let NodeKind::Map(pairs) = &node.kind else {
        let message = "`providers` must be a mapping of names to settings";
        let help = "write `aws:`, and below it `region: eu-west-1`";
        report.error(Code::ConfigValue, node.head(), message, help);
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, value) in pairs {
        let name = key.word().unwrap_or_default();
        let block = report.registry.get(&format!("{name}.provider"));
        let Some(descriptor) = block.filter(|it| it.settings == Settings::Given) else {
            let message = format!("`{name}` is not a provider of this project");
            let error = Diagnostic::new(Code::ConfigValue, key.span, message);
            report
                .push(error.help("add it to opal.mod: `opal plugin add terraform/NAMESPACE/NAME`"));
            continue;
        };
        let Some(mut fields) = Fields::of(value, &format!("`{name}`"), report) else { continue };
        let arguments = arguments(&mut fields, descriptor.params.iter(), None, report);
        fields.finish(descriptor.params.iter().map(|param| param.name), report);
        found.push(ProviderSettings { descriptor, arguments, span: key.span });
    }
    found
}
