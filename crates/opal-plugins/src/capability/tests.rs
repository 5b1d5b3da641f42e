//! Each spelling of a capability, and what is refused.

use super::*;

#[test]
fn a_capability_is_shown_as_it_is_written() {
    for text in [
        "net:vault.example",
        "net:vault.example:8200",
        "net:http://vault.example",
        "net:http://vault.example:8080 private",
        "net:[::1]:8443 private",
        "query:10.0.0.1",
        "ask:git rev-parse HEAD",
        "run:docker",
        "transport:kubectl exec -i",
        "ssh:deploy@*.example",
        "ssh:*",
        "set:VAULT_ADDR",
        "env:AWS_*",
        "env:HOME",
        "read:~/.config/house/*",
        "write:/var/lib/house/**",
        "net",
        "query",
        "clock",
        "secrets",
        "shell",
    ] {
        let parsed: Capability = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.to_string(), text);
        assert!(!parsed.sentence().is_empty());
    }
}

#[test]
fn a_power_has_one_spelling() {
    for (text, only) in [
        ("net:vault.example:443", "net:vault.example"),
        ("net:http://vault.example:80", "net:http://vault.example"),
        ("net:vault.example:08200", "net:vault.example:8200"),
    ] {
        let error = text.parse::<Capability>().unwrap_err();
        assert_eq!(error, CapabilityError::Spelling(only.to_owned()), "{text}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    for text in [
        "",
        "Shell",
        "shell:",
        "shell:x",
        "clock:now",
        "net:",
        "net ",
        "net private",
        "query:",
        "net:*",
        "net:a/b",
        "net:A.example",
        "net:a.example:0",
        "net:a.example:70000",
        "net:a..b",
        "net:-a",
        "net:https://a.example",
        "ask:",
        "ask:/bin/sh",
        "ask:../x",
        "ask:git  log",
        "ask:git log ",
        "ask:-x",
        "ask:a\tb",
        "run:git\nlog",
        "ssh:",
        "ssh:-oProxyCommand=x",
        "ssh:-x@host",
        "ssh:a b@host",
        "set:",
        "set:A*",
        "set:1A",
        "set:A=B",
        "env:*",
        "env:A B",
        "read:",
        "read:/",
        "read:../x",
        "read:/a/../b",
        "read:a//b",
        "write:[a]",
        "write:{a,b}",
        "native",
        " shell",
    ] {
        assert!(text.parse::<Capability>().is_err(), "{text:?}");
    }
    let long = format!("read:/{}", "a".repeat(MAX_BYTES));
    assert_eq!(long.parse::<Capability>(), Err(CapabilityError::TooLong));
}

#[test]
fn an_open_scope_is_closed_by_a_host_of_the_same_kind_only() {
    let is_closed = |open: &str, by: &str| {
        by.parse::<Capability>().unwrap().closes(&open.parse::<Capability>().unwrap())
    };
    assert!(is_closed("net", "net:vault.example"));
    assert!(is_closed("net", "net:http://127.0.0.1:8200 private"));
    assert!(is_closed("query", "query:vault.example"));
    for (open, by) in [
        ("net", "query:vault.example"),
        ("query", "net:vault.example"),
        ("net", "net"),
        ("net", "shell"),
        ("net:vault.example", "net:evil.example"),
        ("net:vault.example", "net:vault.example private"),
        ("ask:git status", "ask:git"),
    ] {
        assert!(!is_closed(open, by), "{open} {by}");
    }
}
