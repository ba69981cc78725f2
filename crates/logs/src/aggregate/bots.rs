//! From where each bot asks, and when: its program with a client, or with an hour, as one name of [`Names`].
//!
//! Hours are those of the log's own clock, told by the second since 1970 at which each began.

use super::names::{Lately, Names};
use crate::scan::At;

/// Classes of the names: a bot with a client, and with an hour.
pub const CLIENT: usize = 0;
pub const HOUR: usize = 1;

/// Bytes of a program's name that are kept: what stands behind it is to be kept too.
const LONGEST: usize = 180;
const SECONDS: i64 = 3600;

/// A request of a bot.
#[derive(Clone, Copy)]
pub struct BotRequest<'a> {
    pub agent: &'a [u8],
    pub client: Option<&'a [u8]>,
    pub at: Option<At>,
    pub offset: u64,
}

/// Adds a request; the names are written to `key`.
#[inline(never)]
pub fn add(to: &mut Names, lately: &mut Lately, key: &mut Vec<u8>, request: BotRequest<'_>) {
    let BotRequest { agent, client, at, offset } = request;
    if let Some(client) = client {
        write(key, agent, client);
        lately.add(to, key, offset, CLIENT);
    }
    if let Some(at) = at {
        let hour = at.local().div_euclid(SECONDS) * SECONDS - (at.local() - at.seconds);
        write(key, agent, &hour.to_be_bytes());
        lately.add(to, key, offset, HOUR);
    }
}

fn write(key: &mut Vec<u8>, agent: &[u8], behind: &[u8]) {
    key.clear();
    key.extend_from_slice(kept(agent));
    key.push(0);
    key.extend_from_slice(behind);
}

fn kept(agent: &[u8]) -> &[u8] {
    agent.get(..LONGEST).unwrap_or(agent)
}

/// The client or the hour behind the program in a name; `None` in names of another program.
pub fn behind<'a>(name: &'a [u8], agent: &[u8]) -> Option<&'a [u8]> {
    name.strip_prefix(kept(agent))?.strip_prefix(&[0])
}

/// The second at which the hour of a name began.
pub fn hour(behind: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(*behind.first_chunk::<8>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bot_has_its_clients_and_hours() {
        let (mut names, mut lately, mut key) = (Names::default(), Lately::default(), Vec::new());
        let long = [b'x'; 400];
        // 12:10 and 13:50 of a clock that is half an hour ahead.
        let at = |minute: i64| Some(At { seconds: 1_795_435_200 + minute * 60 - 1800, zone: 2 });
        for (offset, (agent, client, minute)) in [
            (&b"BadBot/2.1"[..], &b"10.0.0.1"[..], 10),
            (b"BadBot/2.1", b"10.0.0.1", 110),
            (&long, b"::1", 110),
        ]
        .into_iter()
        .enumerate()
        {
            let request = BotRequest { agent, client: Some(client), at: at(minute), offset: offset as u64 };
            add(&mut names, &mut lately, &mut key, request);
        }
        let none = BotRequest { agent: b"Bot", client: None, at: None, offset: 9 };
        add(&mut names, &mut lately, &mut key, none);
        lately.settle(&mut names);
        let of = |class, agent: &[u8]| -> Vec<(Vec<u8>, u64)> {
            let top = names.top(class, 9).into_iter();
            top.filter_map(|(name, count)| Some((behind(name, agent)?.to_vec(), count))).collect()
        };
        assert_eq!(of(CLIENT, b"BadBot/2.1"), [(b"10.0.0.1".to_vec(), 2)]);
        assert_eq!(of(CLIENT, &long), [(b"::1".to_vec(), 1)]);
        let hours: Vec<i64> =
            of(HOUR, b"BadBot/2.1").iter().map(|(name, _)| hour(name).unwrap() - 1_795_435_200).collect();
        assert_eq!(hours, [-1800, 1800]);
        assert_eq!((of(HOUR, b"BadBot/2").len(), hour(b"short")), (0, None));
    }
}
