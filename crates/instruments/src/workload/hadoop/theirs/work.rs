//! Our place on a cluster of the user's: one folder of its file system, the tag that our jobs carry, and the script
//! that takes both away. The script lies in a private folder here and is run when the cluster is let go, and by the
//! guard where this program was killed (`workload::guard`).
//!
//! Nothing here asks a cluster.

use std::path::Path;

use model::shell::word;

use super::super::programs::SHELL;
use super::IDENTITY;
use super::configuration::Configuration;

/// The program that lists and ends applications.
const APPLICATIONS: &str = "org.apache.hadoop.yarn.client.cli.ApplicationCLI";
/// The setting for the folder of users' own ones.
pub(super) const HOMES: &str = "dfs.user.home.dir.prefix";
const STAGING: &str = "yarn.app.mapreduce.am.staging-dir";
/// The staging folder of a job in its client, and its files on this machine.
const STAGING_IN_CLIENT: &str = "mapreduce.jobtracker.staging.root.dir";
const TEMPORARY: &str = "hadoop.tmp.dir";
const DONE: &str = "mapreduce.jobhistory.intermediate-done-dir";

/// The end of a script that ended jobs. Their nodes hear of it some seconds later, and a job that was just starting
/// makes its folder again until then. The folder is gone once it was missing in three looks, of ten at most.
const AGAIN: &str = "\
if [ -n \"$ids\" ]; then
missing=0
for look in 1 2 3 4 5 6 7 8 9 10; do
sleep 3
remove
case $left$removed in 0) missing=$((missing + 1));; *) missing=0;; esac
[ $missing -lt 3 ] || break
done
fi
";
/// Applications that have not ended; those that are not accepted yet are not listed by default.
const STATES: &str = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";

/// The folder, and the tag of jobs, which is its name too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub tag: String,
    pub home: String,
}

impl Work {
    /// A place of a new name, one for each folder that it may lie in: the user's own, and /tmp where they have none.
    pub fn choices(configuration: &Configuration) -> [Work; 2] {
        let tag = new_tag();
        [own_folder(configuration).as_str(), "/tmp"]
            .map(|parent| Work { tag: tag.clone(), home: format!("{parent}/{tag}") })
    }

    /// A place in the folder that a client is started in.
    pub fn here() -> Work {
        let tag = new_tag();
        Work { home: tag.clone(), tag }
    }

    /// The settings of a job, `key=value`: its tag, and its files below our folder. The history server still finds its
    /// records where it looks for them.
    pub fn settings(&self, configuration: &Configuration) -> Vec<String> {
        let staging = || configuration.get(STAGING).unwrap_or_else(|| "/tmp/hadoop-yarn/staging".to_owned());
        let done =
            configuration.get(DONE).unwrap_or_else(|| format!("{}/history/done_intermediate", staging()));
        vec![
            format!("mapreduce.job.tags={}", self.tag),
            format!("{STAGING}={}/staging", self.home),
            format!("{DONE}={done}"),
        ]
    }

    /// The settings of a job in its client, `key=value`: its files in the file system below our folder, those on this
    /// machine in `tmp`.
    pub fn settings_in_client(&self, tmp: &Path) -> Vec<String> {
        vec![format!("{STAGING_IN_CLIENT}={}/staging", self.home), format!("{TEMPORARY}={}", tmp.display())]
    }

    /// The script that ends the jobs, if there can be any, and removes the folder.
    pub fn script(&self, client: Client<'_>) -> String {
        let jobs = format!(
            "list=$(run {APPLICATIONS} -list -appStates {STATES} -appTags {}) || failed=1\n\
             ids=$(echo \"$list\" | while read -r id rest; do\n\
             case $id in application_*) echo \"$id\";; esac\ndone)\n\
             [ -z \"$ids\" ] || run {APPLICATIONS} -kill $ids || failed=1\n",
            word(&self.tag)
        );
        let file_system = client.file_system.map(|uri| word(&format!("-Dfs.defaultFS={uri}")) + " ");
        format!(
            "# Ends the jobs of a run of boxscore on {}, and removes its folder there.\n\
             failed=0\nids=\nrun() {{ {} \"$@\"; }}\n\
             remove() {{ removed=$(run {SHELL} {}-rm -r -f -skipTrash {}); left=$?; }}\n\
             {}remove\n{AGAIN}[ $left = 0 ] || failed=1\nexit $failed\n",
            client.file_system.unwrap_or("the cluster"),
            client.words,
            file_system.unwrap_or_default(),
            word(&self.home),
            if client.has_jobs { &jobs } else { "" },
        )
    }
}

/// How a script starts clients.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// Their command but for the program, ready for a shell.
    pub words: &'a str,
    /// Where it is not that of the configuration.
    pub file_system: Option<&'a str>,
    /// False where jobs run in their client and end with it.
    pub has_jobs: bool,
}

fn new_tag() -> String {
    format!("boxscore-{}-{}", std::process::id(), sys::clock::wall_ns() / 1_000_000)
}

/// The user's own folder.
fn own_folder(configuration: &Configuration) -> String {
    let named = |name: &&str| std::env::var(name).ok().filter(|name| !name.is_empty());
    // Root is it to Java, whatever the environment says.
    let is_root = sys::files::effective_ids().0 == 0;
    let names = if is_root { &[IDENTITY[0]][..] } else { &[IDENTITY[0], "USER", "LOGNAME"] };
    let user = names.iter().find_map(named);
    let prefix = configuration.get(HOMES).unwrap_or_else(|| "/user".to_owned());
    format!("{}/{}", prefix.trim_end_matches('/'), user.unwrap_or_else(|| "root".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_ends_jobs_by_their_tag_and_removes_a_folder() {
        let work = Work { tag: "tag-1".to_owned(), home: "/user/o'neil/ours".to_owned() };
        let client = Client { words: "java -cp x", file_system: Some("hdfs://a:1"), has_jobs: true };
        let script = work.script(client);
        assert!(script.contains("run() { java -cp x \"$@\"; }\n"), "{script}");
        assert!(
            script.contains(&format!("-list -appStates {STATES} -appTags tag-1)"))
                && script.contains("-kill $ids"),
            "{script}"
        );
        let remove = script.lines().find(|line| line.starts_with("remove() ")).unwrap();
        let ours = word("/user/o'neil/ours");
        assert!(
            remove.contains(&format!("-Dfs.defaultFS=hdfs://a:1 -rm -r -f -skipTrash {ours}); ")),
            "{remove}"
        );
        let alone = work.script(Client { file_system: None, has_jobs: false, ..client });
        assert!(!alone.contains(APPLICATIONS) && !alone.contains("defaultFS"), "{alone}");
    }

    /// The calls of a script, each answered by `client`, and if the script succeeded.
    fn calls(client: &str) -> (Vec<&'static str>, bool) {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("client"), format!("echo \"$@\" >>calls\n{client}")).unwrap();
        let work = Work { tag: "tag-1".to_owned(), home: "/ours".to_owned() };
        let script = work.script(Client { words: "sh client", file_system: None, has_jobs: true });
        std::fs::write(place.path().join("leave.sh"), script.replace("sleep 3", "")).unwrap();
        let ended = std::process::Command::new("sh").arg("leave.sh").current_dir(place.path()).status();
        let calls = std::fs::read_to_string(place.path().join("calls")).unwrap();
        let verb =
            |line: &str| ["-list", "-kill", "-rm"].into_iter().find(|verb| line.contains(verb)).unwrap();
        (calls.lines().map(verb).collect(), ended.unwrap().success())
    }

    /// On a cluster with a job, the folder is missing once and is made again.
    #[test]
    fn a_folder_that_is_made_again_is_removed_again() {
        let client = "\
case \"$*\" in
*-list*) echo 'application_1_0001 x' ;;
*-rm*) case $(grep -c rm calls) in 1|3) echo Deleted /ours ;; esac ;;
esac
";
        let removals = ["-rm"; 6];
        assert_eq!(calls(client), ([&["-list", "-kill"][..], &removals].concat(), true));
    }

    #[test]
    fn what_cannot_be_removed_is_a_failure_unless_it_was_removed_later() {
        let [with, without] = ["echo 'application_1_0001 x'", ""].map(|job| {
            format!("case \"$*\" in *-list*) {job} ;; *-rm*) [ $(grep -c rm calls) != 1 ] ;; esac\n")
        });
        assert_eq!(calls(&without), (vec!["-list", "-rm"], false));
        let removals = ["-rm"; 4];
        assert_eq!(calls(&with), ([&["-list", "-kill"][..], &removals].concat(), true));
    }

    #[test]
    fn settings_keep_files_of_jobs_below_our_folder() {
        let [own, other] = Work::choices(&Configuration::default());
        assert!(own.home.ends_with(&format!("/{}", own.tag)) && other.home == format!("/tmp/{}", own.tag));
        let settings = own.settings(&Configuration::default());
        assert!(settings.contains(&format!("{STAGING}={}/staging", own.home)), "{settings:?}");
        let in_client =
            Work { tag: "t".to_owned(), home: "/o/t".to_owned() }.settings_in_client(Path::new("/x/tmp"));
        assert_eq!(in_client, [format!("{STAGING_IN_CLIENT}=/o/t/staging"), format!("{TEMPORARY}=/x/tmp")]);
        assert!(settings.contains(&format!("{DONE}=/tmp/hadoop-yarn/staging/history/done_intermediate")));
    }
}
