//! Full-text search as InnoDB has it: which words a text has, what a search asks for, which documents it finds and how well.
//!
//! - [`letters`]: what words are made of; [`words`]: the words of a text, and which of them are one;
//! - [`query`]: what stands between the quotes of AGAINST;
//! - [`search`]: the documents that it finds, with their relevance.
//!
//! Source: MySQL 8.4 Reference Manual, 14.9 "Full-Text Search Functions", and what MySQL 9.7 answers to searches made at random.

pub mod letters;
pub mod query;
pub mod search;
pub mod words;

pub use query::Mode;
pub use search::{Documents, Found, Posting, search};
pub use words::Words;
