use super::*;
use crate::duration::Duration;
use crate::target::{Carrier, Engine, NewContainer, Pod};

fn program(words: &[&str]) -> Program {
    let more = words[1..].iter().map(|it| (*it).to_owned()).collect();
    Program::new(words[0], more).unwrap()
}

#[test]
fn keys_of_members_have_one_pair_of_brackets() {
    for (key, own) in [
        ("*/env.X", "web1/env.X"),
        ("*/app/env.X", "web1/app/env.X"),
        ("(*/env.X + \"a\")", "web1/(*/env.X + \"a\")"),
        ("((*/env.X + \"a\") + \")(\")", "web1/((*/env.X + \"a\") + \")(\")"),
        ("lower(*/env.X)", "web1/(lower(*/env.X))"),
        ("(a) + (b)", "web1/((a) + (b))"),
    ] {
        assert_eq!(&*member_key("web1", key), own);
    }
}

#[test]
fn a_target_is_read_as_it_was_written() {
    let hops = [
        Hop::Local,
        Hop::Ssh("web1".parse().unwrap()),
        Hop::Ssh("deploy@[::1]:2222".parse().unwrap()),
        Hop::Container { engine: Engine::Podman, name: "db".parse().unwrap() },
        Hop::Pod(Pod {
            name: "api-0".parse().unwrap(),
            namespace: Some("prod".parse().unwrap()),
            container: None,
            context: Some("admin@cluster:6443/x".parse().unwrap()),
        }),
        Hop::User { user: "root".parse().unwrap(), via: Via::Doas },
        Hop::Program(Carrier { program: program(&["tool", "a b"]), has_agent: true }),
        Hop::Program(Carrier { program: program(&["tool"]), has_agent: false }),
        Hop::NewContainer(NewContainer {
            engine: Engine::Auto,
            image: "ghcr.io/a/b:1@sha256:0".parse().unwrap(),
            mounts: vec!["./src:/src:ro".parse().unwrap(), "cache:/c".parse().unwrap()],
            network: Some("none".parse().unwrap()),
        }),
    ];
    let roles = [None, Some(Role { user: "root".parse().unwrap(), via: Via::Sudo })];
    for hop in hops {
        for role in &roles {
            let (hop, role) = (hop.clone(), role.clone());
            let key_file = Some("~/.ssh/id".to_owned());
            let target = Target {
                role,
                key_file,
                interpreter: Some(program(&["bash", "-e"])),
                ready: Some(Readiness {
                    program: program(&["test", "-e", "a b"]),
                    within: Duration::from_secs(5),
                }),
                ..Target::new("it".parse().unwrap(), hop)
            };
            let read = Target::from_data(&Data::from(&target.to_value()));
            assert_eq!(read, Some(target));
        }
    }
}

#[test]
fn a_transport_says_everything_but_the_name_and_the_key() {
    let role = Some(Role { user: "root".parse().unwrap(), via: Via::Sudo });
    let hop = Hop::Ssh("deploy@web1:2222".parse().unwrap());
    let key_file = Some("~/.ssh/id".to_owned());
    let target = Target { role, key_file, ..Target::new("it".parse().unwrap(), hop) };
    assert_eq!(target.transport(), "ssh web1 as=root port=2222 user=deploy via=sudo");
    let hop = Hop::Container { engine: Engine::Podman, name: "db".parse().unwrap() };
    let target = Target { hop, role: None, ..target };
    assert_eq!(target.transport(), "container db engine=podman");
    let hop = Hop::Program(Carrier { program: program(&["tool", "a b"]), has_agent: false });
    let target = Target { hop, interpreter: Some(program(&["sh"])), ..target };
    assert_eq!(target.transport(), "program interpreter=[\"sh\"] program=[\"tool\", \"a b\"]");
}

#[test]
fn what_is_not_a_target_is_not_read_as_one() {
    let target = |pairs: &[(&str, Data)]| {
        let pairs = pairs.iter().map(|(name, data)| ((*name).to_owned(), data.clone()));
        Target::from_data(&Data::Map(pairs.collect()))
    };
    let [name, ssh] = [("name", Data::text("a")), ("connection", Data::text("ssh"))];
    let address = ("address", Data::text("a"));
    assert!(target(&[name.clone(), ssh.clone(), address.clone()]).is_some());
    assert!(target(&[name.clone(), ssh.clone()]).is_none());
    let hostile = ("address", Data::text("-oProxyCommand=x"));
    assert!(target(&[name.clone(), ssh.clone(), hostile]).is_none());
    for port in [Data::Int(0), Data::Int(65_536), Data::text("22")] {
        let port = ("port", port);
        assert!(target(&[name.clone(), ssh.clone(), address.clone(), port]).is_none());
    }
    assert!(target(&[name, ("connection", Data::text("winrm")), address]).is_none());
}
