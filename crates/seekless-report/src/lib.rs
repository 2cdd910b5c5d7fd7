//! Words, tables and pictures from figures.
