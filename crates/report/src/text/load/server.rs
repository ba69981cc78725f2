//! The server's line of a load: the CPU time that it used, of what it may use.

use model::Unit;
use model::doc::ServerUseDoc;
use model::format::{count, number, quantity};

use super::super::{Look, hang};

/// `server      0.398 of 2 CPUs · 36.0 us of CPU a request · CPU quota 0.400 (cpu:/web)`; nothing where its CPU time
/// is not known.
pub(super) fn line(server: &ServerUseDoc, look: Look) -> String {
    let Some(used) = server.cpus else { return String::new() };
    let mut parts = vec![match server.allowed_cpus {
        Some(allowed) => format!("{} of {}", number(used), count(allowed as usize, "CPU")),
        None => format!("{} CPUs", number(used)),
    }];
    let each = server.cpu_per_request.map(|cpu| format!("{} of CPU a request", quantity(cpu, Unit::Second)));
    parts.extend(each);
    if let Some((cpus, group)) = server.quota_cpus.zip(server.quota_group.as_ref()) {
        parts.push(format!("CPU quota {} ({group})", number(cpus)));
    }
    hang("server      ", &parts.join(" · "), look.columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said() {
        let look = Look::wide(100);
        let used = ServerUseDoc { cpus: Some(0.398), ..ServerUseDoc::default() };
        assert_eq!(line(&used, look), "server      0.398 CPUs\n");
        let whole = ServerUseDoc {
            allowed_cpus: Some(2),
            cpu_per_request: Some(36e-6),
            quota_cpus: Some(0.4),
            quota_group: Some("cpu:/web".into()),
            ..used
        };
        let says = "server      0.398 of 2 CPUs · 36.0 us of CPU a request · CPU quota 0.400 (cpu:/web)\n";
        assert_eq!(line(&whole, look), says);
        assert_eq!(line(&ServerUseDoc::default(), look), "");
    }
}
