//! `[queue]`: where contracts are sent to runners, and who the runners of each pool are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml_edit::Item;

use super::super::error::{PolicyError, Setting};
use super::super::file::Reader;
use crate::order::{MAX_RUNNERS, RunnerKeys, is_pool};

const KEYS: [&str; 3] = ["server", "creds", "pools"];

/// What a user has set about queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    pub server: Option<String>,
    /// The file of the credentials for it.
    pub creds: Option<PathBuf>,
    pub pools: BTreeMap<String, Vec<RunnerKeys>>,
}

pub(super) fn read(reader: &Reader<'_>, item: &Item) -> Result<Queue, PolicyError> {
    let table = item.as_table_like().ok_or_else(|| reader.wrong(item, Setting::Queue))?;
    let mut queue = Queue::default();
    for (name, item) in table.iter() {
        match name {
            "server" => {
                let server = item.as_str().filter(|it| !it.is_empty());
                let server = server.ok_or_else(|| reader.wrong(item, Setting::QueueServer))?;
                queue.server = Some(server.to_owned());
            }
            "creds" => {
                let path = item.as_str().filter(|it| it.starts_with('/'));
                let path = path.ok_or_else(|| reader.wrong(item, Setting::QueueCreds))?;
                queue.creds = Some(path.into());
            }
            "pools" => {
                let wrong = |item| reader.wrong(item, Setting::QueuePools);
                let pools = item.as_table_like().ok_or_else(|| wrong(item))?;
                for (pool, item) in pools.iter() {
                    let runners =
                        item.as_array().filter(|it| (1..=MAX_RUNNERS).contains(&it.len()));
                    let runners = runners.filter(|_| is_pool(pool)).ok_or_else(|| wrong(item))?;
                    let runners = runners.iter().map(|it| runner(it.as_str()?));
                    let runners = runners.collect::<Option<_>>().ok_or_else(|| wrong(item))?;
                    queue.pools.insert(pool.to_owned(), runners);
                }
            }
            other => return Err(reader.unknown(table, other, &KEYS)),
        }
    }
    Ok(queue)
}

/// `age1… ed25519:…`, as `opal runner --keys` prints it.
fn runner(text: &str) -> Option<RunnerKeys> {
    let (recipient, key) = text.split_once(' ')?;
    Some(RunnerKeys { recipient: recipient.parse().ok()?, key: key.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Settings;
    use crate::keys::{Runner, SigningKey};

    fn parse(text: &str) -> Result<super::Queue, String> {
        let parsed = Settings::parse(Path::new("settings.toml"), text);
        parsed.map(|it| it.queue).map_err(|error| format!("{error} {}", error.help()))
    }

    #[test]
    fn a_pool_has_the_keys_of_its_runners() {
        let keys = || (Runner::ephemeral("a test").recipient(), SigningKey::generate().public());
        let (one, two) = (keys(), keys());
        let text = format!(
            "[queue]\nserver = \"tls://queue.example:4222\"\ncreds = \"/etc/opal/q.creds\"\n\
             [queue.pools]\neu = [\"{} {}\", \"{} {}\"]\n",
            one.0, one.1, two.0, two.1
        );
        let queue = parse(&text).unwrap();
        assert_eq!(queue.server.as_deref(), Some("tls://queue.example:4222"));
        assert_eq!(queue.creds.as_deref(), Some(Path::new("/etc/opal/q.creds")));
        let found: Vec<_> =
            queue.pools["eu"].iter().map(|it| (it.recipient.clone(), it.key)).collect();
        assert_eq!(found, [one, two]);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (text, said) in [
            ("queue = 1\n", "queue"),
            ("[queue]\nservers = \"x\"\n", "servers"),
            ("[queue]\nserver = \"\"\n", "server"),
            ("[queue]\nserver = 1\n", "server"),
            ("[queue]\ncreds = \"relative\"\n", "creds"),
            ("[queue]\npools = 1\n", "pools"),
            ("[queue.pools]\neu = []\n", "pools"),
            ("[queue.pools]\neu = \"age1\"\n", "pools"),
            ("[queue.pools]\neu = [\"age1x ed25519:y\"]\n", "pools"),
            ("[queue.pools]\n\"e u\" = [\"x\"]\n", "pools"),
        ] {
            let words = parse(text).unwrap_err();
            assert!(words.contains(said), "{text}: {words}");
        }
    }
}
