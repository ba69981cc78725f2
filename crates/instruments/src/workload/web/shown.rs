//! How loads are named and sorted on a page: which parameters belong to a name, and the order of rows.

use model::{By, Tell};

use crate::workload::server::options;

/// The parameters in the names of loads beside the server, on servers and on stores.
pub const TELLS: &[Tell] = &[
    Tell::unusual("content"),
    Tell::unusual("files"),
    Tell::always("percentile"),
    Tell::always("limit"),
    Tell::unusual("arrivals"),
    Tell::unusual("load"),
    Tell::unusual("rate"),
    Tell::unusual("mix"),
    Tell::unusual("speed"),
    Tell::unusual("connections"),
    Tell::unusual("generators"),
    Tell::unusual("keepalive"),
    Tell::unusual("duration"),
    Tell::unusual("requests"),
    Tell::unusual("method"),
    Tell::unusual("headers"),
    Tell::unusual("body"),
    Tell::unusual("keys"),
    Tell::unusual("key-size"),
    Tell::unusual("value-size"),
    Tell::unusual("popularity"),
    Tell::unusual("ratio"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("threads"),
    Tell::unusual("timeout"),
    Tell::unusual("certificate"),
    Tell::unusual("cache"),
    Tell::unusual("memory"),
    Tell::unusual("listen").nor(&[options::NODE]),
    Tell::unusual("workers"),
    Tell::unusual("sendfile"),
    Tell::unusual("access-log"),
    Tell::unusual("open-file-cache"),
    Tell::unusual("nice"),
    Tell::unusual("limit-rate"),
    Tell::unusual("binary"),
];

/// Closed loops first, then by content, metric, and load.
pub const SORTED: &[By] = &[
    By::Param("arrivals"),
    By::Param("content"),
    By::Metric,
    By::Param("load"),
    By::Param("connections"),
    By::Param("generators"),
];
