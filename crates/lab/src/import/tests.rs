//! Lists of others: each gives the nodes that it says, and its inventory is read back the same.

use std::time::{Duration, Instant};

use model::mutate::{Dice, mutate};

use super::{Form, Imported, import};
use crate::inventory::{read, write};

const INI: &str = r#"# a comment
gate ansible_host=10.0.0.254 ansible_user=admin

[web]
web[01:03].lab ansible_user=deploy   # three
Web04.lab:2222

[db]
db-[a:b] ansible_host_key="a b"
db-a ansible_host=10.0.1.1

[db:vars]
ansible_user=postgres
ansible_password=geheim

[stack:children]
web
db

[all:vars]
ansible_port=22
"#;

const YAML: &str = r#"---
all:
  vars:
    ansible_user: root   # everybody's
  hosts:
    gate: { ansible_host: 10.0.0.254, ansible_port: 2200 }
  children:
    web:
      hosts:
        "web[01:03].lab":
        web04.lab:
          ansible_host: '10.0.0.4'
          packages:
          - nginx
          - { name: x }
          motd: |
            several: lines
            of text
      vars:
        ansible_password: !vault |
          $ANSIBLE_VAULT;1.1;AES256
          6162
        ansible_user: deploy
    stack:
      children:
        web:
"#;

const SSH: &str = r"# of a user
Host atom1 atom2
    HostName 10.0.0.1
    User root
    Port=2222
    ProxyJump gate
Host *
    User nobody
Host gate
    user  admin
Match host x
    User y
Include other
";

const HOSTS: &str = r"127.0.0.1 localhost
::1 ip6-localhost
ff02::1 ip6-allnodes
10.0.0.1  atom001.lab atom001   # the first
10.0.0.2 ATOM002
10.0.0.2 again
fd00::7 six
10.0.0.9
10.0.0.10 $(reboot)
";

const CSV: &str = "Name,IP,role,group,price,watts,bmc,MAC,note\n\
                   a1,10.0.0.1,server,web;db,429,40,10.1.0.1,00:25:90:ab:cd:ef,x\n\
                   a2,10.0.0.2,generator,,0.19/h,,,,\n\
                   ,,,,,,,,\n";

/// The inventory as its file, and what was left out.
fn imported(text: &str, form: Form) -> (String, Vec<String>) {
    let Imported { inventory, notes } = import(text, form).unwrap_or_else(|error| panic!("{error}"));
    let file = write(&inventory);
    assert_eq!(write(&read(&file).expect("it reads")), file);
    (file, notes.iter().map(ToString::to_string).collect())
}

fn field(text: &str, form: Form, node: &str, get: impl Fn(&crate::inventory::Node) -> String) -> String {
    let imported = import(text, form).expect("an inventory");
    get(imported.inventory.find(node).unwrap_or_else(|| panic!("no {node}")))
}

#[test]
fn ansible_in_ini() {
    let (file, notes) = imported(INI, Form::AnsibleIni);
    assert_eq!(
        file,
        "[groups]\nstack = \"db-a,db-b,web[01-04].lab\"\nweb = \"web[01-04].lab\"\ndb = \"db-a,db-b\"\n\n\
         [[nodes]]\nname = \"gate\"\naddress = \"10.0.0.254\"\nuser = \"admin\"\nport = 22\n\n\
         [[nodes]]\nname = \"web[01-03].lab\"\nuser = \"deploy\"\nport = 22\n\n\
         [[nodes]]\nname = \"web04.lab\"\nport = 2222\n\n\
         [[nodes]]\nname = \"db-a\"\naddress = \"10.0.1.1\"\nuser = \"postgres\"\nport = 22\n\n\
         [[nodes]]\nname = \"db-b\"\nuser = \"postgres\"\nport = 22\n"
    );
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("left out: passwords") && !notes[0].contains("geheim"), "{notes:?}");
}

#[test]
fn ansible_in_yaml() {
    let (file, notes) = imported(YAML, Form::AnsibleYaml);
    let all = |node: &crate::inventory::Node| {
        let groups = node.groups.join("+");
        format!(
            "{} {} {} {groups}",
            node.address,
            node.user.clone().unwrap_or_default(),
            node.port.unwrap_or_default()
        )
    };
    for (node, wanted) in [
        ("gate", "10.0.0.254 root 2200 "),
        ("web02.lab", "web02.lab deploy 0 stack+web"),
        ("web04.lab", "10.0.0.4 deploy 0 stack+web"),
    ] {
        assert_eq!(field(YAML, Form::AnsibleYaml, node, all), wanted, "{file}");
    }
    assert!(notes.iter().any(|note| note.contains("passwords")), "{notes:?}");
}

#[test]
fn an_openssh_configuration() {
    let (file, notes) = imported(SSH, Form::Ssh);
    assert_eq!(
        file,
        "[[nodes]]\nname = \"atom[1-2]\"\nuser = \"root\"\nport = 2222\n\n\
         [[nodes]]\nname = \"gate\"\nuser = \"admin\"\n"
    );
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn etc_hosts() {
    let (file, notes) = imported(HOSTS, Form::Hosts);
    assert_eq!(
        file,
        "[[nodes]]\nname = \"atom001.lab\"\naddress = \"10.0.0.1\"\n\n\
         [[nodes]]\nname = \"atom002\"\naddress = \"10.0.0.2\"\n\n\
         [[nodes]]\nname = \"six\"\naddress = \"fd00::7\"\n"
    );
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[2].starts_with("line 9: left out: `$(reboot)`"), "{notes:?}");
}

#[test]
fn a_table_in_csv() {
    let (file, notes) = imported(CSV, Form::Csv);
    assert_eq!(
        file,
        "[groups]\nweb = \"a1\"\ndb = \"a1\"\n\n\
         [[nodes]]\nname = \"a1\"\naddress = \"10.0.0.1\"\nroles = [\"server\"]\nprice = \"429\"\nwatts = 40.0\n\
         mac = \"00:25:90:ab:cd:ef\"\nbmc = { kind = \"ipmi\", address = \"10.1.0.1\" }\n\n\
         [[nodes]]\nname = \"a2\"\naddress = \"10.0.0.2\"\nroles = [\"generator\"]\nprice = \"0.19/h\"\n"
    );
    assert_eq!(notes, ["line 1: left out: the column `note`; did you mean `node`?"]);
}

#[test]
fn the_form_is_guessed_by_name_and_by_text() {
    for (name, text, form) in [
        ("inventory.yml", "", Some(Form::AnsibleYaml)),
        ("/etc/hosts", "", Some(Form::Hosts)),
        ("hosts", INI, Some(Form::AnsibleIni)),
        ("-", HOSTS, Some(Form::Hosts)),
        ("config", SSH, Some(Form::Ssh)),
        ("-", YAML, Some(Form::AnsibleYaml)),
        ("-", CSV, Some(Form::Csv)),
        ("-", "web1\nweb2\n[db]\ndb1\n", Some(Form::AnsibleIni)),
        ("-", "hello\n", None),
        ("-", "", None),
    ] {
        assert_eq!(Form::guess(name, text), form, "{name} {text}");
    }
}

#[test]
fn an_error_has_the_line_of_the_list() {
    for (text, form, line, what) in [
        ("", Form::Hosts, 1, "there is no machine"),
        ("address\n10.0.0.1\n", Form::Csv, 1, "no column is called `name`"),
        ("name,port\na,22\nb,x\n", Form::Csv, 3, "port: x is not a whole number"),
        ("name,user\na,x\nb,$(id)\n", Form::Csv, 3, "user: no login"),
        ("name\na\nb\na\n", Form::Csv, 4, "two nodes have the name a: lines 2 and 4"),
        ("[web\na\n", Form::AnsibleIni, 1, "the bracket is not closed"),
        ("[web:x]\na\n", Form::AnsibleIni, 1, "no kind of section"),
        ("[web]\na b='\n", Form::AnsibleIni, 2, "a quotation mark is not closed"),
        ("[web]\nweb[01:5]\n", Form::AnsibleIni, 2, "not equally wide"),
        ("[web]\na\nb ansible_port=no\n", Form::AnsibleIni, 3, "port: no is not a whole number"),
        ("all:\n\thosts:\n", Form::AnsibleYaml, 2, "a tab"),
        ("all:\n  hosts:\n    a:\n     b: c\n   d:\n", Form::AnsibleYaml, 5, "too far"),
        ("all:\n  hosts: *x\n", Form::AnsibleYaml, 2, "anchors"),
        ("all:\n  nodes:\n    a:\n", Form::AnsibleYaml, 2, "none of hosts"),
        ("all\n", Form::AnsibleYaml, 1, "no key with a colon"),
    ] {
        let error = import(text, form).map(|_| ()).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.what.contains(what) && !error.hint.is_empty(), "{text}: {error:?}");
    }
}

/// How long mutated lists are read, in seconds; longer where BOXSCORE_FUZZ_SECONDS says so.
const FUZZ_SECONDS: u64 = 2;

#[test]
fn fuzz_lists_are_read_or_refused_with_a_line_of_theirs() {
    let given = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(given.unwrap_or(FUZZ_SECONDS));
    let plants: [&[u8]; 8] = [b"[", b"]", b":", b"\"", b"{", b"\xff", b"  ", b"\n"];
    let mut dice = Dice::new(11);
    let seeds = [
        (INI, Form::AnsibleIni),
        (YAML, Form::AnsibleYaml),
        (SSH, Form::Ssh),
        (HOSTS, Form::Hosts),
        (CSV, Form::Csv),
    ];
    while Instant::now() < end {
        let Some((seed, form)) = dice.pick(&seeds).copied() else { break };
        let bytes = mutate(seed.as_bytes(), &plants, &mut dice);
        let text = String::from_utf8_lossy(&bytes);
        match import(&text, form) {
            Ok(imported) => drop(read(&write(&imported.inventory)).expect("a written inventory reads")),
            Err(error) => {
                let lines = text.lines().count() + 1;
                assert!((1..=lines).contains(&error.line), "{error} of {lines} lines ({form:?}):\n{text}");
            }
        }
    }
}
