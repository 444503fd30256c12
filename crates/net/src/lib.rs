//! A graph of links and its event queue, generic in what it carries.
