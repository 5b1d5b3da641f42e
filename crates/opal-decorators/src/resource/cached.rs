//! A block that is skipped while nothing that it depends on has changed.
//!
//! | what | where |
//! |---|---|
//! | what an entry says, and its bytes | `entry` |
//! | what has changed since, in words | `changes` |

mod changes;
mod entry;

use opal_core::action::{Action, Conditions, Halt, Level, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::hash::{Algorithm, Digest};
use opal_core::inventory::{CACHED, Entries, EntryUse, Inventory, Known, MAY_SKIP, Wanted, Which};
use opal_core::placeholder::bytes;
use opal_core::resolver::{Identity, Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};
use opal_core::{Data, Secret, Value, message};

use crate::common::{DEPENDS_ON, ID, NAME, STRINGS, VERIFY_TIMEOUT};
use changes::{Changes, touched};
use entry::Entry;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: CACHED,
    summary: "skip a block while its inputs and outputs are unchanged",
    docs: "The block runs, and opal remembers what it depended on: the steps of the block and the \
           values in them, the path, the executable bit and the content of every input, the named \
           environment variables, the operating system and architecture, and the content of every \
           output. As long as all of that is the same, the block is skipped. Nothing is ever \
           restored: where an output has changed, the block runs.\n\n\
           Inputs and outputs are paths or globs inside the project; a directory stands for all \
           files below it. Globs of inputs leave out files that git ignores. Programs that the \
           block starts, and variables that are not named in `env`, are not compared.\n\n\
           Entries are in the directory `cache` of the runtime root, valid only on the machine that \
           wrote them. `--no-cache` ignores them. In a contract the block always runs, unless it \
           was made with `opal plan --cache`.\n\n\
           ## Statuses\n\n\
           - `satisfied`: nothing has changed since the block last succeeded; it is skipped.\n\
           - `missing`: the block has not succeeded here yet, or an output does not exist.\n\
           - `drifted`: an input, an output, a value or a variable has changed; the details name \
           it.\n\
           - `blocked`: no file matches `inputs`, a path is outside the project, a file is input \
           and output, an input is neither a file nor a directory or cannot be read, or there are \
           more than 200,000 files.\n\
           - `unknown`: in a contract that does not permit skips, or without a runtime root.",
    params: &[
        Param {
            name: "inputs",
            ty: STRINGS,
            docs: "the files that the block reads",
            ..Param::BASE
        },
        Param {
            name: "outputs",
            ty: STRINGS,
            presence: Presence::Default(Value::Array(Vec::new())),
            docs: "the files that the block makes",
            ..Param::BASE
        },
        Param {
            name: "env",
            ty: STRINGS,
            presence: Presence::Default(Value::Array(Vec::new())),
            docs: "the environment variables that the block depends on",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    block: Block::Required,
    resource: Some(Resource {
        yaml: "cached",
        key: &["inputs", "outputs", "env"],
        verify: &Cached,
    }),
    capabilities: &[Capability::Environment, Capability::FilesRead],
    action: Some(&Cached),
    examples: &[Example {
        title: "build only after a change",
        source: "fun build() {\n    @cached(inputs=[\"src/**\"], outputs=[\"dist\"], \
                 env=[\"NODE_ENV\"]) {\n        npm run build\n    }\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Cached;

/// What a block depends on now.
struct Asked<'a> {
    inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    /// Where its entry is.
    name: Digest,
    /// All but files.
    facts: entry::Facts,
}

impl<'a> Asked<'a> {
    fn of(
        inputs: &'a Inputs,
        block: &Identity,
        probe: &dyn Probe,
        entries: &dyn Entries,
    ) -> Result<Self, Trouble> {
        let (files, outputs) = (texts(inputs, "inputs"), texts(inputs, "outputs"));
        let variables = texts(inputs, "env");
        let directory = block.directory.as_os_str().as_encoded_bytes();
        let base = probe.place(".")?;
        let mut parts =
            vec![block.steps.as_slice(), directory, base.as_os_str().as_encoded_bytes()];
        for list in [&files, &outputs, &variables] {
            parts.push(b"\0list");
            parts.extend(list.iter().map(|text| text.as_bytes()));
        }
        let mut hasher = Algorithm::Blake3.hasher();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut facts = entry::Facts::default();
        let host = probe.host();
        facts.add("system", entries.digest(&[host.os.as_bytes(), host.arch.as_bytes()]));
        for (key, data) in &block.values {
            facts.add(&format!("value {key}"), entries.digest(&[b"value", &bytes(data)]));
        }
        for name in variables {
            let value = probe.env(name)?;
            let digest = match &value {
                Some(value) => entries.digest(&[b"set", value.expose().as_bytes()]),
                None => entries.digest(&[b"unset"]),
            };
            facts.add(&format!("variable {name}"), digest);
        }
        Ok(Self { inputs: files, outputs, name: hasher.finish(), facts })
    }

    /// The files of now, read as far as that is needed.
    fn take(&self, known: Option<&Entry>, probe: &dyn Probe) -> Result<Entry, Trouble> {
        let at = entry::nanos(probe.now());
        let earlier = |pick: fn(&Entry) -> &Inventory| {
            known.map(|entry| Known { files: pick(entry), at: entry.at })
        };
        let inputs = probe.inventory(&Wanted {
            patterns: &self.inputs,
            except: &[],
            which: Which::Inputs,
            known: earlier(|entry| &entry.inputs),
        })?;
        if inputs.is_empty() {
            return Err(self.unmatched(probe));
        }
        let outputs = match self.outputs.is_empty() {
            true => Inventory::new(),
            false => probe.inventory(&Wanted {
                patterns: &self.outputs,
                except: &[],
                which: Which::Outputs,
                known: earlier(|entry| &entry.outputs),
            })?,
        };
        if let Some(both) = outputs.keys().find(|name| inputs.contains_key(*name)) {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                message!("`", **both, "` is an input and an output"),
                "write inputs that do not match it, or have git ignore the outputs",
            ));
        }
        Ok(Entry { at, facts: self.facts.clone(), inputs, outputs })
    }

    /// Why there are no inputs. Files that git ignores are not searched: they may be many.
    fn unmatched(&self, probe: &dyn Probe) -> Trouble {
        let is_there = |path: &str| {
            let found = probe.place(path).and_then(|place| probe.stat(&place));
            found.is_ok_and(|found| found.is_some())
        };
        let absent = self.inputs.iter().map(|pattern| named_part(pattern)).find(|it| !is_there(it));
        let help = match absent {
            Some(path) => message!(
                "`",
                *path,
                "` does not exist; patterns begin beside the source; where it may be absent, also \
                 name a file that is always there"
            ),
            None => message!(
                "files that git ignores do not count, unless they or their directory are named \
                 without wildcards"
            ),
        };
        let message = message!("no file matches `inputs`: ", quoted(&self.inputs));
        Trouble::new(TroubleKind::Missing, message, help)
    }

    /// An output that nothing is at.
    fn without_output(&self, entry: &Entry, probe: &dyn Probe) -> Result<Option<&'a str>, Trouble> {
        for &pattern in &self.outputs {
            let wanted =
                Wanted { patterns: &[pattern], except: &[], which: Which::Outputs, known: None };
            let is_plain = !pattern.contains(WILDCARDS);
            let is_there = match is_plain {
                // A directory without files is there.
                true => probe.stat(&probe.place(pattern)?)?.is_some(),
                false if entry.outputs.is_empty() => false,
                false => !probe.inventory(&wanted)?.is_empty(),
            };
            if !is_there {
                return Ok(Some(pattern));
            }
        }
        Ok(None)
    }
}

const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The part of a pattern that names a file or a directory.
fn named_part(pattern: &str) -> &str {
    match pattern.find(WILDCARDS) {
        Some(at) => pattern[..at].rfind('/').map_or(".", |slash| &pattern[..=slash]),
        None => pattern,
    }
}

impl Verify for Cached {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let Some(entries) = probe.entries() else {
            return Ok(Finding::unknown("there is no runtime root, so nothing is remembered"));
        };
        if !is_used(inputs, entries) {
            return Ok(Finding::unknown("it always runs in this contract"));
        }
        let Some(block) = &inputs.block else {
            return Ok(Finding::unknown("the run starts inside its block"));
        };
        let asked = Asked::of(inputs, block, probe, entries)?;
        let known = entries.load(&asked.name).and_then(|bytes| Entry::read(&bytes));
        let now = asked.take(known.as_ref(), probe)?;
        if entries.use_of() == EntryUse::Ignored {
            return Ok(Finding::missing("earlier runs are ignored"));
        }
        let Some(known) = known else {
            return Ok(Finding::missing("no earlier run of this block is known"));
        };
        if let Some(pattern) = asked.without_output(&now, probe)? {
            return Ok(Finding::missing(format!("the output `{pattern}` does not exist")));
        }
        let changes = Changes::between(&known, &now);
        if let Some(message) = changes.message() {
            let finding = Finding::drifted(message);
            return Ok(match changes.details() {
                Some(details) => finding.with_details(details),
                None => finding,
            });
        }
        let count = now.inputs.len();
        let files = if count == 1 { "file" } else { "files" };
        // With the times of now, what was read once more need not be read the next time.
        let renewed = (!known.has_stamps_of(&now)).then(|| (asked.name, now.written()));
        Ok(Finding::satisfied(format!("{count} input {files} unchanged")).with_renewed(renewed))
    }

    fn is_compared(&self) -> bool {
        false
    }

    fn is_verified_after(&self) -> bool {
        false
    }
}

impl Action for Cached {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let is_kept = stage.entries().is_some_and(|entries| is_used(inputs, entries));
        let Some(block) = inputs.block.as_ref().filter(|_| is_kept) else {
            stage.block(&Conditions::default())?;
            return Ok(Data::Null);
        };
        let before = begin(inputs, block, stage).map_err(|trouble| stage.fail(1, trouble))?;
        stage.block(&Conditions::default())?;
        match end(before, stage) {
            Ok(None) => {}
            Ok(Some(why)) => stage.log(Level::Warn, &Secret::new(why))?,
            Err(trouble) => return Err(stage.fail(1, trouble)),
        }
        Ok(Data::Null)
    }
}

/// What a block depends on before it runs.
fn begin<'a>(
    inputs: &'a Inputs,
    block: &Identity,
    stage: &dyn Stage,
) -> Result<(Asked<'a>, Entry), Trouble> {
    let (probe, Some(entries)) = (stage.probe(), stage.entries()) else {
        return Err(Trouble::new(TroubleKind::Failed, "no entries", "run again"));
    };
    let asked = Asked::of(inputs, block, &*probe, entries)?;
    let known = entries.load(&asked.name).and_then(|bytes| Entry::read(&bytes));
    let now = asked.take(known.as_ref(), &*probe)?;
    Ok((asked, now))
}

/// Remembers what a block depended on and made; the words say why not.
fn end((asked, before): (Asked<'_>, Entry), stage: &dyn Stage) -> Result<Option<String>, Trouble> {
    let (probe, Some(entries)) = (stage.probe(), stage.entries()) else { return Ok(None) };
    // Read again: what the block has written is younger than what is known.
    let after = asked.take(Some(&before), &*probe)?;
    if let Some(pattern) = asked.without_output(&after, &*probe)? {
        return Err(Trouble::new(
            TroubleKind::Missing,
            message!("the block did not make its output `", pattern, "`"),
            "name in `outputs` what the block makes",
        ));
    }
    if let Some(changed) = touched(&before.inputs, &after.inputs) {
        return Ok(Some(format!(
            "this run is not remembered: the input {changed} while the block ran"
        )));
    }
    let stored = entries.store(&asked.name, &after.written());
    Ok(stored.err().map(|why| format!("this run is not remembered: {why}")))
}

/// Whether entries are looked up and written for this block.
fn is_used(inputs: &Inputs, entries: &dyn Entries) -> bool {
    let is_marked = matches!(inputs.open.get(MAY_SKIP), Some(Data::Bool(true)));
    is_marked || entries.use_of() != EntryUse::Contract
}

fn texts<'a>(inputs: &'a Inputs, name: &str) -> Vec<&'a str> {
    match inputs.data(name) {
        Some(Data::Array(items)) => items.iter().filter_map(Data::as_text).collect(),
        _ => Vec::new(),
    }
}

fn quoted(patterns: &[&str]) -> String {
    patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ")
}
