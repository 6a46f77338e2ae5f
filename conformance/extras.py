"""Check for optional packages (extras), made before anything of them is loaded.

Packages of this room load their modules when names are used, so that importing such a package proves nothing.
Therefore the installed distributions are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Final

from antiphon.spec.lang.errors import Told

_SPARK: Final = ("pyspark", "py4j", "pyarrow", "pandas", "grpc")
_SERVER: Final = ("starlette", "uvicorn")


class MissingExtra(Told, ImportError):
    """Error: packages of an extra are not installed; the message names them and how to install the extra."""


def needs_spark(what: str) -> None:
    """Raise unless the packages of the extra `spark` are installed.

    Args:
        what: the command, option or function that needs them; the message begins with it.

    Raises:
        MissingExtra: a package is not installed.
    """
    _needs("spark", "Spark", _SPARK, what)


def needs_server(what: str) -> None:
    """Raise unless the packages of the extra `explore` are installed.

    Args:
        what: the command that needs them; the message begins with it.

    Raises:
        MissingExtra: a package is not installed.
    """
    _needs("explore", "a web server", _SERVER, what)


def needs_zstd(what: str) -> None:
    """Raise unless the package of the extra `zstd` is installed.

    Args:
        what: the file that needs it; the message begins with it.

    Raises:
        MissingExtra: the package is not installed.
    """
    _needs("zstd", "Zstandard", ("zstandard",), what)


def _needs(extra: str, thing: str, packages: Iterable[str], what: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"{what} needs {thing}, which is not installed (no {', '.join(missing)}); "
            f"install the extra: pip install 'antiphon[{extra}]'"
        )
