"""Small specifications to learn from, to measure engines with, and to compare with other checkers."""
