"""`rexmit report` and `rexmit view`: the page of explorer/ with what a capture, a run or a study tells."""
