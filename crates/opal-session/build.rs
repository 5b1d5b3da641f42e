//! Names the sources that the target helper is made of: opal and its helper are of the same build if
//! they have the same name for them.

mod build_name;

fn main() -> std::io::Result<()> {
    build_name::set(&["opal-core", "opal-files", "opal-session"])
}
