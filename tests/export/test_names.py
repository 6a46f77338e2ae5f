"""Names that another language has for itself are written otherwise in an export, and all others stay."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import antiphon
from antiphon.model.export import promela, tla
from antiphon.model.export.promela_words import is_reserved
from antiphon.model.export.spelling import Spelling, spelt
from antiphon.model.export.tla_types import WORDS
from antiphon.spec.lang import Program, SpecError

PROMELA = """
    active atomic bit bool byte chan cond d_step do empty enabled eval false fi full goto hidden init inline
    int len local ltl mtype nempty never nfull notrace od of pc_value printf printm priority proctype
    provided run select shared short show skip timeout trace true typedef unless unsigned xr xs get_priority
    set_priority always eventually until stronguntil weakuntil release implies equivalent next c_code c_decl
    c_expr c_state c_track end protocol
"""
C = """
    auto case char const default do double enum extern float goto inline int long register restrict short
    signed sizeof static struct switch typedef union unsigned void volatile typeof asm linux unix now main
    errno stdin stdout
"""
OURS = ["t0", "t12", "x_timeout", "limit_is_broken"]
PLAIN = ["timer", "count", "token_to", "received", "spin_lock", "messages"]

TEXT = '''
from typing import Annotated
from antiphon.spec.lang import *

Flag = bool

class Named(Spec):
    """Variables with names of other languages."""
{variables}

    @action
    def go(self) -> None:
        """All at once."""
        require(not self.{first})
{assignments}

    @invariant
    def limit(self) -> Flag:
        """Not for ever."""
        return not self.{first}
'''


def named(tmp_path: Path, module: str, names: list[str]) -> Program:
    """A specification with a boolean variable of each name."""
    text = TEXT.format(
        first=names[0],
        variables="\n".join(f"    {name}: Flag = False" for name in names),
        assignments="\n".join(f"        self.{name} = True" for name in names),
    )
    (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
    return antiphon.program(f"{tmp_path / module}.py")


def declared(text: str) -> list[str]:
    """The variables of a Promela model."""
    return re.findall(r"^unsigned (\S+) :", text, re.MULTILINE)


RunPromela = Callable[[Any], Any]


def test_words_of_promela_and_c_and_of_the_export_are_no_variables(
    tmp_path: Path, run_promela: RunPromela
) -> None:
    names = list(dict.fromkeys([*PROMELA.split(), *C.split(), *OURS, *PLAIN]))
    model = promela(named(tmp_path, "names_of_promela", names))
    found = declared(model.text)
    assert len(found) == len(set(found)) == len(names)
    assert not [name for name in found if is_reserved(name)]
    assert set(PLAIN) < set(found)
    assert "x_timeout" in found
    head = model.text.partition("*/")[0]
    assert "timeout is x_timeout" in head
    assert not [name for name in PLAIN if f"{name} is " in head]
    assert model.properties == {1: "limit"}
    assert run_promela(model).broken == {"limit_is_broken_2"}


def test_other_signs_are_spelt(tmp_path: Path) -> None:
    model = promela(named(tmp_path, "names_of_others", ["überholt", "名前", "a_b"]))
    assert model.text.isascii()
    assert declared(model.text) == ["u00fcberholt", "u540du524d", "a_b"]
    assert r"\xfcberholt is u00fcberholt" in model.text
    module = tla(named(tmp_path, "names_of_tla_others", ["überholt", "WF_x"]))
    assert "VARIABLES u00fcberholt, x_WF_x" in module.text
    assert r"WF_x is x_WF_x" in module.text


def test_names_stay_apart() -> None:
    spelling = Spelling(lambda name: name == "timeout")
    given = [spelling.give(name, of=name) for name in ("x_timeout", "timeout", "a", "a", "a_2", "ü", "u00fc")]
    assert given == ["x_timeout", "x_timeout_2", "a", "a_2", "a_2_2", "u00fc", "u00fc_2"]
    assert spelling.changed == {"timeout": "x_timeout_2", "ü": "u00fc"}
    assert [spelt(name) for name in ("1st", "_", "__x__")] == ["x_1st", "x__", "x___x__"]


def test_words_of_tla_are_no_names(tmp_path: Path) -> None:
    names = [*sorted(WORDS - {"WF_", "SF_"}), "Len", "Init", "vars", "Divided", "count"]
    module = tla(named(tmp_path, "names_of_tla", names))
    (line,) = re.findall(r"^VARIABLES (.*)$", module.text, re.MULTILINE)
    found = line.split(", ")
    assert len(found) == len(set(found)) == len(names)
    assert not WORDS.intersection(found)
    assert "count" in found
    assert "LET is LET_1" in module.text


def test_a_specification_with_the_name_of_a_module_of_tla_has_another(tmp_path: Path) -> None:
    (tmp_path / "modules.py").write_text(TEXT.format(first="on", variables="    on: Flag = False",
        assignments="        self.on = True").replace("class Named", "class Sequences"))  # fmt: skip
    module = tla(antiphon.program(f"{tmp_path / 'modules.py'}:Sequences"))
    assert module.name == "Sequences_1"
    assert " MODULE Sequences_1 " in module.text.splitlines()[0]


RECORDS = '''
from typing import Annotated
from antiphon.spec.lang import *

@record
class Mail:
    """A letter whose fields have words of TLA+."""
    IN: bool
    record: bool
    IN_1: bool

class Post(Spec):
    """Sends one."""
    sent: Set[Mail] = Set()

    @action
    def send(self) -> None:
        """Once."""
        require(not any(mail.IN for mail in self.sent))
        self.sent |= {Mail(True, False, True)}
'''


def test_words_of_tla_are_no_fields(tmp_path: Path) -> None:
    (tmp_path / "fields_of_tla.py").write_text(RECORDS)
    text = tla(antiphon.program(str(tmp_path / "fields_of_tla.py"))).text
    assert '[record : {"Mail"}, IN_1_1 : BOOLEAN, record_1 : BOOLEAN, IN_1 : BOOLEAN]' in text
    assert "mail.IN_1_1" in text


NUMBERS = '''
from typing import Annotated
from antiphon.spec.lang import *

class Numbers(Spec):
    """Divides."""
    low: Annotated[int, Between(-3, 3)] = 2
    high: Annotated[int, Between(0, {high})] = 1

    @action
    def divide(self) -> None:
        """By what may be negative, and by what may not."""
        require(self.low != 0 and self.high > 0)
        self.low = 5 % self.low
        self.high = 5 % self.high
'''


def test_what_tlc_refuses_is_written_otherwise_or_refused(tmp_path: Path) -> None:
    """TLC takes no remainder by a negative number, and computes with 32 bits."""
    (tmp_path / "numbers_of_tla.py").write_text(NUMBERS.format(high=3))
    text = tla(antiphon.program(str(tmp_path / "numbers_of_tla.py"))).text
    assert "low' = Rest(5, low)" in text
    assert "high' = 5 % high" in text
    assert "Rest(a, b) == IF b < 0 THEN -((-a) % (-b)) ELSE a % b" in text
    (tmp_path / "numbers_too_large.py").write_text(NUMBERS.format(high=1 << 31))
    large = antiphon.program(str(tmp_path / "numbers_too_large.py"))
    with pytest.raises(SpecError, match=r"2147483648 does not fit the 32 bits that TLC computes with"):
        tla(large)
    with pytest.raises(SpecError, match=r"does not fit the 32 bits that Promela computes with"):
        promela(large)
