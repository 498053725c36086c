//! While files and directories of a session are swapped for links and back, nothing outside is ever read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use ambient_engine::{Change, Track};
use ambient_mcp::Server;
use serde_json::json;

use crate::client::{request, say};
use crate::jsonl_session::Sessions;
use crate::native_session::{NativeSession, edit, heard};

const LOG: &str = "2026-09-05T1200";
const FILES: &str = "2026-09-05T1300";
/// What stands in every file outside, and in none inside.
const SECRET: &str = "SECRET";
/// How often each thing is swapped, and how often everything is asked, at least.
const ROUNDS: u64 = 60;

/// A session of either layout in `folder`, of which all that can be told is `word`.
fn fill(folder: &Path, word: &str) {
    NativeSession::begin(folder, LOG, "2026-09-05T12:00:00Z")
        .with(&[heard(Track::Room, 0)])
        .with(&[
            edit(0, Change::Repair { from: "room at 0".to_owned(), to: word.to_owned() }),
            edit(0, Change::Speaker { name: word.to_owned() }),
        ])
        .close();
    let files = folder.join(FILES);
    fs::create_dir(&files).unwrap();
    let description = |id: &str| json!({"id": id, "name": word, "started_at": word}).to_string();
    fs::write(folder.join(LOG).join("session.json"), description(LOG)).unwrap();
    fs::write(folder.join(LOG).join("recording.json"), json!({"tracks": [], "warnings": [word]}).to_string())
        .unwrap();
    fs::write(files.join("session.json"), description(FILES)).unwrap();
    let line = json!({"track": "room", "start_ms": 0, "end_ms": 1, "text": word});
    fs::write(files.join("raw.jsonl"), format!("{line}\n")).unwrap();
    let name =
        json!({"kind": "speaker", "target": {"track": "room", "start_ms": 0}, "name": word, "by": "user"});
    fs::write(files.join("edits.jsonl"), format!("{name}\n")).unwrap();
}

/// Puts a link to `outside` in the place of `inside`, and takes it away again.
fn swap(inside: &Path, outside: &Path) {
    let aside = PathBuf::from(format!("{}.aside", inside.display()));
    fs::rename(inside, &aside).unwrap();
    symlink(outside, inside).unwrap();
    thread::yield_now();
    fs::remove_file(inside).unwrap();
    fs::rename(&aside, inside).unwrap();
}

/// Everything that can be asked, as one input.
fn questions() -> Vec<u8> {
    let mut lines = Vec::new();
    let mut ask = |name: &str, arguments: serde_json::Value| {
        lines.push(request(lines.len() as u64, "tools/call", &json!({"name": name, "arguments": arguments})));
    };
    for session in [LOG, FILES] {
        ask("transcript", json!({"session": session}));
        ask("transcript", json!({"session": session, "verbatim": true}));
        ask("transcript", json!({"session": session, "cursor": ""}));
    }
    ask("sessions", json!({}));
    ask("status", json!({}));
    lines.join("\n").into_bytes()
}

#[test]
fn nothing_outside_is_ever_read() {
    let sessions = Sessions::new();
    fill(sessions.root(), "inside");
    let outside = sessions.outside("outside");
    fill(outside.path(), SECRET);
    let swapped =
        ["", "log", "log/head", "log/lines.idx", "log/0000000000.seg", "session.json", "recording.json"]
            .map(|name| Path::new(LOG).join(name))
            .into_iter()
            .chain(["", "raw.jsonl", "edits.jsonl", "session.json"].map(|name| Path::new(FILES).join(name)));
    let swapped: Vec<_> = swapped.map(|path| path.components().collect::<PathBuf>()).collect();
    let (rounds, questions) = (AtomicU64::new(0), questions());
    let asked = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while asked.load(Ordering::Relaxed) < ROUNDS || rounds.load(Ordering::Relaxed) < ROUNDS {
                for path in &swapped {
                    swap(&sessions.root().join(path), &outside.path().join(path));
                }
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let kept = sessions.server();
        let mut answered = 0;
        while asked.load(Ordering::Relaxed) < ROUNDS || rounds.load(Ordering::Relaxed) < ROUNDS {
            for server in [&kept, &Server::new(sessions.root())] {
                let replies = say(server, &questions);
                assert_eq!(replies.len(), 8);
                for reply in replies {
                    let told = reply.to_string();
                    assert!(!told.contains(SECRET), "{told}");
                    answered += u64::from(told.contains("inside"));
                }
            }
            asked.fetch_add(1, Ordering::Relaxed);
        }
        assert!(answered > 0, "what is inside is read in between");
    });
    let replies = say(&sessions.server(), &questions);
    // The verbatim lines of the log hold none of the later words, and nothing is recorded.
    let tells: Vec<bool> = replies.iter().map(|reply| reply.to_string().contains("inside")).collect();
    assert_eq!(tells, [true, false, true, true, true, true, true, false], "{replies:?}");
}
