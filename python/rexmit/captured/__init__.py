"""What a capture tells: flows, episodes, groups, the packets of an episode, and a recording's kernel."""
