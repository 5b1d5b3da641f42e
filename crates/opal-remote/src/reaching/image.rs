//! The image of a container or a pod: its ID tells it from others, as the ID of a machine does.
//!
//! Of a container that a block makes it is all that is known before: which image its name has now.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use opal_core::crossing::Crossing;
use opal_core::resolver::Ask;
use opal_core::target::{Engine, Hop, Identity, NewContainer, Pod};
use opal_session::stop::Stop;
use opal_session::targets::Access;
use opal_session::{Place, Session};

use super::{Opened, Targets};
use crate::dial::{Origin, image_machine};

/// How long an engine may take to answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Longer than the images of a pod with many containers.
const MAX_BYTES: usize = 16 * 1024;

/// Whoever runs the engine.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) origin: &'a Origin,
    /// None: opal's own machine.
    pub(super) there: Option<&'a Opened>,
    pub(super) stop: &'a Stop,
}

/// Of what a hop leads to; none where it is not in an image, or nobody knows it.
pub(super) fn id(hop: &Hop, asked: Asked<'_>) -> Option<String> {
    first(&questions(hop), asked).map(|id| image_machine(&id))
}

/// Who will answer in the container at the end of a way, which is not made yet; none where its image is
/// not there yet either. Its user is not known.
pub(super) fn foreseen(
    targets: &Targets,
    way: &[Crossing],
    new: &NewContainer,
) -> Option<Identity> {
    let (stop, (_, before)) = (&Stop::new(), way.split_last()?);
    let there = match before {
        [] => None,
        before => Some(targets.open(before, Access::ReadOnly, stop).ok()?),
    };
    let asked = Asked { origin: &targets.ready().origin, there: there.as_ref(), stop };
    let format = "{{.Id}} {{.Os}} {{.Architecture}}";
    let ask = |engine: &&str| {
        owned(&[engine, "image", "inspect", "--format", format, new.image.as_str()])
    };
    let questions: Vec<_> = engines(new.engine).iter().map(ask).collect();
    let found = first(&questions, asked)?;
    let mut words = found.split(' ').map(str::to_owned);
    let (machine, os, arch) = (image_machine(&words.next()?), words.next()?, words.next()?);
    let host_key = targets.holding.identity(before).and_then(|it| it.host_key);
    Some(Identity { user: None, machine, os, arch, host_key })
}

/// What the first command prints that succeeds.
fn first(questions: &[Vec<String>], asked: Asked<'_>) -> Option<String> {
    let found = questions.iter().find_map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match asked.there {
            None => here(asked.origin, &words),
            Some(opened) => there(opened, &words, asked.stop),
        }
    })?;
    let found = found.trim();
    (!found.is_empty() && found.len() <= MAX_BYTES).then(|| found.to_owned())
}

const fn engines(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Docker => &["docker"],
        Engine::Podman => &["podman"],
        Engine::Auto => &["docker", "podman"],
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The commands that print it.
fn questions(hop: &Hop) -> Vec<Vec<String>> {
    match hop {
        Hop::Container { engine, name } => {
            let name = name.as_str();
            let ask = |engine: &&str| {
                owned(&[engine, "container", "inspect", "--format", "{{.Image}}", name])
            };
            engines(*engine).iter().map(ask).collect()
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
