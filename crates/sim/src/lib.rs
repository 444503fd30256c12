//! Hosts, workloads and recorder: the network under virtual time.
