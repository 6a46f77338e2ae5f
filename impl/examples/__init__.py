"""Small applications of a group: a replicated key-value store and a lock service, run from the shell."""
