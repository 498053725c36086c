//! What has the shape of a secret.
//!
//! Shapes that their makers publish, and the words around passwords and keys. A guess either way: what it finds
//! may be harmless, and a secret in plain words has no shape.

use std::sync::LazyLock;

use regex::RegexSet;

/// One pattern a line.
const SHAPES: &[&str] = &[
    // Amazon Web Services access keys.
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    // GitHub tokens, classic and fine-grained.
    r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    // GitLab, Slack, npm, PyPI, Hugging Face.
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{16,}",
    r"\bhf_[A-Za-z0-9]{30,}\b",
    // OpenAI, Anthropic and others that begin so; Stripe.
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    // Google API keys.
    r"\bAIza[A-Za-z0-9_-]{35}",
    // JSON web tokens.
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
    // Headers that authorise.
    r"(?i)\bauthorization\s*:\s*\S+",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}",
    // Keys in the text form of RFC 7468, and OpenSSH's.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    // A name and password within an address.
    r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@",
    // An assignment whose name says what it is.
    r#"(?i)\b(?:password|passwd|secret|api[_-]?key|access[_-]?token)\s*[=:]\s*["']?[^\s"']{6,}"#,
];

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SHAPES).ok());

/// Whether `text` holds something with the shape of a secret.
pub(super) fn is_in(text: &str) -> bool {
    SET.as_ref().is_some_and(|set| set.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In two pieces, so that nobody's scanner takes these for the real thing.
    fn joined(parts: [&str; 2]) -> String {
        parts.concat()
    }

    #[test]
    fn shapes_are_recognised() {
        assert!(SET.is_some(), "every shape is an expression");
        let secrets = [
            joined(["the key is AKIA", "ABCDEFGHIJKLMNOP"]),
            joined(["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"]),
            joined(["xoxb-", "1234567890-abcdef"]),
            joined(["sk-", "proj-abcdefghijklmnopqrstuvwx"]),
            joined(["eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl"]),
            joined(["Authorization: ", "Basic dXNlcjpwYXNz"]),
            joined(["-----BEGIN RSA ", "PRIVATE KEY-----"]),
            joined(["postgres://app:", "hunter2@db.example/x"]),
            joined(["password = ", "correct-horse"]),
        ];
        for secret in secrets {
            assert!(is_in(&secret), "{secret}");
        }
    }

    #[test]
    fn talk_about_secrets_is_none() {
        let talk = [
            "the password has to be longer",
            "we rotate every access token on Monday",
            "see https://example.org/a:b for more",
            "bearer of bad news",
            "task sk-12 is done",
        ];
        for text in talk {
            assert!(!is_in(text), "{text}");
        }
    }
}
