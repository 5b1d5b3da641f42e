//! A socket, for a browser on another machine.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::needs;

use super::{Ui, files, mode};
use crate::support::Opal;

#[test]
fn a_socket_is_for_its_owner_and_answers_to_its_host_only() {
    let opal = Opal::machine("");
    let socket = opal.path().join("home/ui.sock");
    let mut ui = Ui::on_socket(opal.interruptible(), &socket, &[]).entered();
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(ui.client.authority, "localhost:8080");
    let command = format!("ssh -N -L 8080:{} ", socket.display());
    assert!(ui.said().contains(&command), "{}", ui.said());
    ui.get("/inbox").ok();
    for host in ["localhost", "localhost:8081", "127.0.0.1:8080", "evil.example:8080"] {
        let base = &ui.client.base;
        let request = format!("GET {base}/inbox HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(ui.client.send(&request).status, 403, "{host}");
    }
    ui.signal("INT");
    assert_eq!(ui.ends(), Some(0));
    assert!(!socket.exists(), "the socket is removed");
}

#[test]
fn the_host_of_a_socket_can_be_chosen_and_is_always_this_machine() {
    let opal = Opal::machine("");
    let socket = opal.path().join("home/ui.sock");
    let ui = Ui::on_socket(opal.command(), &socket, &["--host", "127.0.0.1:9000"]).entered();
    assert_eq!(ui.client.authority, "127.0.0.1:9000");
    assert!(ui.said().contains("ssh -N -L 9000:"), "{}", ui.said());
    ui.get("/inbox").ok();
    let path = opal.path().join("home/other.sock").display().to_string();
    for host in
        ["0.0.0.0:80", "example.com:8080", "localhost", "localhost:0", "[::]:80", "x@localhost:80"]
    {
        let ran = opal.call(&["ui", "--socket", &path, "--host", host]);
        ran.code(2).says("is not this machine with a port");
    }
    // Without a socket there is nothing to name.
    opal.call(&["ui", "--host", "localhost:8080"]).code(2).says("--socket");
}

#[test]
fn a_socket_that_is_taken_or_could_be_replaced_is_refused() {
    let opal = Opal::machine("").file("home/taken", "x").file("home/open/.keep", "");
    let at = |name: &str| opal.path().join("home").join(name);
    let call = |name: &str| opal.call(&["ui", "--socket", &at(name).display().to_string()]);
    call("taken").code(74).says("exists already");
    assert_eq!(opal.read("home/taken"), "x");
    std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
    call("link").code(74).says("exists already");
    assert!(!at("elsewhere").exists());
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o777)).unwrap();
    call("open/ui.sock").code(77).says("could be replaced").says("writable by other users");
    assert!(!at("open/ui.sock").exists());
    call("nowhere/ui.sock").code(74).says("cannot listen on");
    // One that is in use is not taken over.
    let ui = Ui::on_socket(opal.command(), &at("ui.sock"), &[]).entered();
    call("ui.sock").code(74).says("exists already");
    ui.get("/inbox").ok();
}

/// Whoever has another account on the machine can reach the port, and knows neither the path nor the ticket.
#[test]
fn another_user_of_the_machine_has_neither_the_ticket_nor_the_socket() {
    if !needs::root() || !needs::program("setpriv") || !needs::program("python3") {
        return;
    }
    let opal = Opal::machine("");
    let open = |path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    [opal.path(), opal.path().join("home")].iter().for_each(|path| open(path));
    let as_nobody = |words: &[&OsStr]| {
        let who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let who: Vec<&OsStr> = who.iter().map(AsRef::as_ref).collect();
        opal.started_by(&[&who, words].concat()).output().unwrap()
    };
    let ui = Ui::start(opal.command(), &[]);
    let all = files(&opal.path().join("home/.opal/ui"));
    let [(ticket, _)] = &all[..] else { panic!("{all:?}") };
    let read = as_nobody(&["cat".as_ref(), ticket.as_os_str()]);
    assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
    // What it can ask for without them is refused.
    let guess = "import sys, urllib.request, urllib.error\n\
                 try: print(urllib.request.urlopen(sys.argv[1]).read())\n\
                 except urllib.error.HTTPError as error: print(error.code)\n";
    for path in ["/", "/inbox", "/ticket/00000000000000000000000000000000"] {
        let url = format!("http://{}{path}", ui.client.authority);
        let asked = ["python3".as_ref(), "-c".as_ref(), guess.as_ref(), url.as_ref()];
        let asked = as_nobody(&asked);
        assert_eq!(String::from_utf8_lossy(&asked.stdout), "403\n", "{path} {asked:?}");
    }
    // The ticket is still for its owner.
    ui.entered().get("/inbox").ok();
    let socket = opal.path().join("home/ui.sock");
    let ui = Ui::on_socket(opal.command(), &socket, &[]);
    let connect = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\n\
                   try: s.connect(sys.argv[1]); print('connected')\n\
                   except PermissionError: print('refused')\n";
    let words = ["python3".as_ref(), "-c".as_ref(), connect.as_ref(), socket.as_os_str()];
    let tried = as_nobody(&words);
    assert_eq!(String::from_utf8_lossy(&tried.stdout), "refused\n", "{tried:?}");
    ui.entered().get("/inbox").ok();
}
