//! The limits that `docs/using/mcp.md` tells are the ones the server has. What it answers there is asked of the
//! program itself, in the tests of the command line.

const PAGE: &str = include_str!("../../../docs/using/mcp.md");

#[test]
fn the_page_says_the_limits_the_server_has() {
    assert_eq!(ambient_mcp::MAX_LINE_BYTES, 1 << 20);
    assert!(PAGE.contains("more than 1 MiB"));
    assert!(PAGE.contains(&format!("up to {} in one", ambient_mcp::MAX_BATCH_MESSAGES)));
}
