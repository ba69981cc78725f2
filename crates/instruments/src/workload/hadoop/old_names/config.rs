//! Files of a Hadoop's configuration: settings in XML, hosts a line, variables of a shell. Each has its line, from 1.
//!
//! Nothing is followed: neither what a file includes nor what a shell would make of it.

use roxmltree::{Document, Node, ParsingOptions};

/// The longest file that is read, in bytes.
pub const MOST_BYTES: u64 = 4 << 20;
/// The most nodes of an XML file.
const MOST_NODES: u32 = 1 << 20;

/// One line that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub line: u64,
    /// Empty of a host.
    pub name: String,
    /// Without blanks around it.
    pub value: String,
    /// True if there were blanks around it.
    pub blanks: bool,
}

/// The first thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub line: u64,
    pub says: String,
}

/// Lines of a text by the places of their ends.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, place: usize) -> u64 {
        self.0.partition_point(|end| *end < place) as u64 + 1
    }
}

/// The settings of an XML file, in order. Fails with the line where it is no XML, or no configuration.
pub fn settings(text: &str) -> Result<Vec<Entry>, Wrong> {
    let lines = Lines::new(text);
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let last = text.lines().count().max(1) as u64;
    let document = Document::parse_with_options(text, options).map_err(|error| {
        // Some errors are of the whole text and have no place.
        let row = u64::from(error.pos().row).clamp(1, last);
        Wrong { line: row, says: words(&error.to_string()) }
    })?;
    let root = document.root_element();
    let line = |node: &Node<'_, '_>| lines.at(node.range().start);
    if root.tag_name().name() != "configuration" {
        let says = format!("the outermost element is <{}>, not <configuration>", root.tag_name().name());
        return Err(Wrong { line: line(&root), says });
    }
    let mut found = Vec::new();
    for node in root.descendants().filter(|node| node.is_element() && *node != root) {
        if node.tag_name().name() == "property" {
            found.push(setting(&node, &lines)?);
        }
    }
    Ok(found)
}

/// The words of a parser without the place, which stands before them.
fn words(says: &str) -> String {
    let says = says.split(" at ").next().unwrap_or(says);
    format!("no XML: {says}")
}

fn setting(node: &Node<'_, '_>, lines: &Lines) -> Result<Entry, Wrong> {
    let part = |name: &str| node.children().find(|child| child.tag_name().name() == name);
    let text = |name: &str| {
        let inner = part(name)
            .map(|child| child.descendants().filter(Node::is_text).filter_map(|one| one.text()).collect());
        inner.or_else(|| node.attribute(name).map(str::to_owned))
    };
    let line = lines.at(part("name").unwrap_or(*node).range().start);
    let name = text("name").map(|name: String| name.trim().to_owned()).filter(|name| !name.is_empty());
    let Some(name) = name else { return Err(Wrong { line, says: "a property without a name".to_owned() }) };
    let value: String = text("value").unwrap_or_default();
    let trimmed = value.trim().to_owned();
    Ok(Entry { line, name, blanks: trimmed.len() != value.len(), value: trimmed })
}

/// The hosts of `masters`, `slaves` and `workers`; `#` begins a remark.
pub fn hosts(text: &str) -> Vec<Entry> {
    let entry = |(at, line): (usize, &str)| {
        let value = line.split('#').next().unwrap_or_default().trim().to_owned();
        Entry { line: at as u64 + 1, name: String::new(), value, blanks: false }
    };
    text.lines().enumerate().map(entry).filter(|entry| !entry.value.is_empty()).collect()
}

/// The variables that a shell's file sets for what it starts: `NAME=VALUE`, `export` with one or several, behind a
/// condition (`[ -d x ] && export ...`), with `+=`. A value that goes on in the next line is cut there.
pub fn variables(text: &str) -> Vec<Entry> {
    text.lines().enumerate().flat_map(|(at, line)| assignments(at as u64 + 1, line)).collect()
}

fn assignments(line: u64, text: &str) -> Vec<Entry> {
    let of = |words: Vec<String>| {
        let words: Vec<&str> =
            words.iter().map(String::as_str).skip_while(|word| KEYWORDS.contains(word)).collect();
        let (words, is_export) = match words.split_first() {
            Some((&"export", rest)) => (rest.to_vec(), true),
            _ => (words, false),
        };
        let found: Vec<Entry> = words.iter().filter_map(|word| assignment(line, word)).collect();
        // `A=1 program` is for that program alone.
        if is_export || found.len() == words.len() { found } else { Vec::new() }
    };
    commands(text).into_iter().flat_map(of).collect()
}

/// Words that may stand before a command.
const KEYWORDS: [&str; 4] = ["then", "else", "do", "{"];

fn assignment(line: u64, word: &str) -> Option<Entry> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = value.trim().to_owned();
    is_name.then(|| Entry { line, name: name.to_owned(), value, blanks: false })
}

/// The commands of a line as words without their quotes; what a shell would put in place of `$(...)`, `${...}` and
/// backticks stays as it is written. `#` begins a remark.
fn commands(text: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words) = (Vec::new(), Vec::<String>::new());
    let (mut is_within, mut quote, mut depth) = (false, None, 0_u32);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let is_open = quote.is_none() && depth == 0;
        let is_inner =
            is_within && "({".contains(letter) && words.last().is_some_and(|word| word.ends_with('$'));
        if is_open && !is_inner && (letter.is_whitespace() || ";&|()".contains(letter)) {
            is_within = false;
            if !letter.is_whitespace() {
                commands.push(std::mem::take(&mut words));
            }
            continue;
        }
        if !is_within {
            if letter == '#' {
                break;
            }
            is_within = true;
            words.push(String::new());
        }
        let Some(word) = words.last_mut() else { break };
        match letter {
            '(' | '{' if depth > 0 || (is_inner && quote != Some('\'')) => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '\\' if quote != Some('\'') => {
                word.extend(letters.next());
                continue;
            }
            '`' if quote.is_none() => quote = Some('`'),
            '`' if quote == Some('`') => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(letter);
                continue;
            }
            _ if quote == Some(letter) => {
                quote = None;
                continue;
            }
            _ => {}
        }
        word.push(letter);
    }
    commands.push(words);
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: u64, name: &str, value: &str) -> Entry {
        Entry { line, name: name.to_owned(), value: value.to_owned(), blanks: false }
    }

    #[test]
    fn settings_have_the_lines_of_their_names() {
        let text = "<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n\n\
                    <!-- <property><name>a</name></property> -->\n<configuration>\n  <property>\n    \
                    <name>fs.default.name</name>\n    <value>hdfs://localhost:9000</value>\n    <final>true</final>\n  \
                    </property>\n  <property><name> dfs.replication </name><value>\n3\n</value></property>\n  \
                    <property name='a.b' value='c'/>\n  <property><name>e</name></property>\n\
                    <property><name>f</name><value>1 &lt; <![CDATA[2 & 3]]></value></property>\n</configuration>\n";
        let blanks = Entry { blanks: true, ..entry(11, "dfs.replication", "3") };
        let expected = [
            entry(7, "fs.default.name", "hdfs://localhost:9000"),
            blanks,
            entry(14, "a.b", "c"),
            entry(15, "e", ""),
            entry(16, "f", "1 < 2 & 3"),
        ];
        assert_eq!(settings(text).unwrap(), expected);
    }

    #[test]
    fn wrong_files_are_told_by_line() {
        for (text, line, says) in [
            ("", 1, "no XML"),
            ("fs.default.name=x\n", 1, "no XML"),
            (
                "<configuration>\n<property>\n<name>a</name>\n</configuration>\n",
                4,
                "no XML: expected 'property' tag",
            ),
            ("<configuration>\n<property>\n<name>a</name>\n", 1, "no XML"),
            ("\n<?xml version=\"1.0\"?>\n<configuration/>\n", 2, "no XML"),
            ("<a/>\n", 1, "the outermost element is <a>, not <configuration>"),
            (
                "<configuration>\n\n<property><value>x</value></property></configuration>",
                3,
                "a property without a name",
            ),
            ("<configuration>\n&host;\n</configuration>", 2, "no XML"),
        ] {
            let wrong = settings(text).unwrap_err();
            assert!(wrong.line == line && wrong.says.starts_with(says), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn hosts_and_variables_are_read_a_line_each() {
        assert_eq!(
            hosts("# all\nnode1\n\n node2 # the spare\n"),
            [entry(2, "", "node1"), entry(4, "", "node2")]
        );
        let text = "# export A=1\nexport JAVA_HOME=/usr/lib/jvm/java-6-sun # old\nHADOOP_OPTS=\"-Xmx1g -server\"\n\
                    export HADOOP_SLAVES='a b'\nif [ x = y ]; then\n  export EMPTY=\nfi\n";
        let expected = [
            entry(2, "JAVA_HOME", "/usr/lib/jvm/java-6-sun"),
            entry(3, "HADOOP_OPTS", "-Xmx1g -server"),
            entry(4, "HADOOP_SLAVES", "a b"),
            entry(6, "EMPTY", ""),
        ];
        assert_eq!(variables(text), expected);
        let text = "[ -d /x ] && export A=\"$A -x\" B=2; C=3\nD+=' -server'\n# see export E=1\nF=${G:-1} # export H=1\n\
                    no_export I=1\nif [ \"$J\" = y ]; then export K=1; fi\nL=\"a\nM=1; export M N O=2\n\
                    export P=$(readlink -f /usr/bin/java | sed 's:/bin/java::') Q=`dirname /a/b`\n\
                    R=\"-XX:OnError=\\\"kill -9 %p\\\" -Xmx8g\"\necho \"please export S=1\"\nT=1 program\nU=\"$(a \"b c\") d\"\n";
        let expected = [
            entry(1, "A", "$A -x"),
            entry(1, "B", "2"),
            entry(1, "C", "3"),
            entry(2, "D", "-server"),
            entry(4, "F", "${G:-1}"),
            entry(6, "K", "1"),
            entry(7, "L", "a"),
            entry(8, "M", "1"),
            entry(8, "O", "2"),
            entry(9, "P", "$(readlink -f /usr/bin/java | sed 's:/bin/java::')"),
            entry(9, "Q", "`dirname /a/b`"),
            entry(10, "R", "-XX:OnError=\"kill -9 %p\" -Xmx8g"),
            entry(13, "U", "$(a \"b c\") d"),
        ];
        assert_eq!(variables(text), expected);
    }
}
