//! clusterperf's family of tests as a whole: tests that are missing here, and tests that a store cannot do.
//! Missing parts of RAMCloud on this machine are looked up when they are asked for.

/// A remark for who looks at the family as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remark {
    /// A test by clusterperf's name, or a store.
    pub about: &'static str,
    pub says: &'static str,
}

const fn remark(about: &'static str, says: &'static str) -> Remark {
    Remark { about, says }
}

/// A line that says whether RAMCloud can be asked from here, or what is missing.
pub fn ramcloud_here() -> String {
    match crate::workload::ramcloud::state() {
        Ok(there) => there,
        Err(missing) => format!("not available here: {missing}"),
    }
}

/// How each test maps to each store, then the tests that are not there.
pub static REMARKS: &[Remark] = &[
    remark(
        "redis, valkey",
        "GET, SET, MGET; a replicated write is SET and WAIT in one piece, timed to the answer of WAIT, \
        and counts only if as many replicas have it; RAMCloud's replicas are copies of log segments in memory",
    ),
    remark(
        "memcached",
        "get, set, get of many keys; n/a: replicas (it has none), keys of more than 250 B, time within a \
        command (it counts only CPU time)",
    ),
    remark(
        "ramcloud",
        "rc_read, rc_write and rc_multiRead of its own client library, timed within a helper of ours right before and \
        after each call; replicas are an option of the start of its servers; n/a: readThroughput and writeThroughput by \
        the store's own counter and its CPU time (what its clients counted is there), kv-split, persistence, mode; \
        figures of 2010 and 2014 stand in the catalogue, boxscore compare atom-c2750 latest",
    ),
    remark(
        "keys",
        "30 bytes as in clusterperf, but of text: its own begin with a binary number, which memcached cannot carry",
    ),
    remark(
        "readVaryingKeyLength, writeVaryingKeyLength",
        "not there yet; maps to redis (44 lengths), to memcached up to 250 B",
    ),
    remark(
        "multiRead_oneObjectPerMaster, multiRead_general, multiRead_generalRandom",
        "not there yet; need several stores \
        asked by one client at once",
    ),
    remark(
        "multiRead_colocation, multiReadThroughput, multiWrite_oneMaster",
        "not there yet; map to MGET, get of many keys \
        and pipelined SET",
    ),
    remark("readRandom, readInterference, writeInterference", "not there yet; map to both"),
    remark("writeAsyncSync", "not there yet; in part: SET without WAIT, then with it (redis)"),
    remark("broadcast", "not there yet; maps to keys that are polled"),
    remark("readAllToAll", "not there yet; prints nothing in clusterperf unless a server cannot be reached"),
    remark(
        "readDistWorkload, writeDistWorkload, workloadThroughput",
        "not there yet; YCSB's mixes beside a probe",
    ),
    remark(
        "echo_basic, echo_workload",
        "not there: boxscore run net --test tcp-rtt is the echo of the wire alone",
    ),
    remark(
        "migrateLoaded, index*, transaction*",
        "RAMCloud only: tables that move, secondary indexes, transactions over \
        servers have no counterpart in the other stores",
    ),
];
