//! What PostgreSQL says of the SQL standard: its features, parts and sizes, without what it remarks on them.

use crate::read::facts;

facts! {
    /// A row of `information_schema.sql_features`.
    StandardFeature from "standard_features.tsv" {
        /// `feature_id`
        id: &'static str,
        /// `feature_name`
        name: &'static str,
        /// `sub_feature_id`; empty for a feature as a whole.
        part: &'static str,
        /// `sub_feature_name`
        part_name: &'static str,
        /// `is_supported`
        supported: bool,
    }
}

facts! {
    /// A row of `information_schema.sql_parts`.
    StandardPart from "standard_parts.tsv" {
        /// `feature_id`
        number: &'static str,
        /// `feature_name`
        name: &'static str,
        /// `is_supported`
        supported: bool,
    }
}

facts! {
    /// A row of `information_schema.sql_sizing`.
    StandardSize from "standard_sizes.tsv" {
        /// `sizing_id`
        id: u32,
        /// `sizing_name`
        name: &'static str,
        /// `supported_value`: 0 where there is no limit, empty where nothing is known.
        value: &'static str,
    }
}
