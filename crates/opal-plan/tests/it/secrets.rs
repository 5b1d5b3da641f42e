//! No value from the world is in anything that a plan gives: a canary is planted in every value
//! decorator, used in every kind of place, and looked for in every output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use opal_testing::planning;

mod outputs;
mod places;
mod plugins;

use std::collections::BTreeSet;
use std::sync::Arc;

use opal_core::Data;
use opal_core::boundary::Member;
use opal_core::crossing::{Facts, Target};
use opal_core::decorator::{Exposure, Site};
use opal_core::hosts::{self, Inventories, Wanted};
use opal_core::resolver::{Probe, Trouble};
use opal_core::target::Hop;
use opal_plan::plan::Purpose;
use opal_testing::MemoryWorld;

use planning::Project;

const CANARY: &str = "c4n4ry=7Vq9Zx+5150";

/// A decorator, how it is called, and the world in which it gives a value.
type Planted = (&'static str, &'static str, fn(MemoryWorld, &str) -> MemoryWorld);

const PLANTED: &[Planted] = &[
    ("env", "@env.HOLDER", |world, value| world.env("HOLDER", value)),
    ("shell.output", "@shell.output(\"tell\")", |world, value| world.command("tell", value)),
    ("file.read", "@file.read(\"HOLDER\")", |world, value| world.file("HOLDER", value)),
    ("file.hash", "@file.hash(\"HOLDER\")", |world, value| world.file("HOLDER", value)),
    ("http.get", "@http.get(\"https://holder\")", |world, value| {
        world.page("https://holder", value)
    }),
    ("secret.file", "@secret.file(\"HOLDER\")", |world, value| world.file("HOLDER", value)),
    ("secret.cmd", "@secret.cmd(\"tell\")", |world, value| world.command("tell", value)),
    ("secret.env", "@secret.env.HOLDER", |world, value| world.env("HOLDER", value)),
    ("random.password", "@random.password(length=18)", |world, _| world),
    ("crypto.generate_key", "@crypto.generate_key(type=\"aes256\")", |world, _| world),
];

#[test]
fn every_hidden_value_decorator_has_its_canary() {
    let hidden = opal_decorators::BUILT_IN.iter().filter(|descriptor| {
        let gives = descriptor.resolver.is_some() || descriptor.generator.is_some();
        // What an inventory says has a test of its own: it needs a block with one.
        let is_of_world = descriptor.site != Site::Facts;
        gives && is_of_world && descriptor.exposure != Exposure::Public
    });
    for descriptor in hidden {
        assert!(PLANTED.iter().any(|(path, ..)| *path == descriptor.path), "{}", descriptor.path);
    }
}

/// An inventory with one host, whose variable is the canary.
#[derive(Debug)]
struct Planting;

impl Inventories for Planting {
    fn members(&self, _: &Wanted<'_>, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let hop = Hop::Ssh("web1".parse().unwrap());
        let name = "web1".parse().unwrap();
        let vars = [("HOLDER".to_owned(), Ok(Data::text(CANARY)))].into();
        let facts = Facts { name: "web1".to_owned(), vars, ..Facts::default() };
        Ok(vec![Member { target: Target::new(name, hop), facts }])
    }

    fn limited(&self, _: &str, _: &[(&str, &[String])]) -> Result<BTreeSet<String>, Trouble> {
        Ok(BTreeSet::new())
    }

    fn is_expensive(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn a_variable_of_an_inventory_is_in_no_output_of_a_plan() {
    hosts::read_by(Arc::new(Planting));
    for place in ["echo {}", "if {} == \"x\" { echo x }", "@log({})", "@environ(A={}) { true }"] {
        let block = place.replace("{}", "@target.vars.HOLDER");
        let source = format!("@ssh.hosts(inventory=\"x\") {{\n    {block}\n}}\n");
        for purpose in [Purpose::Run, Purpose::Contract, Purpose::Quick] {
            let project = Project::new(&source).purpose(purpose);
            let resolved = project.plan().unwrap();
            let shown = format!("{:?} {:?}", resolved.plan, resolved.secrets);
            for form in outputs::forms(CANARY) {
                assert!(!shown.contains(&form), "{place}: {shown}");
            }
        }
    }
}

/// What must not be found: the canary itself, or what the decorator made of it.
fn needles(project: &Project, path: &str, value: &str) -> Vec<String> {
    let mut texts = vec![value.to_owned()];
    match path {
        "file.hash" => {
            texts.push(opal_core::hash::Algorithm::Sha256.digest(&[value.as_bytes()]).hex());
        }
        "random.password" | "crypto.generate_key" => {
            let drawn = project.plan().map(|resolved| resolved.secrets).unwrap_or_default();
            texts = drawn.values().filter_map(|data| data.as_text()).map(str::to_owned).collect();
            texts.retain(|text| text.len() >= 12);
        }
        _ => {}
    }
    texts.iter().flat_map(|text| outputs::forms(text)).collect()
}

fn project(planted: &Planted, place: &str, value: &str, purpose: Purpose) -> Project {
    let (_, call, plant) = *planted;
    Project::new(&place.replace("{}", call))
        .purpose(purpose)
        .world(|world| plant(world, value).env("SET", "set").command("look {}", "seen"))
}

fn search(place: &str, value: &str) -> (usize, usize) {
    let (mut planned, mut refused) = (0, 0);
    for planted in PLANTED {
        for purpose in [Purpose::Quick, Purpose::Run, Purpose::Contract] {
            let project = project(planted, place, value, purpose);
            let needles = needles(&project, planted.0, value);
            let other = crate::secrets::project(planted, place, "another=value", purpose);
            let outputs = outputs::of(&project, &other);
            for (name, bytes) in &outputs.found {
                let shown = needles.iter().find(|needle| outputs::contains(bytes, needle));
                assert!(
                    shown.is_none(),
                    "{} in {name} of {purpose:?}:\n{}\n{}",
                    planted.0,
                    project.source,
                    String::from_utf8_lossy(bytes)
                );
            }
            planned += usize::from(outputs.planned);
            refused += usize::from(!outputs.planned);
        }
    }
    (planned, refused)
}

#[test]
fn no_canary_is_shown_where_it_is_used() {
    for place in places::USED {
        let (planned, _) = search(place, CANARY);
        // Random values and the clock are refused in some places, and so are whole PEM texts.
        assert!(planned >= PLANTED.len(), "it is not planned: {place}");
    }
}

#[test]
fn no_canary_is_shown_where_it_decides() {
    for place in places::STEERING {
        let (planned, refused) = search(place, CANARY);
        // Random values decide nothing.
        assert!(planned > 0 && refused > 0, "{planned} planned, {refused} refused: {place}");
    }
}

#[test]
fn no_canary_is_shown_where_it_is_refused() {
    for place in places::REFUSED {
        let (_, refused) = search(place, CANARY);
        assert!(refused >= PLANTED.len() / 2, "it is not refused: {place}");
    }
}

#[test]
fn no_canary_of_an_awkward_shape_is_shown() {
    let shapes = [
        "-c4n4ry=7Vq9Zx",
        "c4n4ry`7Vq9Zx`5150",
        "c4n4ry\n7Vq9Zx\n",
        "c4n4ry\u{0}7Vq9Zx",
        "/c4n4ry/../7Vq9Zx",
        "https://c4n4ry/7Vq9Zx",
        "c4n4ry,7Vq9Zx,5150",
    ];
    for shape in shapes {
        for place in places::USED.iter().chain(places::REFUSED).step_by(4) {
            search(place, shape);
        }
    }
}

#[test]
fn a_secret_that_is_too_short_is_refused_and_not_shown() {
    for (path, call, plant) in PLANTED.iter().filter(|(path, ..)| path.starts_with("secret.")) {
        let project = Project::new(&format!("echo {call}\n")).world(|world| plant(world, "q7Z"));
        let errors = project.plan().unwrap_err();
        assert!(!format!("{errors:?}").contains("q7Z"), "{path}: {errors:?}");
    }
}

#[test]
fn what_is_declared_public_is_shown_and_nothing_else_is() {
    let source = "echo @env.OPEN(public=true) @env.HOLDER\n";
    let world = |world: MemoryWorld| world.env("OPEN", "open-book").env("HOLDER", CANARY);
    let project = Project::new(source).purpose(Purpose::Contract).world(world);
    let outputs = outputs::of(&project, &Project::new("echo a\n"));
    for view in ["tree", "json", "contract"] {
        let (_, bytes) = outputs.found.iter().find(|(name, _)| *name == view).unwrap();
        assert!(outputs::contains(bytes, "open-book"), "{view}");
        assert!(!outputs::contains(bytes, CANARY), "{view}");
    }
}

#[test]
fn what_is_computed_from_public_and_hidden_values_is_hidden() {
    let source = "var v = @env.OPEN(public=true) + @env.HOLDER\necho @var.v\n";
    let world = |world: MemoryWorld| world.env("OPEN", "open-book").env("HOLDER", CANARY);
    let project = Project::new(source).purpose(Purpose::Contract).world(world);
    let outputs = outputs::of(&project, &Project::new("echo a\n"));
    assert!(outputs.planned);
    for (name, bytes) in &outputs.found {
        assert!(!outputs::contains(bytes, CANARY), "{name}");
        assert!(!outputs::contains(bytes, "open-bookc4n4ry"), "{name}");
    }
}
