//! One line from the client, taken apart without trusting it.
//!
//! Values stay the raw text that was sent until someone asks for them as a type. So the depth, the
//! numbers and the strings of a part that nobody asks for cannot do any harm, an id comes back exactly,
//! and a bad argument costs its own request and not the line. Of two equal keys the last one counts.
//!
//! What has an id asks for an answer and gets one, an error if need be. What has a method and no id is a
//! notification and is never answered, whatever else is wrong with it.

use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::id::Id;
use crate::rpc::RpcError;

/// The most messages of one batch; a longer one is refused as a whole.
pub const MAX_BATCH_MESSAGES: usize = 1000;

/// What a line holds.
#[derive(Debug)]
pub(crate) enum Line {
    /// White space.
    Blank,
    /// A message.
    One(Message),
    /// An array of messages.
    Batch(Vec<Message>),
}

/// One message.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// An answer, to a question this server never asks.
    Reply,
    /// None of these; answered with an error.
    Invalid(Invalid),
}

/// A call that is to be answered.
#[derive(Debug)]
pub(crate) struct Request {
    /// Comes back in the answer.
    pub(crate) id: Id,
    /// What is called.
    pub(crate) method: String,
    /// With what; any JSON.
    pub(crate) params: Option<Box<RawValue>>,
}

/// A call that is not to be answered.
#[derive(Debug)]
pub(crate) struct Notification {
    /// What is called; `None` if it is not a string.
    pub(crate) method: Option<String>,
    /// With what; any JSON.
    pub(crate) params: Option<Box<RawValue>>,
}

/// A message that cannot be understood.
#[derive(Debug)]
pub(crate) struct Invalid {
    /// Its id, if one could be read.
    pub(crate) id: Option<Id>,
    /// What is wrong with it.
    pub(crate) error: RpcError,
}

impl Invalid {
    /// Something in which no id can be read.
    pub(crate) fn without_id(error: RpcError) -> Self {
        Self { id: None, error }
    }
}

impl Line {
    /// Takes `bytes` apart. A byte order mark in front is passed over.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if bytes.iter().all(|byte| b" \t\r".contains(byte)) {
            return Self::Blank;
        }
        let Ok(raw) = serde_json::from_slice::<&RawValue>(bytes) else {
            return Self::One(Message::Invalid(Invalid::without_id(RpcError::not_json())));
        };
        match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(parts) if parts.len() > MAX_BATCH_MESSAGES => {
                Self::One(Message::invalid(&format!("a batch has at most {MAX_BATCH_MESSAGES} messages")))
            }
            Ok(parts) => Self::Batch(parts.into_iter().map(Message::parse).collect()),
            Err(_) => Self::One(Message::parse(raw)),
        }
    }
}

impl Message {
    /// A message that is refused and has no id.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::Invalid(Invalid::without_id(RpcError::invalid_request(message)))
    }

    fn parse(raw: &RawValue) -> Self {
        let Some(fields) = Fields::read(raw) else {
            return Self::invalid("expected an object");
        };
        let method = fields.get("method");
        if method.is_none() && (fields.get("result").is_some() || fields.get("error").is_some()) {
            return Self::Reply;
        }
        let params = fields.get("params").map(ToOwned::to_owned);
        let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
        let id = match (fields.get("id"), method) {
            (Some(id), _) => Id::read(id),
            (None, Some(method)) => {
                return Self::Notification(Notification { method: text(method), params });
            }
            (None, None) => return Self::invalid("neither `id` nor `method`"),
        };
        let Some(id) = id else {
            return Self::invalid("`id` must be a string or an integer");
        };
        let refuse = |message| {
            Self::Invalid(Invalid { id: Some(id.clone()), error: RpcError::invalid_request(message) })
        };
        if fields.get("jsonrpc").and_then(text).as_deref() != Some("2.0") {
            return refuse("expected \"jsonrpc\":\"2.0\"");
        }
        match method.and_then(text) {
            Some(method) => Self::Request(Request { id, method, params }),
            None => refuse("`method` must be a string"),
        }
    }
}
