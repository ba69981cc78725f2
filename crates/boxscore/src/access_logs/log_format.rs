//! Lines for a server's configuration, by which its log would tell how long each request took.
//!
//! nginx's `$request_time` is in seconds to the millisecond, Apache's `%D` in microseconds. A format that was found in
//! the lines is continued; where it may be either server's, both are told.

use model::doc::{FormatDoc, LogFormatDoc};

const NGINX: &str = concat!(
    r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "#,
    r#""$http_referer" "$http_user_agent""#
);
const APACHE: &str = r#"%h %l %u %t "%r" %>s %B "%{Referer}i" "%{User-Agent}i""#;

/// Lines to log by, after the formats of the logs.
pub fn advice(formats: &[FormatDoc]) -> Vec<LogFormatDoc> {
    let Some(format) = formats.first() else { return Vec::new() };
    let text = format.format.as_str();
    match text {
        "json" => vec![json()],
        // nginx writes its own default as Apache writes combined.
        "nginx" | "combined" => vec![nginx(NGINX), apache(APACHE)],
        _ if text.contains('$') => vec![nginx(text)],
        _ if text.contains('%') => vec![apache(text)],
        _ => vec![apache(logs::format::named::text_of(text).unwrap_or(APACHE))],
    }
}

fn nginx(format: &str) -> LogFormatDoc {
    LogFormatDoc {
        server: "nginx".to_owned(),
        place: "in the http block of /etc/nginx/nginx.conf, in place of its access_log".to_owned(),
        lines: vec![
            format!("log_format timed '{} $request_time';", format.replace('\'', "\\'")),
            "access_log /var/log/nginx/access.log timed;".to_owned(),
        ],
    }
}

fn apache(format: &str) -> LogFormatDoc {
    LogFormatDoc {
        server: "Apache".to_owned(),
        place: "in the <VirtualHost> of the site, or in apache2.conf, in place of its CustomLog".to_owned(),
        lines: vec![
            format!("LogFormat \"{} %D\" timed", format.replace('"', "\\\"")),
            "CustomLog ${APACHE_LOG_DIR}/access.log timed".to_owned(),
        ],
    }
}

fn json() -> LogFormatDoc {
    LogFormatDoc {
        server: "JSON".to_owned(),
        place: "a further key in the format, here in nginx's words".to_owned(),
        lines: vec!["\"request_time\":$request_time".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use logs::format::Format;
    use logs::format::config::Config;

    use super::*;

    fn of(format: &str) -> Vec<LogFormatDoc> {
        let format =
            FormatDoc { file: "a.log".into(), format: format.into(), how: String::new(), time_step: None };
        advice(&[format])
    }

    #[test]
    fn what_is_told_is_read_back_and_has_times() {
        for name in [
            "nginx",
            "combined",
            "common",
            "vcombined",
            "vcommon",
            "%h %t \"%r\" %>s %B",
            "$remote_addr [$time_local] $status",
        ] {
            let all = of(name);
            assert!(!all.is_empty(), "{name}");
            for one in all {
                let config = Config::read(&one.lines.join("\n"));
                let format = config
                    .format_of("access.log", Some("timed"))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(format.has_time() && format.has_clock(), "{name}: {}", one.lines[0]);
            }
        }
        assert_eq!(of("common")[0].lines[0], r#"LogFormat "%h %l %u %t \"%r\" %>s %b %D" timed"#);
        let told = format!("{{{},\"status\":200}}", of("json")[0].lines[0].replace("$request_time", "0.250"));
        assert!(
            logs::scan::Scanner::new(&Format::json()).read(told.as_bytes()).unwrap().time_ns
                == Some(250_000_000)
        );
        assert!(advice(&[]).is_empty());
    }
}
