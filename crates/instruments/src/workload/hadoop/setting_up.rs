//! Remarks of a run about its cluster: whose it is, how it is set up and why, and that others were at work on it.

use model::Record;

use super::cluster::Cluster;
use super::lab::Lab;
use super::theirs::Theirs;

/// That a cluster of the user's was not ours alone.
pub(super) fn tell_others(theirs: &Theirs, record: &mut dyn Record) {
    match theirs.found.others() {
        Ok(others) if others > 0.0 => record.remark(
            "hadoop-others",
            &format!(
                "{others} other applications were at work on {} when a job was started",
                theirs.found.uri
            ),
        ),
        Ok(_) => {}
        Err(why) => record.remark(
            "hadoop-others",
            &format!("whether others were at work on the cluster is not known: {why}"),
        ),
    }
}

/// A cluster of the user's, and what is ours on it.
fn tell_theirs(cluster: &Cluster, theirs: &Theirs, record: &mut dyn Record) {
    record.remark("hadoop", &theirs.sentence(&cluster.site.distribution));
    record.remark(
        "hadoop",
        &format!(
            "work in its HDFS was in {}, and is removed; by hand: `{}`",
            theirs.work.home,
            theirs.removal()
        ),
    );
    if let Err(why) = &theirs.found.history {
        record.remark("hadoop-history", why);
    }
}

/// How the cluster is set up, and why so.
pub(super) fn tell(cluster: &Cluster, record: &mut dyn Record) {
    if let Some(theirs) = &cluster.theirs {
        tell_theirs(cluster, theirs, record);
    } else {
        tell_ours(cluster, record);
    }
    for one in &cluster.sizes.derived {
        record.remark("hadoop", &format!("{}: {} ({})", one.name, one.value, one.why));
    }
}

fn tell_ours(cluster: &Cluster, record: &mut dyn Record) {
    let hadoop = &cluster.site.distribution;
    let whose = if hadoop.is_users { " of HADOOP_HOME" } else { "" };
    let place = match cluster.sizes.nodes {
        _ if cluster.lab().is_some() => cluster.lab().map(Lab::sentence).unwrap_or_default(),
        1 => "1 node on the loopback, which has every daemon".to_owned(),
        nodes => {
            format!("{nodes} nodes and a master, each in a network namespace of its own on this machine")
        }
    };
    let text = format!(
        "Hadoop {}{whose} on Java {}: {place}; ready after {:.1} s, which are in no figure",
        hadoop.version, hadoop.java.version, cluster.start_seconds
    );
    record.remark("hadoop", &text);
}
