//! A network of its own, in a namespace of the system, with one machine in it. Its packets are dropped
//! when a test says so.

use std::process::{Command, Stdio};

use crate::needs;

/// It is gone when it is dropped, with all rules in it.
#[derive(Debug)]
pub struct Network {
    name: String,
    /// The end of the cable that is here.
    here: String,
    address: String,
}

impl Network {
    /// None where the system allows no namespaces.
    ///
    /// # Panics
    /// If the network cannot be made where they are allowed.
    #[must_use]
    pub fn new() -> Option<Self> {
        if !needs::root() || !needs::has("`ip`", answers(&["ip", "netns", "list"])) {
            return None;
        }
        // Names of cables are short.
        let number = std::process::id() % 60_000;
        let (name, here) = (format!("opal-{number}"), format!("opal{number}h"));
        let allows = answers(&["ip", "netns", "add", &name]);
        let address = format!("10.213.{}.{}", number / 250, number % 250 / 4 * 4 + 2);
        let network = Self { name, here, address };
        let drops = allows && answers(&network.inside(&["iptables", "-L", "-n"]));
        if !needs::has("network namespaces and iptables, which this kernel refuses", drops) {
            return None;
        }
        let there = format!("opal{number}t");
        let own = network
            .address
            .rsplit_once('.')
            .map(|(net, last)| format!("{net}.{}/30", last.parse::<u8>().unwrap_or_default() - 1));
        let (whole, own) = (format!("{}/30", network.address), own.unwrap());
        run(&["ip", "link", "add", &network.here, "type", "veth", "peer", "name", &there]);
        run(&["ip", "link", "set", &there, "netns", &network.name]);
        run(&["ip", "address", "add", &own, "dev", &network.here]);
        run(&["ip", "link", "set", &network.here, "up"]);
        for words in [
            &["ip", "address", "add", &whole, "dev", &there][..],
            &["ip", "link", "set", &there, "up"],
            &["ip", "link", "set", "lo", "up"],
        ] {
            run(&network.inside(words));
        }
        Some(network)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Of the machine in it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// From now on every packet is dropped, in both directions.
    pub fn cut(&self) {
        for chain in ["INPUT", "OUTPUT"] {
            run(&self.inside(&["iptables", "-I", chain, "-j", "DROP"]));
        }
    }

    /// Packets pass again, those of old connections too.
    pub fn heal(&self) {
        run(&self.inside(&["iptables", "-F"]));
    }

    /// So many kilobits pass in a second, from here; false where the kernel cannot do it.
    #[must_use]
    pub fn slow(&self, kilobits: u32) -> bool {
        let rate = format!("{kilobits}kbit");
        let words = ["root", "tbf", "rate", &rate, "burst", "32k", "latency", "400ms"];
        let words = [&["tc", "qdisc", "add", "dev", &self.here], &words[..]].concat();
        needs::has("a kernel that slows a network down (`tbf`)", answers(&words))
    }

    fn inside<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [&["ip", "netns", "exec", &self.name], words].concat()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        answers(&["ip", "link", "del", &self.here]);
        answers(&["ip", "netns", "del", &self.name]);
    }
}

fn run(words: &[&str]) {
    assert!(answers(words), "{words:?}");
}

#[expect(clippy::disallowed_methods, reason = "networks are made by the programs of the system")]
fn answers(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
