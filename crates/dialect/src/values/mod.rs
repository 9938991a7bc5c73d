//! Text input and output of each type, and the canonical stored form; one file per family.
