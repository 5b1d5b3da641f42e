//! Hosts and groups: who belongs to whom, in which order, and what overrides what.

use opal_core::gather;
use std::collections::{BTreeMap, BTreeSet};

use super::error::{Fault, InventoryError};
use super::ranges;
use super::variable::{Place, Variable, Variables};
use super::{MAX_HOSTS, MAX_LEVELS};

pub(super) const ALL: usize = 0;
pub(super) const UNGROUPED: usize = 1;

/// What files say about hosts and groups.
#[derive(Clone, Debug)]
pub struct Inventory {
    pub(super) hosts: Vec<Host>,
    pub(super) groups: Vec<Group>,
    host_names: BTreeMap<String, usize>,
    group_names: BTreeMap<String, usize>,
    /// Of `group_vars` and `host_vars`, by the names of groups and hosts.
    pub(super) group_files: BTreeMap<String, Layer>,
    pub(super) host_files: BTreeMap<String, Layer>,
}

#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) vars: Variables,
    /// Those that it is named in.
    groups: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    vars: Variables,
    hosts: Vec<usize>,
    children: Vec<usize>,
    parents: Vec<usize>,
    depth: usize,
    priority: i64,
}

/// Variables of files beside an inventory.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub(super) vars: Variables,
    /// Files that are encrypted as a whole: nobody knows their names.
    pub(super) sealed: Vec<Place>,
}

impl Default for Inventory {
    fn default() -> Self {
        let mut new = Self {
            hosts: Vec::new(),
            groups: Vec::new(),
            host_names: BTreeMap::new(),
            group_names: BTreeMap::new(),
            group_files: BTreeMap::new(),
            host_files: BTreeMap::new(),
        };
        new.group("all");
        new.group("ungrouped");
        new
    }
}

impl Inventory {
    /// The group of a name, a new one where there is none.
    pub(super) fn group(&mut self, name: &str) -> usize {
        if let Some(known) = self.group_names.get(name) {
            return *known;
        }
        let index = self.groups.len();
        self.group_names.insert(name.to_owned(), index);
        self.groups.push(Group {
            name: name.to_owned(),
            vars: Variables::new(),
            hosts: Vec::new(),
            children: Vec::new(),
            parents: Vec::new(),
            depth: 0,
            priority: 1,
        });
        index
    }

    pub(super) fn has_group(&self, name: &str) -> bool {
        self.group_names.contains_key(name)
    }

    pub(super) fn host_of(&self, name: &str) -> Option<usize> {
        self.host_names.get(name).copied()
    }

    /// Adds hosts to a group: a name, or a pattern with ranges and a port.
    pub(super) fn add_hosts(
        &mut self,
        pattern: &str,
        group: usize,
        vars: &Variables,
        place: &Place,
    ) -> Result<(), InventoryError> {
        let at = |fault| InventoryError::at(place, fault);
        let (names, port) = ranges::expanded(pattern, MAX_HOSTS).map_err(at)?;
        for name in names {
            let host = match self.host_names.get(&name) {
                Some(known) => *known,
                None if self.hosts.len() >= MAX_HOSTS => return Err(at(Fault::TooManyHosts)),
                None => self.new_host(name, place),
            };
            if let Some(port) = port {
                let port = opal_core::Value::Int(i64::from(port));
                let port = Variable::new(port, place.clone());
                self.hosts[host].vars.insert("ansible_port".to_owned(), port);
            }
            self.hosts[host].vars.extend(vars.clone());
            if !self.hosts[host].groups.contains(&group) {
                self.hosts[host].groups.push(group);
                self.groups[group].hosts.push(host);
            }
        }
        Ok(())
    }

    /// A host by its name, in these groups.
    pub(super) fn add_member(
        &mut self,
        name: &str,
        groups: &[String],
    ) -> Result<(), InventoryError> {
        let place = Place { file: "--limit".into(), line: 0 };
        for group in groups.iter().map(String::as_str).chain(["all"]) {
            let group = self.group(group);
            self.add_hosts(name, group, &Variables::new(), &place)?;
        }
        Ok(())
    }

    fn new_host(&mut self, name: String, place: &Place) -> usize {
        let index = self.hosts.len();
        self.host_names.insert(name.clone(), index);
        let (place, vars) = (place.clone(), Variables::new());
        self.hosts.push(Host { name, place, vars, groups: Vec::new() });
        index
    }

    /// Sets a variable of a group. One is a setting of the group itself.
    pub(super) fn set(&mut self, group: usize, name: &str, variable: Variable) {
        if name == "ansible_group_priority" {
            let priority = match variable.value(name) {
                Ok(opal_core::Value::Int(priority)) => Some(*priority),
                Ok(opal_core::Value::String(text)) => text.trim().parse().ok(),
                _ => None,
            };
            self.groups[group].priority = priority.unwrap_or(1);
        } else {
            self.groups[group].vars.insert(name.to_owned(), variable);
        }
    }

    /// Makes a group a child of another.
    pub(super) fn add_child(
        &mut self,
        parent: usize,
        child: usize,
        place: &Place,
    ) -> Result<(), InventoryError> {
        if self.groups[parent].children.contains(&child) {
            return Ok(());
        }
        if parent == child || self.ancestors(parent).contains(&child) {
            let name = |group: usize| self.groups[group].name.clone();
            let fault = Fault::Cycle { parent: name(parent), child: name(child) };
            return Err(InventoryError::at(place, fault));
        }
        self.groups[parent].children.push(child);
        self.groups[child].parents.push(parent);
        // Groups have no cycles, so this ends.
        let mut open = vec![(child, self.groups[parent].depth + 1)];
        while let Some((group, depth)) = open.pop() {
            if depth > MAX_LEVELS {
                return Err(InventoryError::at(place, Fault::TooDeep));
            }
            if depth > self.groups[group].depth {
                self.groups[group].depth = depth;
                open.extend(self.groups[group].children.iter().map(|child| (*child, depth + 1)));
            }
        }
        Ok(())
    }

    fn ancestors(&self, group: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = self.groups[group].parents.clone();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&self.groups[next].parents);
            }
        }
        seen
    }

    /// Once everything is read: every group is below `all`, and every host in a group.
    pub(super) fn finish(mut self) -> Result<Self, InventoryError> {
        let nowhere = Place { file: "".into(), line: 0 };
        for group in 1..self.groups.len() {
            if self.groups[group].parents.is_empty() {
                self.add_child(ALL, group, &nowhere)?;
            }
        }
        for host in 0..self.hosts.len() {
            let others = self.hosts[host].groups.iter().any(|it| ![ALL, UNGROUPED].contains(it));
            let is_ungrouped = self.hosts[host].groups.contains(&UNGROUPED);
            if others && is_ungrouped {
                self.hosts[host].groups.retain(|it| *it != UNGROUPED);
                self.groups[UNGROUPED].hosts.retain(|it| *it != host);
            } else if !others && !is_ungrouped {
                self.hosts[host].groups.push(UNGROUPED);
                self.groups[UNGROUPED].hosts.push(host);
            }
        }
        Ok(self)
    }

    /// The hosts of a group and of all groups below it, level by level.
    pub(super) fn members(&self, group: usize) -> Vec<usize> {
        let (mut groups, mut seen) = (vec![group], BTreeSet::from([group]));
        let mut next = 0;
        while next < groups.len() {
            let children = self.groups[groups[next]].children.iter();
            groups.extend(children.filter(|child| seen.insert(**child)));
            next += 1;
        }
        let mut known = BTreeSet::new();
        let hosts = groups.iter().flat_map(|group| &self.groups[*group].hosts);
        hosts.filter(|host| known.insert(**host)).copied().collect()
    }

    /// All groups of a host, the outermost first: what comes later overrides what comes earlier.
    fn groups_of(&self, host: usize) -> Vec<usize> {
        let direct = self.hosts[host].groups.iter();
        let mut all: BTreeSet<usize> = direct.clone().copied().collect();
        direct.for_each(|group| all.extend(self.ancestors(*group)));
        all.insert(ALL);
        let mut all: Vec<usize> = all.into_iter().collect();
        let key = |group: &usize| {
            let group = &self.groups[*group];
            (group.depth, group.priority, group.name.clone())
        };
        gather::sort_by_key(&mut all, key);
        all
    }

    /// The names of the groups of a host, sorted; `all` is not one of them.
    pub(super) fn group_names(&self, host: usize) -> Vec<String> {
        let groups = self.groups_of(host).into_iter().filter(|group| *group != ALL);
        let mut names: Vec<String> = groups.map(|it| self.groups[it].name.clone()).collect();
        names.sort();
        names
    }

    /// The variables of a host, and the encrypted files that may have more: of groups in the inventory,
    /// of `group_vars/all`, of `group_vars` of the other groups, of the host, and of `host_vars`.
    pub(super) fn variables(&self, host: usize) -> Layer {
        let groups = self.groups_of(host);
        let name = |group: &usize| self.groups[*group].name.as_str();
        let mut all = Layer::default();
        for group in &groups {
            all.vars.extend(self.groups[*group].vars.clone());
        }
        for group in &groups {
            all.add(self.group_files.get(name(group)));
        }
        all.vars.extend(self.hosts[host].vars.clone());
        all.add(self.host_files.get(&self.hosts[host].name));
        all
    }
}

impl Layer {
    fn add(&mut self, other: Option<&Self>) {
        if let Some(other) = other {
            self.vars.extend(other.vars.clone());
            self.sealed.extend(other.sealed.iter().cloned());
        }
    }
}
