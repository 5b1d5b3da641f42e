//! An inventory by its name, with the files beside it. Everything is read on opal's machine.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::files::EntryKind;
use opal_core::resolver::{Ask, Links, Probe, Trouble};

use super::error::{Fault, InventoryError};
use super::groups::{Inventory, Layer};
use super::ssh_config::{self, MAX_INCLUDES};
use super::variable::Place;
use super::{MAX_FILE_BYTES, MAX_FILES, ini, listing, yaml};

/// What `inventory=` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file or a directory of files.
    Path(String),
    /// `"ssh"`: the hosts of the user's SSH configuration.
    Ssh,
    /// `"cmd:PROGRAM"`.
    Program(String),
}

impl Source {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix("cmd:") {
            Some(program) => Self::Program(program.to_owned()),
            None if text == "ssh" => Self::Ssh,
            None => Self::Path(text.to_owned()),
        }
    }

    /// Whether reading it starts a program: only a run and a resolved plan do.
    #[must_use]
    pub fn is_expensive(&self) -> bool {
        matches!(self, Self::Program(_))
    }
}

/// Reads an inventory.
pub fn read(source: &Source, probe: &dyn Probe) -> Result<Inventory, Trouble> {
    let mut reader = Reader { probe, inventory: Inventory::default(), files: 0, bases: Vec::new() };
    match source {
        Source::Path(path) => {
            let path = probe.place(path)?;
            reader.path(&path)?;
            let bases = std::mem::take(&mut reader.bases);
            for base in bases {
                reader.variables(&base)?;
            }
        }
        Source::Ssh => {
            let home = probe.place("~")?;
            reader.ssh(&home.join(".ssh/config"), &home, 0, true)?;
        }
        Source::Program(program) => reader.program(program)?,
    }
    Ok(reader.inventory.finish()?)
}

struct Reader<'p> {
    probe: &'p dyn Probe,
    inventory: Inventory,
    files: usize,
    /// Directories with `group_vars` and `host_vars`, in order.
    bases: Vec<PathBuf>,
}

/// Names that Ansible does not read in a directory of inventories.
const IGNORED_ENDS: [&str; 12] =
    [".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".orig", ".cfg", ".retry"];

impl Reader<'_> {
    fn path(&mut self, path: &Path) -> Result<(), Trouble> {
        let missing = || {
            let message = format!("the inventory `{}` does not exist", path.display());
            Trouble::new(opal_core::resolver::TroubleKind::Missing, message, "correct the path")
        };
        match self.kind(path)?.ok_or_else(missing)? {
            EntryKind::Directory => {
                self.bases.push(path.to_owned());
                self.directory(path, 0)
            }
            EntryKind::File => {
                self.bases.push(path.parent().unwrap_or(path).to_owned());
                self.file(path)
            }
            _ => Err(InventoryError::at(&place(path), Fault::NotDirectory).into()),
        }
    }

    fn kind(&self, path: &Path) -> Result<Option<EntryKind>, Trouble> {
        let mut path = path.to_owned();
        // Links are followed, as Ansible does, as long as they lead on.
        for _ in 0..40 {
            match self.probe.stat(&path)? {
                Some(entry) if entry.kind == EntryKind::Link => {
                    let to = self.probe.read_link(&path)?;
                    path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
                }
                other => return Ok(other.map(|entry| entry.kind)),
            }
        }
        Ok(None)
    }

    fn directory(&mut self, path: &Path, level: usize) -> Result<(), Trouble> {
        if level > super::MAX_LEVELS {
            return Err(InventoryError::at(&place(path), Fault::TooDeep).into());
        }
        for name in self.probe.list(path)? {
            let name = name.to_string_lossy().into_owned();
            let is_ignored = name.starts_with('.')
                || ["group_vars", "host_vars", "vars_plugins"].contains(&name.as_str())
                || IGNORED_ENDS.iter().any(|end| name.ends_with(end));
            let path = path.join(&name);
            match self.kind(&path)?.filter(|_| !is_ignored) {
                Some(EntryKind::Directory) => self.directory(&path, level + 1)?,
                Some(EntryKind::File) => self.file(&path)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Trouble> {
        let text = self.text(path)?;
        let name: Arc<str> = path.display().to_string().into();
        let extension = path.extension().map(|it| it.to_string_lossy().into_owned());
        let extension = extension.as_deref();
        if text.starts_with("#!") {
            return Err(InventoryError::at(&place(path), Fault::Program).into());
        }
        let is_yaml = match extension {
            Some("yaml" | "yml" | "json") => true,
            Some("toml") => return Err(InventoryError::at(&place(path), Fault::Toml).into()),
            None => yaml::is_mapping(&text, &name),
            Some(_) => false,
        };
        let read = if is_yaml { yaml::read } else { ini::read };
        Ok(read(&text, &name, &mut self.inventory)?)
    }

    fn text(&mut self, path: &Path) -> Result<String, Trouble> {
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(InventoryError::at(&place(path), Fault::TooManyFiles).into());
        }
        let mut bytes = Vec::new();
        let file = self.probe.read(path, Links::Followed)?;
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| {
            let message = format!("`{}` cannot be read: {}", path.display(), error.kind());
            Trouble::new(opal_core::resolver::TroubleKind::Failed, message, "check the disk")
        })?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(InventoryError::at(&place(path), Fault::TooLarge).into());
        }
        let text = String::from_utf8(bytes);
        text.map_err(|_| InventoryError::at(&place(path), Fault::NotText).into())
    }

    /// `group_vars` and `host_vars` of a directory. Only files of groups and hosts that exist are read.
    fn variables(&mut self, base: &Path) -> Result<(), Trouble> {
        let groups: BTreeSet<String> =
            self.inventory.groups.iter().map(|it| it.name.clone()).collect();
        let hosts: BTreeSet<String> =
            self.inventory.hosts.iter().map(|it| it.name.clone()).collect();
        for (folder, names, is_group) in [("group_vars", groups, true), ("host_vars", hosts, false)]
        {
            let folder = base.join(folder);
            if self.kind(&folder)? != Some(EntryKind::Directory) {
                continue;
            }
            let mut listed: BTreeSet<String> = BTreeSet::new();
            listed.extend(
                self.probe.list(&folder)?.iter().map(|it| it.to_string_lossy().into_owned()),
            );
            for name in names.iter().filter(|name| !name.contains('/')) {
                let ends = ["", ".yml", ".yaml", ".json"].map(|end| format!("{name}{end}"));
                let Some(found) = ends.iter().find(|it| listed.contains(*it)) else { continue };
                let mut layer = Layer::default();
                self.layer(&folder.join(found), &mut layer, 0)?;
                let all = match is_group {
                    true => &mut self.inventory.group_files,
                    false => &mut self.inventory.host_files,
                };
                let known = all.entry(name.clone()).or_default();
                known.vars.extend(layer.vars);
                known.sealed.extend(layer.sealed);
            }
        }
        Ok(())
    }

    /// A file of variables, or all files of a directory.
    fn layer(&mut self, path: &Path, layer: &mut Layer, level: usize) -> Result<(), Trouble> {
        match self.kind(path)? {
            Some(EntryKind::File) => {
                let text = self.text(path)?;
                Ok(yaml::variables(&text, &path.display().to_string().into(), layer)?)
            }
            Some(EntryKind::Directory) if level <= super::MAX_LEVELS => {
                for name in self.probe.list(path)? {
                    let name = name.to_string_lossy().into_owned();
                    let end = name.rsplit_once('.').map(|(_, end)| end);
                    let path = path.join(&name);
                    let is_read = matches!(end, None | Some("yml" | "yaml" | "json"));
                    let is_folder = self.kind(&path)? == Some(EntryKind::Directory);
                    let is_odd = is_folder && end.is_some();
                    if is_read && !is_odd && !name.starts_with('.') && !name.ends_with('~') {
                        self.layer(&path, layer, level + 1)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn program(&mut self, program: &str) -> Result<(), Trouble> {
        let words = [program, "--list"];
        let answer = self.probe.ask(&Ask::program(&words))?;
        if answer.code != 0 {
            let fault = Fault::Failed { program: program.to_owned(), code: answer.code };
            return Err(InventoryError::new(fault).into());
        }
        Ok(listing::read(answer.stdout.expose(), &program.into(), &mut self.inventory)?)
    }

    fn ssh(
        &mut self,
        path: &Path,
        home: &Path,
        level: usize,
        is_needed: bool,
    ) -> Result<(), Trouble> {
        if level > MAX_INCLUDES {
            return Err(InventoryError::at(&place(path), Fault::TooDeep).into());
        }
        if !is_needed && self.kind(path)? != Some(EntryKind::File) {
            return Ok(());
        }
        let text = self.text(path)?;
        let name: Arc<str> = path.display().to_string().into();
        let (hosts, includes) = ssh_config::names(&text);
        let mut done = 0;
        for include in includes {
            ssh_config::add(&hosts[done..include.after], &name, &mut self.inventory)?;
            done = include.after;
            for path in self.matching(&ssh_config::whole(&include.path, home))? {
                self.ssh(&path, home, level + 1, false)?;
            }
        }
        Ok(ssh_config::add(&hosts[done..], &name, &mut self.inventory)?)
    }

    /// The files that a path with `*` and `?` in it means, in order.
    fn matching(&self, path: &Path) -> Result<Vec<PathBuf>, Trouble> {
        let mut all = vec![PathBuf::new()];
        for part in path.components() {
            let part = part.as_os_str().to_string_lossy().into_owned();
            if !part.contains(['*', '?', '[']) {
                all.iter_mut().for_each(|path| path.push(&part));
                continue;
            }
            let mut next = Vec::new();
            for folder in all {
                if self.kind(&folder)? != Some(EntryKind::Directory) {
                    continue;
                }
                let names = self.probe.list(&folder)?.into_iter();
                let names = names.map(|name| name.to_string_lossy().into_owned());
                let fits = |name: &String| {
                    !name.starts_with('.') && super::pattern::glob_fits(&part, name)
                };
                next.extend(names.filter(fits).map(|name| folder.join(name)));
            }
            next.truncate(MAX_FILES);
            all = next;
        }
        Ok(all)
    }
}

fn place(path: &Path) -> Place {
    Place { file: path.display().to_string().into(), line: 0 }
}
