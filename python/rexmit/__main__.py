"""`python -m rexmit`."""

from rexmit.start import main

main()
