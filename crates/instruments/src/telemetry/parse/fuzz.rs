//! Damaged files: no parser may panic, whatever the bytes. Seeded; `BOXSCORE_FUZZ_SECONDS` makes it run longer.

use std::hint::black_box;

use model::mutate::{Dice, mutate};

use super::{disks, lone, lone_signed, meminfo, nets, pairs, pressure, softnet, stat, tables, throttle};

const FIXTURES: [&[u8]; 10] = [
    include_bytes!("fixtures/stat"),
    include_bytes!("fixtures/vmstat"),
    include_bytes!("fixtures/meminfo"),
    include_bytes!("fixtures/diskstats"),
    include_bytes!("fixtures/net_dev"),
    include_bytes!("fixtures/netstat"),
    include_bytes!("fixtures/snmp"),
    include_bytes!("fixtures/softnet_stat"),
    b"some avg10=98.64 avg60=96.40 avg300=74.82 total=746006290\nfull avg10=0.00 total=0\n",
    b"nr_periods 120\nnr_throttled 7\nthrottled_time 81234567\nthrottled_usec 5\n",
];

const PLANTS: [&[u8]; 8] = [b"0", b"9", b" ", b"\n", b":", b"-", b"=%", b"18446744073709551615"];

fn every_parser(bytes: &[u8]) {
    let stat = stat::parse(bytes);
    let times = stat.all.unwrap_or_default();
    for (cpu, other) in &stat.cpus {
        assert!(stat.cpu(*cpu).is_some());
        assert!(times.since(other).plus(other).total() >= times.since(other).busy());
    }
    black_box((meminfo::parse(bytes), pressure::parse(bytes), throttle::parse(bytes)));
    black_box((disks::parse(bytes), nets::parse(bytes), lone(bytes), lone_signed(bytes)));
    black_box((tables::pick(bytes, "TcpExt:", ["ListenDrops"]), tables::pick(bytes, "Tcp:", ["OutRsts"])));
    black_box(softnet::dropped(bytes));
    black_box(pairs::pick(bytes, ["pswpin", "nr_throttled"]));
}

#[test]
fn damaged_files_are_read_without_a_panic() {
    let seconds: u64 =
        std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end_ns = sys::clock::now_ns() + seconds * 1_000_000_000;
    let mut dice = Dice::new(7);
    let mut rounds = 0;
    while rounds < 3000 || sys::clock::now_ns() < end_ns {
        for fixture in FIXTURES {
            every_parser(&mutate(fixture, &PLANTS, &mut dice));
        }
        rounds += 1;
    }
}
