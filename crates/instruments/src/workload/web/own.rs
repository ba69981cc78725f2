//! Files of the user's that a server of ours serves: how often each is asked for. Sizes are those of the files.
//!
//! Without a mix each is asked for as often as the others. A mix that has the paths of its log gives each the requests
//! that the log has for it; what else the log asks for is left out, and it is said how much that is.

use std::collections::HashMap;
use std::sync::Arc;

use model::doc::MixDoc;
use model::format::count;
use model::tree::{ServedTree, named, url_path};
use model::{Setup, Unfit};

use crate::workload::mix::float;
use crate::workload::server::content::{Item, Set};

/// The weight of the most wanted file of a mix.
const WEIGHT: f64 = 1e9;
/// From this mean size of a file on, few answers fit into a take.
const LARGE: u64 = 16 << 20;

/// The files that the parameters name, if they are to be served. Fails where the plan does not have them, or they
/// cannot be served.
pub fn from_setup(setup: &Setup) -> Result<Option<Arc<ServedTree>>, Unfit> {
    let text = |name: &str| setup.params.get(name).unwrap_or_default();
    let files = text("files");
    if text("content") != Set::Own.name() {
        return match files {
            "" => Ok(None),
            _ => Err(Unfit::new(format!("files={files}: they are served as content={}", Set::Own.name()))),
        };
    }
    let Some(tree) = setup.tree.clone() else {
        let what = if files.is_empty() { "content=own".to_owned() } else { format!("files={files}") };
        return Err(Unfit::new(format!("{what}: give the folder of the files with --content DIR")));
    };
    tree.check().map_err(|why| Unfit::new(format!("files={files}: {why}")))?;
    items(&tree, setup.mix.as_deref()).map_err(|why| Unfit::new(format!("files={files}: {why}")))?;
    Ok(Some(tree))
}

/// True if few answers fit into a take.
pub fn are_large(tree: &ServedTree) -> bool {
    tree.bytes() / (tree.files.len().max(1) as u64) >= LARGE
}

/// The files with how much each is wanted, and a sentence on that. Fails where a mix asks for none of them.
pub fn items(tree: &ServedTree, mix: Option<&MixDoc>) -> Result<(Vec<Item>, String), String> {
    let files = tree.files.len();
    let Some(mix) = mix else {
        let item = |file: &model::tree::ServedFile| Item {
            path: url_path(&file.name),
            bytes: file.bytes,
            weight: 1,
        };
        let how = if files == 1 { "asked for alone" } else { "each asked for as often as the others" };
        return Ok((tree.files.iter().map(item).collect(), said(tree, files, how)));
    };
    if !mix.popularity.logged {
        return Err(
            "the mix calls paths by their rank: boxscore logs --profile-out --paths keeps them".into()
        );
    }
    let mut wanted: HashMap<String, u64> = HashMap::new();
    for one in &mix.popularity.top {
        if let Some(name) = named(&one.path) {
            *wanted.entry(name).or_default() += one.requests;
        }
    }
    let of = |name: &str| wanted.get(name).copied().filter(|requests| *requests > 0);
    let most = tree.files.iter().filter_map(|file| of(&file.name)).max();
    let most = most.ok_or("none of the paths that the mix names is one of its files")?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to a thousand million"
    )]
    let weight = |requests: u64| (float(requests) / float(most) * WEIGHT).round().max(1.0) as u32;
    let item = |file: &model::tree::ServedFile| {
        Some(Item { path: url_path(&file.name), bytes: file.bytes, weight: weight(of(&file.name)?) })
    };
    let items: Vec<Item> = tree.files.iter().filter_map(item).collect();
    let found: u64 = tree.files.iter().filter_map(|file| of(&file.name)).sum();
    let percent = 100.0 * float(found) / float(mix.popularity.requests.max(1));
    let how = format!(
        "asked for as the mix does; {percent:.2} % of its requests are for them, and the others are left out"
    );
    let said = said(tree, items.len(), &how);
    Ok((items, said))
}

fn said(tree: &ServedTree, asked: usize, how: &str) -> String {
    let all = count(tree.files.len(), "file");
    let of = if asked == tree.files.len() { all } else { format!("{asked} of {all}") };
    format!("{of} of {} ({:.1} MB), {how}", tree.source, float(tree.bytes()) / 1e6)
}

#[cfg(test)]
mod tests {
    use model::Params;
    use model::doc::mix::MixPath;
    use model::tree::ServedFile;

    use super::*;
    use crate::workload::mix::tests::planted;

    fn tree(files: &[(&str, u64)]) -> ServedTree {
        let file = |(name, bytes): &(&str, u64)| ServedFile {
            name: (*name).to_owned(),
            bytes: *bytes,
            sha256: String::new(),
        };
        let files = files.iter().map(file).collect();
        ServedTree { folder: "/srv/www".to_owned(), source: "/srv/www".to_owned(), files }
    }

    #[test]
    fn each_file_is_asked_for_as_often_as_the_others() {
        let (items, said) = items(&tree(&[("a b", 3), ("c/d", 1_000_000)]), None).unwrap();
        let seen: Vec<_> = items.iter().map(|item| (item.path.as_str(), item.bytes, item.weight)).collect();
        assert_eq!(seen, [("/a%20b", 3, 1), ("/c/d", 1_000_000, 1)]);
        assert_eq!(said, "2 files of /srv/www (1.0 MB), each asked for as often as the others");
        assert!(!are_large(&tree(&[("a", 9)])) && are_large(&tree(&[("a", LARGE)])));
    }

    #[test]
    fn a_mix_with_paths_says_how_often() {
        let tree = tree(&[("a", 3), ("index.html", 4), ("z", 5)]);
        let path = |path: &str, requests| MixPath { path: path.to_owned(), requests, bytes: None };
        let mut mix = planted();
        assert!(items(&tree, Some(&mix)).unwrap_err().contains("--paths"));
        mix.popularity.logged = true;
        assert!(items(&tree, Some(&mix)).unwrap_err().contains("none of the paths"));
        mix.popularity.top = vec![path("/a?x=1", 10), path("/a", 20), path("/", 60), path("/gone", 10)];
        mix.popularity.requests = 100;
        let (items, said) = items(&tree, Some(&mix)).unwrap();
        let seen: Vec<_> = items.iter().map(|item| (item.path.as_str(), item.weight)).collect();
        assert_eq!(seen, [("/a", 500_000_000), ("/index.html", 1_000_000_000)]);
        assert!(said.starts_with("2 of 3 files of /srv/www") && said.contains("90.00 %"), "{said}");
    }

    #[test]
    fn files_belong_to_a_plan() {
        let setup = |params: &str, tree: Option<ServedTree>| {
            let setup = Setup::bare(Params::parse(params).unwrap(), vec![0], ".");
            from_setup(&Setup { tree: tree.map(Arc::new), ..setup }).map_err(|unfit| unfit.why)
        };
        let one = || Some(tree(&[("a", 3)]));
        assert_eq!(setup("content=gif", None), Ok(None));
        assert!(setup("content=own;files=x@1", one()).unwrap().is_some());
        for (params, tree, says) in [
            ("content=own", None, "content=own: give the folder"),
            ("content=own;files=x@1", None, "files=x@1: give the folder"),
            ("content=gif;files=x@1", one(), "served as content=own"),
            ("content=own;files=x@1", Some(tree(&[])), "files=x@1: no file"),
        ] {
            let why = setup(params, tree).unwrap_err();
            assert!(why.contains(says), "{params}: {why}");
        }
    }
}
