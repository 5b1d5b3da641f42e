//! A provider that answers what it likes: each lie is refused for its reason, and nothing is left of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use opal_terraform::apply::{Allowed, apply};
use opal_terraform::client::{Id, Provider};
use opal_terraform::identity::{Chosen, Filled};
use opal_terraform::trouble::Trouble;
use opal_terraform::value::{Type, Value, msgpack};
use opal_terraform::verify::{Ask, verify};
use opal_terraform::wire::{self, DynamicValue, schema::v6};
use tempfile::TempDir;

use crate::support::{directory, quietly, real, run, start};

const LIMIT: Duration = Duration::from_millis(700);

/// A directory with the answers of a provider.
struct Liar {
    home: TempDir,
    program: PathBuf,
}

impl Liar {
    /// One that does not lie yet: its thing is as it is configured.
    fn honest() -> Option<Self> {
        let liar = Self { home: directory(), program: real("liar")? };
        std::fs::create_dir(liar.home.path().join("answers")).unwrap();
        let attribute = |name: &str, required: bool, computed: bool| v6::Attribute {
            name: name.to_owned(),
            of: br#""string""#.to_vec(),
            required,
            optional: !required && !computed,
            computed,
            ..v6::Attribute::default()
        };
        let attributes = vec![attribute("id", false, true), attribute("name", true, false)];
        let block = Some(v6::Block { attributes, ..v6::Block::default() });
        let schema = v6::Schema { version: 0, block };
        let resources = [("liar_thing".to_owned(), schema)].into();
        liar.answer("GetProviderSchema", &v6::Response { resources, ..v6::Response::default() });
        liar.answer("ImportResourceState", &imported(&["liar_thing"]));
        liar.read(encoded(&thing("a", "1")));
        liar.plan(encoded(&thing("a", "1")));
        liar.apply(encoded(&thing("a", "1")));
        Some(liar)
    }

    fn path(&self, call: &str) -> PathBuf {
        self.home.path().join("answers").join(call)
    }

    fn answer(&self, call: &str, answer: &impl prost::Message) {
        std::fs::write(self.path(call), answer.encode_to_vec()).unwrap();
    }

    fn read(&self, state: DynamicValue) {
        let new_state = Some(state);
        self.answer("ReadResource", &wire::ReadResponse { new_state, ..Default::default() });
    }

    fn plan(&self, state: DynamicValue) {
        let planned_state = Some(state);
        let answer = wire::PlanResponse { planned_state, ..Default::default() };
        self.answer("PlanResourceChange", &answer);
    }

    fn apply(&self, state: DynamicValue) {
        let new_state = Some(state);
        self.answer(
            "ApplyResourceChange",
            &wire::ApplyResponse { new_state, ..Default::default() },
        );
    }

    fn acts(&self, call: &str, what: &str) {
        std::fs::write(self.path(&format!("{call}.do")), what).unwrap();
    }

    async fn start(&self) -> Result<Provider, Trouble> {
        Provider::start(&start(&self.program, self.home.path()), LIMIT).await
    }

    /// Why an apply, which makes every call, does not succeed.
    fn refused(&self) -> String {
        let trouble = run(async {
            let provider = match self.start().await {
                Ok(provider) => provider,
                Err(trouble) => return trouble,
            };
            let done = async {
                provider.configure(Value::map([])).await?;
                let allowed = Allowed { replace: false, settle: Duration::ZERO, only: None };
                apply(&provider.observe(), &provider.change(), &ask(), allowed, &quietly).await
            };
            let trouble = done.await.map(|acted| acted.done).expect_err("a lie is believed");
            let trouble = provider.explain(trouble).await;
            provider.stop().await;
            trouble
        });
        assert!(left(self.home.path()).is_empty());
        trouble.message("acme 1.0.0").expose().to_owned()
    }
}

fn left(home: &Path) -> Vec<String> {
    let all = std::fs::read_dir(home).unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("opal-tf-")).collect()
}

fn ask() -> Ask {
    Ask {
        of: "liar_thing".to_owned(),
        config: Value::map([("id", Value::Null), ("name", Value::text("a"))]),
        by: Chosen::Import {
            id: Id::Text("a".to_owned()),
            filled: vec![Filled { path: "name".to_owned(), value: Value::text("a") }],
        },
        ignore: Vec::new(),
        rewrite: false,
    }
}

fn thing(name: &str, id: &str) -> Value {
    Value::map([("id", Value::text(id)), ("name", Value::text(name))])
}

fn implied() -> Type {
    Type::read(br#"["object",{"id":"string","name":"string"}]"#).unwrap()
}

fn encoded(value: &Value) -> DynamicValue {
    bytes(msgpack::encode(value, &implied()).unwrap())
}

fn bytes(msgpack: Vec<u8>) -> DynamicValue {
    DynamicValue { msgpack, json: Vec::new() }
}

/// Nothing is there.
fn none() -> DynamicValue {
    bytes(vec![0xc0])
}

fn imported(types: &[&str]) -> wire::ImportResponse {
    let each = types.iter().map(|of| wire::Imported {
        type_name: (*of).to_owned(),
        state: Some(encoded(&thing("a", "1"))),
        ..Default::default()
    });
    wire::ImportResponse { imported: each.collect(), ..Default::default() }
}

#[test]
fn what_does_not_lie_is_believed() {
    let Some(liar) = Liar::honest() else { return };
    run(async {
        let provider = liar.start().await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        assert!(verify(&provider.observe(), &ask()).await.unwrap().is_satisfied());
        provider.stop().await;
    });
}

#[test]
fn an_exit_a_hang_and_garbage_in_each_call_are_named() {
    for (call, name) in [
        ("GetProviderSchema", "GetProviderSchema"),
        ("ValidateProviderConfig", "ValidateProviderConfig"),
        ("ConfigureProvider", "ConfigureProvider"),
        ("ValidateResourceConfig", "ValidateResourceConfig"),
        ("ImportResourceState", "ImportResourceState"),
        ("ReadResource", "ReadResource"),
        ("PlanResourceChange", "PlanResourceChange"),
        ("ApplyResourceChange", "ApplyResourceChange"),
    ] {
        let Some(liar) = Liar::honest() else { return };
        if matches!(call, "PlanResourceChange" | "ApplyResourceChange") {
            liar.read(none());
        }
        liar.acts(call, "exit");
        let why = format!("acme 1.0.0, {name}: the provider ended (exit code 7)");
        assert_eq!(liar.refused(), why);
        // Schemas have a minute, and a change as long as it takes.
        if !matches!(call, "GetProviderSchema" | "ApplyResourceChange") {
            liar.acts(call, "hang");
            assert_eq!(liar.refused(), format!("acme 1.0.0, {name}: no answer within 700ms"));
        }
        liar.acts(call, "");
        std::fs::write(liar.path(call), [0xff; 64]).unwrap();
        let said = liar.refused();
        assert!(said.starts_with(&format!("acme 1.0.0, {name}: status 13")), "{said}");
    }
}

#[test]
fn answers_that_the_protocol_does_not_allow_are_refused() {
    let Some(liar) = Liar::honest() else { return };
    for (types, why) in [
        (&[][..], "0 objects instead of one"),
        (&["liar_thing", "liar_thing"], "2 objects instead of one"),
        (&["liar_other"], "an object of another type"),
    ] {
        liar.answer("ImportResourceState", &imported(types));
        let said = liar.refused();
        assert!(said.ends_with(why), "{said}");
    }
    liar.answer("ImportResourceState", &imported(&["liar_thing"]));
    let unknown = Value::map([("id", Value::Unknown), ("name", Value::text("a"))]);
    liar.read(encoded(&unknown));
    let said = liar.refused();
    assert!(said.ends_with("the state of an object has unknown values"), "{said}");
    liar.read(encoded(&thing("b", "1")));
    assert_eq!(liar.refused(), "acme 1.0.0: what was found has another `name`");
    // From here on there is nothing, so it is created.
    liar.read(none());
    liar.plan(encoded(&thing("b", "1")));
    let said = liar.refused();
    assert!(said.ends_with("the plan changes `name`, which is configured"), "{said}");
    liar.plan(encoded(&thing("a", "1")));
    for (state, why) in [
        (encoded(&unknown), "the new state has unknown values"),
        (encoded(&thing("a", "2")), "the new state is not what was planned"),
        (none(), "nothing is there afterwards"),
    ] {
        liar.apply(state);
        let said = liar.refused();
        assert!(said.ends_with(why), "{said}");
    }
    liar.apply(encoded(&thing("a", "1")));
    let why = "acme 1.0.0: it was created (id 1), but what identifies it does not find it";
    assert_eq!(liar.refused(), why);
}

#[test]
fn values_that_explode_are_refused() {
    let Some(liar) = Liar::honest() else { return };
    let deep = [vec![0x91; 100_000], vec![0xc0]].concat();
    for state in [
        deep,
        vec![0xdd, 0xff, 0xff, 0xff, 0xff],
        vec![0xdf, 0xff, 0xff, 0xff, 0xff],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff],
        vec![0xc6, 0xff, 0xff, 0xff, 0xff],
        vec![0xc1],
        vec![0x81],
    ] {
        liar.read(bytes(state.clone()));
        let said = liar.refused();
        let start = "acme 1.0.0, ReadResource: the answer cannot be used: ";
        assert!(said.starts_with(start), "{:x?}: {said}", &state[..state.len().min(8)]);
    }
}

#[test]
fn a_schema_with_a_name_that_a_terminal_obeys_is_refused() {
    let Some(liar) = Liar::honest() else { return };
    let schema = v6::Schema::default();
    let resources = [("liar_\u{1b}[2J".to_owned(), schema)].into();
    liar.answer("GetProviderSchema", &v6::Response { resources, ..v6::Response::default() });
    let said = liar.refused();
    assert!(said.contains("a name with other characters") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn noise_of_a_provider_is_cut_and_does_not_stop_it() {
    let Some(liar) = Liar::honest() else { return };
    liar.acts("ReadResource", "noise");
    run(async {
        let provider = liar.start().await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let verified = verify(&provider.observe(), &ask()).await.unwrap();
        assert!(verified.is_satisfied());
        let log = provider.process().take_log().unwrap();
        assert!(log.expose().len() <= (1 << 20) + 256, "{}", log.expose().len());
        provider.stop().await;
    });
}
