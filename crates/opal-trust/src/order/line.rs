//! The line of an order. No text in it needs an escape: names, digits and keys have grammars of their own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opal_core::data::{Data, json};
use opal_core::hash::Digest;

use super::{Order, OrderId, Refused, RunnerKeys, Share};
use crate::keys::PublicKey;

/// The version of orders.
const VERSION: i64 = 1;

/// What is signed, without what every order begins with.
pub(super) fn order(order: &Order) -> String {
    let mut out = String::from("{\"approvals\":");
    match &order.approvals {
        Some(digest) => put(&mut out, format_args!("\"{}\"", digest.hex())),
        None => out.push_str("null"),
    }
    put(&mut out, format_args!(",\"bundle\":\"{}\"", order.bundle.hex()));
    put(&mut out, format_args!(",\"contract\":\"{}\"", order.contract.hex()));
    put(&mut out, format_args!(",\"dispatcher\":\"{}\"", order.dispatcher));
    put(&mut out, format_args!(",\"end\":{},\"id\":\"{}\"", order.end, order.id));
    put(&mut out, format_args!(",\"made\":{},\"once\":{}", order.made, order.once));
    put(&mut out, format_args!(",\"pool\":\"{}\",\"runners\":[", order.pool));
    for (index, runner) in order.runners.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (key, recipient) = (runner.key, &runner.recipient);
        put(&mut out, format_args!("{comma}{{\"key\":\"{key}\",\"recipient\":\"{recipient}\"}}"));
    }
    out.push_str("],\"shares\":[");
    for (index, share) in order.shares.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        put(&mut out, format_args!("{comma}{{\"batch\":{},\"targets\":[", share.batch));
        for (index, target) in share.targets.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            put(&mut out, format_args!("{comma}\"{target}\""));
        }
        out.push_str("]}");
    }
    put(&mut out, format_args!("],\"source\":\"{}\",\"v\":{VERSION}}}", order.source));
    out
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("a text takes everything");
}

pub(super) fn write(order: &Order, signer: &PublicKey, signature: &str) -> String {
    let order = self::order(order);
    format!("{{\"order\":{order},\"signature\":\"{signature}\",\"signer\":\"{signer}\"}}\n")
}

/// The members, whatever their spelling; whoever asks compares it with [`write`].
pub(super) fn read(text: &str) -> Result<(Order, PublicKey, String), Refused> {
    let document = json::read(text).map_err(|_| Refused::NotAnOrder("it is not JSON"))?;
    let members = Members::of(&document, 3)?;
    let signer = self::text(members.get("signer")?)?;
    let signer = signer.parse().map_err(|_| Refused::NotAnOrder("`signer` is no key"))?;
    let signature = self::text(members.get("signature")?)?.to_owned();
    Ok((statement(members.get("order")?)?, signer, signature))
}

fn statement(data: &Data) -> Result<Order, Refused> {
    let members = Members::of(data, 13)?;
    if int(members.get("v")?)? != VERSION {
        return Err(Refused::NotAnOrder("its version is not 1"));
    }
    let id = OrderId::parse(text(members.get("id")?)?);
    Ok(Order {
        id: id.ok_or(Refused::NotAnOrder("`id` is not 32 digits"))?,
        contract: digest(members.get("contract")?)?,
        approvals: match members.get("approvals")? {
            Data::Null => None,
            found => Some(digest(found)?),
        },
        bundle: digest(members.get("bundle")?)?,
        source: text(members.get("source")?)?.to_owned(),
        pool: text(members.get("pool")?)?.to_owned(),
        runners: list(members.get("runners")?)?.iter().map(runner).collect::<Result<_, _>>()?,
        dispatcher: recipient(members.get("dispatcher")?)?,
        made: int(members.get("made")?)?,
        end: int(members.get("end")?)?,
        once: match members.get("once")? {
            Data::Bool(once) => *once,
            _ => return Err(Refused::NotAnOrder("`once` is neither true nor false")),
        },
        shares: list(members.get("shares")?)?.iter().map(share).collect::<Result<_, _>>()?,
    })
}

fn runner(data: &Data) -> Result<RunnerKeys, Refused> {
    let members = Members::of(data, 2)?;
    let key = text(members.get("key")?)?.parse();
    let key = key.map_err(|_| Refused::NotAnOrder("`key` of a runner is no key"))?;
    Ok(RunnerKeys { recipient: recipient(members.get("recipient")?)?, key })
}

fn share(data: &Data) -> Result<Share, Refused> {
    let members = Members::of(data, 2)?;
    let batch = int(members.get("batch")?)?.try_into();
    let batch = batch.map_err(|_| Refused::NotAnOrder("`batch` is no number"))?;
    let name = |it| text(it).map(str::to_owned);
    let targets = list(members.get("targets")?)?.iter().map(name).collect::<Result<_, _>>()?;
    Ok(Share { batch, targets })
}

/// The members of an object: so many, and whoever names them all has asked for each.
struct Members<'d>(&'d BTreeMap<String, Data>);

impl<'d> Members<'d> {
    fn of(data: &'d Data, count: usize) -> Result<Self, Refused> {
        match data {
            Data::Map(map) if map.len() == count => Ok(Self(map)),
            _ => Err(Refused::NotAnOrder("a member is missing or unknown")),
        }
    }

    fn get(&self, name: &str) -> Result<&'d Data, Refused> {
        self.0.get(name).ok_or(Refused::NotAnOrder("a member is missing or unknown"))
    }
}

fn text(data: &Data) -> Result<&str, Refused> {
    data.as_text().ok_or(Refused::NotAnOrder("a member is not a text"))
}

fn int(data: &Data) -> Result<i64, Refused> {
    match data {
        Data::Int(int) => Ok(*int),
        _ => Err(Refused::NotAnOrder("a member is not a whole number")),
    }
}

fn list(data: &Data) -> Result<&[Data], Refused> {
    match data {
        Data::Array(list) => Ok(list),
        _ => Err(Refused::NotAnOrder("a member is not a list")),
    }
}

fn digest(data: &Data) -> Result<Digest, Refused> {
    Digest::parse(text(data)?).ok_or(Refused::NotAnOrder("a digest is not 64 digits"))
}

fn recipient(data: &Data) -> Result<crate::keys::Recipient, Refused> {
    text(data)?.parse().map_err(|_| Refused::NotAnOrder("a recipient does not begin with `age1`"))
}
