//! The same hosts, in the same order, with the same variables as the real Ansible.

use std::process::Command;

use opal_core::Value;
use opal_testing::needs;
use serde_json::{Value as Json, json};

use crate::site::Site;

/// Asks Ansible's own library: hosts of patterns, and the variables of every host.
const ASK: &str = r#"
import json, sys
from ansible.parsing.dataloader import DataLoader
from ansible.inventory.manager import InventoryManager
from ansible.vars.manager import VariableManager
loader = DataLoader()
inventory = InventoryManager(loader=loader, sources=[sys.argv[1]])
manager = VariableManager(loader=loader, inventory=inventory)
def hosts(pattern):
    try:
        return [str(host.name) for host in inventory.get_hosts(pattern)]
    except Exception as error:
        return "error"
def variables(host):
    all = manager.get_vars(host=host)
    return {str(k): str(v) for k, v in all.items() if str(k).startswith("v_")}
patterns = json.loads(sys.argv[2])
print(json.dumps({
    "patterns": {pattern: hosts(pattern) for pattern in patterns},
    "vars": {str(host.name): variables(host) for host in inventory.get_hosts("all")},
    "groups": {str(host.name): sorted(str(g.name) for g in host.get_groups() if g.name != "all") for host in inventory.get_hosts("all")},
}))
"#;

/// The Python that Ansible runs in; none where Ansible is not installed.
#[expect(clippy::disallowed_methods, reason = "the path of the programs of this machine")]
fn python() -> Option<String> {
    if !needs::program("ansible-inventory") {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let program = std::env::split_paths(&path).map(|it| it.join("ansible-inventory"));
    let program = program.into_iter().find(|it| it.is_file())?;
    let text = std::fs::read_to_string(program).unwrap();
    Some(text.lines().next()?.strip_prefix("#!")?.trim().to_owned())
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "Ansible is a program")]
fn asked(python: &str, site: &Site, source: &str, patterns: &[&str]) -> Json {
    let ran = Command::new(python)
        .args(["-c", ASK, source, &json!(patterns).to_string()])
        .current_dir(site.path())
        .env("ANSIBLE_LOCALHOST_WARNING", "False")
        .env("ANSIBLE_DEVEL_WARNING", "False")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// As Python shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

#[track_caller]
fn assert_same(site: &Site, source: &str, patterns: &[&str]) {
    let Some(python) = python() else { return };
    let theirs = asked(&python, site, source, patterns);
    let inventory = site.read(source).unwrap();
    for pattern in patterns {
        let ours = inventory.names(pattern).map_or_else(|_| json!("error"), |names| json!(names));
        assert_eq!(ours, theirs["patterns"][pattern], "{source}: {pattern}");
    }
    let selected = inventory.select("all", None).unwrap();
    for target in &selected.targets {
        let name = target.name.as_str();
        let vars = target.vars.iter().filter(|(name, _)| name.starts_with("v_"));
        let vars: serde_json::Map<String, Json> = vars
            .map(|(name, variable)| (name.clone(), json!(shown(variable.value(name).unwrap()))))
            .collect();
        assert_eq!(Json::Object(vars), theirs["vars"][name], "{source}: variables of {name}");
        assert_eq!(json!(target.groups), theirs["groups"][name], "{source}: groups of {name}");
    }
}

const INI: &str = "\
# The first hosts have no group.
alone1 v_own=x
alone2:2222

[web]
web[1:5].example.com v_a=host
web1.example.com v_b=\"two words\" # again
[db]
db-[a:c] v_c='1'
10.0.0.[8:9]
[prod:children]
web
db
later
[later]
late v_d=1
[staging]
web4.example.com
stage1
[all:vars]
v_a=all
v_e=all
[web:vars]
v_a=web
v_e=web
v_f = spaced value
[prod:vars]
v_e=prod
v_g=prod
[staging:vars]
v_h=staging
v_f=staging
[apple:children]
prod
[apple:vars]
v_g=apple
ansible_group_priority=10
";

const PATTERNS: &[&str] = &[
    "all",
    "*",
    "web",
    "prod",
    "ungrouped",
    "apple",
    "web:db",
    "web,db",
    "db:web",
    "web:&staging",
    "web:!staging",
    "prod:!db:&staging",
    "&staging:web",
    "!web",
    "!web:!db",
    "alone1",
    "alone*",
    "web[0]",
    "web[-1]",
    "web[1:2]",
    "web[2:]",
    "web[0:0]",
    "web[1-2]",
    "web[9]",
    "web[3:99]",
    "web*[0]",
    "web*",
    "*.example.com",
    "web?.example.com",
    "web[13].example.com",
    "web[!13].example.com",
    "~web[13]",
    "~(web|db)",
    "~.*example",
    "~b",
    "10.0.0.8",
    "10.*",
    "db-a:db-c",
    "db-[ab]",
    "nothing",
    "nothing:web",
    "web3.example.com:web",
    "web:web3.example.com",
    "all:!ungrouped",
    "all:&prod",
    "prod[1]",
    "late:alone2",
    " web , db ",
    "web::db",
    "w*b",
    "[w]eb",
];

#[test]
fn patterns_mean_what_they_mean_to_ansible() {
    assert_same(&Site::new(&[("hosts.ini", INI), ("hosts", INI)]), "hosts.ini", PATTERNS);
    assert_same(&Site::new(&[("hosts", INI)]), "hosts", &["all", "web"]);
}

#[test]
fn yaml_inventories_are_read_as_ansible_reads_them() {
    let text = "\
all:
  hosts:
    alone: {v_a: 1}
  vars: {v_a: all, v_b: all, v_n: 007, v_t: on, v_f: 1.50}
  children:
    prod:
      vars: {v_b: prod, v_c: prod}
      children:
        web:
          hosts:
            web[01:03]: {v_a: host, v_p: 8080}
            web02: {v_q: second}
          vars: {v_c: web}
        db:
          hosts: single
    other:
      hosts:
        web03:
        '2001:db8::1':
      vars: {v_c: other}
third:
  children: {web: }
  vars: {v_z: third, v_c: third}
";
    let patterns =
        &["all", "prod", "web:!other", "third", "single", "web*", "2001:db8::1", "prod[0]"];
    assert_same(&Site::new(&[("hosts.yml", text)]), "hosts.yml", patterns);
    assert_same(&Site::new(&[("hosts", text)]), "hosts", patterns);
}

#[test]
fn variables_beside_an_inventory_override_in_ansibles_order() {
    let site = Site::new(&[
        (
            "inv/hosts.ini",
            "[web]\na v_host=inline v_mix=host\nb\n[top:children]\nweb\n[web:vars]\nv_group=inline\nv_all=webinline\n\
             v_mix=group\n[all:vars]\nv_all=inline\nv_top=inline\n",
        ),
        ("inv/group_vars/all.yml", "v_all: file\nv_group: allfile\nv_mix: allfile\n"),
        ("inv/group_vars/web/10.yml", "v_group: ten\nv_ten: 10\nv_mix: ten\n"),
        ("inv/group_vars/web/20.yaml", "v_group: twenty\n"),
        ("inv/group_vars/web/sub/x.json", "{\"v_sub\": true}"),
        ("inv/group_vars/web/.hidden.yml", "v_group: hidden\n"),
        ("inv/group_vars/web/readme.md", "not: [yaml\n"),
        ("inv/group_vars/top", "v_top: file\nv_group: top\n"),
        ("inv/group_vars/unknown.yml", "v_all: never\n"),
        ("inv/host_vars/a.yml", "v_host: file\n"),
        ("inv/host_vars/a", "v_host: bare\n"),
        ("inv/host_vars/b.yaml", ""),
    ]);
    assert_same(&site, "inv/hosts.ini", &["all"]);
}

#[test]
fn a_directory_of_inventories_is_all_of_its_files() {
    let site = Site::new(&[
        ("inv/10-first", "[web]\nw1 v_a=first\nw2\n[web:vars]\nv_g=first\n"),
        (
            "inv/20-second.yml",
            "web:\n  hosts:\n    w1: {v_a: second}\n    w3:\n  vars: {v_g: second}\n",
        ),
        ("inv/more/deep.ini", "[db]\nd1\n"),
        ("inv/notes.txt", "not an inventory [\n"),
        ("inv/old.bak", "[x\n"),
        ("inv/.hidden", "[x\n"),
        ("inv/group_vars/web.yml", "v_f: file\n"),
    ]);
    assert_same(&site, "inv", &["all", "web", "db"]);
}
