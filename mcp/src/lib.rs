//! The Model Context Protocol server of Ambient: JSON-RPC 2.0 on stdin and stdout, one message a line,
//! and tools that read sessions.
//!
//! Everything a client sends is taken as possibly wrong: a message that cannot be honoured gets an error
//! reply, and the next one is answered as if nothing had happened. Every request is answered once, and
//! but for calls that wait or take long, in the order in which requests came. Nothing but protocol is
//! written to the output. No async, no SDK, no audio.
//!
//! The tools are a table (`tool`). Those that read answer with [`ambient_engine::view`], the very functions
//! behind the command line's `--json`, and write nothing. Those of the live assistant (`assistant`) write
//! what it does into the log of the meeting it sits in, and nothing else.

mod answering;
mod arguments;
mod assistant;
mod call;
mod fields;
mod id;
mod in_flight;
mod input;
mod message;
mod output;
mod prompt;
mod rpc;
mod serve;
mod server;
mod tool;
mod version;

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::Value;

pub use assistant::Assistant;
pub use call::ENDING_GRACE;
pub use input::MAX_LINE_BYTES;
pub use message::MAX_BATCH_MESSAGES;
pub use server::Server;

/// Answers the requests that `reader` brings, on `writer`, from the sessions under `root`, until the
/// input ends.
///
/// The calling thread reads; the answers come from another one. Returns after the last reply has been
/// written. A reader of the replies that goes away ends it quietly: at the next message, for nothing
/// here can wake a thread that waits for input.
///
/// ```
/// let mut replies = Vec::new();
/// let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
/// ambient_mcp::serve(&ping[..], &mut replies, std::path::Path::new("/nowhere"))?;
/// assert_eq!(String::from_utf8(replies)?, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The input cannot be read or the output cannot be written, for another reason than that it is closed.
pub fn serve<R: BufRead, W: Write + Send>(reader: R, writer: W, root: &Path) -> anyhow::Result<()> {
    Server::new(root).serve(reader, writer)
}

/// The reply to one line, or `None` when the line asks for none: a notification, a reply, white space.
///
/// It knows nothing of earlier lines, so a batch is refused: no protocol version that has batches can
/// have been agreed on. An integer id beyond 64 bits, which a [`Value`] cannot hold, comes back as the
/// string of its digits; [`serve`] writes it as it came.
///
/// ```
/// let reply = ambient_mcp::handle("not JSON", std::path::Path::new("/nowhere")).expect("an error reply");
/// assert_eq!(reply["error"]["code"], -32700);
/// assert!(reply["id"].is_null());
/// ```
pub fn handle(line: &str, root: &Path) -> Option<Value> {
    Server::new(root).handle(line)
}
