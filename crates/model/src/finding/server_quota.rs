//! `server-quota`: the CPU quota of the control group that a loaded server runs in, and how often it stopped it.

use super::{Conclusion, Evidence, Several, Validity, known};
use crate::format::{count, number, quantity};
use crate::unit::Unit;

/// A quota, and what it did in the takes of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaUse {
    /// `cpu:/web` of version 1, `/web` of version 2.
    pub group: String,
    /// CPUs that it allows.
    pub cpus: f64,
    /// Periods in which the group had work, and those of them in which it was stopped.
    pub periods: Option<f64>,
    pub throttled: Option<f64>,
    /// How long it was stopped, summed over CPUs, s.
    pub stopped_s: Option<f64>,
    /// The time of the takes, and the CPUs that the server may run on.
    pub window_s: Option<f64>,
    pub server_cpus: Option<usize>,
}

impl QuotaUse {
    /// The share of its periods in which it was stopped.
    pub fn share(&self) -> Option<f64> {
        self.throttled.zip(self.periods).map(|(stopped, all)| stopped / all).filter(|share| share.is_finite())
    }

    /// `0.400 CPUs (cpu:/web)`.
    pub fn size(&self) -> String {
        let plural = if (self.cpus - 1.0).abs() < f64::EPSILON { "CPU" } else { "CPUs" };
        format!("{} {plural} ({})", number(self.cpus), self.group)
    }

    /// `stopped in 49 of 50 periods, for 9.10 s of the 10.0 s of its 2 CPUs`; `None` where it was not counted.
    pub fn stops(&self) -> Option<String> {
        let (stopped, periods) = self.throttled.zip(self.periods)?;
        let times = format!("stopped in {stopped:.0} of {}", count(periods as usize, "period"));
        let long = |seconds: f64| quantity(seconds, Unit::Second);
        let of = self.window_s.zip(self.server_cpus).map(|(window, cpus)| {
            format!(" of the {} of its {}", long(window * cpus as f64), count(cpus, "CPU"))
        });
        let lasted = self.stopped_s.filter(|seconds| *seconds > 0.0);
        let lasted = lasted.map(|seconds| format!(", for {}{}", long(seconds), of.unwrap_or_default()));
        Some(format!("{times}{}", lasted.unwrap_or_default()))
    }

    /// The setting that raises it, by who made the group.
    pub fn raised_by(&self) -> String {
        let last = self.group.rsplit('/').next().unwrap_or_default();
        let is_unit = [".service", ".slice", ".scope"].iter().any(|end| last.ends_with(end));
        let file = if self.group.starts_with('/') { "cpu.max" } else { "cpu.cfs_quota_us" };
        match self.group.as_str() {
            group if group.contains("kubepods") => "limits.cpu of its container".to_owned(),
            group if group.contains("docker") => "docker update --cpus".to_owned(),
            group if group.contains("libpod") => "podman update --cpus".to_owned(),
            _ if is_unit => format!("systemctl set-property {last} CPUQuota="),
            _ => format!("{file}; docker --cpus, systemd CPUQuota="),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ServerQuota {
    Unread {
        why: Option<String>,
    },
    /// None of so many groups has one.
    None {
        groups: usize,
    },
    /// It has one that did not stop it.
    Spare(QuotaUse),
    /// It stopped the server. `binds`: it is the bottleneck, which is said there.
    Stopped {
        quota: QuotaUse,
        binds: bool,
    },
}

impl ServerQuota {
    fn share(&self) -> Option<f64> {
        match self {
            ServerQuota::Stopped { quota, .. } => quota.share(),
            _ => None,
        }
    }
}

fn stopped(quota: &QuotaUse) -> String {
    let stops = quota.stops().unwrap_or_default();
    format!("the CPU quota of its control group, {}: {stops}", quota.size())
}

impl Conclusion for ServerQuota {
    fn kind(&self) -> &str {
        "server-quota"
    }

    /// A quota is part of what was measured: it makes no figure doubtful, but must be known where it stops the server
    /// and nothing else says so.
    fn state(&self) -> Validity {
        match self {
            ServerQuota::Unread { .. } => Validity::Unknown,
            ServerQuota::None { .. } | ServerQuota::Spare(_) | ServerQuota::Stopped { binds: true, .. } => {
                Validity::Ok
            }
            ServerQuota::Stopped { binds: false, .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            ServerQuota::Unread { why: Some(why) } => {
                format!("whether a CPU quota stops the server is not known: {why}")
            }
            ServerQuota::Unread { why: None } => {
                "whether a CPU quota stops the server is not known: its control groups were not read"
                    .to_owned()
            }
            ServerQuota::None { groups } => {
                format!("no CPU quota of the server's: {} looked at", count(*groups, "control group"))
            }
            ServerQuota::Spare(quota) => {
                format!(
                    "the server used up no period of the CPU quota of its control group, {}",
                    quota.size()
                )
            }
            ServerQuota::Stopped { quota, binds: true } => {
                format!("the server is held by {}", stopped(quota))
            }
            ServerQuota::Stopped { quota, binds: false } => format!(
                "its slowest answers may wait for {}; raise it ({})",
                stopped(quota),
                quota.raised_by()
            ),
        }
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (_, worst, _) = all.worst(ServerQuota::share)?;
        let ServerQuota::Stopped { quota, .. } = worst else { return None };
        let (stopped, periods) = quota.throttled.zip(quota.periods)?;
        Some(format!(
            "slow answers may wait for the server's CPU quota of {}: stopped in {stopped:.0} of {}",
            quota.size(),
            count(periods as usize, "period")
        ))
    }

    fn evidence(&self) -> Evidence {
        let of = |quota: &QuotaUse| {
            known([
                ("quota", Some(quota.cpus)),
                ("periods", quota.periods),
                ("throttled", quota.throttled),
                ("throttled_seconds", quota.stopped_s),
            ])
        };
        match self {
            ServerQuota::Unread { .. } => Evidence::new(),
            ServerQuota::None { groups } => known([("groups", Some(*groups as f64))]),
            ServerQuota::Spare(quota) | ServerQuota::Stopped { quota, .. } => of(quota),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_raised_where_its_group_was_made() {
        for (group, wanted) in [
            ("cpu:/cold3", "cpu.cfs_quota_us; docker --cpus, systemd CPUQuota="),
            ("/web", "cpu.max; docker --cpus, systemd CPUQuota="),
            ("/system.slice/nginx.service", "systemctl set-property nginx.service CPUQuota="),
            ("/system.slice/docker-3f.scope", "docker update --cpus"),
            ("cpu:/docker/3f", "docker update --cpus"),
            ("/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope", "limits.cpu of its container"),
        ] {
            let quota = QuotaUse { group: group.to_owned(), cpus: 0.4, ..QuotaUse::default() };
            assert_eq!(quota.raised_by(), wanted, "{group}");
            assert_eq!((quota.stops(), quota.share()), (None, None));
        }
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let counted = QuotaUse { periods: Some(50.0), throttled: Some(49.0), ..QuotaUse::default() };
        assert_eq!(counted.stops().as_deref(), Some("stopped in 49 of 50 periods"));
        let timed = QuotaUse { stopped_s: Some(9.1), ..counted };
        assert_eq!(timed.stops().as_deref(), Some("stopped in 49 of 50 periods, for 9.10 s"));
        let whole = QuotaUse { window_s: Some(5.0), server_cpus: Some(2), ..timed };
        let says = "stopped in 49 of 50 periods, for 9.10 s of the 10.0 s of its 2 CPUs";
        assert_eq!(whole.stops().as_deref(), Some(says));
        let idle = QuotaUse { periods: Some(0.0), throttled: Some(0.0), ..QuotaUse::default() };
        assert_eq!(idle.share(), None);
    }
}
