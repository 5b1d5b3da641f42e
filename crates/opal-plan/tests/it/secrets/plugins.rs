//! Plugins may give lists and maps: what is in them, their keys included, is from the world.

use std::collections::BTreeMap;

use opal_core::decorator::{Descriptor, Effect, Returns};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};
use opal_core::types::TypeRef;
use opal_core::{Data, Type};
use opal_plan::plan::Purpose;

use crate::secrets::outputs;
use opal_testing::planning::Project;

#[derive(Debug)]
struct Settings;

const KEYS: [&str; 2] = ["k3y-0f-0ne", "k3y-0f-tw0"];
const VALUES: [&str; 2] = ["v4lue-0f-0ne", "v4lue-0f-tw0"];

impl Resolver for Settings {
    fn resolve(&self, _: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        let entries = KEYS.iter().zip(VALUES);
        let map: BTreeMap<String, Data> =
            entries.map(|(key, value)| ((*key).to_owned(), Data::text(value))).collect();
        Ok(Data::Map(map))
    }
}

static SETTINGS: Descriptor = Descriptor {
    path: "store.settings",
    returns: Some(Returns { version: "1.0.0", ty: Type::Map(TypeRef::Static(&Type::Any)) }),
    effect: Effect::Read,
    resolver: Some(&Settings),
    ..Descriptor::BASE
};

fn project(source: &str) -> Project {
    Project::new(source).purpose(Purpose::Contract).plugins(&[&SETTINGS])
}

#[test]
fn neither_the_keys_nor_the_values_of_a_map_are_shown() {
    let sources = [
        "for k, v in @store.settings { echo -- @var.k=@var.v }\n",
        "var m = @store.settings\nvar l = m.*\necho -- @var.l\n@cmd.f(m)\nfun f(x) { echo a }\n",
        "var m = @store.settings\necho @var.m.nothing\n",
        "var m = @store.settings\nvar w = m[\"nothing\"]\necho @var.w\n",
        "var m = @store.settings\nif m == {a: 1} { echo a }\n",
    ];
    for source in sources {
        let project = project(source);
        for (name, bytes) in outputs::of(&project, &project).found {
            for needle in KEYS.iter().chain(&VALUES) {
                assert!(!outputs::contains(&bytes, needle), "{needle} in {name}:\n{source}");
            }
        }
    }
}

#[test]
fn each_key_and_each_value_of_a_map_has_a_name_of_its_own() {
    let resolved =
        project("for k, v in @store.settings { echo -- @var.k @var.v }\n").plan().unwrap();
    let texts: Vec<&str> = resolved.secrets.values().filter_map(Data::as_text).collect();
    for wanted in KEYS.iter().chain(&VALUES) {
        assert!(texts.contains(wanted), "{wanted} is lost: {:?}", resolved.secrets.keys());
    }
}
