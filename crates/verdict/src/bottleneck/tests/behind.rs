use super::*;

/// A proxy that is idle, whose application drops connections.
fn dropping(owner: &str) -> BottleneckDoc {
    let part = format!("socket=127.0.0.1:8197;process=python3;owner={owner}");
    let (drops, room) = (format!("queue-drops;{part}"), format!("queue-room;{part}"));
    let figures = [
        ("throughput", 230.0),
        ("response-time", 40e-3),
        ("server-cpu", 200e-6),
        ("server-cores", 0.05),
        ("requests", 1000.0),
        ("drops;counter=listen-overflow", 400.0),
        ("drops;counter=listen-drop", 400.0),
        (drops.as_str(), 400.0),
        (room.as_str(), 5.0),
    ];
    first(&on_cores("connections=50;server=nginx", &figures, &[("server", [0.1, 0.05, 0.04, 0.01])]))
}

#[test]
fn a_full_queue_of_an_application_is_not_the_servers() {
    let doc = dropping("other");
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Behind, "127.0.0.1:8197 (python3)"));
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server (nginx): its queue of \
                connections to be accepted, which is not the server's, was full 3,200 times, 40 % of the requests";
    assert_eq!(doc.sentence, says);
    let advice = doc.advice.join("; ");
    assert!(advice.contains("listen backlog (it holds 5)") && !advice.contains("nginx"), "{advice}");
    assert!(!format!("{doc:?}").contains("somaxconn and"), "{doc:?}");
    let own = dropping("server");
    assert_eq!(own.kind, Binding::KernelLimit);
    assert!(own.sentence.contains("the queue of 127.0.0.1:8197 (python3), the server's own"), "{own:?}");
}
