use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use opal_core::resource::Status;

use crate::resources::support::{Site, details, words};
use opal_testing::needs;

const CALL: &str = "@file.template(\"app.j2\", \"app.conf\", vars={port: 8080, name: \"web\"})";

#[test]
fn a_file_is_made_from_its_template_and_kept_equal() {
    let site = Site::new();
    site.file("app.j2", "name = {{ name }}\nport = {{ port }}\n");
    site.applies(CALL, Status::Missing);
    assert_eq!(site.text("app.conf"), "name = web\nport = 8080\n");
    site.file("app.conf", "name = web\nport = 80\n");
    let found = site.verify(CALL);
    let diff = "@@ -1,2 +1,2 @@\n name = web\n-port = 8080\n+port = 80\n";
    assert!(details(&found).ends_with(diff), "{}", details(&found));
    site.applies(CALL, Status::Drifted);
}

#[test]
fn bytes_are_those_of_the_template() {
    let site = Site::new();
    for content in ["", "x", "a\r\nb", "\n\n", "\u{feff}x\n", "é <&> \"'\n"] {
        site.file("app.j2", content);
        site.apply(CALL).ok();
        assert_eq!(site.text("app.conf"), content);
        assert_eq!(site.status(CALL), Status::Satisfied);
    }
}

#[test]
fn the_mode_counts_where_it_is_given_and_is_kept_where_not() {
    let site = Site::new();
    site.file("app.j2", "{{ port }}\n");
    site.file("app.conf", "8080\n");
    site.set_mode("app.conf", 0o604);
    assert_eq!(site.status(CALL), Status::Satisfied);
    let strict = CALL.replace("vars=", "mode=\"0640\", vars=");
    let inode = site.found("app.conf").ino();
    site.applies(&strict, Status::Drifted);
    assert_eq!(site.mode("app.conf"), 0o640);
    assert_eq!(site.found("app.conf").ino(), inode, "only the mode was wrong");

    site.file("app.conf", "80\n");
    site.set_mode("app.conf", 0o604);
    site.applies(CALL, Status::Drifted);
    assert_eq!(site.mode("app.conf"), 0o604);
}

#[test]
fn the_owner_is_kept() {
    if !needs::root() {
        return;
    }
    let site = Site::new();
    site.file("app.j2", "{{ port }}\n");
    chown(site.file("app.conf", "80\n"), Some(1), Some(2)).unwrap();
    site.applies(CALL, Status::Drifted);
    let found = site.found("app.conf");
    assert_eq!((found.uid(), found.gid()), (1, 2));
}

#[test]
fn a_template_that_cannot_be_rendered_blocks_and_is_named() {
    let site = Site::new();
    let said = site.blocked(CALL);
    assert!(said.contains("the template `") && said.contains("/app.j2`"), "{said}");
    site.file("app.j2", "a\n{{ prot }}\n");
    let said = site.blocked(CALL);
    assert!(said.contains("/app.j2` cannot be rendered: line 2: `prot` has no value"), "{said}");
    assert!(said.contains("did you mean `port`?"), "{said}");
    site.applies(&CALL.replace("vars=", "allow_missing=true, vars="), Status::Missing);
    assert_eq!(site.text("app.conf"), "a\n\n");
    site.file("app.j2", b"caf\xe9");
    assert!(site.blocked(CALL).contains("is not UTF-8 text, at byte 4"));
    site.file("app.j2", "{% include 'other.j2' %}");
    site.file("other.j2", "x");
    assert!(site.blocked(CALL).contains("a template cannot include another one"));
}

#[test]
fn a_destination_that_is_not_a_file_blocks() {
    let site = Site::new();
    site.file("app.j2", "x\n");
    site.link("app.conf", "elsewhere");
    let said = site.blocked(CALL);
    assert!(said.contains("/app.conf` is a symlink"), "{said}");
    assert!(!site.path("elsewhere").exists());
    std::fs::remove_file(site.path("app.conf")).unwrap();
    site.directory("app.conf");
    assert!(site.blocked(CALL).contains("/app.conf` is a directory, not a file"));
    let null = CALL.replace("app.conf", "/dev/null");
    assert!(site.blocked(&null).contains("`/dev/null` is neither a file nor a directory"));
}

#[test]
fn other_bytes_in_the_destination_are_described() {
    let site = Site::new();
    site.file("app.j2", "x\n");
    for content in [&b"\0\x01\x02"[..], b"caf\xe9\n"] {
        site.file("app.conf", content);
        let found = site.verify(CALL);
        let expected =
            format!("binary content differs: 2 bytes expected, {} actual\n", content.len());
        assert_eq!(details(&found), expected);
        site.applies(CALL, Status::Drifted);
    }
}

#[test]
fn the_environment_is_seen_where_that_is_said() {
    let site = Site::new();
    site.file("app.j2", "{{ HOME }} {{ port }}\n");
    assert!(site.blocked(CALL).contains("`HOME` has no value"));
    site.applies(&CALL.replace("vars=", "env=true, vars="), Status::Missing);
    assert!(site.text("app.conf").ends_with(" 8080\n"));
}

#[test]
fn a_secret_is_written_and_never_shown() {
    let site = Site::new();
    site.file("app.j2", "token = {{ token }}\nport = 1\n");
    site.file("app.conf", "token = canary-51505150\nport = 2\n");
    let call = "//@ env TOKEN canary-51505150\n\
                @file.template(\"app.j2\", \"app.conf\", vars={token: @secret.env.TOKEN})";
    let found = site.verify(call);
    assert_eq!(found.status, Status::Drifted);
    assert!(!words(&found).contains("5150"), "{}", words(&found));
    assert!(details(&found).contains("-port = 1\n+port = 2\n"), "{}", details(&found));
    site.applies(call, Status::Drifted);
    assert_eq!(site.text("app.conf"), "token = canary-51505150\nport = 1\n");
}

#[test]
fn a_file_that_is_made_is_as_the_user_makes_files() {
    let site = Site::new();
    site.file("app.j2", "x\n");
    site.apply(CALL).ok();
    let usual = std::fs::metadata(site.file("usual", "x")).unwrap().permissions().mode() & 0o777;
    assert_eq!(site.mode("app.conf"), usual);
}

#[test]
fn a_template_is_not_rendered_into_itself() {
    let site = Site::new();
    site.file("a.conf", "port={{ 8 * 10 }}\n");
    site.link("link.j2", "a.conf");
    site.link("here", ".");
    for source in ["a.conf", "./a.conf", "link.j2", "here/a.conf"] {
        let said = site.blocked(&format!("@file.template(\"{source}\", \"a.conf\")"));
        assert!(said.contains("cannot be rendered into itself: it is the template"), "{said}");
    }
    site.blocked("@file.template(\"a.conf\", \"here/a.conf\")");
    // Another name of the same file is replaced, and the template stays.
    std::fs::hard_link(site.path("a.conf"), site.path("b.conf")).unwrap();
    site.applies("@file.template(\"a.conf\", \"b.conf\")", Status::Drifted);
    assert_eq!(
        (site.text("a.conf").as_str(), site.text("b.conf").as_str()),
        ("port={{ 8 * 10 }}\n", "port=80\n")
    );
}
