//! The image of a container or a pod: its ID tells it from others, as the ID of a machine does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use opal_core::resolver::Ask;
use opal_core::target::{Engine, Hop, Pod};
use opal_session::stop::Stop;
use opal_session::{Place, Session};

use super::Opened;
use crate::dial::Origin;

/// How long an engine may take to answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Longer than the images of a pod with many containers.
const MAX_BYTES: usize = 16 * 1024;

/// Of what a hop leads to; none where it is not in an image, or nobody knows it.
pub(super) fn id(hop: &Hop, origin: &Origin, from: Option<&Opened>, stop: &Stop) -> Option<String> {
    let found = questions(hop).into_iter().find_map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match from {
            None => here(origin, &words),
            Some(opened) => there(opened, &words, stop),
        }
    })?;
    let id = found.trim();
    (!id.is_empty() && id.len() <= MAX_BYTES).then(|| format!("image {id}"))
}

/// The commands that print it, the first that succeeds.
fn questions(hop: &Hop) -> Vec<Vec<String>> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match hop {
        Hop::Container { engine, name } => {
            let engines: &[&str] = match engine {
                Engine::Docker => &["docker"],
                Engine::Podman => &["podman"],
                Engine::Auto => &["docker", "podman"],
            };
            let name = name.as_str();
            let ask = |engine: &&str| {
                owned(&[engine, "container", "inspect", "--format", "{{.Image}}", name])
            };
            engines.iter().map(ask).collect()
        }
        Hop::Pod(Pod { name, namespace, context, .. }) => {
            let mut words = vec!["kubectl"];
            context.iter().for_each(|it| words.extend(["--context", it.as_str()]));
            namespace.iter().for_each(|it| words.extend(["--namespace", it.as_str()]));
            let path = "jsonpath={.status.containerStatuses[*].imageID}";
            words.extend(["get", "pod", name.as_str(), "-o", path]);
            vec![owned(&words)]
        }
        _ => Vec::new(),
    }
}

fn here(origin: &Origin, words: &[&str]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
    let printed = origin.answer(program, &rest, LIMIT)?;
    String::from_utf8(printed).ok()
}

fn there(opened: &Opened, words: &[&str], stop: &Stop) -> Option<String> {
    let session: &dyn Session = match opened {
        Opened::Acting(session) => &**session,
        Opened::Reading(session) => &**session,
        Opened::Plain(session) => &**session,
    };
    let (start, environment) = (opened.start(), BTreeMap::new());
    let stop = stop.limited(LIMIT, Duration::ZERO);
    let place = Place {
        base: &start,
        directory: &start,
        environment: &environment,
        sources: None,
        stop: &stop,
    };
    let answer = session.probe(&place).ask(&Ask::program(words)).ok()?;
    (answer.code == 0).then(|| answer.stdout.expose().to_owned())
}
