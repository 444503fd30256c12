"""What stands on a screen: pages, figures and tables as lines, progress, and what each medium allows."""
