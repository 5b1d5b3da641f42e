//! Host keys: known, changed, revoked, of a contract, and imitated.

use std::fs;
use std::process::Command;

use opal_core::target::HostKey;
use opal_remote::Mode;
use opal_remote::dial::error::{DialCause, DialError, KeyRefusal};
use opal_remote::dial::ssh::KeyPolicy;
use opal_testing::sshd::Sshd;

use super::support::{Caller, ssh};

fn reported(sshd: &Sshd) -> HostKey {
    let caller = Caller::of(sshd).with_keys(KeyPolicy::Reported);
    let dialled = caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap();
    dialled.host_key().unwrap().clone()
}

fn refused(sshd: &Sshd, keys: KeyPolicy) -> DialError {
    Caller::of(sshd).with_keys(keys).dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap_err()
}

/// The command that removes the old key of the host.
fn forget(sshd: &Sshd) -> String {
    let (port, file) = (sshd.port(), sshd.known_hosts());
    format!("ssh-keygen -R '[127.0.0.1]:{port}' -f {}", file.display())
}

/// The fingerprint, as `ssh-keygen` writes it.
fn fingerprint(sshd: &Sshd) -> String {
    let file = sshd.directory().join("host.pub");
    let output = Command::new("ssh-keygen").arg("-lf").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn the_key_of_a_host_is_reported_and_is_the_one_of_the_contract() {
    let Some(mut sshd) = Sshd::start() else { return };
    let key = reported(&sshd);
    assert_eq!((key.algorithm(), key.identity()), ("ssh-ed25519", &*fingerprint(&sshd)));
    let only = || KeyPolicy::Only(key.clone());
    let caller = Caller::of(&sshd).with_keys(only());
    caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    // Who asks for nothing is not given it.
    let plain = Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    assert_eq!(plain.host_key(), None);
    // While `known_hosts` has the old key, ssh refuses the new one.
    sshd.change_host_key(&[]);
    let presented = fingerprint(&sshd);
    let error = refused(&sshd, only());
    let expected = key.identity().to_owned();
    let forget = forget(&sshd);
    let refusal = KeyRefusal::NotTheContracts { expected, presented: presented.clone(), forget };
    assert_eq!(error.cause, DialCause::HostKey(refusal));
    assert!(error.is_refused_key(), "77");
    // Afterwards it is a difference to the contract.
    sshd.know_host();
    let error = refused(&sshd, only());
    assert!(matches!(error.cause, DialCause::OtherKey { .. }), "{error:?}");
    assert!(!error.is_refused_key());
    let shown = format!("host key is {} in the contract, {presented} now", key.identity());
    assert_eq!(error.to_string(), shown);
}

#[test]
fn a_changed_or_revoked_key_is_refused_in_a_direct_run_too() {
    let Some(mut sshd) = Sshd::start() else { return };
    sshd.change_host_key(&[]);
    let presented = fingerprint(&sshd);
    let error = refused(&sshd, KeyPolicy::Users);
    assert_eq!(
        error.cause,
        DialCause::HostKey(KeyRefusal::Changed {
            presented: presented.clone(),
            forget: forget(&sshd)
        })
    );
    assert!(error.is_refused_key() && error.help().contains("ssh-keygen -R"), "{}", error.help());
    assert_eq!(refused(&sshd, KeyPolicy::Reported).cause, error.cause);
    let line = format!("@revoked * {}", sshd.host_key());
    fs::write(sshd.known_hosts(), line).unwrap();
    let error = refused(&sshd, KeyPolicy::Users);
    assert_eq!(error.cause, DialCause::HostKey(KeyRefusal::Revoked { presented }));
}

#[test]
fn an_unknown_key_and_a_refused_login_are_not_a_refused_key() {
    let Some(sshd) = Sshd::start() else { return };
    let caller = Caller::of(&sshd).with_keys(KeyPolicy::Reported);
    let error = caller.dial(&ssh(&sshd.address_of("stranger")), Mode::ReadOnly).unwrap_err();
    assert!(!error.is_refused_key(), "{error:?}");
    fs::write(sshd.known_hosts(), "").unwrap();
    for keys in [KeyPolicy::Users, KeyPolicy::Reported] {
        let error = refused(&sshd, keys);
        assert_eq!(error.cause, DialCause::Ended { code: Some(255) });
    }
}

#[test]
fn a_banner_that_imitates_a_changed_key_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let banner = folder.path().join("banner");
    fs::write(
        &banner,
        "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nSHA256:AAAA\nHost key verification failed.\n",
    )
    .unwrap();
    let line = format!("Banner {}", banner.display());
    let Some(sshd) = Sshd::start_with("/bin/sh", &[&line]) else { return };
    for keys in [KeyPolicy::Users, KeyPolicy::Reported] {
        let caller = Caller::of(&sshd).with_keys(keys);
        let error = caller.dial(&ssh(&sshd.address_of("stranger")), Mode::ReadOnly).unwrap_err();
        assert!(!error.is_refused_key(), "{error:?}");
    }
    assert_eq!(reported(&sshd).identity(), fingerprint(&sshd));
}

#[test]
fn the_users_own_command_for_known_hosts_is_asked_too() {
    let Some(mut sshd) = Sshd::start() else { return };
    let line = fs::read_to_string(sshd.known_hosts()).unwrap();
    fs::write(sshd.known_hosts(), "").unwrap();
    let list = sshd.directory().join("own list");
    fs::write(&list, line).unwrap();
    let command = format!("KnownHostsCommand /bin/cat \"{}\"\n", list.display());
    sshd.configure(&format!("Host *\n{command}"));
    assert_eq!(reported(&sshd).identity(), fingerprint(&sshd));
}

#[test]
fn of_a_host_certificate_the_authority_and_the_names_count() {
    let Some(mut sshd) = Sshd::start() else { return };
    let keygen = |words: &[&str]| {
        let made = Command::new("ssh-keygen").current_dir(sshd.directory()).args(words).output();
        assert!(made.unwrap().status.success());
    };
    keygen(&["-q", "-t", "ed25519", "-N", "", "-f", "ca"]);
    let sign = ["-q", "-s", "ca", "-I", "id", "-h", "-n", "127.0.0.1,web1"];
    keygen(&[&sign[..], &["host.pub"]].concat());
    let certificate =
        format!("HostCertificate {}", sshd.directory().join("host-cert.pub").display());
    sshd.restart(&[&certificate]);
    let authority = fs::read_to_string(sshd.directory().join("ca.pub")).unwrap();
    fs::write(sshd.known_hosts(), format!("@cert-authority * {authority}")).unwrap();
    let first = reported(&sshd);
    assert_eq!(first.algorithm(), "ssh-ed25519-cert-v01@openssh.com");
    assert!(first.identity().ends_with(" for 127.0.0.1,web1"), "{first}");
    // Another key, signed by the same authority for the same names, is the same host.
    fs::remove_file(sshd.directory().join("host")).unwrap();
    let keygen = |words: &[&str]| {
        let made = Command::new("ssh-keygen").current_dir(sshd.directory()).args(words).output();
        assert!(made.unwrap().status.success());
    };
    keygen(&["-q", "-t", "ed25519", "-N", "", "-f", "host"]);
    keygen(&[&sign[..], &["host.pub"]].concat());
    sshd.restart(&[&certificate]);
    let caller = Caller::of(&sshd).with_keys(KeyPolicy::Only(first));
    caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap();
}
