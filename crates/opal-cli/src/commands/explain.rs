//! `opal explain`: error codes and decorators.

use clap::ArgMatches;
use miniz_oxide::inflate::decompress_to_vec;
use opal_core::{Code, suggest};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::view;

/// The pages of `docs/errors`, one after the other.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.packed"));
/// Their codes and how many bytes each has, in their order.
const LENGTHS: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let Some(topic) = matches.get_one::<String>("topic") else {
        packages(context)?;
        return view::explain::index(&context.registry, json);
    };
    if let Some(path) = topic.strip_prefix('@') {
        return decorator(context, path, json);
    }
    let Some(code) = Code::parse(topic) else {
        // A decorator is found without its `@` too.
        if !looks_like_a_code(topic) {
            return decorator(context, topic, json);
        }
        let known = Code::ALL.iter().map(|code| code.as_str());
        let help = match suggest::nearest(&topic.to_uppercase(), known) {
            Some(near) => format!("did you mean `opal explain {near}`?"),
            None => "list the codes and the decorators with `opal explain`".into(),
        };
        return Err(Failure::usage(format!("unknown error code `{topic}`"), help));
    };
    view::explain::code(code, &page(code), json)
}

/// `E04`, `w12345`: a letter and digits.
fn looks_like_a_code(topic: &str) -> bool {
    let digits = topic.strip_prefix(['E', 'W', 'N', 'e', 'w', 'n']).unwrap_or(topic);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn page(code: Code) -> String {
    let before = LENGTHS.iter().take_while(|(id, _)| *id != code.as_str());
    let start: usize = before.map(|(_, length)| length).sum();
    let length = LENGTHS.iter().find(|(id, _)| *id == code.as_str()).map_or(0, |(_, it)| *it);
    // The build packed them.
    let all = decompress_to_vec(PACKED).unwrap_or_default();
    let page = all.get(start..start + length).unwrap_or_default();
    String::from_utf8_lossy(page).into_owned()
}

/// The decorators of this project too. A page about an error does not need them.
fn packages(context: &Context<'_>) -> Result<(), Failure> {
    match context.chosen(None)? {
        Some(chosen) => {
            context.registry.of_source(&chosen.path, chosen.is_found)?;
            context.registry.read_all()
        }
        None => Ok(()),
    }
}

fn decorator(context: &Context<'_>, path: &str, json: bool) -> Result<Exit, Failure> {
    packages(context)?;
    // `@env.HOME` is asked as well as `@env`.
    let mut found = context.registry.get(path);
    let mut rest = path;
    while let (None, Some((shorter, _))) = (found, rest.rsplit_once('.')) {
        rest = shorter;
        found = context
            .registry
            .get(shorter)
            .filter(|d| d.subject != opal_core::decorator::Subject::None);
    }
    match found {
        Some(descriptor) => view::explain::decorator(descriptor, json),
        None => {
            let family = context.registry.iter().map(|descriptor| descriptor.path);
            let prefix = format!("{path}.");
            let family: Vec<&str> = family.filter(|known| known.starts_with(&prefix)).collect();
            let help = match context.registry.nearest(path) {
                _ if !family.is_empty() => format!("expected one of: @{}", family.join(", @")),
                Some(near) => format!("did you mean `opal explain @{near}`?"),
                None => "list the codes and the decorators with `opal explain`".into(),
            };
            Err(Failure::usage(format!("unknown decorator `@{path}`"), help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_begins_with_its_title() {
        for code in Code::ALL {
            let heading = format!("# {}: {}\n", code.as_str(), code.title());
            assert!(
                page(*code).starts_with(&heading),
                "docs/errors/{}.md: {heading}",
                code.as_str()
            );
        }
    }
}
