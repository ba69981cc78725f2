//! Our place on a cluster of the user's: one folder of its file system, the tag that our jobs carry, and the script
//! that takes both away. The script lies in a private folder here and is run when the cluster is let go, and by the
//! guard where this program was killed (`workload::guard`).
//!
//! Nothing here asks a cluster.

use model::shell::word;

use super::super::programs::SHELL;
use super::IDENTITY;
use super::configuration::Configuration;

/// The program that lists and ends applications.
const APPLICATIONS: &str = "org.apache.hadoop.yarn.client.cli.ApplicationCLI";
/// The setting for the folder of users' own ones.
pub(super) const HOMES: &str = "dfs.user.home.dir.prefix";
const STAGING: &str = "yarn.app.mapreduce.am.staging-dir";
const DONE: &str = "mapreduce.jobhistory.intermediate-done-dir";

/// The end of a script: a job that was just starting when it was ended makes its folder again, until its nodes hear of
/// its end some seconds later.
const AGAIN: &str = "\
if [ -n \"$ids\" ]; then for look in 1 2 3 4 5; do
sleep 3
files -test -e || break
files -rm -r -f -skipTrash || failed=1
done; fi
";

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

    /// The script that ends the jobs, if there can be any, and removes the folder.
    pub fn script(&self, client: Client<'_>) -> String {
        let jobs = format!(
            "list=$(run {APPLICATIONS} -list -appTags {}) || failed=1\n\
             ids=$(echo \"$list\" | while read -r id rest; do\n\
             case $id in application_*) echo \"$id\";; esac\ndone)\n\
             [ -z \"$ids\" ] || run {APPLICATIONS} -kill $ids || failed=1\n",
            word(&self.tag)
        );
        let file_system = client.file_system.map(|uri| word(&format!("-Dfs.defaultFS={uri}")) + " ");
        format!(
            "# Ends the jobs of a run of boxscore on {}, and removes its folder there.\n\
             failed=0\nids=\nrun() {{ {} \"$@\"; }}\nfiles() {{ run {SHELL} {}\"$@\" {}; }}\n{}\
             files -rm -r -f -skipTrash || failed=1\n{AGAIN}exit $failed\n",
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
        assert!(script.contains("-list -appTags tag-1)") && script.contains("-kill $ids"), "{script}");
        let files = script.lines().find(|line| line.starts_with("files() ")).unwrap();
        let ours = word("/user/o'neil/ours");
        assert!(files.ends_with(&format!("-Dfs.defaultFS=hdfs://a:1 \"$@\" {ours}; }}")), "{files}");
        assert!(script.contains("\nfiles -rm -r -f -skipTrash || failed=1\n"), "{script}");
        let alone = work.script(Client { file_system: None, has_jobs: false, ..client });
        assert!(!alone.contains(APPLICATIONS) && !alone.contains("defaultFS"), "{alone}");
    }

    /// The calls of a script on a cluster with a job and a folder that is made again once.
    #[test]
    fn a_folder_that_is_made_again_is_removed_again() {
        let place = tempfile::tempdir().unwrap();
        let client = "\
#!/bin/sh
echo \"$@\" >>calls
case \"$*\" in
*-list*) echo 'application_1_0001 x' ;;
*-test*) [ ! -e seen ] && touch seen ;;
esac
";
        std::fs::write(place.path().join("client"), client).unwrap();
        let work = Work { tag: "tag-1".to_owned(), home: "/ours".to_owned() };
        let script = work.script(Client { words: "sh client", file_system: None, has_jobs: true });
        std::fs::write(place.path().join("leave.sh"), script.replace("sleep 3", "")).unwrap();
        let ended = std::process::Command::new("sh").arg("leave.sh").current_dir(place.path()).status();
        assert!(ended.unwrap().success());
        let calls = std::fs::read_to_string(place.path().join("calls")).unwrap();
        let verbs: Vec<&str> = calls
            .lines()
            .map(|line| {
                ["-list", "-kill", "-rm", "-test"].into_iter().find(|verb| line.contains(verb)).unwrap()
            })
            .collect();
        assert_eq!(verbs, ["-list", "-kill", "-rm", "-test", "-rm", "-test"], "{calls}");
        assert!(calls.ends_with("-test -e /ours\n"), "{calls}");
    }

    #[test]
    fn settings_keep_files_of_jobs_below_our_folder() {
        let [own, other] = Work::choices(&Configuration::default());
        assert!(own.home.ends_with(&format!("/{}", own.tag)) && other.home == format!("/tmp/{}", own.tag));
        let settings = own.settings(&Configuration::default());
        assert!(settings.contains(&format!("{STAGING}={}/staging", own.home)), "{settings:?}");
        assert!(settings.contains(&format!("{DONE}=/tmp/hadoop-yarn/staging/history/done_intermediate")));
    }
}
