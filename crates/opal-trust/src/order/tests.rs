use super::*;
use crate::keys::Runner;

const NOW: i64 = 1_800_000_000;

fn runner() -> RunnerKeys {
    let recipient = Runner::ephemeral("a test").recipient();
    RunnerKeys { recipient, key: SigningKey::generate().public() }
}

fn share(batch: u32, names: &[&str]) -> Share {
    Share { batch, targets: names.iter().map(|it| (*it).to_owned()).collect() }
}

fn order() -> Order {
    Order {
        id: OrderId::draw(),
        contract: Digest([1; 32]),
        approvals: Some(Digest([2; 32])),
        bundle: Digest([3; 32]),
        source: "apps/commands.opl".into(),
        pool: "eu".into(),
        runners: vec![runner(), runner()],
        dispatcher: Runner::ephemeral("a test").recipient(),
        made: NOW - 10,
        end: NOW + 3600,
        once: false,
        shares: vec![share(1, &["web1", "web2"]), share(1, &["web3"]), share(2, &["10.0.0.4"])],
    }
}

fn allowed(key: &SigningKey) -> BTreeSet<PublicKey> {
    BTreeSet::from([key.public()])
}

#[test]
fn an_order_comes_back_as_it_was_signed() {
    let key = SigningKey::generate();
    for order in [order(), Order { approvals: None, once: true, ..order() }] {
        let line = order.sign(&key).unwrap();
        let opened = Order::open(line.as_bytes(), &allowed(&key), NOW).unwrap();
        assert_eq!((&opened.order, opened.signer), (&order, key.public()));
        assert_eq!(opened.digest, Algorithm::Sha256.digest(&[line.as_bytes()]));
        assert_eq!(OrderId::parse(&order.id.to_string()), Some(order.id));
    }
}

#[test]
fn shares_and_batches_are_numbered_from_one() {
    let order = order();
    assert_eq!(order.share(1).unwrap().targets, ["web1", "web2"]);
    assert_eq!(order.share(3).unwrap().targets, ["10.0.0.4"]);
    assert_eq!((order.share(0), order.share(4)), (None, None));
    assert_eq!(order.batch(1).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((order.batch(2).collect::<Vec<_>>(), order.batches()), (vec![3], 2));
    assert_eq!(order.targets().collect::<Vec<_>>(), ["web1", "web2", "web3", "10.0.0.4"]);
    assert!(order.has_runner(&order.runners[1].key));
    assert!(!order.has_runner(&SigningKey::generate().public()));
}

/// Each part changed, and not signed again.
#[test]
fn what_was_changed_after_signing_is_refused() {
    let key = SigningKey::generate();
    let (order, other) = (order(), order());
    let line = order.sign(&key).unwrap();
    let digest = |byte: u8| Digest([byte; 32]).hex();
    for (from, to) in [
        (order.id.to_string(), other.id.to_string()),
        (digest(1), digest(9)),
        (digest(2), digest(9)),
        (format!("\"{}\"", digest(2)), "null".into()),
        (digest(3), digest(9)),
        ("\"pool\":\"eu\"".into(), "\"pool\":\"us\"".into()),
        (order.runners[0].key.to_string(), other.runners[0].key.to_string()),
        (order.runners[0].recipient.to_string(), other.runners[0].recipient.to_string()),
        (order.dispatcher.to_string(), other.dispatcher.to_string()),
        (order.made.to_string(), (order.made - 1).to_string()),
        (order.end.to_string(), (order.end + 1).to_string()),
        ("\"once\":false".into(), "\"once\":true".into()),
        ("apps/commands.opl".into(), "other/commands.opl".into()),
        ("web1".into(), "web9".into()),
        ("\"web1\",\"web2\"".into(), "\"web2\",\"web1\"".into()),
        ("\"web1\",\"web2\"]},{\"batch\":1,\"targets\":[".into(), "\"web1\",\"web2\",".into()),
        ("\"batch\":2".into(), "\"batch\":1".into()),
    ] {
        let changed = line.replacen(&from, &to, 1);
        assert_ne!(changed, line, "{from}");
        let refused = Order::open(changed.as_bytes(), &allowed(&key), NOW);
        assert_eq!(refused, Err(Refused::Signature(key.public())), "{from} {to}");
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let key = SigningKey::generate();
    let line = order().sign(&key).unwrap();
    for at in 0..line.len() {
        for bit in [1, 0x20] {
            let mut changed = line.clone().into_bytes();
            changed[at] ^= bit;
            assert!(Order::open(&changed, &allowed(&key), NOW).is_err(), "{at} {bit}");
        }
    }
    assert!(Order::open(line[..line.len() - 1].as_bytes(), &allowed(&key), NOW).is_err());
}

/// The same content, written otherwise: nobody has signed these bytes.
#[test]
fn every_other_spelling_is_refused() {
    let key = SigningKey::generate();
    let line = order().sign(&key).unwrap();
    for (from, to) in [
        ("{\"order\"", "{ \"order\""),
        ("\"once\":false", "\"once\":false,\"once\":false"),
        ("\"once\":false", "\"once\":false,\"x\":1"),
        ("\"once\":false,", ""),
        ("\"pool\":\"eu\"", "\"pool\":\"\\u0065u\""),
        ("\"v\":1", "\"v\":2"),
        ("\"v\":1", "\"v\":1.0"),
        ("\"batch\":2", "\"batch\":\"2\""),
        ("\"batch\":2", "\"batch\":-2"),
        ("}\n", "}\n\n"),
        ("}\n", "}"),
        ("}\n", "}\n{}\n"),
    ] {
        let changed = line.replacen(from, to, 1);
        assert_ne!(changed, line, "{from}");
        let refused = Order::open(changed.as_bytes(), &allowed(&key), NOW).unwrap_err();
        assert!(matches!(refused, Refused::NotAnOrder(_)), "{from} {to}: {refused}");
    }
    for none in [&b""[..], b"[]\n", b"null\n", b"\xff\n", b"{\"order\":{}}\n"] {
        assert!(matches!(Order::signed_by(none), Err(Refused::NotAnOrder(_))));
    }
    assert_eq!(Order::signed_by(&vec![b' '; MAX_BYTES + 1]), Err(Refused::TooLong));
}

#[test]
fn who_may_dispatch_and_when_is_decided_here() {
    let (key, other) = (SigningKey::generate(), SigningKey::generate());
    let order = order();
    let line = order.sign(&key).unwrap();
    let open = |allowed: &BTreeSet<PublicKey>, now| {
        Order::open(line.as_bytes(), allowed, now).map(|_| ()).map_err(|why| (why, why.is_trust()))
    };
    let not_allowed = Err((Refused::NotAllowed(key.public()), true));
    assert_eq!(open(&BTreeSet::new(), NOW), not_allowed);
    assert_eq!(open(&allowed(&other), NOW), not_allowed);
    let mine = allowed(&key);
    assert_eq!(open(&mine, order.end - 1), Ok(()));
    assert_eq!(open(&mine, order.end), Err((Refused::Ended { end: order.end }, false)));
    assert_eq!(open(&mine, order.made - SKEW_SECONDS), Ok(()));
    let future = Refused::InTheFuture { made: order.made };
    assert_eq!(open(&mine, order.made - SKEW_SECONDS - 1), Err((future, false)));
}

/// A signature of another kind of message is none of an order.
#[test]
fn the_signature_of_something_else_is_not_one_of_an_order() {
    let key = SigningKey::generate();
    let order = order();
    let bytes = line::order(&order);
    for domain in crate::domains::ALL.into_iter().chain([&b""[..]]) {
        let signature = Base64::encode_string(&key.sign(&[domain, bytes.as_bytes()].concat()));
        let line = line::write(&order, &key.public(), &signature);
        let opened = Order::open(line.as_bytes(), &allowed(&key), NOW);
        assert_eq!(opened.is_ok(), domain == ORDER);
    }
}

#[test]
fn what_exceeds_a_limit_is_neither_signed_nor_read() {
    let key = SigningKey::generate();
    let names = |count: usize, from: usize| -> Vec<String> {
        (from..from + count).map(|it| format!("t{it}")).collect()
    };
    let full = |count: usize| -> Vec<Share> {
        (0..count).map(|it| Share { batch: 1, targets: names(MAX_SHARE, it * MAX_SHARE) }).collect()
    };
    let largest = Order { shares: full(MAX_TARGETS / MAX_SHARE), ..order() };
    assert!(Order::signed_by(largest.sign(&key).unwrap().as_bytes()).is_ok());
    let twice = runner();
    for (what, wrong) in [
        ("no share", Order { shares: vec![], ..order() }),
        ("an empty share", Order { shares: vec![share(1, &[])], ..order() }),
        (
            "a long share",
            Order { shares: vec![Share { batch: 1, targets: names(51, 0) }], ..order() },
        ),
        ("too many targets", Order { shares: full(MAX_TARGETS / MAX_SHARE + 1), ..order() }),
        ("a target twice", Order { shares: vec![share(1, &["a"]), share(2, &["a"])], ..order() }),
        ("batch 0", Order { shares: vec![share(0, &["a"])], ..order() }),
        ("a gap", Order { shares: vec![share(1, &["a"]), share(3, &["b"])], ..order() }),
        (
            "backwards",
            Order { shares: vec![share(1, &["a"]), share(2, &["b"]), share(1, &["c"])], ..order() },
        ),
        ("a name with a quote", Order { shares: vec![share(1, &["a\""])], ..order() }),
        ("a path", Order { shares: vec![share(1, &["../a"])], ..order() }),
        ("an option", Order { shares: vec![share(1, &["-a"])], ..order() }),
        ("no name", Order { shares: vec![share(1, &[""])], ..order() }),
        ("a pool with a dot", Order { pool: "eu.x".into(), ..order() }),
        ("a pool with a wildcard", Order { pool: "*".into(), ..order() }),
        ("no pool", Order { pool: String::new(), ..order() }),
        ("a source outside", Order { source: "../commands.opl".into(), ..order() }),
        ("an absolute source", Order { source: "/commands.opl".into(), ..order() }),
        ("no runner", Order { runners: vec![], ..order() }),
        ("a runner twice", Order { runners: vec![twice.clone(), twice], ..order() }),
        ("no time", Order { end: NOW - 10, ..order() }),
        ("31 days", Order { end: NOW + 31 * 24 * 3600, ..order() }),
        ("before 1970", Order { made: -1, end: 5, ..order() }),
    ] {
        assert!(matches!(wrong.sign(&key), Err(Refused::NotAnOrder(_))), "{what}");
        let signature = Base64::encode_string(&key.sign(&wrong.signed()));
        let line = line::write(&wrong, &key.public(), &signature);
        assert!(matches!(Order::signed_by(line.as_bytes()), Err(Refused::NotAnOrder(_))), "{what}");
    }
}
