//! Lines of approvals: none makes the reader panic, and what is read is written back as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::contract::approval::Approval;
use opal_trust::approvals::{KeyFile, Signer, check};

fuzz_target!(|text: &str| {
    if let Ok(approval) = Approval::parse(text) {
        assert_eq!(approval.to_line().trim_end_matches('\n'), text);
        let _ = check(&approval);
    }
    let _ = KeyFile::parse(text);
    if let Some((signer, _)) = Signer::parse(text) {
        assert_eq!(Signer::parse(&signer.to_string()).map(|(again, _)| again), Some(signer));
    }
});
