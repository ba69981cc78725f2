//! The keys of JSON access logs and what they say: nginx's variables, Caddy's, Traefik's, and the plain words that
//! people choose. Keys of inner objects are written with a point.

use super::plan::Field;

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// The field of a JSON key, and its rank among keys for the same field (higher is better). `None` for an unknown key.
pub fn meaning(key: &[u8]) -> Option<(Field, u8)> {
    // A time of day is written in many ways, so its pattern is found at the value: the number is not used.
    let clock = Field::Clock(0);
    Some(match key {
        b"remote_addr" | b"client_ip" | b"clientip" | b"request.remote_ip" | b"ClientHost" => {
            (Field::Client, 3)
        }
        b"request.client_ip" | b"remote_ip" | b"ip" | b"client" | b"remote_host" => (Field::Client, 2),
        b"request.host" | b"RequestHost" | b"server_name" | b"vhost" => (Field::Vhost, 2),
        b"host" | b"http_host" => (Field::Vhost, 1),
        b"request" => (Field::Request, 1),
        b"request_method" | b"method" | b"request.method" | b"RequestMethod" => (Field::Method, 1),
        b"request_uri" | b"request.uri" | b"RequestPath" => (Field::Path, 2),
        b"uri" | b"path" | b"url" => (Field::Path, 1),
        b"args" | b"query_string" => (Field::Query, 1),
        b"server_protocol" | b"protocol" | b"request.proto" | b"RequestProtocol" => (Field::Protocol, 1),
        b"status" | b"DownstreamStatus" | b"status_code" => (Field::Status, 2),
        b"code" => (Field::Status, 1),
        b"body_bytes_sent" | b"size" | b"DownstreamContentSize" | b"response_size" => (Field::Bytes, 3),
        b"bytes_sent" => (Field::Bytes, 2),
        b"bytes" => (Field::Bytes, 1),
        b"request_time" | b"duration" | b"duration_s" => (Field::Duration { unit_ns: S }, 4),
        b"duration_us" | b"time_us" | b"request_time_us" => (Field::Duration { unit_ns: US }, 4),
        b"duration_ms" | b"elapsed_ms" | b"response_time_ms" | b"request_time_ms" | b"time_ms"
        | b"latency_ms" => (Field::Duration { unit_ns: MS }, 3),
        b"duration_ns" | b"Duration" => (Field::Duration { unit_ns: 1 }, 4),
        b"upstream_response_time" => (Field::Durations { unit_ns: S }, 1),
        b"time_iso8601" | b"StartUTC" => (clock, 4),
        b"@timestamp" | b"timestamp" | b"ts" | b"msec" => (clock, 3),
        b"time_local" | b"time" | b"date" => (clock, 2),
        b"http_referer" | b"referer" | b"referrer" => (Field::Referer, 1),
        b"http_user_agent" | b"user_agent" | b"agent" => (Field::Agent, 1),
        b"upstream_cache_status" | b"cache" | b"cache_status" => (Field::Cache, 1),
        _ => return None,
    })
}

/// A number for each thing that a line can say once.
pub fn role(field: &Field) -> usize {
    match field {
        Field::Other => 0,
        Field::Client => 1,
        Field::Vhost => 2,
        Field::Request => 3,
        Field::Method => 4,
        Field::Path => 5,
        Field::Query => 6,
        Field::Protocol => 7,
        Field::Status => 8,
        Field::Bytes => 9,
        Field::Duration { .. } | Field::Durations { .. } => 10,
        Field::Reused => 11,
        Field::Referer => 12,
        Field::Agent => 13,
        Field::Cache => 14,
        Field::Clock(_) => 15,
    }
}

/// How many of them there are.
pub const ROLES: usize = 16;
