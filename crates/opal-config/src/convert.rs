//! A configuration as source text, in the one form that `opal fmt` gives it.

use std::fmt::Write;

use opal_core::{Registry, Value};
use opal_plan::Words;
use opal_syntax::Style;

use super::given::{Given, is_invisible};
use super::{Argument, Config, ForEach, Step, shell};

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
    for variable in &config.variables {
        let value = Given::Data(variable.value.clone());
        push(&mut out, format_args!("var {} = {value}\n", variable.name));
    }
    if !config.variables.is_empty() {
        out.push('\n');
    }
    if config.enabled().next().is_some() {
        let wait = if config.settings.continue_on_error { ", on_failure=\"wait\"" } else { "" };
        for provider in &config.providers {
            push(&mut out, format_args!("@{}(", provider.descriptor.path));
            arguments(&provider.arguments, None, &mut out);
            out.push_str(") {\n");
        }
        push(&mut out, format_args!("@parallel(max={}{wait}) {{\n", config.settings.parallel));
        config.enabled().for_each(|step| branch(config, step, &mut out));
        out.push_str(&"}\n".repeat(config.providers.len() + 1));
    }
    if !config.validations.is_empty() {
        out.push('\n');
    }
    for validation in &config.validations {
        // Every text in it is in single quotes, where an `@` is itself.
        out.push_str(&shell::validation(&validation.check));
        out.push('\n');
    }
    opal_syntax::format(&out, &Words(registry), Style::default()).unwrap_or(out)
}

fn branch(config: &Config, step: &Step, out: &mut String) {
    let mut blocks = 0;
    let mut open = |out: &mut String, head: std::fmt::Arguments<'_>| {
        push(out, format_args!("{head} {{\n"));
        blocks += 1;
    };
    if let Some(ForEach { source, items, .. }) = &step.for_each {
        let items = || Given::Data(Value::Array(items.clone())).to_string();
        let over = source.clone().unwrap_or_else(items);
        open(out, format_args!("for item in {over}"));
    }
    if let Some(when) = &step.when {
        open(out, format_args!("if {}", when.source));
    }
    if let Some(timeout) = config.settings.timeout {
        open(out, format_args!("@timeout({timeout})"));
    }
    push(out, format_args!("@{}(", step.descriptor.path));
    arguments(&step.arguments, Some(step), out);
    out.push_str(")\n");
    out.push_str(&"}\n".repeat(blocks));
}

fn arguments(all: &[Argument], step: Option<&Step>, out: &mut String) {
    for (index, argument) in all.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let value = match (argument.param.name, step) {
            ("id", Some(step)) => step.id_source(),
            _ => argument.value.to_string(),
        };
        push(out, format_args!("{separator}{}={value}", argument.param.name));
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
