//! A provider that answers what a test wrote.

use std::path::{Path, PathBuf};
use std::time::Duration;

use opal_terraform::apply::{Acted, Allowed, apply};
use opal_terraform::client::{Id, Provider};
use opal_terraform::identity::{Chosen, Filled};
use opal_terraform::trouble::Trouble;
use opal_terraform::value::{Type, Value, msgpack};
use opal_terraform::verify::Ask;
use opal_terraform::wire::{self, DynamicValue, schema::v6};
use tempfile::TempDir;

use crate::support::{directory, quietly, real, run, start};

pub(crate) const LIMIT: Duration = Duration::from_millis(700);

/// A directory with the answers of a provider.
pub(crate) struct Liar {
    pub(crate) home: TempDir,
    pub(crate) program: PathBuf,
}

impl Liar {
    /// One that does not lie yet: its thing is as it is configured.
    pub(crate) fn honest() -> Option<Self> {
        let liar = Self { home: directory(), program: real("liar")? };
        std::fs::create_dir(liar.home.path().join("answers")).unwrap();
        liar.describe(block());
        liar.answer("ImportResourceState", &imported(&["liar_thing"]));
        liar.read(encoded(&thing("a", "1")));
        liar.plan(encoded(&thing("a", "1")));
        liar.apply(encoded(&thing("a", "1")));
        Some(liar)
    }

    /// What its thing, its data source and its list have.
    pub(crate) fn describe(&self, block: v6::Block) {
        let all = |block: v6::Block| {
            let schema = v6::Schema { version: 0, block: Some(block) };
            [("liar_thing".to_owned(), schema)].into()
        };
        let schemas = v6::Response {
            resources: all(block.clone()),
            data_sources: all(block),
            lists: all(v6::Block::default()),
            ..v6::Response::default()
        };
        self.answer("GetProviderSchema", &schemas);
    }

    pub(crate) fn path(&self, call: &str) -> PathBuf {
        self.home.path().join("answers").join(call)
    }

    pub(crate) fn answer(&self, call: &str, answer: &impl prost::Message) {
        std::fs::write(self.path(call), answer.encode_to_vec()).unwrap();
    }

    pub(crate) fn read(&self, state: DynamicValue) {
        let new_state = Some(state);
        self.answer("ReadResource", &wire::ReadResponse { new_state, ..Default::default() });
    }

    pub(crate) fn plan(&self, state: DynamicValue) {
        let planned_state = Some(state);
        let answer = wire::PlanResponse { planned_state, ..Default::default() };
        self.answer("PlanResourceChange", &answer);
    }

    pub(crate) fn apply(&self, state: DynamicValue) {
        let new_state = Some(state);
        self.answer(
            "ApplyResourceChange",
            &wire::ApplyResponse { new_state, ..Default::default() },
        );
    }

    pub(crate) fn acts(&self, call: &str, what: &str) {
        std::fs::write(self.path(&format!("{call}.do")), what).unwrap();
    }

    pub(crate) async fn start(&self) -> Result<Provider, Trouble> {
        Provider::start(&start(&self.program, self.home.path()), LIMIT).await
    }

    /// The names of all calls so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.home.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    pub(crate) fn applied(&self) -> Result<Acted, Trouble> {
        self.applied_as(ask())
    }

    pub(crate) fn applied_as(&self, ask: Ask) -> Result<Acted, Trouble> {
        self.done(async |provider| {
            let allowed = Allowed { replace: false, settle: Duration::ZERO, only: None };
            apply(&provider.observe(), &provider.change(), &ask, allowed, &quietly).await
        })
    }

    /// What a provider that is configured answers.
    pub(crate) fn done<T>(
        &self,
        work: impl AsyncFn(&Provider) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let done = run(async {
            let provider = self.start().await?;
            let done = async {
                provider.configure(Value::map([])).await?;
                work(&provider).await
            };
            let done = match done.await {
                Ok(done) => Ok(done),
                Err(trouble) => Err(provider.explain(trouble).await),
            };
            provider.stop().await;
            done
        });
        assert!(left(self.home.path()).is_empty());
        done
    }

    /// Why an apply, which makes nearly every call, does not succeed.
    pub(crate) fn refused(&self) -> String {
        said(&self.applied().map(|acted| acted.done).expect_err("a lie is believed"))
    }
}

pub(crate) fn said(trouble: &Trouble) -> String {
    trouble.message("acme 1.0.0").expose().to_owned()
}

pub(crate) fn block() -> v6::Block {
    let attribute = |name: &str, required: bool, computed: bool| v6::Attribute {
        name: name.to_owned(),
        of: br#""string""#.to_vec(),
        required,
        optional: !required && !computed,
        computed,
        ..v6::Attribute::default()
    };
    let attributes = vec![attribute("id", false, true), attribute("name", true, false)];
    v6::Block { attributes, ..v6::Block::default() }
}

fn left(home: &Path) -> Vec<String> {
    let all = std::fs::read_dir(home).unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("opal-tf-")).collect()
}

pub(crate) fn ask() -> Ask {
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

pub(crate) fn thing(name: &str, id: &str) -> Value {
    Value::map([("id", Value::text(id)), ("name", Value::text(name))])
}

fn implied() -> Type {
    Type::read(br#"["object",{"id":"string","name":"string"}]"#).unwrap()
}

pub(crate) fn encoded(value: &Value) -> DynamicValue {
    bytes(msgpack::encode(value, &implied()).unwrap())
}

pub(crate) fn bytes(msgpack: Vec<u8>) -> DynamicValue {
    DynamicValue { msgpack, json: Vec::new() }
}

/// Nothing is there.
pub(crate) fn none() -> DynamicValue {
    bytes(vec![0xc0])
}

pub(crate) fn imported(types: &[&str]) -> wire::ImportResponse {
    let each = types.iter().map(|of| wire::Imported {
        type_name: (*of).to_owned(),
        state: Some(encoded(&thing("a", "1"))),
        ..Default::default()
    });
    wire::ImportResponse { imported: each.collect(), ..Default::default() }
}
