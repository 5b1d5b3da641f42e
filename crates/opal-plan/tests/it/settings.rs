//! Blocks whose arguments hold for what is inside them: a step gets those of the innermost one, whole.

use opal_core::decorator::{
    Block, Cost, Descriptor, Effect, Param, Presence, Returns, SETTINGS, Settings,
};
use opal_core::plan::{Plan, Step};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};
use opal_core::{Data, Secret, Type};
use opal_testing::planning::Project;

const OPTIONAL: Param = Param { presence: Presence::Optional, ..Param::BASE };

static PROVIDER: Descriptor = Descriptor {
    path: "cloud.provider",
    params: &[Param { name: "region", ..OPTIONAL }, Param { name: "account", ..OPTIONAL }],
    block: Block::Required,
    settings: Settings::Given,
    ..Descriptor::BASE
};

static THING: Descriptor = Descriptor {
    path: "cloud.thing",
    params: &[Param { name: "name", ..Param::BASE }],
    settings: Settings::Inherited("cloud.provider"),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Where;

impl Resolver for Where {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        let region =
            inputs.settings().and_then(|it| it.get("region")?.as_text().map(str::to_owned));
        Ok(Data::Text(Secret::new(region.unwrap_or_else(|| "nowhere".to_owned()))))
    }
}

static PLACE: Descriptor = Descriptor {
    path: "cloud.place",
    returns: Some(Returns { version: "1.0.0", ty: Type::String }),
    effect: Effect::Read,
    cost: Cost::Cheap,
    resolver: Some(&Where),
    settings: Settings::Inherited("cloud.provider"),
    ..Descriptor::BASE
};

fn project(source: &str) -> Project {
    Project::new(source).plugins(&[&PROVIDER, &THING, &PLACE])
}

/// Each thing with what the block around it says.
fn things(plan: &Plan) -> Vec<String> {
    fn walk(steps: &[Step], into: &mut Vec<String>) {
        for step in steps {
            if step.node.path() == Some("cloud.thing") {
                into.push(format!("{:?}", step.arg(SETTINGS)));
            }
            walk(&step.block, into);
        }
    }
    let mut found = Vec::new();
    walk(&plan.steps, &mut found);
    found
}

#[test]
fn the_innermost_block_counts_whole_and_functions_take_it_along() {
    let source = "\
fun make() {
    @cloud.thing(\"f\")
}
@cloud.thing(\"a\")
@cloud.provider(region=\"eu\", account=\"1\") {
    @cloud.thing(\"b\")
    @cloud.provider(region=\"us\") {
        @cloud.thing(\"c\")
        @cmd.make()
    }
    @cloud.thing(\"d\")
}
@cloud.thing(\"e\")
";
    let found = things(&project(source).plan().unwrap().plan);
    let says = |at: usize, text: &str| found[at].contains(text);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found[0] == "None" && found[5] == "None", "{found:?}");
    assert!(says(1, "eu") && says(1, "account") && found[1] == found[4], "{found:?}");
    assert!(says(2, "us") && !says(2, "account") && found[2] == found[3], "{found:?}");
}

#[test]
fn the_tree_says_it_once_at_the_block() {
    let source = "@cloud.provider(region=\"eu\") {\n    @cloud.thing(\"b\")\n}\n";
    let shown = project(source).shown();
    assert_eq!(shown.matches("eu").count(), 1, "{shown}");
}

#[test]
fn another_block_around_it_is_another_plan() {
    let of = |region: &str| {
        let source =
            format!("@cloud.provider(region=\"{region}\") {{\n    @cloud.thing(\"b\")\n}}\n");
        opal_core::contract::plan_hash(&project(&source).plan().unwrap().plan)
    };
    assert_eq!(of("eu"), of("eu"));
    assert_ne!(of("eu"), of("us"));
}

#[test]
fn a_value_is_read_with_the_block_around_it_and_each_is_asked_for_itself() {
    let source = "\
var top = @cloud.place()
@cloud.provider(region=\"eu\") {
    echo @cloud.place() @var.top
    @cloud.provider(region=\"us\") {
        echo @cloud.place()
    }
}
echo @cloud.place()
";
    let resolved = project(source).plan().unwrap();
    let mut values: Vec<String> =
        resolved.secrets.values().filter_map(|it| it.as_text().map(str::to_owned)).collect();
    values.sort();
    values.dedup();
    assert_eq!(values, ["eu", "nowhere", "us"]);
}

#[test]
fn nobody_writes_the_settings_of_a_step_itself() {
    let found = project("@cloud.thing(\"a\", provider_settings={})\n").plan().unwrap_err();
    assert!(found[0].message.contains("provider_settings"), "{}", found[0].message);
}
