//! Open ends to constants, keys and placeholders: the last stage of a plan.

mod environment;
mod needed;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use opal_core::hash::Digest;
use opal_core::placeholder::{Placeholder, PlaceholderKey};
use opal_core::plan::{
    Arg, Deferred, Key, Mode, Piece, Plan, PlanValue, Read, RedirectTarget, Step, Target,
};
use opal_core::resource::details::grouped;
use opal_core::showing::MAX_TARGET_VALUES;
use opal_core::{Code, Data, Diagnostic, Showing, Span};

use super::datum::{Datum, Open, Plain, Taint};
use super::declared::Declared;
use super::demand::{Demand, fits};
use super::draw;
use super::draw::Site;
use super::graph::{Cell, Node, Op, State};
use super::planner::Planner;
use super::request::{Purpose, Resolved, Unplanned, source_hash};
use super::showing::Maker;
use super::unreached::Gone;
use super::variants;
use opal_core::crossing::member_key;
use opal_core::gather::Gather as _;
use opal_core::keys::Keys;

pub(super) fn settle(
    mut planner: Planner<'_>,
    mut steps: Vec<Step>,
    keys: &mut dyn Keys,
) -> Result<Resolved, Unplanned> {
    if planner.request.is_partial() {
        needed::force(&mut planner, &steps);
    } else {
        let cells = planner.demands.iter().map(|demand| &demand.cell);
        let roots: Vec<u32> = cells.filter_map(Cell::node).collect();
        planner.graph.force(&roots, planner.probe);
    }
    let declared = Declared::of(&planner.demands, &planner.graph);
    let gone = planner.gone();
    let mut settler = Settler { declared, gone, ..Settler::default() };
    settler.known(&mut planner);
    environment::judge(&mut planner, &steps);
    for taint in std::mem::take(&mut planner.undecided) {
        settler.defer(&taint, None);
    }
    if planner.request.purpose.is_contract() {
        refuse_unrepeatable(&mut planner);
    }
    let too_many = too_many_target_values(&planner);
    planner.errors.extend(too_many.map(Rc::new));
    if !planner.errors.is_empty() {
        return Err(planner.into_errors().into());
    }
    settler.gone.join(&mut steps);
    settler.steps(&mut steps);
    variants::merge(&mut steps);
    let needs_key = !settler.values.is_empty() || !planner.graph.reads.is_empty();
    let key = if needs_key { Some(keys.placeholder_key().map_err(Unplanned::Key)?) } else { None };
    let plan = settler.plan(&planner, steps, key.as_ref());
    settler.keep_reads(&planner, key.as_ref());
    let Settler { secrets, showing, mut warnings, sites, gone, .. } = settler;
    warnings.extend(super::warn::shared(&planner.shared_passwords));
    warnings.extend(super::warn::unmatched(&planner.unmatched, key.as_ref(), plan.algorithm));
    let limited = std::mem::take(&mut planner.limited);
    let unreached = gone.unreached;
    let mut resolved = Resolved { plan, secrets, showing, limited, unreached, warnings };
    if let (false, Some(key)) = (sites.is_empty(), &key) {
        draw::draw(&mut planner, &mut resolved, sites, keys, key)?;
    }
    Ok(resolved)
}

/// Each costs time in all that its target prints.
fn too_many_target_values(planner: &Planner<'_>) -> Option<Diagnostic> {
    let is_hidden_there = |taint: &Taint| {
        taint.target.is_some() && taint.class.is_secret() && !taint.class.is_declared()
    };
    let mut reads = planner.graph.reads.iter().filter_map(|(key, (_, datum))| {
        let taint = datum.taint.as_ref().filter(|taint| is_hidden_there(taint))?;
        Some((key, taint))
    });
    let count = reads.clone().count();
    let (_, taint) = reads.next_back().filter(|_| count > MAX_TARGET_VALUES)?;
    let is_it = |node: &&Node| match &node.state {
        State::Done(Datum { taint: Some(its), .. }) => its.key == taint.key,
        _ => false,
    };
    let span = planner.graph.nodes.iter().find(is_it).map_or(Span::at(0), |node| node.span);
    let [count, most] = [count, MAX_TARGET_VALUES].map(grouped);
    let message = format!("{count} values are read on targets and hidden; at most {most} can be");
    let help = "mark values that need not be hidden with `public=true`, or split the task";
    Some(Diagnostic::new(Code::TooManyTargetValues, span, message).help(help))
}

/// The clock and its like: another value at every look, so no contract could ever be kept.
fn refuse_unrepeatable(planner: &mut Planner<'_>) {
    let reads = &planner.graph.reads;
    for node in &planner.graph.nodes {
        let Op::Call(shape) = &node.op else { continue };
        let descriptor = shape.descriptor();
        let State::Done(Datum { taint: Some(taint), .. }) = &node.state else {
            continue;
        };
        if !descriptor.repeatable && taint.roots.iter().any(|root| reads.contains_key(root)) {
            let message = format!(
                "`@{}` has another value each time it is read, so a contract cannot contain it",
                descriptor.path
            );
            let error = Diagnostic::new(Code::NotInContract, node.span, message)
                .help("compute it in the step itself: `date -u +%F`")
                .help("a run without a contract may use it");
            planner.errors.push(Rc::new(error));
        }
    }
}

#[derive(Default)]
struct Settler {
    /// What stands for each demand, in their order.
    args: Vec<Arg>,
    /// The generators that each demand depends on.
    randoms: Vec<BTreeSet<u32>>,
    values: BTreeMap<Key, Entry>,
    declared: Declared,
    gone: Gone,
    /// Whether the demand is one of a target that is not there.
    is_left_out: bool,
    deferred: Vec<Deferred>,
    deferred_by_key: BTreeMap<Key, u32>,
    secrets: BTreeMap<Key, Data>,
    showing: Showing,
    warnings: Vec<Diagnostic>,
    sites: Vec<Site>,
    /// Random values that have a site already.
    placed: BTreeSet<u32>,
}

struct Entry {
    datum: Datum,
    taint: Rc<Taint>,
    holders: BTreeSet<String>,
}

impl Settler {
    /// Turns each demand into an argument; what is wrong with one is an error of the plan.
    fn known(&mut self, planner: &mut Planner<'_>) {
        for index in 0..planner.demands.len() {
            let demand = &planner.demands[index];
            self.is_left_out = self.gone.has(index) == Some(true);
            let outcome = planner.graph.outcome(&demand.cell).and_then(|datum| {
                fits(&demand.purpose, &datum, demand.span).map_err(Rc::new)?;
                Ok(datum)
            });
            match outcome {
                Ok(datum) => {
                    let known =
                        datum.taint.as_ref().is_some_and(|t| self.values.contains_key(&t.key));
                    // Once a place, however often a loop comes to it.
                    let said = self.warnings.iter().any(|w| w.primary.span == demand.span);
                    if !known && !said {
                        self.warnings.extend(super::warn::hidden(&datum, demand.span));
                    }
                    let arg = self.arg(&datum, demand);
                    self.args.push(arg);
                    let span = demand.span;
                    if datum.taint.is_none() && planner.hold(datum.size(), span).is_err() {
                        return;
                    }
                    let mut taints = Vec::new();
                    super::datum::collect(&datum, &mut taints);
                    let randoms = taints.iter().flat_map(|taint| taint.randoms.iter().copied());
                    self.randoms.push(randoms.collect());
                }
                Err(error) if self.is_left_out && planner.graph.why_gone(&error).is_some() => {
                    self.args.push(Arg::Const(opal_core::Value::Null));
                    self.randoms.push(BTreeSet::new());
                }
                Err(error)
                    if demand.perhaps
                        || self.gone.has(index).is_some()
                            && planner.graph.why_gone(&error).is_some() =>
                {
                    let source = planner.slice(demand.span).unwrap_or_default();
                    let key = source.trim_start_matches('@').into();
                    let arg = self.left_open(key, &error.message, demand.holder.as_deref());
                    self.args.push(arg);
                    self.randoms.push(BTreeSet::new());
                }
                Err(error) => {
                    planner.errors.push(error);
                    self.args.push(Arg::Const(opal_core::Value::Null));
                    self.randoms.push(BTreeSet::new());
                }
            }
        }
    }

    fn arg(&mut self, datum: &Datum, demand: &Demand) -> Arg {
        let holder = demand.holder.as_deref();
        match (&datum.taint, &datum.plain) {
            (Some(taint), Plain::Open(Open::Deferred)) => self.defer(taint, holder),
            (Some(taint), _) => self.value(datum, taint, holder),
            (None, Plain::Array(list)) if datum.is_tainted() || datum.is_runtime() => {
                Arg::Array(list.items.iter().map(|item| self.arg(item, demand)).collect())
            }
            (None, Plain::Map(fields)) if datum.is_tainted() || datum.is_runtime() => {
                let items = fields.items.iter();
                Arg::Map(items.map(|(k, item)| (k.to_string(), self.arg(item, demand))).gathered())
            }
            (None, Plain::Joined(list)) => {
                let pieces = list.items.iter().map(|part| match &part.plain {
                    Plain::Text(text) if part.taint.is_none() => Piece::Text(text.expose().into()),
                    _ => {
                        let place =
                            opal_core::context::Context::new(opal_core::context::Place::Quoted);
                        Piece::Data { arg: self.arg(part, demand), place }
                    }
                });
                Arg::Text(pieces.collect())
            }
            (None, _) => plain_arg(datum).unwrap_or(Arg::Const(opal_core::Value::Null)),
        }
    }

    fn defer(&mut self, taint: &Rc<Taint>, holder: Option<&str>) -> Arg {
        self.left_open(taint.key.clone(), taint.why, holder)
    }

    fn left_open(&mut self, key: Key, why: &str, holder: Option<&str>) -> Arg {
        let next = self.deferred.len() as u32;
        let index = *self.deferred_by_key.entry(key.clone()).or_insert(next);
        if index == next {
            self.deferred.push(Deferred { key, why: why.to_owned(), holders: BTreeSet::new() });
        }
        self.deferred[index as usize].holders.extend(holder.map(str::to_owned));
        Arg::Deferred(index)
    }

    fn value(&mut self, datum: &Datum, taint: &Rc<Taint>, holder: Option<&str>) -> Arg {
        let held = match &taint.member {
            Some(member) => member_key(member, &taint.key),
            None => taint.key.clone(),
        };
        // Of a target that is not there nothing is used.
        if self.is_left_out && taint.member.is_some() {
            return Arg::Value(taint.key.clone());
        }
        let declared = &self.declared;
        let entry = self.values.entry(held.clone()).or_insert_with(|| Entry {
            datum: datum.clone(),
            taint: declared.class(taint),
            holders: BTreeSet::new(),
        });
        entry.holders.extend(holder.map(str::to_owned));
        // One place that calls it public is enough: the value is in clear there.
        if taint.class.is_public() && !entry.taint.class.is_public() {
            entry.taint = Rc::clone(taint);
        }
        if let Some(data) = datum.to_data() {
            self.secrets.insert(held, data);
        }
        Arg::Value(taint.key.clone())
    }

    /// Puts the arguments where they belong; notes where random values are used first.
    fn steps(&mut self, steps: &mut [Step]) {
        for step in steps {
            let path = step.path.clone();
            for (_, arg) in &mut step.args {
                self.tie(arg, &path);
            }
            for redirect in &mut step.redirects {
                match &mut redirect.target {
                    RedirectTarget::Step(target) => self.steps(std::slice::from_mut(target)),
                    RedirectTarget::Shell(pieces) => self.tie_pieces(pieces, &path),
                }
            }
            self.steps(&mut step.block);
        }
    }

    fn tie_pieces(&mut self, pieces: &mut [Piece], path: &str) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Data { arg, .. } | Piece::Raw(arg) => self.tie(arg, path),
            }
        }
    }

    fn tie(&mut self, arg: &mut Arg, path: &str) {
        match arg {
            Arg::Deferred(index) => {
                let index = *index as usize;
                for node in &self.randoms[index] {
                    if self.placed.insert(*node) {
                        self.sites.push(Site { node: *node, path: path.into() });
                    }
                }
                // Each demand is at one place.
                *arg = std::mem::replace(&mut self.args[index], Arg::Const(opal_core::Value::Null));
            }
            Arg::Shell(pieces) | Arg::Text(pieces) => self.tie_pieces(pieces, path),
            _ => {}
        }
    }

    /// Every secret that was read is to be hidden, whether a step uses it or not.
    fn keep_reads(&mut self, planner: &Planner<'_>, key: Option<&PlaceholderKey>) {
        for (name, (_, datum)) in &planner.graph.reads {
            let taint = datum.taint.as_ref().filter(|taint| !taint.class.is_public());
            let Some(taint) = taint.map(|taint| self.declared.class(taint)) else { continue };
            let Some(data) = datum.to_data() else { continue };
            if !taint.member.as_ref().is_some_and(|member| self.gone.is_without(member)) {
                self.secrets.entry(name.clone()).or_insert(data);
            }
            if let Some(key) = key {
                let maker = Maker { key, algorithm: planner.request.algorithm };
                maker.add(&mut self.showing, name, datum, &taint);
            }
        }
    }

    fn plan(
        &mut self,
        planner: &Planner<'_>,
        steps: Vec<Step>,
        key: Option<&PlaceholderKey>,
    ) -> Plan {
        let request = planner.request;
        let algorithm = request.algorithm;
        let placeholder = |name: &str, datum: &Datum| match (key, datum.to_data()) {
            (Some(key), Some(data)) => key.placeholder(algorithm, name, &data),
            // A random value: filled in when it has been drawn.
            _ => Placeholder { length: 0, algorithm, digest: Digest([0; 32]) },
        };
        let values = std::mem::take(&mut self.values);
        if let Some(key) = key {
            let maker = Maker { key, algorithm };
            for (name, entry) in &values {
                maker.add(&mut self.showing, name, &entry.datum, &entry.taint);
            }
        }
        let values = values.into_iter().map(|(key, entry)| {
            let is_public = entry.taint.class.is_public();
            let value = PlanValue {
                placeholder: placeholder(&key, &entry.datum),
                public: if is_public { entry.datum.clear() } else { None },
                roots: (*entry.taint.roots).clone(),
                holders: entry.holders,
                schema: entry.taint.schema,
            };
            (key, value)
        });
        let is_public =
            |datum: &Datum| datum.taint.as_ref().is_none_or(|taint| taint.class.is_public());
        let reads = planner.graph.reads.values().map(|(read, datum)| Read {
            placeholder: Some(placeholder(&read.key, datum)),
            public: if is_public(datum) { datum.clear() } else { None },
            ..read.clone()
        });
        let quick = request.purpose == Purpose::Quick;
        let text = request.text.map_or("", |(_, text)| text);
        Plan {
            target: Target {
                name: request.function.unwrap_or(Target::SCRIPT).to_owned(),
                arguments: request.arguments.clone(),
            },
            mode: if quick { Mode::Quick } else { Mode::Resolved },
            algorithm,
            source_hash: source_hash(algorithm, text),
            steps,
            values: values.collect(),
            deferred: std::mem::take(&mut self.deferred),
            reads: reads.collect(),
        }
    }
}

/// What is known without the world.
pub(super) fn plain_arg(datum: &Datum) -> Option<Arg> {
    match &datum.plain {
        Plain::Handle(handle) => Some(Arg::Handle((**handle).clone())),
        _ => datum.to_value().map(Arg::Const),
    }
}
