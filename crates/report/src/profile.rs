//! A profile's folded stacks as a tree of calls.
//!
//! Counts are samples, in a function and in what it called.

use model::profile::{Profile, plain};

use crate::plot::flame::Frame;

/// The tree of calls under one root.
pub fn tree(profile: &Profile) -> Frame {
    let mut root = Frame { name: "all".to_owned(), ..Frame::default() };
    // Stacks come sorted, so calls of one caller are neighbours and stand by name.
    for (stack, count) in profile.stacks() {
        let mut at = &mut root;
        at.total = at.total.saturating_add(count);
        for name in stack {
            let (plain, kernel) = plain(name);
            let known = at.calls.last().is_some_and(|last| last.name == plain && last.kernel == kernel);
            if !known {
                at.calls.push(Frame { name: plain.to_owned(), kernel, ..Frame::default() });
            }
            let Some(next) = at.calls.last_mut() else { break };
            next.total = next.total.saturating_add(count);
            at = next;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use model::profile::{DEEPEST, profiles};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stacks_become_a_tree() {
        let all = profiles(["nginx;main;ngx_epoll;sys_read_[k];tcp_recv_[k] 30\nnginx;main;ngx_epoll 10\n\
                             nginx;main;ngx_epoll;sys_read_[k] 20\njunk\nnginx;main;main 5\n"]);
        let [profile] = all.as_slice() else { panic!("one profile: {all:?}") };
        let tree = tree(profile);
        let main = &tree.calls[0].calls[0];
        assert_eq!((tree.total, tree.calls.len(), main.name.as_str(), main.total), (65, 1, "main", 65));
        let epoll = main.calls.iter().find(|call| call.name == "ngx_epoll").unwrap();
        assert_eq!((epoll.total, epoll.kernel, epoll.calls.len()), (60, false, 1));
        assert_eq!((epoll.calls[0].total, epoll.calls[0].kernel), (50, true));
    }

    proptest! {
        #[test]
        fn the_tree_of_any_text_keeps_its_samples(text in "([ab;#_\\[k\\] 0-9]{0,12}\n){0,20}") {
            for profile in profiles([text.as_str()]) {
                prop_assert_eq!(tree(&profile).total, profile.samples());
            }
        }
    }

    #[test]
    fn a_stack_of_a_million_frames_is_a_tree_of_the_frames_that_are_kept() {
        let deep = format!("{} 3", vec!["f"; 1_000_000].join(";"));
        let all = profiles([deep.as_str()]);
        let mut levels = 0;
        let tree = tree(&all[0]);
        let mut at = &tree;
        while let Some(next) = at.calls.first() {
            (levels, at) = (levels + 1, next);
        }
        assert_eq!(levels, DEEPEST);
    }
}
