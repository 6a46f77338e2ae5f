"""The files of a project that `antiphon init` writes, each with `.txt` behind its name."""

FILES = {
    "lock_spec.py": "lock_spec.py.txt",
    "lock.py": "lock.py.txt",
    "lock_binding.py": "lock_binding.py.txt",
    "test_lock.py": "test_lock.py.txt",
    "requirements.txt": "requirements.txt.txt",
    ".github/workflows/test.yml": "test.yml.txt",
}
"""Name of each file in the written project, and the name of its template in this package."""

ABOUT = {
    "lock_spec.py": "what must be true",
    "lock.py": "the code, which knows nothing of antiphon; a bug stands in it, commented out",
    "lock_binding.py": "how the two belong together",
    "test_lock.py": "the tests",
    "requirements.txt": "what they need",
    ".github/workflows/test.yml": "the same in CI",
}
"""The purpose of each file."""
