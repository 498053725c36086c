//! What went over the pipes in both directions, held against the protocol.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The messages of one conversation.
pub(crate) struct Wire {
    sent: Vec<Value>,
    received: Vec<Value>,
}

impl Wire {
    /// Reads what was recorded in `folder`; every line of it must be JSON.
    pub(crate) fn read(folder: &Path) -> Self {
        let messages = |name: &str| {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
                .collect()
        };
        Self { sent: messages("sent"), received: messages("received") }
    }

    /// The version that both agreed on.
    pub(crate) fn agreed_version(&self) -> &Value {
        let mut versions = self.received.iter().map(|reply| &reply["result"]["protocolVersion"]);
        versions.find(|version| !version.is_null()).expect("a reply to initialize")
    }

    /// The tools as they were described.
    pub(crate) fn tools(&self) -> &Vec<Value> {
        let mut lists = self.received.iter().filter_map(|reply| reply["result"]["tools"].as_array());
        lists.next().expect("a reply to tools/list")
    }

    /// The tool whose call was taken back, if one was.
    pub(crate) fn cancelled_tool(&self) -> Option<&Value> {
        let id = self.cancelled_id()?;
        let request = self.sent.iter().find(|message| &message["id"] == id).expect("the call taken back");
        Some(&request["params"]["name"])
    }

    fn cancelled_id(&self) -> Option<&Value> {
        let cancelled = |message: &&Value| message["method"] == "notifications/cancelled";
        Some(&self.sent.iter().find(cancelled)?["params"]["requestId"])
    }

    /// One reply for each request, none for one that was taken back, none that nobody asked for.
    pub(crate) fn assert_each_request_has_its_one_reply(&self) {
        let mut owed = BTreeMap::new();
        for request in self.sent.iter().filter(|message| !message["id"].is_null()) {
            owed.insert(request["id"].to_string(), i32::from(Some(&request["id"]) != self.cancelled_id()));
        }
        for reply in self.received.iter().filter(|message| message["method"].is_null()) {
            *owed.entry(reply["id"].to_string()).or_default() -= 1;
        }
        assert!(owed.values().all(|owed| *owed == 0), "replies too few (1) or too many (-1): {owed:?}");
    }
}
