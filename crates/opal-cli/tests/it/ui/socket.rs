//! A socket, for a browser on another machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{Ui, mode};
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
