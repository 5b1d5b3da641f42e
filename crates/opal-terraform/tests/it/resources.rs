//! Statuses and applies of real resources, without a state file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use opal_core::recipe::Recipes;
use opal_terraform::apply::{Allowed, Done, absent, apply};
use opal_terraform::client::Provider;
use opal_terraform::identity::{Refused, Step, choose};
use opal_terraform::value::Value;
use opal_terraform::verify::{Ask, Status, verify};

use crate::support::{directory, provider, quietly, real, run};

const ALLOWED: Allowed = Allowed { replace: false, settle: Duration::from_secs(5), only: None };

/// What a step asks for.
fn ask(provider: &Provider, of: &str, fields: &[(&str, &str)]) -> Result<Ask, Refused> {
    let config = Value::map(fields.iter().map(|(name, text)| (*name, Value::text(*text))));
    let config = provider.schemas().resources[of].complete(config);
    let none = Value::map([]);
    let recipes = Recipes::new(&BTreeMap::new()).unwrap();
    let identity = provider.schemas().identities.get(of);
    let step =
        Step { of, config: &config, provider: &none, adopt: None, mark: None, project: None };
    let by = choose(&step, &recipes, identity)?;
    Ok(Ask { of: of.to_owned(), config, by, ignore: Vec::new(), rewrite: false })
}

fn file(provider: &Provider, path: &Path, content: &str) -> Ask {
    let path = path.to_str().unwrap();
    ask(provider, "local_file", &[("filename", path), ("content", content)]).unwrap()
}

#[test]
fn a_file_is_missing_created_satisfied_changed_and_absent() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let path = home.path().join("greeting");
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let (observe, change) = (provider.observe(), provider.change());
        let hello = file(&provider, &path, "hello");
        assert!(matches!(verify(&observe, &hello).await.unwrap().status, Status::Missing));
        assert!(!path.exists(), "a verification changes nothing");
        let acted = apply(&observe, &change, &hello, ALLOWED, &quietly).await.unwrap();
        assert_eq!(acted.done, Done::Created);
        let made = acted.object.unwrap().state;
        assert_eq!(made.field("content_md5").as_text(), Some("5d41402abc4b2a76b9719d911017c592"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
        assert!(verify(&observe, &hello).await.unwrap().is_satisfied());
        assert_eq!(
            apply(&observe, &change, &hello, ALLOWED, &quietly).await.unwrap().done,
            Done::Nothing
        );

        // By hand: for this provider, a file with other content is another file.
        std::fs::write(&path, "other").unwrap();
        assert!(matches!(verify(&observe, &hello).await.unwrap().status, Status::Missing));
        assert_eq!(
            apply(&observe, &change, &hello, ALLOWED, &quietly).await.unwrap().done,
            Done::Created
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");

        let gone = absent(&observe, &change, &hello, ALLOWED.settle, None, &quietly).await.unwrap();
        assert_eq!(gone.done, Done::Removed);
        assert!(!path.exists());
        let gone = absent(&observe, &change, &hello, ALLOWED.settle, None, &quietly).await.unwrap();
        assert_eq!(gone.done, Done::Nothing);
        provider.stop().await;
    });
}

#[test]
fn a_sensitive_file_makes_the_round_trip() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let path = home.path().join("key");
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let (observe, change) = (provider.observe(), provider.change());
        let fields = [("filename", path.to_str().unwrap()), ("content", "s3cret")];
        let ask = ask(&provider, "local_sensitive_file", &fields).unwrap();
        assert_eq!(
            apply(&observe, &change, &ask, ALLOWED, &quietly).await.unwrap().done,
            Done::Created
        );
        assert!(verify(&observe, &ask).await.unwrap().is_satisfied());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(verify(&observe, &ask).await.unwrap().status, Status::Missing));
        provider.stop().await;
    });
}

#[test]
fn a_resource_that_exists_only_in_a_state_file_is_refused() {
    for (name, of) in
        [("random", "random_password"), ("time", "time_static"), ("tls", "tls_private_key")]
    {
        let Some(program) = real(name) else { return };
        let home = directory();
        run(async {
            let provider = provider(&program, home.path()).await.unwrap();
            let refused = ask(&provider, of, &[]).unwrap_err();
            assert_eq!(refused.message(of), format!("`{of}` exists only in a state file"));
            provider.stop().await;
        });
    }
}

#[test]
fn a_hundred_files_are_made_and_verified_at_once() {
    let Some(program) = real("local") else { return };
    let home = directory();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let mut tasks = Vec::new();
        for number in 0..100 {
            let path = home.path().join(format!("file{number}"));
            let ask = file(&provider, &path, &format!("content {number}"));
            let (observe, change) = (provider.observe(), provider.change());
            tasks.push(tokio::task::spawn_local(async move {
                let acted = apply(&observe, &change, &ask, ALLOWED, &quietly).await.unwrap();
                assert_eq!(acted.done, Done::Created);
                assert_eq!(std::fs::read_to_string(path).unwrap(), format!("content {number}"));
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        provider.stop().await;
    });
}

#[test]
fn a_provider_that_says_no_blocks() {
    let Some(program) = real("local") else { return };
    let home = directory();
    run(async {
        let provider = provider(&program, home.path()).await.unwrap();
        provider.configure(Value::map([])).await.unwrap();
        let (observe, change) = (provider.observe(), provider.change());
        // A directory is where the file should be.
        let ask = file(&provider, home.path(), "x");
        let said = apply(&observe, &change, &ask, ALLOWED, &quietly).await.unwrap_err();
        assert!(said.message("local 2.5.3").expose().starts_with("local says: "));
        provider.stop().await;
    });
}
