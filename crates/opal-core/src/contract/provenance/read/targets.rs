//! `targets` of PROVENANCE, read back.

use super::{placeholder, read_length};
use crate::contract::json::read::{Read as Parsed, Reader};
use crate::contract::provenance::{RECORD_WEIGHT, TargetRecord};
use crate::contract::weight;
use crate::contract::wire_v1::read::parts::text;
use crate::hash::Algorithm;
use crate::target::HostKey;

pub(super) fn read_all(r: &mut Reader<'_>, algorithm: Algorithm) -> Parsed<Vec<TargetRecord>> {
    let mut targets = Vec::new();
    r.array(|r| {
        targets.push(read(r, algorithm)?);
        Ok(())
    })?;
    Ok(targets)
}

fn read(r: &mut Reader<'_>, algorithm: Algorithm) -> Parsed<TargetRecord> {
    r.charge(RECORD_WEIGHT)?;
    let (mut name, mut os, mut arch, mut user, mut transport) = (None, None, None, None, None);
    let (mut host_key, mut digest, mut length) = (None, None, None);
    r.object(|r, member| {
        match member {
            "arch" => arch = Some(text(r)?),
            "digest" => digest = Some(r.digest()?),
            "host_key" => match HostKey::from_text(&text(r)?) {
                Some(key) => host_key = Some(key),
                None => return r.fault("`host_key` is not a host key"),
            },
            "length" => length = Some(read_length(r)?),
            "name" => name = Some(text(r)?),
            "os" => os = Some(text(r)?),
            "transport" => transport = Some(read_transport(r)?),
            "user" => match u32::try_from(r.int()?) {
                Ok(number) => user = Some(number),
                Err(_) => return r.fault("a user must fit in 32 bits"),
            },
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    let machine = placeholder(r, algorithm, digest, length)?;
    match (name, os, arch, transport, machine) {
        (Some(name), Some(os), Some(arch), Some(transport), Some(machine)) => {
            Ok(TargetRecord { name, transport, user, os, arch, host_key, machine })
        }
        _ => r.fault("a target needs `arch`, `digest`, `length`, `name`, `os` and `transport`"),
    }
}

fn read_transport(r: &mut Reader<'_>) -> Parsed<Vec<String>> {
    let mut transport = Vec::new();
    r.charge(weight::MAP)?;
    r.array(|r| {
        r.charge(weight::ITEM)?;
        transport.push(text(r)?);
        Ok(())
    })?;
    match transport.is_empty() {
        true => r.fault("a target needs a `transport`"),
        false => Ok(transport),
    }
}
