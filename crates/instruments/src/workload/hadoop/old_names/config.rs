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

/// The variables that a shell's file sets, one a line: `export NAME=VALUE`, with or without `export` and quotes.
pub fn variables(text: &str) -> Vec<Entry> {
    text.lines().enumerate().filter_map(|(at, line)| variable(at as u64 + 1, line)).collect()
}

fn variable(line: u64, text: &str) -> Option<Entry> {
    let text = text.trim();
    let text = text.strip_prefix("export ").unwrap_or(text).trim_start();
    let (name, value) = text.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.split(quote).next());
    let bare = || value.split(" #").next().unwrap_or_default().trim_end();
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or_else(bare).to_owned();
    is_name.then(|| Entry { line, name: name.to_owned(), value, blanks: false })
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
    }
}
