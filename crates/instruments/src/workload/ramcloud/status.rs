//! Failures between boxscore and RAMCloud's client library, in a line each, with RAMCloud's names of statuses.

/// In the order of their numbers, as `Status.h` has them (2019).
const NAMES: [&str; 34] = [
    "STATUS_OK",
    "STATUS_UNKNOWN_TABLET",
    "STATUS_TABLE_DOESNT_EXIST",
    "STATUS_OBJECT_DOESNT_EXIST",
    "STATUS_OBJECT_EXISTS",
    "STATUS_WRONG_VERSION",
    "STATUS_NO_TABLE_SPACE",
    "STATUS_MESSAGE_TOO_SHORT",
    "STATUS_UNIMPLEMENTED_REQUEST",
    "STATUS_REQUEST_FORMAT_ERROR",
    "STATUS_RESPONSE_FORMAT_ERROR",
    "STATUS_COULDNT_CONNECT",
    "STATUS_BACKUP_BAD_SEGMENT_ID",
    "STATUS_BACKUP_OPEN_REJECTED",
    "STATUS_BACKUP_SEGMENT_OVERFLOW",
    "STATUS_BACKUP_MALFORMED_SEGMENT",
    "STATUS_SEGMENT_RECOVERY_FAILED",
    "STATUS_RETRY",
    "STATUS_SERVICE_NOT_AVAILABLE",
    "STATUS_TIMEOUT",
    "STATUS_SERVER_NOT_UP",
    "STATUS_INTERNAL_ERROR",
    "STATUS_INVALID_OBJECT",
    "STATUS_TABLET_DOESNT_EXIST",
    "STATUS_PARTITION_BEFORE_READ",
    "STATUS_WRONG_SERVER",
    "STATUS_CALLER_NOT_IN_CLUSTER",
    "STATUS_REQUEST_TOO_LARGE",
    "STATUS_UNKNOWN_INDEXLET",
    "STATUS_INDEX_DOESNT_EXIST",
    "STATUS_INVALID_PARAMETER",
    "STATUS_STALE_RPC",
    "STATUS_EXPIRED_LEASE",
    "STATUS_TX_OP_AFTER_COMMIT",
];

pub const OK: u32 = 0;
pub const OBJECT_DOESNT_EXIST: u32 = 3;
pub const COULDNT_CONNECT: u32 = 11;

/// `STATUS_RETRY (17)`.
pub fn name(code: u32) -> String {
    let known = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
    format!("{} ({code})", known.unwrap_or(&"a status that Status.h of 2019 does not have"))
}

fn told(code: &u32) -> String {
    name(*code)
}

/// Why there is no answer of RAMCloud.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("RAMCloud's client library cannot be loaded: {0}")]
    Load(String),
    #[error("RAMCloud says {} to {call}", told(.code))]
    Status { call: String, code: u32 },
    #[error(
        "RAMCloud's client library has not come back from {call} for {seconds} s: it waits for ever for a coordinator \
         or a server that is gone, stopped or full"
    )]
    Hangs { call: String, seconds: u64 },
    #[error("boxscore's helper, which runs RAMCloud's client library, ended in {call} ({how})")]
    Ended { call: String, how: String },
    #[error("boxscore's helper for RAMCloud: {0}")]
    Helper(String),
}

impl Trouble {
    /// One word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Trouble::Load(_) => "library",
            Trouble::Status { code: COULDNT_CONNECT, .. } => "connect",
            Trouble::Status { .. } => "status",
            Trouble::Hangs { .. } => "timeout",
            Trouble::Ended { .. } => "ended",
            Trouble::Helper(_) => "helper",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_ramclouds_names() {
        for (code, wanted) in
            [(0, "STATUS_OK"), (11, "STATUS_COULDNT_CONNECT"), (17, "STATUS_RETRY"), (21, "INTERNAL")]
        {
            assert!(
                name(code).contains(wanted) && name(code).contains(&format!("({code})")),
                "{}",
                name(code)
            );
        }
        assert!(name(34).contains("does not have") && name(u32::MAX).contains("(4294967295)"));
        let trouble = Trouble::Status { call: "rc_connect".to_owned(), code: COULDNT_CONNECT };
        assert_eq!(trouble.to_string(), "RAMCloud says STATUS_COULDNT_CONNECT (11) to rc_connect");
        assert_eq!(trouble.kind(), "connect");
    }
}
