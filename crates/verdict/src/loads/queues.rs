//! Listening sockets whose queue of connections to be accepted was full in a load, and whose they are.
//!
//! Counts are sums over the measured takes. Nothing is known where the server is elsewhere.

use model::backend::Backend;
use model::finding::drops::Queue;
use model::metrics::load;

use super::Load;

/// The connections dropped at each socket, the most first.
pub fn dropped(load: &Load<'_>) -> Vec<(Queue, f64)> {
    let rooms = load.sums_by_part(&load::QUEUE_ROOM);
    let takes = load.takes().len().max(1) as f64;
    let of = |(part, drops): (model::Params, f64)| {
        let room = rooms.iter().find(|(own, _)| *own == part).map(|(_, sum)| sum / takes);
        let queue = Queue {
            socket: part.get("socket")?.to_owned(),
            process: part.get("process").map(str::to_owned),
            is_servers: part.get("owner")? == "server",
            room,
        };
        Some((queue, drops))
    };
    let mut all: Vec<(Queue, f64)> =
        load.sums_by_part(&load::QUEUE_DROPS).into_iter().filter_map(of).collect();
    all.retain(|(_, drops)| *drops >= 0.5);
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// The socket that dropped most, with its drops, of those that have to do with the load.
pub fn fullest(load: &Load<'_>, behind: &[Backend]) -> Option<(Queue, f64)> {
    dropped(load).into_iter().find(|(queue, _)| concerns(queue, behind))
}

/// The connections dropped at sockets that have nothing to do with the load.
pub fn of_strangers(load: &Load<'_>, behind: &[Backend]) -> f64 {
    dropped(load).iter().filter(|(queue, _)| !concerns(queue, behind)).map(|(_, drops)| drops).sum()
}

/// The server's own, and those of applications behind it. Where none of these was seen, any may be one.
fn concerns(queue: &Queue, behind: &[Backend]) -> bool {
    queue.is_servers || behind.is_empty() || behind.iter().any(|one| one.socket == queue.socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::of_run;
    use crate::loads::planted::one;

    #[test]
    fn the_socket_that_dropped_most_comes_first() {
        let run = one(
            "connections=50",
            &[
                ("throughput", 1.0),
                ("queue-drops;socket=127.0.0.1:8196;process=nginx;owner=server", 0.0),
                ("queue-drops;socket=127.0.0.1:8197;process=python3;owner=other", 100.0),
                ("queue-room;socket=127.0.0.1:8197;process=python3;owner=other", 5.0),
                ("queue-drops;socket=0.0.0.0:22;owner=other", 2.0),
            ],
        );
        let found = dropped(&of_run(&run, instruments::cards())[0]);
        let places: Vec<String> =
            found.iter().map(|(queue, drops)| format!("{} {drops:.0}", queue.place())).collect();
        assert_eq!(places, ["127.0.0.1:8197 (python3) 800", "0.0.0.0:22 16"]);
        assert!(!found[0].0.is_servers && found[0].0.room.is_some_and(|room| (room - 5.0).abs() < 0.01));
        let all = of_run(&run, instruments::cards());
        let behind = [Backend { socket: "0.0.0.0:22".into(), ..Backend::default() }];
        let place = |behind: &[Backend]| fullest(&all[0], behind).map(|(queue, _)| queue.socket);
        assert_eq!(place(&[]).as_deref(), Some("127.0.0.1:8197"));
        // Where it is known what is behind the server, others' are none of its business.
        assert_eq!(place(&behind).as_deref(), Some("0.0.0.0:22"));
        assert!((of_strangers(&all[0], &behind) - 800.0).abs() < 1.0);
        let plain = one("connections=5", &[("throughput", 1.0)]);
        assert_eq!(fullest(&of_run(&plain, instruments::cards())[0], &[]), None);
    }
}
