//! Formats out of a server's configuration: Apache's LogFormat and CustomLog, nginx's log_format and access_log.
//!
//! Only the text that is given: included files are not followed, and conditions around a line are not weighed.

use super::{Escape, Format, FormatError};

/// The logs and formats of a server's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub formats: Vec<Named>,
    pub logs: Vec<Log>,
}

/// A format with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub text: String,
    /// None: Apache's.
    pub escape: Option<Escape>,
    /// The line it begins in, from 1.
    pub line: usize,
}

/// A log and the format it is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub path: String,
    pub format: String,
    pub line: usize,
}

/// A word of a configuration and the line where it stands.
type Word = (String, usize);

impl Config {
    /// Reads a configuration of either server.
    pub fn read(text: &str) -> Config {
        let mut config = Config::default();
        let directive = |line: &str| line.split_whitespace().next().map(str::to_ascii_lowercase);
        let has =
            |words: &[&str]| text.lines().filter_map(directive).any(|word| words.contains(&word.as_str()));
        if has(&["logformat", "customlog", "transferlog", "globallog"]) {
            config.apache(text);
        }
        config.nginx(text);
        config
    }

    fn apache(&mut self, text: &str) {
        for (words, line) in apache_lines(text) {
            let Some((directive, words)) = words.split_first() else { continue };
            match (directive.to_ascii_lowercase().as_str(), words) {
                ("logformat", [text, name, ..]) => {
                    self.formats.push(Named { name: name.clone(), text: text.clone(), escape: None, line })
                }
                // Without a name it is that of TransferLog.
                ("logformat", [text]) => self.formats.push(Named {
                    name: "TransferLog".to_owned(),
                    text: text.clone(),
                    escape: None,
                    line,
                }),
                ("customlog" | "globallog", [path, format, ..]) => {
                    self.logs.push(Log { path: path.clone(), format: format.clone(), line });
                }
                ("transferlog", [path, ..]) => {
                    self.logs.push(Log { path: path.clone(), format: "TransferLog".to_owned(), line });
                }
                _ => {}
            }
        }
    }

    fn nginx(&mut self, text: &str) {
        for words in nginx_directives(text) {
            let line = words.first().map_or(0, |word| word.1);
            let words: Vec<&str> = words.iter().map(|word| word.0.as_str()).collect();
            match words.as_slice() {
                ["log_format", name, rest @ ..] => {
                    let given = rest.first().and_then(|word| word.strip_prefix("escape="));
                    let pieces = if given.is_some() { &rest[1..] } else { rest };
                    let escape = given.and_then(Escape::named).unwrap_or_default();
                    let (name, text) = ((*name).to_owned(), pieces.concat());
                    self.formats.push(Named { name, text, escape: Some(escape), line });
                }
                ["access_log", "off"] => {}
                ["access_log", path, rest @ ..] => {
                    let format = rest.first().filter(|word| !word.contains('=') && **word != "gzip");
                    let format = format.copied().unwrap_or("nginx").to_owned();
                    self.logs.push(Log { path: (*path).to_owned(), format, line });
                }
                _ => {}
            }
        }
    }

    /// The format of a log: by its path or file name, or the only one that any log uses. `name` wins over both. Fails
    /// if there is no such log or format, or if several fit.
    pub fn format_of(&self, log: &str, name: Option<&str>) -> Result<Format, FormatError> {
        if let Some(name) = name {
            return self.by_name(name);
        }
        let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let base = file(log);
        // A rotated log has more behind its name.
        let is_same = |known: &Log| {
            let known = file(&known.path);
            base == known || base.strip_prefix(&known).is_some_and(|rest| rest.starts_with(['.', '-']))
        };
        let mut used: Vec<&str> =
            self.logs.iter().filter(|known| is_same(known)).map(|l| &*l.format).collect();
        if used.is_empty() {
            used = self.logs.iter().map(|log| log.format.as_str()).collect();
        }
        used.sort_unstable();
        used.dedup();
        match (used.as_slice(), self.formats.as_slice()) {
            ([one], _) => self.by_name(one),
            ([], [one]) => make(one),
            ([], []) => Err(FormatError::whole(
                "the configuration names no log format (LogFormat, CustomLog, log_format, access_log); included \
                 files are not followed: give the file that has it",
            )),
            _ => Err(FormatError::whole(format!(
                "several formats could be that of {log} ({}): name one",
                self.names().join(", ")
            ))),
        }
    }

    /// A format by its name, or the string itself where a log has one of its own.
    fn by_name(&self, name: &str) -> Result<Format, FormatError> {
        // Of two with a name the later one holds.
        if let Some(named) = self.formats.iter().rev().find(|format| format.name == name) {
            return make(named);
        }
        match name {
            "combined" if !self.logs.is_empty() || self.formats.is_empty() => Format::parse("combined"),
            "TransferLog" => Format::parse("common"),
            _ if name.contains('%') => Format::apache(name),
            _ => Format::parse(name).map_err(|_| {
                FormatError::whole(format!(
                    "the configuration has no format {name:?}; it has {}",
                    self.names().join(", ")
                ))
            }),
        }
    }

    /// The names of its formats.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.formats.iter().map(|format| format.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn make(named: &Named) -> Result<Format, FormatError> {
    let made = match named.escape {
        Some(escape) => Format::nginx(&named.text, escape),
        None => Format::apache(&named.text),
    };
    made.map_err(|error| FormatError {
        what: format!("format {:?} (line {} of the configuration): {}", named.name, named.line, error.what),
        ..error
    })
}

/// The directives of Apache's configuration: words of a line, lines that end in a backslash joined.
fn apache_lines(text: &str) -> Vec<(Vec<String>, usize)> {
    let mut all = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let mut whole = line.trim().to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some((_, more)) = lines.next() else { break };
            whole.push_str(more.trim());
        }
        if !whole.starts_with('#') {
            all.push((apache_words(&whole), number + 1));
        }
    }
    all
}

fn apache_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&first) = chars.peek() {
        if first.is_whitespace() {
            chars.next();
            continue;
        }
        let quote = (first == '"' || first == '\'').then_some(first);
        if quote.is_some() {
            chars.next();
        }
        let mut word = String::new();
        while let Some(c) = chars.next() {
            match (c, quote) {
                // Only a mark of its own kind is freed by a backslash; the format reads the others.
                ('\\', Some(quote)) if chars.peek() == Some(&quote) => {
                    chars.next();
                    word.push(quote);
                }
                (c, Some(quote)) if c == quote => break,
                (c, None) if c.is_whitespace() => break,
                (c, _) => word.push(c),
            }
        }
        words.push(word);
    }
    words
}

/// The simple directives of nginx's configuration, whatever blocks they stand in.
fn nginx_directives(text: &str) -> Vec<Vec<Word>> {
    let mut all = Vec::new();
    let (mut words, mut line): (Vec<Word>, usize) = (Vec::new(), 1);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            ';' => all.push(std::mem::take(&mut words)),
            '{' | '}' => words.clear(),
            '"' | '\'' => {
                let (mut word, began) = (String::new(), line);
                while let Some(next) = chars.next().filter(|next| *next != c) {
                    line += usize::from(next == '\n');
                    match chars.peek() {
                        Some(&freed) if next == '\\' && (freed == c || freed == '\\') => {
                            word.push(freed);
                            chars.next();
                        }
                        _ => word.push(next),
                    }
                }
                words.push((word, began));
            }
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !matches!(c, ';' | '{' | '}')) {
                    word.push(c);
                }
                words.push((word, line));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTPD: &str = r#"
# LogFormat "%x" nothing
ServerName x
<IfModule log_config_module>
    LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D" timed
    logformat '%h "%r" \
      %>s' short
    CustomLog "logs/access_log" timed env=!dontlog
    CustomLog logs/other_log "%h %>s %B"
    CustomLog "|/usr/bin/rotatelogs /var/log/third 86400" missing
</IfModule>
"#;

    const NGINX: &str = r#"
http {   # log_format no '$x';
    log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent $request_time';
    log_format j escape=json '{"s":"$status"}';
    access_log /var/log/nginx/access.log main buffer=32k;
    server { access_log off; location / { access_log /var/log/nginx/plain.log; } }
    server { access_log /var/log/nginx/j.log j; }
}
"#;

    #[test]
    fn apache_formats_by_log() {
        let config = Config::read(HTTPD);
        assert_eq!(config.names(), ["short", "timed"]);
        let timed = config.format_of("/x/access_log", None).unwrap();
        assert!(timed.has_time() && timed.text.contains("\"%r\""));
        assert_eq!(config.format_of("access_log.2.gz", None).unwrap().text, timed.text);
        assert_eq!(config.format_of("other_log-20001010", None).unwrap().text, "%h %>s %B");
        assert_eq!(config.format_of("x", Some("short")).unwrap().text, "%h \"%r\" %>s");
        let error = config.format_of("x", None).unwrap_err().to_string();
        assert!(error.contains("name one") && error.contains("short, timed"), "{error}");
        let error = config.format_of("x", Some("missing")).unwrap_err().to_string();
        assert!(error.contains("no format \"missing\""), "{error}");
    }

    #[test]
    fn nginx_formats_by_log() {
        let config = Config::read(NGINX);
        assert_eq!(config.names(), ["j", "main"]);
        assert_eq!(config.logs.len(), 3);
        let main = config.format_of("access.log.1", None).unwrap();
        assert!(main.has_time() && main.text.contains("\"$request\" $status"));
        assert_eq!(config.format_of("plain.log", None).unwrap().text, "nginx");
        assert_eq!(config.format_of("j.log", None).unwrap().text, "{\"s\":\"$status\"}");
        assert_eq!(config.formats[1].line, 5);
    }

    #[test]
    fn the_only_one_needs_no_name() {
        let one = Config::read("log_format x '$status';");
        assert_eq!(one.format_of("any", None).unwrap().text, "$status");
        let transfer = Config::read("TransferLog logs/access_log\n");
        assert_eq!(transfer.format_of("access_log", None).unwrap().text, "common");
        let combined = Config::read("access_log /a.log combined;");
        assert_eq!(combined.format_of("a.log", None).unwrap().text, "combined");
    }

    #[test]
    fn errors_name_the_format_and_its_line() {
        let error = Config::read("\nLogFormat \"%h %Z\" bad\n").format_of("x", None).unwrap_err();
        assert_eq!(error.column, 4);
        assert!(error.what.contains("\"bad\" (line 2"), "{error}");
        assert!(Config::read("").format_of("x", None).unwrap_err().what.contains("names no log format"));
        for cut in 0..HTTPD.len() {
            assert!(Config::read(&HTTPD[..cut]).formats.len() <= 2);
        }
        for cut in 0..NGINX.len() {
            assert!(Config::read(&NGINX[..cut]).logs.len() <= 3);
        }
    }
}
