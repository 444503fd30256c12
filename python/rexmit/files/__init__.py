"""What is written and read: folders that an answer goes into, locks, addresses, and files of others."""
