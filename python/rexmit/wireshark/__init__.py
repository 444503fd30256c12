"""Wireshark: a script that shows findings as fields, a profile with coloring rules, and where both go."""
