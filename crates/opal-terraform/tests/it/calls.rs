//! Calls of real providers.

use opal_terraform::client::{Id, Provider};
use opal_terraform::value::Value;

use crate::support::{directory, provider, real, run};

#[test]
fn a_file_is_planned_made_read_and_removed() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let path = home.path().join("greeting");
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let (observe, change) = (provider.observe(), provider.change());
        let block = observe.resource("local_file").unwrap();
        let config = block.complete(Value::map([
            ("filename", Value::text(path.to_str().unwrap())),
            ("content", Value::text("hello")),
        ]));
        observe.validate("local_file", &config).await.unwrap();
        let planned = observe.plan("local_file", None, &config).await.unwrap();
        assert!(planned.state.field("id") == &Value::Unknown);
        assert!(planned.state.field("file_permission").as_text() == Some("0777"));
        assert!(!path.exists());
        let applied = change.apply("local_file", None, &planned, &config).await.unwrap();
        assert!(applied.errors.is_empty());
        let made = applied.object.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
        let read = observe.read("local_file", &made).await.unwrap().unwrap();
        assert!(read.state == made.state);
        let again = observe.plan("local_file", Some(&read), &config).await.unwrap();
        assert!(again.state == read.state && again.replace.is_empty());
        let removal = observe.plan("local_file", Some(&read), &Value::Null).await.unwrap();
        let gone = change.apply("local_file", Some(&read), &removal, &Value::Null).await.unwrap();
        assert!(gone.object.is_none() && gone.errors.is_empty() && !path.exists());
        assert!(observe.read("local_file", &made).await.unwrap().is_none());
        provider.stop().await;
    });
}

#[test]
fn what_a_provider_says_against_a_configuration_names_the_attribute() {
    let Some(program) = real("local") else { return };
    let home = directory();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        let observe = provider.observe();
        let config = Value::map([
            ("filename", Value::text("x")),
            ("content", Value::text("x")),
            ("file_permission", Value::text("9")),
        ]);
        let config = observe.resource("local_file").unwrap().complete(config);
        let said = observe.validate("local_file", &config).await.unwrap_err();
        let message = said.message("local 2.5.3").expose().to_owned();
        assert!(message.starts_with("local says: file_permission: "), "{message}");
        let said = observe.import("local_file", &Id::Text("x".to_owned())).await.unwrap_err();
        assert!(said.message("local 2.5.3").expose().starts_with("local says: "));
        provider.stop().await;
    });
}

#[test]
fn a_data_source_reads_a_file() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let path = home.path().join("there");
    std::fs::write(&path, "some bytes").unwrap();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let named = |path: &std::path::Path| {
            Value::map([("filename", Value::text(path.to_str().unwrap()))])
        };
        let state = provider.observe().data("local_file", named(&path)).await.unwrap();
        assert_eq!(state.field("content").as_text(), Some("some bytes"));
        let none = provider.observe().data("local_file", named(&home.path().join("no"))).await;
        assert!(none.is_err());
        provider.stop().await;
    });
}

/// Every provider that is built, with a type of it.
const BUILT: [(&str, &str); 5] = [
    ("local", "local_file"),
    ("random", "random_password"),
    ("time", "time_static"),
    ("tls", "tls_private_key"),
    ("http", ""),
];

#[test]
fn every_schema_of_real_providers_is_understood() {
    for (name, of) in BUILT {
        let Some(program) = real(name) else { return };
        let home = directory();
        run(async {
            let provider = provider(&program, home.path()).await.unwrap();
            let schemas = provider.schemas();
            assert!(of.is_empty() || schemas.resources.contains_key(of), "{name}");
            configure(&provider).await;
            for block in schemas.resources.values().chain(schemas.data.values()) {
                let empty = block.empty();
                let bytes =
                    opal_terraform::value::msgpack::encode(&empty, &block.implied()).unwrap();
                assert!(
                    opal_terraform::value::msgpack::decode(&bytes, &block.implied()).unwrap()
                        == empty
                );
            }
            provider.stop().await;
        });
    }
}

async fn configure(provider: &Provider) {
    provider.configure(provider.schemas().provider.empty()).await.unwrap();
}

#[test]
fn a_hundred_calls_at_once_are_answered() {
    let Some(program) = real("local") else { return };
    let home = directory();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let mut tasks = Vec::new();
        for number in 0..100 {
            let observe = provider.observe();
            tasks.push(tokio::task::spawn_local(async move {
                let config = Value::map([
                    ("filename", Value::text(format!("file{number}"))),
                    ("content", Value::text("x")),
                ]);
                let config = observe.resource("local_file").unwrap().complete(config);
                observe.plan("local_file", None, &config).await.unwrap()
            }));
        }
        for (number, task) in tasks.into_iter().enumerate() {
            let planned = task.await.unwrap();
            assert_eq!(planned.state.field("filename").as_text(), Some(&*format!("file{number}")));
        }
        provider.stop().await;
    });
}
