use std::str::FromStr;

use super::{Engine, Hop, Host, KubeContext, Name, NestingError, Ssh, TargetName, User, Via, Way};

fn takes<T: FromStr + std::fmt::Display>(texts: &[&str]) {
    for text in texts {
        let name = text.parse::<T>();
        assert!(name.is_ok_and(|name| name.to_string() == *text), "{text}");
    }
}

fn refuses<T>(table: &[(&str, &str)])
where
    T: FromStr + std::fmt::Debug,
    T::Err: std::fmt::Display,
{
    for (text, why) in table {
        assert_eq!(text.parse::<T>().unwrap_err().to_string(), *why, "{text:?}");
    }
}

#[test]
fn names_are_what_the_grammars_say() {
    let (longest, long) = ("a".repeat(253), "a".repeat(254));
    takes::<Host>(&["a", "_", "_a", "web1", "10.0.0.1", "::1", "fe80::1", "a-b.c_d", &longest]);
    takes::<User>(&["root", "_apt", "first.last@example.com", "a+b", "a.", &"u".repeat(64)]);
    takes::<TargetName>(&["web1", "a-", "a.", "::1", "10.0.0.1", &longest]);
    takes::<Name>(&["my-app_1.x", "0", &longest]);
    takes::<KubeContext>(&["arn:aws:eks:eu-west-1:1:cluster/a", "user@cluster"]);
    for text in [&long, "-a", ".a", "a-", "a.", "a_", "a b", "a:1", "é", "[::1]", "fe80::1%eth0"] {
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
    for text in ["-u", "u-", "@u", "a b", "a/b", "a:b", "$(id)", &"u".repeat(65)] {
        assert!(text.parse::<User>().is_err(), "{text}");
    }
    for text in ["-t", "../x", "a/b", "a b", ".", "..", &long] {
        assert!(text.parse::<TargetName>().is_err(), "{text}");
        assert!(text.parse::<Name>().is_err(), "{text}");
    }
    for text in ["-c", "/c", ":c", "@c", "c d", "c\n"] {
        assert!(text.parse::<KubeContext>().is_err(), "{text}");
    }
}

#[test]
fn a_hostile_name_is_quoted_with_visible_symbols() {
    refuses::<Host>(&[
        ("", "empty host name"),
        ("-oProxyCommand=id", "invalid host name `-oProxyCommand=id`: it must not begin with `-`"),
        ("a\nb", "invalid host name `a␊b`: it must not contain `␊`"),
        ("a\tb", "invalid host name `a␉b`: it must not contain `␉`"),
        ("a\u{202e}b", "invalid host name `a\u{fffd}b`: it must not contain `\u{fffd}`"),
        ("web-", "invalid host name `web-`: it must not end with `-`"),
    ]);
    refuses::<TargetName>(&[
        ("../x", "invalid target name `../x`: it must not begin with `.`"),
        ("x/../y", "invalid target name `x/../y`: it must not contain `/`"),
    ]);
    let long = "x".repeat(1_000_000).parse::<Name>().unwrap_err().to_string();
    assert!(long.len() < 200 && long.ends_with("it is longer than 253 characters"), "{long}");
}

#[test]
fn an_address_is_a_user_a_host_and_a_port() {
    let read = |text: &str| {
        let ssh: Ssh = text.parse().unwrap();
        assert_eq!(ssh.to_string(), text);
        let user = ssh.user.map(|user| user.to_string()).unwrap_or_default();
        (user, ssh.host.to_string(), ssh.port.map_or(0, std::num::NonZeroU16::get))
    };
    let expected = |user: &str, host: &str, port| (user.to_owned(), host.to_owned(), port);
    assert_eq!(read("web1"), expected("", "web1", 0));
    assert_eq!(read("root@web1:2222"), expected("root", "web1", 2222));
    assert_eq!(read("a@b.c@web1"), expected("a@b.c", "web1", 0));
    assert_eq!(read("10.0.0.1:22"), expected("", "10.0.0.1", 22));
    assert_eq!(read("root@[fe80::1]:22"), expected("root", "fe80::1", 22));
    assert_eq!(read("[::1]"), expected("", "::1", 0));
    refuses::<Ssh>(&[
        ("", "empty host name"),
        ("@web1", "empty user name"),
        ("root@", "empty host name"),
        ("web1:", "invalid port ``: expects a number between 1 and 65535"),
        ("web1:0", "invalid port `0`: expects a number between 1 and 65535"),
        ("web1:+22", "invalid port `+22`: expects a number between 1 and 65535"),
        ("web1:65536", "invalid port `65536`: expects a number between 1 and 65535"),
        ("web1:2\n2", "invalid port `2␊2`: expects a number between 1 and 65535"),
        ("::1", "IPv6 address `::1` without brackets: write `[::1]`"),
        ("[web1]:22", "invalid host name `[web1]`: it must not begin with `[`"),
        ("[::1]22", "invalid port `22`: expects a number between 1 and 65535"),
        ("-v@web1", "invalid user name `-v`: it must not begin with `-`"),
    ]);
}

#[test]
fn a_way_has_three_levels_and_one_machine() {
    let ssh = Hop::Ssh("root@web1".parse().unwrap());
    let container = Hop::Container { engine: Engine::Auto, name: "app".parse().unwrap() };
    let user = Hop::User { user: "www".parse().unwrap(), via: Via::Sudo };
    let way = Way::new(ssh.clone()).then(container.clone()).unwrap().then(user.clone()).unwrap();
    assert_eq!(way.hops(), [ssh.clone(), container, user.clone()]);
    assert_eq!(way.then(user.clone()), Err(NestingError::TooDeep));
    assert_eq!(Way::new(user.clone()).then(ssh), Err(NestingError::MachineInside));
    assert_eq!(Way::new(user).then(Hop::Local), Err(NestingError::MachineInside));
}
