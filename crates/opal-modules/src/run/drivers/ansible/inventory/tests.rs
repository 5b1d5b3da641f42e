use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::{Execution, ModuleRef, Name, Profile};

fn inventory(command: Command, inputs: Value) -> Result<(Value, Vec<String>), NotFound> {
    let name = |text: &str| Name::parse(text, "name").unwrap();
    let profile = Profile::read(
        "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: a@v1\ndriver: config/ansible\n",
    );
    let mut warnings = Vec::new();
    let execution = Execution {
        driver: name("config/ansible"),
        profile: name("a@v1"),
        pack: name("p"),
        hooks: Vec::new(),
    };
    let request = Request {
        command,
        module: &ModuleRef::parse("m").unwrap(),
        instance: None,
        inputs: inputs.as_object().unwrap(),
        execution: &execution,
        credentials: &[],
        profile: &profile.found.unwrap(),
        templates: &BTreeMap::new(),
        stack: Path::new("/stack"),
        find: &|_| None,
    };
    Ok((of(&request, &mut warnings)?["all"]["children"][TARGETS].clone(), warnings))
}

fn applied(inputs: Value) -> Value {
    inventory(Command::Apply, inputs).unwrap().0
}

#[test]
fn without_a_word_of_hosts_it_is_this_machine_and_the_python_of_ansible() {
    let local = json!({CONNECTION: "local", INTERPRETER: OWN_INTERPRETER});
    assert_eq!(applied(json!({"name": "x"})), json!({"hosts": {"localhost": local}}));
}

#[test]
fn a_host_that_was_forgotten_is_not_this_machine() {
    for inputs in [json!({"target_host": ""}), json!({"inventory_groups": {}, "target_host": null})]
    {
        let refused = inventory(Command::Apply, inputs.clone()).unwrap_err();
        assert!(refused.message.contains("no host given"), "{refused:?}");
        assert!(inventory(Command::Validate, inputs).is_ok());
    }
}

#[test]
fn one_target_has_its_user_port_key_and_way() {
    let inputs = json!({
        "target_host": "10.0.0.5", "target_user": "ops", "target_port": "2222", "become": false,
        "ssh_private_key_file": "~/.ssh/id", "ssh_proxy_jump_host": "fd00::1",
    });
    let expected = json!({
        "hosts": {"hyops_target": {"ansible_host": "10.0.0.5"}},
        "vars": {
            "ansible_user": "ops", "ansible_port": 2222, "ansible_ssh_private_key_file": "~/.ssh/id",
            "ansible_ssh_common_args": "-o ProxyJump=root@[fd00::1]:22",
            "ansible_python_interpreter": "auto_silent",
        },
    });
    assert_eq!(applied(inputs), expected);
}

#[test]
fn groups_have_hosts_with_variables() {
    let inputs = json!({"inventory_groups": {
        "db": [{"name": "db-1", "host": "10.0.0.6", "role": "leader {{ x }}"}],
        "here": [{"name": "me", "ansible_connection": "local"}],
    }});
    let found = applied(inputs);
    let db = &found["children"]["db"]["hosts"]["db-1"];
    assert_eq!(*db, json!({"ansible_host": "10.0.0.6", "role": "leader {{ x }}"}));
    assert_eq!(found["children"]["here"]["hosts"]["me"][INTERPRETER], OWN_INTERPRETER);
    assert_eq!(found["vars"]["ansible_become"], true);
}

#[test]
fn a_tunnel_of_a_provider_is_one_argument() {
    let inputs = json!({
        "target_host": "a", "ssh_access_mode": "gcp-iap", "gcp_iap_instance": "vm",
        "gcp_iap_project_id": "p", "gcp_iap_zone": "z",
    });
    let found = applied(inputs);
    let arguments = found["vars"]["ansible_ssh_common_args"].as_str().unwrap();
    assert!(arguments.starts_with("-o ProxyCommand='gcloud compute start-iap-tunnel vm %p "));
}

#[test]
fn no_name_or_address_can_be_an_option_a_range_or_a_line() {
    let hostile =
        ["-oProxyCommand=id", "a b", "a\nb", "a[1:9]", "a,b", "a'b", "{{ x }}", "$(id)", "."];
    for word in hostile {
        for inputs in [
            json!({ "target_host": word }),
            json!({"target_host": "a", "target_user": word}),
            json!({"target_host": "a", "target_port": word}),
            json!({"target_host": "a", "become_user": word}),
            json!({"target_host": "a", "ssh_proxy_jump_host": word}),
            json!({"target_host": "a", "ssh_proxy_jump_host": "b", "ssh_proxy_jump_user": word}),
            json!({"target_host": "a", "ssh_access_mode": word}),
            json!({"inventory_groups": { word: [] }}),
            json!({"inventory_groups": {"a": [{"name": word}]}}),
            json!({"inventory_groups": {"a": [{"name": "b", "host": word}]}}),
            json!({"inventory_groups": {"a": [{"name": "b", "ansible_host": word}]}}),
        ] {
            let refused = inventory(Command::Apply, inputs.clone()).expect_err(&inputs.to_string());
            assert!(!refused.message.contains(word) || word == ".", "{refused:?}");
        }
    }
}

#[test]
fn what_has_another_shape_is_refused_in_words() {
    for inputs in [
        json!({"target_host": 7}),
        json!({"target_host": "a", "target_port": 0}),
        json!({"target_host": "a", "target_port": 65536}),
        json!({"target_host": "a", "become": "yes"}),
        json!({"target_host": "a", "ssh_private_key_file": ["x"]}),
        json!({"target_host": "a", "ssh_access_mode": "bastion-explicit"}),
        json!({"inventory_groups": ["a"]}),
        json!({"inventory_groups": {"a": "b"}}),
        json!({"inventory_groups": {"a": ["b"]}}),
        json!({"inventory_groups": {"all": []}}),
    ] {
        assert!(inventory(Command::Apply, inputs.clone()).is_err(), "{inputs}");
    }
}

#[test]
fn a_key_in_a_variable_is_reported() {
    let inputs = json!({"target_host": "a", "ssh_private_key_env": "KEY"});
    let (_, warnings) = inventory(Command::Apply, inputs).unwrap();
    assert!(warnings[0].contains("ssh_private_key_env"), "{warnings:?}");
}
