//! Pages as a world reads them, from real servers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use opal_core::Data;
use opal_core::resolver::{MAX_VALUE_BYTES, Probe, Request, Trouble, TroubleKind};
use opal_http::Http;
use opal_session::world::{OsWorld, Surroundings};

use server::{Server, answer};

fn world(environment: &[(&str, &str)]) -> OsWorld {
    let variables = environment.iter().map(|(name, value)| (name.into(), value.into()));
    OsWorld::new(Surroundings {
        environment: Arc::new(variables.collect()),
        start: "/".into(),
        pages: Some(Arc::new(Http::new())),
        reach: None,
        ..Surroundings::default()
    })
}

fn get(world: &OsWorld, url: &str) -> Result<String, Trouble> {
    let headers = BTreeMap::from([("X-Token".to_owned(), Data::text("canary-77"))]);
    let request = Request { url, headers: &headers, timeout: Duration::from_secs(5) };
    world.get(&request).map(|body| body.expose().to_owned())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Trouble>, kind: TroubleKind, words: &str) {
    let trouble = answer.unwrap_err();
    assert_eq!(trouble.kind, kind, "{trouble:?}");
    assert!(trouble.message.contains(words), "{trouble:?}");
    assert!(trouble.help.iter().all(|help| !help.is_empty()) && !trouble.help.is_empty());
}

#[test]
fn a_page_is_its_body_and_statuses_have_their_kinds() {
    let server = Server::start(|request| match request.path.as_str() {
        "/good" => answer(200, &[], "grüße"),
        "/gone" => answer(404, &[], "canary-99"),
        "/private" => answer(403, &[], ""),
        "/broken" => answer(500, &[], ""),
        "/odd" => answer(304, &[], ""),
        "/binary" => [answer(200, &[("Content-Length", "2")], ""), vec![0xff, 0xfe]].concat(),
        "/noise" => b"this is not http\r\n\r\n".to_vec(),
        _ => unreachable!("{}", request.path),
    });
    let world = world(&[]);
    let get = |path: &str| get(&world, &server.url(path));
    assert_eq!(get("/good").unwrap(), "grüße");
    refused(get("/gone"), TroubleKind::Missing, "status 404");
    refused(get("/private"), TroubleKind::Denied, "status 403");
    refused(get("/broken"), TroubleKind::Failed, "status 500");
    refused(get("/odd"), TroubleKind::Failed, "status 304");
    refused(get("/binary"), TroubleKind::NotText, "UTF-8");
    refused(get("/noise"), TroubleKind::Failed, "not HTTP");
}

#[test]
fn redirections_are_followed_without_headers_to_strangers_and_not_for_ever() {
    let stranger = Server::start(|request| answer(200, &[], &request.header("x-token")));
    let elsewhere = stranger.url("/");
    let server = Server::start(move |request| match request.path.as_str() {
        "/near" => answer(302, &[("Location", "token?x=1")], ""),
        "/token?x=1" => answer(200, &[], &request.header("x-token")),
        "/far" => answer(307, &[("Location", &elsewhere)], ""),
        "/round" => answer(301, &[("Location", "/round")], ""),
        "/file" => answer(301, &[("Location", "file:///etc/passwd")], ""),
        _ => unreachable!("{}", request.path),
    });
    let world = world(&[]);
    let get = |path: &str| get(&world, &server.url(path));
    assert_eq!(get("/near").unwrap(), "canary-77");
    assert_eq!(get("/far").unwrap(), "");
    refused(get("/round"), TroubleKind::Failed, "more than 10 times");
    refused(get("/file"), TroubleKind::Invalid, "invalid URL");
}

#[test]
fn a_server_that_only_an_answer_names_is_in_no_message() {
    let stranger = Server::start(|request| match request.path.as_str() {
        "/more" => answer(200, &[], &"x".repeat(MAX_VALUE_BYTES as usize + 1)),
        "/binary" => [answer(200, &[("Content-Length", "2")], ""), vec![0xff, 0xfe]].concat(),
        "/noise" => b"this is not http\r\n\r\n".to_vec(),
        _ => answer(404, &[], ""),
    });
    let elsewhere = stranger.url("");
    let server = Server::start(move |request| {
        let to = match request.path.as_str() {
            "/nowhere" => "http://canary-host.invalid/".to_owned(),
            path => format!("{elsewhere}{path}"),
        };
        answer(302, &[("Location", &to)], "")
    });
    let world = world(&[]);
    let hidden = stranger.url("").replace("http://", "").trim_end_matches('/').to_owned() + "`";
    for (path, kind) in [
        ("/gone", TroubleKind::Missing),
        ("/more", TroubleKind::TooLarge),
        ("/binary", TroubleKind::NotText),
        ("/noise", TroubleKind::Failed),
        ("/nowhere", TroubleKind::Unreachable),
    ] {
        let trouble = get(&world, &server.url(path)).unwrap_err();
        let words = format!("{trouble:?}");
        assert!(!words.contains("canary") && !words.contains(&hidden), "{words}");
        refused(Err::<(), _>(trouble), kind, "the server that `127.0.0.1:");
    }
}

#[test]
fn large_and_slow_pages_are_refused() {
    let limit = MAX_VALUE_BYTES as usize;
    let server = Server::start(move |request| match request.path.as_str() {
        "/most" => answer(200, &[], &"x".repeat(limit)),
        "/more" => answer(200, &[], &"x".repeat(limit + 1)),
        "/slow" => answer(200, &[("Content-Length", "100")], ""),
        _ => unreachable!("{}", request.path),
    });
    let world = world(&[]);
    assert_eq!(get(&world, &server.url("/most")).unwrap().len(), limit);
    refused(get(&world, &server.url("/more")), TroubleKind::TooLarge, "8 MiB");
    let (headers, timeout) = (BTreeMap::new(), Duration::from_millis(300));
    let slow = Request { url: &server.url("/slow"), headers: &headers, timeout };
    refused(world.get(&slow), TroubleKind::Unreachable, "did not answer");
}

#[test]
fn servers_that_are_not_there_or_not_who_they_say_are_named_without_credentials() {
    let server = Server::start(|_| answer(200, &[], ""));
    let world = world(&[]);
    let secure = server.url("/canary-path").replace("http://", "https://user:canary-pw@");
    let trouble = get(&world, &secure).unwrap_err();
    assert!(!format!("{trouble:?}").contains("canary"), "{trouble:?}");
    refused(Err::<(), _>(trouble), TroubleKind::Denied, "invalid certificate");
    let closed = server.stop();
    let trouble = get(&world, &format!("http://u:canary-pw@{closed}/canary")).unwrap_err();
    assert!(!format!("{trouble:?}").contains("canary"), "{trouble:?}");
    refused(Err::<(), _>(trouble), TroubleKind::Unreachable, "cannot be reached");
    refused(
        get(&world, "http://host.invalid/"),
        TroubleKind::Unreachable,
        "`host.invalid` was not found",
    );
    refused(get(&world, "https:///x"), TroubleKind::Invalid, "invalid URL");
}

#[test]
fn a_proxy_comes_from_the_given_environment() {
    let proxy = Server::start(|request| answer(200, &[], &format!("through {}", request.path)));
    let address = proxy.url("");
    let page = "http://host.invalid/x";
    let through = get(&world(&[("http_proxy", &address)]), page);
    assert_eq!(through.unwrap(), "through host.invalid:80/x");
    refused(
        get(&world(&[("HTTP_PROXY", &address)]), page),
        TroubleKind::Unreachable,
        "host.invalid",
    );
    let around = [("http_proxy", address.as_str()), ("no_proxy", "a.example, host.invalid")];
    refused(get(&world(&around), page), TroubleKind::Unreachable, "host.invalid");
}

#[test]
fn a_machine_that_is_not_opals_own_reads_no_page() {
    let world = OsWorld::new(Surroundings::default());
    refused(get(&world, "http://host.invalid/"), TroubleKind::Failed, "opens no connection");
}
