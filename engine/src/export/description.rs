//! `session.json` in the predecessor's layout.
//!
//! An imported one is given back as it was. If the session was renamed or tagged since, only the members
//! that differ are written anew; all others stay, in their order, those nobody here knows included.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::session::SessionMetadata;

/// What can change after an import.
const CHANGEABLE: [&str; 7] = ["id", "name", "model", "warnings", "tags", "notes", "pinned"];

/// The members of a JSON object in their order, their values as they stand.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The bytes of `session.json` for a session that is described by `metadata`, and that was imported with
/// the bytes `kept`, if any.
pub(super) fn written(kept: &[u8], metadata: &SessionMetadata) -> Vec<u8> {
    if kept.is_empty() {
        return of_our_own(metadata).to_json().into_bytes();
    }
    let Ok(then) = serde_json::from_slice::<SessionMetadata>(kept) else { return kept.to_vec() };
    let Ok(Members(mut members)) = serde_json::from_slice(kept) else { return kept.to_vec() };
    let (then, now) = (values(&as_logged(then)), values(metadata));
    let mut is_changed = false;
    for key in CHANGEABLE {
        if then.get(key) == now.get(key) {
            continue;
        }
        let Some(value) = now.get(key).and_then(|now| serde_json::value::to_raw_value(now).ok()) else {
            continue;
        };
        is_changed = true;
        match members.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => members.push((key.to_owned(), value)),
        }
    }
    if is_changed { object(&members).into_bytes() } else { kept.to_vec() }
}

/// Without what only has a meaning beside a log.
fn of_our_own(metadata: &SessionMetadata) -> SessionMetadata {
    SessionMetadata {
        origin: None,
        program: None,
        finished_at: None,
        lines: None,
        log: None,
        ..metadata.clone()
    }
}

/// What an import makes of a description: each tag once.
fn as_logged(mut metadata: SessionMetadata) -> SessionMetadata {
    let mut tags = Vec::new();
    for tag in std::mem::take(&mut metadata.tags) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    SessionMetadata { tags, ..metadata }
}

fn values(metadata: &SessionMetadata) -> Value {
    serde_json::to_value(metadata).unwrap_or_default()
}

fn object(members: &[(String, Box<RawValue>)]) -> String {
    let lines: Vec<_> = members
        .iter()
        .map(|(key, value)| format!("  {}: {}", Value::from(key.as_str()), value.get()))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
