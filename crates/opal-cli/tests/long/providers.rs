//! Terraform providers: what takes too long for every run of the tests.

#[test]
fn whichever_process_is_killed_in_whichever_call_200_times_leaves_nothing() {
    // Six calls, three processes.
    crate::script::run(200_u32.div_ceil(18));
}
