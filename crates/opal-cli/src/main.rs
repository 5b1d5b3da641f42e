#[allow(dead_code, unused_imports, reason = "no command calls the views yet")]
mod view;

fn main() {}
