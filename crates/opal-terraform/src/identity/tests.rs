use super::*;
use crate::schema::IdentityAttribute;
use opal_core::data::{Data, json};

fn recipes(text: &str) -> Result<Recipes, opal_core::recipe::template::Invalid> {
    let Ok(Data::Map(all)) = json::read(text) else { panic!("{text}") };
    Recipes::new(&all)
}

fn identity(named: &[(&str, bool)]) -> Identity {
    let each = named.iter().map(|(name, required)| {
        ((*name).to_owned(), IdentityAttribute { of: Type::String, required: *required })
    });
    Identity { attributes: each.collect() }
}

fn given(fields: &[(&str, &str)]) -> Value {
    Value::map(fields.iter().map(|(name, text)| (*name, Value::text(*text))))
}

fn ways(
    of: &str,
    config: &Value,
    own: &str,
    identity: Option<&Identity>,
) -> Result<Chosen, Refused> {
    let provider = given(&[("region", "eu")]);
    let step =
        Step { of, config, provider: &provider, adopt: None, mark: None, project: Some("shop") };
    choose(&step, &recipes(own).unwrap(), identity)
}

#[test]
fn the_first_way_that_applies_is_taken() {
    let bucket = identity(&[("bucket", true), ("region", false)]);
    let config = given(&[("bucket", "b")]);
    let filled = vec![Filled { path: "bucket".to_owned(), value: Value::text("b") }];
    let derived = Chosen::Import { id: Id::Identity(config.clone()), filled: filled.clone() };
    assert_eq!(ways("s3", &config, "{}", Some(&bucket)), Ok(derived));
    let recipe = r#"{"s3":{"import":"{bucket}:{provider.region}"}}"#;
    let text = Id::Text("b:eu".to_owned());
    assert_eq!(ways("s3", &config, recipe, Some(&bucket)), Ok(Chosen::Import { id: text, filled }));
    // What the provider gives out does not identify, nor does an identity without its parts.
    let id = identity(&[("id", true)]);
    assert_eq!(ways("vpc", &given(&[("id", "x")]), "{}", Some(&id)), Err(Refused::Unidentified));
    assert_eq!(ways("s3", &given(&[]), "{}", Some(&bucket)), Err(Refused::Unidentified));
    assert_eq!(
        ways("s3", &given(&[("bucket", "")]), "{}", Some(&bucket)),
        Err(Refused::Unidentified)
    );
    assert_eq!(ways("eip", &config, "{}", None), Err(Refused::Unidentified));
    for of in
        ["random_password", "time_static", "tls_private_key", "null_resource", "terraform_data"]
    {
        assert_eq!(ways(of, &config, "{}", Some(&bucket)), Err(Refused::StateOnly));
    }
}

#[test]
fn an_object_that_is_adopted_is_named_by_the_step() {
    let (config, id) = (given(&[]), Id::Text("vpc-0a1".to_owned()));
    let step = Step {
        of: "aws_vpc",
        config: &config,
        provider: &config,
        adopt: Some(id.clone()),
        mark: None,
        project: None,
    };
    assert_eq!(choose(&step, &recipes("{}").unwrap(), None), Ok(Chosen::Adopt(id)));
    let password = Step { of: "random_password", ..step };
    assert_eq!(choose(&password, &recipes("{}").unwrap(), None), Err(Refused::StateOnly));
}

#[test]
fn a_mark_needs_the_name_of_the_project() {
    let own = recipes(r#"{"aws_vpc":{"mark":{"in":"tags","list":{}}}}"#).unwrap();
    let config = given(&[]);
    let with = |project| {
        let mark = Some("prod/net");
        let step =
            Step { of: "aws_vpc", config: &config, provider: &config, adopt: None, mark, project };
        choose(&step, &own, None)
    };
    assert!(matches!(with(Some("shop")), Ok(Chosen::Mark { tag, .. }) if tag == "shop/prod/net"));
    assert_eq!(with(None), Err(Refused::NoProject));
}

#[test]
fn a_mark_that_would_be_written_nowhere_is_refused() {
    let own = recipes(
        r#"{"a":{"import":"{name}"},"b":{"replay":{"id":"{name}"}},"c":{"import":"{mark}"}}"#,
    );
    let (own, config) = (own.unwrap(), given(&[("name", "x")]));
    let with = |of, adopt| {
        let (mark, project) = (Some("net"), Some("shop"));
        let step = Step { of, config: &config, provider: &config, adopt, mark, project };
        choose(&step, &own, None)
    };
    for of in ["a", "b", "unknown"] {
        assert_eq!(with(of, None), Err(Refused::Unmarkable), "{of}");
    }
    assert!(matches!(with("c", None), Ok(Chosen::Import { .. })));
    assert!(matches!(with("a", Some(Id::Text("x".to_owned()))), Ok(Chosen::Adopt(_))));
}

#[test]
fn a_value_cannot_become_another_id() {
    let own = r#"{"k8s":{"import":"{namespace|default}/{name}"},"one":{"import":"{name}"}}"#;
    let id = |of: &str, fields: &[(&str, &str)]| match ways(of, &given(fields), own, None) {
        Ok(Chosen::Import { id: Id::Text(id), .. }) => Ok(id),
        Ok(_) => panic!(),
        Err(refused) => Err(refused.message(of)),
    };
    assert_eq!(id("k8s", &[("name", "x")]), Ok("default/x".to_owned()));
    assert_eq!(id("one", &[("name", "a/b")]), Ok("a/b".to_owned()));
    for fields in [
        &[("name", "kube-system/x")][..],
        &[("namespace", ""), ("name", "x")],
        &[("namespace", "a/b"), ("name", "x")],
        &[("name", "x\n")],
        &[("name", "")],
        &[],
    ] {
        assert!(id("k8s", fields).is_err(), "{fields:?}");
    }
    let list = Value::map([("name", Value::List(vec![Value::text("a"), Value::text("b")]))]);
    assert!(matches!(ways("one", &list, own, None), Err(Refused::Unfit(Unfit::Kind(_)))));
    let unknown = Value::map([("name", Value::Unknown)]);
    assert!(matches!(ways("one", &unknown, own, None), Err(Refused::Unfit(Unfit::Unknown(_)))));
}

#[test]
fn an_argument_that_was_left_out_is_in_the_object_as_the_recipe_says_or_not_at_all() {
    let own = r#"{"k8s":{"import":"{namespace|default}/{name}"}}"#;
    let config = given(&[("name", "x")]);
    let Ok(Chosen::Import { filled, .. }) = ways("k8s", &config, own, None) else { panic!() };
    let is_other =
        |object: &[(&str, &str)]| filled.iter().any(|it| it.is_other(&config, &given(object)));
    assert!(!is_other(&[("namespace", "default"), ("name", "x")]));
    assert!(!is_other(&[("name", "x")]));
    assert!(is_other(&[("namespace", "kube-system"), ("name", "x")]));
    assert!(is_other(&[("namespace", "default"), ("name", "y")]));
    assert!(is_other(&[("namespace", "default")]));
}

#[test]
fn a_mark_that_a_service_reads_as_a_pattern_or_a_list_is_refused() {
    let own = recipes(r#"{"aws_vpc":{"mark":{"in":"tags","list":{}}}}"#).unwrap();
    let config = given(&[]);
    let with = |mark: &str| {
        let (of, mark, project) = ("aws_vpc", Some(mark), Some("shop"));
        let step = Step { of, config: &config, provider: &config, adopt: None, mark, project };
        choose(&step, &own, None)
    };
    for mark in ["net", "prod/net", "a-1_b.c"] {
        assert!(matches!(with(mark), Ok(Chosen::Mark { .. })), "{mark}");
    }
    for mark in ["", "*", "n?t", "a,b", "a b", "/net", "net/", "a//b", "a\n", "é", &"x".repeat(101)]
    {
        assert_eq!(with(mark), Err(Refused::Mark), "{mark}");
    }
}

#[test]
fn a_recipe_that_makes_no_sense_is_refused() {
    for text in [
        r#"{"a":1}"#,
        r#"{"a":{}}"#,
        r#"{"a":{"import":"{x}","lives":"state"}}"#,
        r#"{"a":{"import":"{x"}}"#,
        r#"{"a":{"import":"x}"}}"#,
        r#"{"a":{"import":"{x}{y}"}}"#,
        r#"{"a":{"import":"{X Y}"}}"#,
        r#"{"a":{"import":"{}"}}"#,
        r#"{"a":{"lives":"here"}}"#,
        r#"{"a":{"guess":"{x}"}}"#,
        r#"{"a":{"mark":{"list":{}}}}"#,
        r#"{"a":{"replay":{"id":1}}}"#,
    ] {
        assert!(recipes(text).is_err(), "{text}");
    }
}
