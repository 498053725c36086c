//! The `ambient` command.
fn main() {}
