//! What opal makes of inventories, where it is not Ansible that decides.

use opal_core::Value;
use opal_core::target::User;
use opal_remote::inventory::{Address, Become, Connection, Permissions, Privilege};

use crate::site::{Site, names};

#[test]
fn connection_variables_are_read_from_ini() {
    let site = Site::new(&[(
        "hosts.ini",
        "[web]\nweb1 ansible_host=10.0.0.1 ansible_port=2222 ansible_user=deploy \
         ansible_ssh_private_key_file=~/.ssh/web region=eu count=3 # yes\n\
         web2:2200\n[web:vars]\nansible_become=yes\nansible_become_user=app\nmotto='a b'\n\
         [db]\nbox ansible_connection=docker ansible_host=db_1\nhere ansible_connection=local\n",
    )]);
    let selected = site.select("hosts.ini", "web");
    let web1 = &selected.targets[0];
    assert_eq!(web1.address, Address::Ssh("10.0.0.1".parse().unwrap()));
    assert_eq!(web1.port.unwrap().get(), 2222);
    assert_eq!(web1.user.as_ref().unwrap().as_str(), "deploy");
    assert_eq!(web1.key_file.as_deref(), Some("~/.ssh/web"));
    assert_eq!(web1.become_user, Some(Become::User("app".parse().unwrap())));
    assert_eq!(web1.groups, ["web"]);
    assert_eq!(web1.place.line, 2);
    // Values of INI are Strings.
    assert_eq!(web1.var("count").unwrap(), Some(&Value::String("3".into())));
    assert_eq!(web1.var("motto").unwrap(), Some(&Value::String("a b".into())));
    assert_eq!(web1.var("none").unwrap(), None);
    assert_eq!(selected.targets[1].port.unwrap().get(), 2200);
    let selected = site.select("hosts.ini", "db");
    assert_eq!(selected.targets[0].address, Address::Docker("db_1".parse().unwrap()));
    assert_eq!(selected.targets[1].address, Address::Local);
}

#[test]
fn values_of_yaml_have_their_types() {
    let site = Site::new(&[(
        "hosts.yml",
        "all:\n  vars: {n: 3, f: 1.5, t: yes, s: '3', l: [1, two], nothing: ~, octal: 0644}\n  \
         children:\n    web:\n      hosts:\n        web[1:2]: {ansible_port: 22}\n",
    )]);
    let selected = site.select("hosts.yml", "web");
    assert_eq!(names(&selected), "web1 web2");
    let var = |name: &str| selected.targets[0].var(name).unwrap().cloned().unwrap();
    assert_eq!(var("n"), Value::Int(3));
    assert_eq!(var("f"), Value::Float(1.5));
    assert_eq!(var("t"), Value::Bool(true));
    assert_eq!(var("s"), Value::String("3".into()));
    assert_eq!(var("l"), Value::Array(vec![Value::Int(1), Value::String("two".into())]));
    assert_eq!(var("nothing"), Value::Null);
    assert_eq!(var("octal"), Value::Int(0o644));
}

#[test]
fn an_inventory_cannot_move_a_block_or_raise_its_rights() {
    let site = Site::new(&[(
        "hosts.ini",
        "plain\nbox ansible_connection=docker\nhere ansible_connection=local\nadmin ansible_become=true\n\
         app ansible_become=1 ansible_become_user=app\nnot ansible_become=no\n",
    )]);
    let selected = site.select("hosts.ini", "all");
    let user = |name: &str| Become::User(name.parse().unwrap());
    let none = || Permissions { connections: Vec::new(), privilege: Privilege::None };
    let with = |connections: &[Connection], privilege: Privilege| Permissions {
        connections: connections.to_vec(),
        privilege,
    };
    let root = || Privilege::User("root".parse::<User>().unwrap());
    for (name, permissions, expected) in [
        ("plain", none(), Ok(None)),
        ("not", none(), Ok(None)),
        ("box", none(), Err("connections=[\"docker\"]")),
        ("here", none(), Err("connections=[\"local\"]")),
        ("here", with(&[Connection::Docker], Privilege::None), Err("connections=[\"local\"]")),
        ("here", with(&[Connection::Local], Privilege::None), Ok(None)),
        ("admin", none(), Err("`as=\"root\"` at the block")),
        ("admin", with(&[], root()), Ok(Some(user("root")))),
        ("app", with(&[], root()), Ok(Some(user("root")))),
        ("app", with(&[], Privilege::Inventory), Ok(Some(user("app")))),
        ("admin", with(&[], Privilege::Inventory), Ok(Some(Become::Root))),
        ("plain", with(&[], Privilege::Inventory), Ok(None)),
    ] {
        let target = selected.targets.iter().find(|it| it.name.as_str() == name).unwrap();
        match (target.permitted(&permissions), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
            (Err(error), Err(said)) => {
                assert!(error.help().contains(said), "{name}: {}", error.help());
                assert!(error.to_string().contains("hosts.ini:"), "{error}");
            }
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
}

#[test]
fn a_connection_variable_that_is_not_read_names_the_setting_instead() {
    for (variable, said) in [
        ("ansible_ssh_common_args='-o ProxyCommand=x'", "`ProxyJump`"),
        ("ansible_ssh_extra_args=-A", "`~/.ssh/config`"),
        ("ansible_password=geheim", "`password=` of the block"),
        ("ansible_become_password=geheim", "`@as(\"root\", password=…) { … }`"),
        ("ansible_become_method=su", "opal uses `sudo`"),
        ("ansible_host_key_checking=false", "`StrictHostKeyChecking`"),
        ("ansible_ssh_executable=/tmp/x", "`ssh` of the system"),
        ("ansible_ssh_timeout=3", "`ConnectTimeout`"),
        ("ansible_connection=winrm", "opal knows ssh, local, docker and podman"),
        ("ansible_port=0", "between 1 and 65535"),
        ("ansible_port=70000", "between 1 and 65535"),
        ("ansible_become=perhaps", "expects yes or no"),
        (
            "ansible_host=a ansible_ssh_host=b",
            "`ansible_host` and `ansible_ssh_host` have different",
        ),
    ] {
        let site = Site::new(&[("hosts.ini", &format!("fine\n[web]\nweb1 {variable}\n"))]);
        let refused = site.refused("hosts.ini", "all");
        assert!(refused.contains(said), "{variable}: {refused}");
        assert!(refused.starts_with("hosts.ini:3: "), "{refused}");
        assert!(!refused.contains("geheim"), "{refused}");
        // What nobody selects is not in the way.
        assert_eq!(names(&site.select("hosts.ini", "fine")), "fine");
    }
    let plain = "web1 ansible_python_interpreter=/usr/bin/python3 ansible_become_method=sudo ansible_shell_type=sh\n";
    let site = Site::new(&[("hosts.ini", plain)]);
    assert_eq!(site.select("hosts.ini", "all").targets.len(), 1);
}

#[test]
fn vault_and_jinja_are_errors_where_they_are_used() {
    let vault = "!vault |\n          $ANSIBLE_VAULT;1.1;AES256\n          6162\n";
    let site = Site::new(&[
        (
            "hosts.yml",
            &format!(
                "all:\n  hosts:\n    a:\n      secret: {vault}      computed: '{{{{ x }}}}'\n      fine: 1\n    \
                 b:\n      ansible_host: '{{{{ ip }}}}'\n    c:\n      ansible_user: {vault}"
            ),
        ),
        ("group_vars/all/vault.yml", "$ANSIBLE_VAULT;1.1;AES256\n6162\n"),
    ]);
    let selected = site.select("hosts.yml", "a");
    let a = &selected.targets[0];
    assert_eq!(a.var("fine").unwrap(), Some(&Value::Int(1)));
    let said = |name: &str| a.var(name).unwrap_err().to_string();
    let secret = said("secret");
    assert!(secret.ends_with("hosts.yml:4: `secret` is encrypted by Ansible Vault"), "{secret}");
    assert!(said("computed").ends_with("`computed` is a Jinja template"), "{}", said("computed"));
    assert!(said("elsewhere").ends_with("vault.yml: the file is encrypted by Ansible Vault"));
    assert!(site.refused("hosts.yml", "b").contains("`ansible_host` is a Jinja template"));
    assert!(site.refused("hosts.yml", "c").contains("`ansible_user` is encrypted"));
}

#[test]
fn a_hostile_name_is_refused_with_its_place_and_shown_harmless() {
    for (line, shown) in [
        ("-oProxyCommand=x", "-oProxyCommand=x"),
        ("../x", "../x"),
        ("a/b", "a/b"),
        ("'a b'", "a b"),
        ("'x\u{202e}y'", "x"),
        ("'x\u{1b}[2Jy'", "x"),
        ("x ansible_host=-oProxyCommand=y", "-oProxyCommand=y"),
        ("x ansible_host='a b'", "a b"),
        ("x ansible_user=-l", "-l"),
        ("x ansible_user='$(id)'", "$(id)"),
        ("x ansible_connection=docker ansible_host=--privileged", "--privileged"),
    ] {
        let site = Site::new(&[("hosts.ini", &format!("fine\n{line}\n"))]);
        let refused = site.refused("hosts.ini", "all:!fine");
        assert!(refused.starts_with("hosts.ini:2: "), "{line:?}: {refused}");
        assert!(refused.contains(shown), "{line:?}: {refused}");
        assert!(!refused.contains(['\u{1b}', '\u{202e}', '\n']), "{refused:?}");
    }
}

#[test]
fn what_is_wrong_with_a_file_has_its_line() {
    for (file, text, said) in [
        ("x.ini", "a\n[web\n", "x.ini:2: "),
        ("x.ini", "[web:what]\n", "x.ini:1: invalid section `[web:what]`"),
        ("x.ini", "[web:vars]\na=1\n", "x.ini:1: undefined group `web`"),
        ("x.ini", "[a:children]\nb\n", "x.ini:2: undefined group `b`"),
        ("x.ini", "[a:children]\nb\n[b:children]\na\n", "cycle"),
        ("x.ini", "[a:children]\na\n", "cycle"),
        ("x.ini", "a b\n", "x.ini:1: expects `name=value`, got `b`"),
        ("x.ini", "a 'b\n", "x.ini:1: expects `name=value`"),
        ("x.ini", "a[1:2:0]\n", "x.ini:1: invalid range"),
        ("x.ini", "n[1:9999999]\n", "x.ini:1: an inventory has at most 100000 hosts"),
        ("x.yml", "all:\n  hosts: [a]\n", "x.yml:2: `hosts` must be a mapping"),
        ("x.yml", "all:\n  host:\n    a:\n", "x.yml:2: unknown key `host`"),
        ("x.yml", "- a\n", "x.yml:1: the inventory must be a mapping"),
        ("x.yml", "plugin: aws_ec2\n", "configuration of an inventory plugin"),
        ("x.yml", "a: {children: {b: {children: {a: }}}}\n", "cycle"),
        ("x.yml", "all: {vars: {x: !!python/object y}}\n", "unknown tag"),
        ("x.yml", "all:\n\thosts:\n", "x.yml:2: invalid YAML"),
        ("x.toml", "[web]\n", "TOML"),
        ("x.sh", "#!/bin/sh\n", "`inventory=\"cmd:PROGRAM\"`"),
        ("x.ini", "a\n---\n", "x.ini:2: "),
    ] {
        let site = Site::new(&[(file, text)]);
        let refused = site.refused(file, "all");
        assert!(refused.contains(said), "{text:?}: {refused}");
    }
    let site = Site::new(&[]);
    assert!(site.refused("gone.ini", "all").contains("the inventory `gone.ini` does not exist"));
    site.file("latin.ini", b"caf\xe9\n");
    assert!(site.refused("latin.ini", "all").contains("not a text in UTF-8"));
    site.file("large.ini", "#".repeat(9 << 20));
    assert!(site.refused("large.ini", "all").contains("at most 8 MiB"));
    let deep: String = (0..70).map(|n| format!("[g{n}:children]\ng{}\n", n + 1)).collect();
    site.file("deep.ini", format!("{deep}[g70]\na\n"));
    assert!(site.refused("deep.ini", "all").contains("at most 64 levels"));
    let aliases: String = (1..20)
        .map(|n| format!("  a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")))
        .collect();
    site.file("bomb.yml", format!("all:\n vars:\n  a0: &a0 [x]\n{aliases}"));
    assert!(site.refused("bomb.yml", "all").contains("too large with its aliases expanded"));
    site.file("many.ini", "n[1:10001]\n");
    assert!(site.refused("many.ini", "all").contains("at most 10000 targets"));
    assert_eq!(site.select("many.ini", "all[0:9999]").targets.len(), 10_000);
}

#[test]
fn the_hosts_of_an_ssh_configuration_are_those_with_a_name() {
    let site = Site::new(&[
        (
            "home/.ssh/config",
            "Include config.d/*\nHost web1 web2 *.example.com !no\n  HostName 10.0.0.1\nHost db\n\
             Include ~/more\nHost last -bad\nHost *\n",
        ),
        ("home/.ssh/config.d/10-a", "Host first\n"),
        ("home/.ssh/config.d/20-b", "Host second web1\n"),
        ("home/.ssh/config.d/.hidden", "Host hidden\n"),
        ("home/more", "Host more\n"),
    ]);
    let inventory = site.read("ssh").unwrap();
    let all = inventory.names("all").unwrap();
    assert_eq!(all, ["first", "second", "web1", "web2", "db", "more", "last", "-bad"]);
    assert_eq!(names(&site.select("ssh", "web*:db")), "web1 web2 db");
    assert!(site.refused("ssh", "all").contains("home/.ssh/config:6: "));
    let looping = Site::new(&[("home/.ssh/config", "Include config\n")]);
    assert!(looping.refused("ssh", "all").contains("levels"));
    assert!(Site::new(&[]).refused("ssh", "all").contains("home/.ssh/config"));
}

#[test]
fn a_program_lists_its_hosts_in_its_order() {
    let site = Site::new(&[]);
    let list = r#"{"web": {"hosts": ["w2", "w1"], "vars": {"n": 1}}, "app": ["a1"], "z": {"children": ["web"]},
        "_meta": {"hostvars": {"w1": {"ansible_host": "10.0.0.9", "pw": {"__ansible_vault": "x"}}}}}"#;
    let program =
        site.program("list", &format!("#!/bin/sh\n[ \"$1\" = --list ] && cat <<'E'\n{list}\nE\n"));
    let source = format!("cmd:{}", program.display());
    let selected = site.select(&source, "all");
    assert_eq!(names(&selected), "a1 w2 w1");
    let w1 = &selected.targets[2];
    assert_eq!(w1.address, Address::Ssh("10.0.0.9".parse().unwrap()));
    assert_eq!(w1.var("n").unwrap(), Some(&Value::Int(1)));
    assert!(w1.var("pw").unwrap_err().to_string().contains("Vault"));
    assert_eq!(w1.groups, ["web", "z"]);
    for (text, said) in [
        ("#!/bin/sh\necho oops >&2; exit 3\n", "failed with exit code 3"),
        ("#!/bin/sh\necho '[1]'\n", "the JSON is not an object"),
        ("#!/bin/sh\necho '{\"a\": 1}'\n", "neither a list nor an object"),
        ("#!/bin/sh\necho '{\"a\": {\"hosts\": \"x\"}}'\n", "not a list of names"),
        ("#!/bin/sh\necho '{\"a\": [\"n[1:3]\"]}'\n", "not the name of a host"),
        ("#!/bin/sh\necho '{\"a\": [\"-x\"]}'\n", "-x"),
        ("#!/bin/sh\necho not json\n", "invalid inventory"),
    ] {
        let program = site.program("list", text);
        let refused = site.refused(&format!("cmd:{}", program.display()), "all");
        assert!(refused.contains(said), "{text}: {refused}");
    }
    assert!(site.refused("cmd:/no/such/program", "all").contains("/no/such/program"));
}

#[test]
fn a_selection_without_hosts_is_an_error_and_a_typo_is_named() {
    let site = Site::new(&[("hosts.ini", "[web]\nweb1\nweb2\n")]);
    assert!(site.refused("hosts.ini", "wbe").contains("no host matches `wbe`"));
    let inventory = site.read("hosts.ini").unwrap();
    for (select, help) in [
        ("webb", "did you mean `web`?"),
        ("other", "the inventory has the groups `all`, `ungrouped`, `web`"),
    ] {
        assert_eq!(inventory.select(select, None).unwrap_err().help(), help);
    }
    assert!(site.refused("hosts.ini", "web[7]").contains("no host has the index of `web[7]`"));
    // What is not closed is not left out: without it, `~[` would be all hosts.
    for pattern in ["~(", "~[", "web[", "web]", "all:!web[", "~", "all:!~", "web,~["] {
        let said = site.refused("hosts.ini", pattern);
        assert!(said.contains("invalid pattern `"), "{pattern}: {said}");
    }
    // Neither is a mark without a name, and no pattern is not all hosts.
    for pattern in ["!", "web:!", "web,&", "web:&", "web,! "] {
        let said = site.refused("hosts.ini", pattern);
        assert!(said.contains("invalid pattern `"), "{pattern}: {said}");
    }
    for pattern in ["", " ", ",", " , ", ":", "::,"] {
        let said = site.refused("hosts.ini", pattern);
        let is_refused = said.contains("is empty") || said.contains("no host matches");
        assert!(is_refused, "{pattern}: {said}");
        let inventory = site.read("hosts.ini").unwrap();
        let limited = inventory.select("web", Some(pattern));
        assert!(limited.is_err(), "{pattern}");
    }
    let inventory = site.read("hosts.ini").unwrap();
    let selected = inventory.select("web:dbb", Some("web2:gone")).unwrap();
    assert_eq!(names(&selected), "web2");
    assert_eq!(selected.unmatched, ["dbb", "gone"]);
    assert!(inventory.select("web", Some("!web")).unwrap_err().to_string().contains("--limit"));
}
