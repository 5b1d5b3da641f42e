//! Which order a contract that runs once was seen in: a runner refuses a second one.

use opal_core::hash::Digest;
use opal_trust::order::OrderId;
use opal_vault::record::Reason;
use opal_vault::root::{Root, read_guarded};

use super::refusal::Refusal;

/// Below the runtime root.
const FOLDER: &str = "queue";

/// Notes the order of a contract, or compares it with the one noted before.
pub(crate) fn check(root: &Root, contract: Digest, order: OrderId) -> Result<(), Refusal> {
    let name = format!("{}.order", contract.hex());
    let path = root.path().join(FOLDER).join(&name);
    let noted = || read_guarded(&path, 64).ok();
    if noted().is_none() {
        // Another process may be quicker: what is there counts.
        let _ = root.create(FOLDER, &name, format!("{order}\n").as_bytes());
    }
    match noted() {
        Some(found) if found.trim_ascii() == order.to_string().as_bytes() => Ok(()),
        Some(_) => Err(Refusal::damaged(
            "the contract runs once, and was dispatched in another order before",
        )
        .because(Reason::Used)),
        None => Err(Refusal::not_here(74, format!("`{}` cannot be written", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_order_of_a_contract_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let (one, two) = (OrderId::draw(), OrderId::draw());
        let (contract, other) = (Digest([1; 32]), Digest([2; 32]));
        assert_eq!(check(&root, contract, one), Ok(()));
        assert_eq!(check(&root, contract, one), Ok(()));
        assert_eq!(check(&root, contract, two).unwrap_err().code, 76);
        assert_eq!(check(&root, other, two), Ok(()));
    }
}
