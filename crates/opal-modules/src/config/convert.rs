//! A configuration as source text, in the one form that `opal fmt` gives it.

use std::fmt::Write;

use opal_core::Registry;
use opal_runtime::Words;
use opal_syntax::Style;

use super::given::is_invisible;
use super::{Config, Step, shell};

/// The same program in the language: planning it gives the same steps.
#[must_use]
pub fn convert(config: &Config, registry: &Registry) -> String {
    let mut out = String::new();
    let about = [config.name.as_deref(), config.description.as_deref()];
    for (index, text) in about.into_iter().flatten().enumerate() {
        out.push_str(if index == 0 { "" } else { "#\n" });
        comment(text, &mut out);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if config.enabled().next().is_some() {
        let wait = if config.settings.continue_on_error { ", on_failure=\"wait\"" } else { "" };
        push(&mut out, format_args!("@parallel(max={}{wait}) {{\n", config.settings.parallel));
        config.enabled().for_each(|step| branch(config, step, &mut out));
        out.push_str("}\n");
    }
    if !config.validations.is_empty() {
        out.push('\n');
    }
    for validation in &config.validations {
        // Every text in it stands in single quotes, where an `@` is itself.
        out.push_str(&shell::validation(&validation.check));
        out.push('\n');
    }
    opal_syntax::format(&out, &Words(registry), Style::default()).unwrap_or(out)
}

fn branch(config: &Config, step: &Step, out: &mut String) {
    if let Some(name) = &step.name {
        comment(name, out);
    }
    if let Some(timeout) = config.settings.timeout {
        push(out, format_args!("@timeout({timeout}) {{\n"));
    }
    push(out, format_args!("@{}(", step.descriptor.path));
    for (index, argument) in step.arguments.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        push(out, format_args!("{separator}{}={}", argument.param.name, argument.value));
    }
    out.push_str(")\n");
    if config.settings.timeout.is_some() {
        out.push_str("}\n");
    }
}

/// Text for people; what cannot be seen there is left out.
fn comment(text: &str, out: &mut String) {
    for line in text.lines() {
        let shown: String = line.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
        push(out, format_args!("{}\n", format!("# {}", shown.trim()).trim_end()));
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes every text");
}
