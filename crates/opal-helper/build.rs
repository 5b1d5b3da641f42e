//! Names the sources of what `opal` asks and `opal-extra` answers.

#[path = "../opal-session/build_name.rs"]
mod build_name;

fn main() -> std::io::Result<()> {
    build_name::set(&[
        "opal-convert",
        "opal-core",
        "opal-decorators",
        "opal-extra",
        "opal-helper",
        "opal-http",
        "opal-template",
    ])
}
