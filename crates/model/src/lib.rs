//! The words of boxscore.
