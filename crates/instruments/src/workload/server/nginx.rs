//! nginx, as installed or as `binary=PATH` names it.
//!
//! One worker process per CPU by default; connections are kept for any number of requests; files are opened for each
//! request unless `open_file_cache` is set. Everything it writes stays in its private folder.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::kind::{Build, Host, Kind, Launch, Recipe, ServerError, after, hear, impostor, locate};
use super::options::Options;

const HINT: &str =
    "`apt-get install nginx` installs it (nginx-light on older systems; dnf, apk and pacman have nginx)";
/// Files of a worker beside those of its connections.
const SPARE_FILES: u64 = 64;
/// Modules whose default folder for temporary files is one that only root may write to.
const TEMPORARY: [(&str, &str); 5] = [
    ("client_body", ""),
    ("proxy", "--without-http_proxy_module"),
    ("fastcgi", "--without-http_fastcgi_module"),
    ("uwsgi", "--without-http_uwsgi_module"),
    ("scgi", "--without-http_scgi_module"),
];

#[derive(Debug)]
pub struct Nginx;

pub static KIND: Nginx = Nginx;

impl Kind for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn find(&self, binary: Option<&Path>) -> Result<PathBuf, ServerError> {
        locate("nginx", binary, &["nginx"], HINT)
    }

    fn identify(&self, program: &Path, host: Host<'_>) -> Result<Build, ServerError> {
        let ended = hear(program, &["-V"], host)?;
        let details = ended.stderr.text();
        match after(&details, "nginx version:") {
            Some(version) if ended.exit.status.success() => Ok(Build {
                program: program.to_owned(),
                version: version.to_owned(),
                details: details.trim().to_owned(),
            }),
            _ => Err(impostor(program, "nginx", &ended)),
        }
    }

    fn inside(&self) -> Option<&'static str> {
        Some("nginx")
    }

    fn accepts(&self, options: &Options) -> Result<(), ServerError> {
        match options.mpm {
            Some(mpm) => Err(ServerError::Refused(format!("mpm={}: only httpd has one", mpm.name()))),
            None => Ok(()),
        }
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Recipe, ServerError> {
        let workers = launch.options.workers.map_or(launch.cpus()? as u64, u64::from);
        let connections = u64::from(launch.options.connections).saturating_add(SPARE_FILES);
        // A worker holds a connection and the file that it sends.
        let files = launch.open_files(connections)?.min(connections.saturating_mul(2));
        launch.tasks(workers.saturating_add(1))?;
        let text = config(launch, workers, connections, files)?;
        let path = launch.place.file("nginx.conf", &text).map_err(ServerError::Failed)?;
        let mut command = Command::new(&launch.build.program);
        command.arg("-p").arg(launch.place.path()).arg("-c").arg(path);
        if knows_error_option(&launch.build.version) {
            command.args(["-e", "stderr"]);
        }
        let setup = vec![
            ("workers", workers.to_string()),
            ("worker_connections", connections.to_string()),
            ("sendfile", on(launch.options.sendfile).to_owned()),
        ];
        Ok(Recipe { command, input: None, setup })
    }
}

fn on(is: bool) -> &'static str {
    if is { "on" } else { "off" }
}

/// True from 1.19.5 on, which can name the log of the first moments. Older versions try one that only root may write
/// to, which is a warning.
fn knows_error_option(version: &str) -> bool {
    let numbers = version.split('/').next_back().unwrap_or_default();
    let numbers = numbers.split_whitespace().next().unwrap_or_default();
    let parts: Vec<u32> = numbers.split('.').map_while(|part| part.parse().ok()).collect();
    parts.as_slice() >= [1, 19, 5].as_slice()
}

/// The log format of its packages, followed by the time of each request, so that `boxscore logs` knows it.
const TIMED: &str = concat!(
    r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "#,
    r#""$http_referer" "$http_user_agent" $request_time"#
);

fn config(launch: &Launch<'_>, workers: u64, connections: u64, files: u64) -> Result<String, ServerError> {
    let options = launch.options;
    let place = launch.place.path();
    let root = Launch::quoted(launch.root)?;
    let pid = Launch::quoted(&place.join("nginx.pid"))?;
    let access = match options.access_log {
        true => format!("{} timed", Launch::quoted(&place.join("access.log"))?),
        false => "off".to_owned(),
    };
    let mut http = String::new();
    for (name, without) in TEMPORARY {
        if without.is_empty() || !launch.build.details.contains(without) {
            let folder = Launch::quoted(&place.join(format!("{name}_temp")))?;
            // Writing to a String cannot fail.
            let _written = writeln!(http, "    {name}_temp_path {folder};");
        }
    }
    if let Some(rate) = options.limit_rate {
        let _written = writeln!(http, "    limit_rate {rate};");
    }
    if options.open_file_cache {
        http.push_str("    open_file_cache max=10000 inactive=1h;\n    open_file_cache_valid 1h;\n");
    }
    // The account that its packages name may not be there, and could not read our folders.
    let user = if options.inside.is_some() { "user root;\n" } else { "" };
    Ok(format!(
        "{user}daemon off;\nmaster_process on;\npid {pid};\nerror_log stderr warn;\n\
         worker_processes {workers};\nworker_rlimit_nofile {files};\n\
         events {{\n    worker_connections {connections};\n}}\n\
         http {{\n    log_format timed '{TIMED}';\n    access_log {access};\n    log_not_found off;\n    default_type application/octet-stream;\n    \
         types {{ image/gif gif; }}\n    \
         sendfile {sendfile};\n    keepalive_requests 1000000000;\n    keepalive_timeout 65s;\n{http}    \
         server {{\n        listen {listen} backlog={backlog};\n        root {root};\n    }}\n}}\n",
        sendfile = on(options.sendfile),
        listen = launch.address(),
        backlog = options.connections.max(511),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::server::options::Mpm;
    use crate::workload::server::private_folder::PrivateFolder;

    #[test]
    fn versions_with_the_error_option() {
        for (version, knows) in [
            ("nginx/1.22.1", true),
            ("nginx/1.19.5", true),
            ("nginx/1.19.4", false),
            ("nginx/1.18.0 (Ubuntu)", false),
            ("openresty/1.25.3.1", true),
            ("nginx/2", true),
            ("nginx", false),
        ] {
            assert_eq!(knows_error_option(version), knows, "{version}");
        }
    }

    #[test]
    fn options_reach_the_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let place = PrivateFolder::make(dir.path(), None).unwrap();
        let build = Build { details: "--without-http_scgi_module".to_owned(), ..Build::default() };
        let text = |options: &Options| {
            let launch = Launch {
                build: &build,
                options,
                place: &place,
                root: Path::new("/srv/x"),
                port: 8081,
                account: None,
            };
            config(&launch, 2, 100, 200).unwrap()
        };
        let plain = text(&Options::default());
        for line in
            ["listen 127.0.0.1:8081 backlog=1024;", "sendfile on;", "access_log off;", "uwsgi_temp_path"]
        {
            assert!(plain.contains(line), "{plain}");
        }
        for line in ["scgi_temp_path", "limit_rate", "open_file_cache"] {
            assert!(!plain.replace("uwsgi", "").contains(&format!(" {line}")), "{plain}");
        }
        let full = text(&Options {
            sendfile: false,
            access_log: true,
            open_file_cache: true,
            limit_rate: Some(4096),
            ..Options::default()
        });
        for line in ["sendfile off;", "/access.log\" timed;", "limit_rate 4096;", "open_file_cache max="] {
            assert!(full.contains(line), "{full}");
        }
        let odd = Options { mpm: Some(Mpm::Event), ..Options::default() };
        assert!(KIND.accepts(&odd).is_err());
    }
}
