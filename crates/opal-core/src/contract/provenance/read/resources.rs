//! `resources`, read back.

use super::{placeholder, read_flag, read_length};
use crate::contract::json::read::{Read as Parsed, Reader};
use crate::contract::provenance::Seen;
use crate::contract::wire_v1::read::parts::text;
use crate::hash::Algorithm;
use crate::resource::Status;

pub(super) fn read(r: &mut Reader<'_>, algorithm: Algorithm) -> Parsed<Seen> {
    let (mut path, mut status, mut digest, mut length) = (None, None, None, None);
    let (mut identity, mut account) = (None, None);
    let mut by_prerequisite = false;
    r.object(|r, member| {
        match member {
            "account" => account = Some(r.digest()?),
            "digest" => digest = Some(r.digest()?),
            "identity" => identity = Some(r.digest()?),
            "length" => length = Some(read_length(r)?),
            "path" => path = Some(text(r)?),
            "prerequisite" => by_prerequisite = read_flag(r)?,
            "status" => match Status::named(&text(r)?) {
                Some(named) => status = Some(named),
                None => return r.fault("unknown status"),
            },
            _ => r.unknown(member)?,
        }
        Ok(())
    })?;
    let details = placeholder(r, algorithm, digest, length)?;
    match (path, status) {
        (Some(path), Some(status)) => {
            Ok(Seen { path: path.into(), status, details, identity, account, by_prerequisite })
        }
        _ => r.fault("a resource needs a `path` and a `status`"),
    }
}
