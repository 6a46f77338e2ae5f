"""A trace survives its file, and a file that is not this trace is refused with the place and the reason."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import antiphon
from antiphon.model.export import ForeignTraceError, TraceFileError, load, save
from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import Spec, program
from antiphon.spec.protocols.rbp.properties import RbpChecked, RbpProperties
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked


def walked(spec: type[Spec], length: int, **constants: Any) -> Trace:
    """The run that always takes the last enabled step."""
    bound = program(spec, **constants)
    start = state = bound.reference.initial()[0]
    steps = []
    for _ in range(length):
        step = list(bound.reference.enabled(state))[-1]
        steps.append(step)
        state = bound.reference.apply(state, step).state
    return replay(bound, start, steps, shows="AllDelivered", why="a sentence with ümlauts")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.itf.json"
    save(walked(Figure2Checked, 4, messages=2), path)
    return path


@pytest.mark.parametrize("spec", [RbpProperties, RbpChecked, Figure2Checked])
def test_a_trace_survives_its_file(tmp_path: Path, spec: type[Spec]) -> None:
    trace = walked(spec, 6)
    save(trace, tmp_path / "t.itf.json")
    found = load(tmp_path / "t.itf.json")
    assert (found.start, found.transitions, found.shows, found.why) == (
        trace.start,
        trace.transitions,
        trace.shows,
        trace.why,
    )
    assert (found.program.spec, found.program.constants) == (spec, trace.program.constants)


def test_repairs_and_readings_are_kept(tmp_path: Path) -> None:
    trace = walked(
        RbpProperties, 3, repairs=["ring_from_one", "start_rotation"], nesting="printed", processes=2
    )
    save(trace, tmp_path / "t.itf.json")
    assert load(tmp_path / "t.itf.json").program.constants == trace.program.constants


def test_the_file_is_itf(file: Path) -> None:
    """Source: Apalache ADR 15: `#meta`, `vars`, `states`; each state an object with `#meta.index` and a value
    of each variable.
    """
    data = json.loads(file.read_text())
    assert data["#meta"]["format"] == "ITF"
    assert [state["#meta"]["index"] for state in data["states"]] == [0, 1, 2, 3, 4]
    assert all(set(state) == {"#meta", *data["vars"]} for state in data["states"])
    assert not any(
        isinstance(value, int) and not isinstance(value, bool) for value in numbers(data["states"])
    )


def numbers(data: Any) -> list[Any]:
    """Every leaf below states, but for the index."""
    if isinstance(data, dict):
        return [leaf for key, value in data.items() if key != "index" for leaf in numbers(value)]
    return [leaf for item in data for leaf in numbers(item)] if isinstance(data, list) else [data]


def changed(file: Path, path: list[Any], value: Any) -> None:
    data = json.loads(file.read_text())
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    file.write_text(json.dumps(data))


META = ["#meta", "antiphon"]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ([*META, "schema"], "other", "#meta.antiphon.schema is 'other'"),
        ([*META, "version"], 2, "#meta.antiphon.version is 2; this version of antiphon reads 1"),
        ([*META, "specification"], "antiphon.spec.protocols.rbp.properties:Nobody", "has no 'Nobody'"),
        ([*META, "specification"], "no.such.module:Spec", "cannot be imported"),
        ([*META, "specification"], "antiphon.spec.services:Process", "is no specification"),
        ([*META, "constants", "processes"], 2, "the specification has changed since this trace was made"),
        ([*META, "constants", "colour"], 2, "has no constant 'colour'"),
        ([*META, "surprise"], 1, "unknown field"),
        ([*META, "steps", 0, "action"], "fly", "steps[0]: Figure2Checked has no action 'fly'"),
        ([*META, "steps", 0, "arguments"], [], "steps[0]: broadcast takes 2 arguments, not 0"),
        (
            [*META, "steps", 0, "arguments", 0],
            "Process(9)",
            "steps[0].arguments[0]: 'Process(9)' leaves the domain",
        ),
        (["states", 1, "network"], {"#set": [3]}, "states[1].network[0]: 3 where"),
        (["states", 1, "lost"], {"#bigint": "1"}, "states[1].lost is not what the steps lead to"),
        (["states"], [], "0 states for 4 steps; there must be 5"),
        (["#meta"], {}, "an ITF trace of another tool"),
    ],
)
def test_damage_is_refused_with_its_place(file: Path, path: list[Any], value: Any, says: str) -> None:
    changed(file, path, value)
    with pytest.raises(TraceFileError) as refused:
        load(file)
    assert says in str(refused.value)
    assert str(refused.value).startswith(str(file))


def test_a_step_that_is_not_enabled_is_refused_with_its_guard(file: Path) -> None:
    data = json.loads(file.read_text())
    steps = data["#meta"]["antiphon"]["steps"]
    steps[1] = steps[0]
    file.write_text(json.dumps(data))
    with pytest.raises(TraceFileError, match=r"step 2, broadcast\(.*\), is not enabled: .*requires"):
        load(file)


@pytest.mark.parametrize("text", ["", "{", "[]", "[1, 2", '{"states": []}', "\xff\xfe", "nul"])
def test_what_is_no_trace_at_all_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TraceFileError):
        load(path)


def test_a_json_error_is_located(file: Path) -> None:
    file.write_text('{\n "states": [,]}')
    with pytest.raises(TraceFileError, match=r"run\.itf\.json:2:13: not JSON"):
        load(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="cannot be read: No such file"):
        load(tmp_path / "none.itf.json")


def test_a_class_that_nobody_can_import_is_refused_when_saving(tmp_path: Path) -> None:
    class Local(Spec):
        """Made in a function."""

        flag: bool = False

    bound = program(Local)
    with pytest.raises(TraceFileError, match="at the top of a module"):
        save(replay(bound, bound.reference.initial()[0], []), tmp_path / "t.itf.json")


COUNTER = '''
from typing import Annotated
from antiphon.spec.lang import Between, Spec, action, require

class Counter(Spec):
    """Counts."""

    value: Annotated[int, Between(0, 3)] = 0

    @action
    def increase(self) -> None:
        """One more."""
        require(self.value < 3)
        self.value += 1
'''


SAVE = """
from antiphon.model.export import save
from antiphon.model.trace import replay
from antiphon.spec.lang import Step, program
from itf_counter import Counter
bound = program(Counter)
save(replay(bound, bound.reference.initial()[0], [Step("increase")]), "t.itf.json")
print(bound.digest)
"""

LOAD = """
from antiphon.model.export import TraceFileError, load
try:
    print("loaded", load("t.itf.json").program.digest)
except TraceFileError as refused:
    print(refused)
"""


def python_in(directory: Path, text: str) -> str:
    """Output of a program that runs in a directory."""
    command = [sys.executable, "-B", "-c", text]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout.strip()


def test_a_specification_that_does_not_make_the_steps_any_more_is_refused_with_both_digests(
    tmp_path: Path,
) -> None:
    """A comment changes nothing; a guard does."""

    def python(text: str) -> str:
        return python_in(tmp_path, text)

    module = tmp_path / "itf_counter.py"
    module.write_text(COUNTER)
    digest = python(SAVE)
    module.write_text("# a comment\n" + COUNTER)
    assert python(LOAD) == f"loaded {digest}"
    module.write_text(COUNTER.replace("self.value < 3", "self.value < 0"))
    told = python(LOAD)
    assert "the specification has changed since this trace was made: #meta.antiphon.steps: " in told
    assert "step 1, increase(), is not enabled: " in told
    assert f"the trace:     itf_counter:Counter, digest {digest}" in told
    assert "at present:    itf_counter:Counter, digest" in told


MORE = """
    spare: bool = False
    limit: Const[int] = 3

    @witness
    def Three(self) -> bool:
        return self.value == 3

    @action
    def fill(self) -> None:
        require(not self.spare)
        self.spare = True
"""


@pytest.mark.deep
def test_one_more_property_variable_constant_or_action_changes_no_run(tmp_path: Path) -> None:
    """Runs are replayed by names: what matters is that each step is possible and does the same."""
    module = tmp_path / "itf_counter.py"
    module.write_text(COUNTER)
    digest = python_in(tmp_path, SAVE)
    module.write_text(COUNTER.replace("import Between", "import Between, Const, witness") + MORE)
    told = python_in(tmp_path, LOAD)
    assert told.startswith("loaded ")
    assert told != f"loaded {digest}"


@pytest.mark.deep
def test_one_property_variable_constant_or_action_less_changes_no_run(tmp_path: Path) -> None:
    module = tmp_path / "itf_counter.py"
    module.write_text(COUNTER.replace("import Between", "import Between, Const, witness") + MORE)
    python_in(tmp_path, SAVE)
    module.write_text(COUNTER)
    assert python_in(tmp_path, LOAD).startswith("loaded ")


def test_a_step_that_does_something_else_names_the_variable(tmp_path: Path) -> None:
    module = tmp_path / "itf_counter.py"
    module.write_text(COUNTER)
    python_in(tmp_path, SAVE)
    module.write_text(COUNTER.replace("self.value += 1", "self.value = 3"))
    told = python_in(tmp_path, LOAD)
    assert "has changed since this trace was made: states[1].value is not what the steps lead to" in told


@pytest.mark.deep
def test_a_trace_finds_its_specification_from_every_directory(tmp_path: Path) -> None:
    """The file says where the module stands, seen from itself."""
    folder, other = tmp_path / "specs", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (folder / "itf_counter.py").write_text(COUNTER)
    (other / "itf_counter.py").write_text(COUNTER.replace("Between(0, 3)", "Between(0, 1)"))
    python_in(tmp_path, f"import sys; sys.path.insert(0, 'specs')\n{SAVE}")
    for place in (tmp_path, folder, other):
        found = python_in(place, LOAD.replace("t.itf.json", str(tmp_path / "t.itf.json")))
        assert found.startswith("loaded ")
    tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-moved"))
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    assert python_in(moved, LOAD).startswith("loaded ")
    (moved / "specs").rename(moved / "gone")
    told = python_in(moved, LOAD)
    assert f"it stood in {moved}/specs/itf_counter.py, which is gone" in told
    assert told.endswith("if it has moved, name it: antiphon replay t.itf.json file.py:Counter")
    named = LOAD.replace('load("t.itf.json")', "antiphon.load('t.itf.json', 'gone/itf_counter.py')")
    assert python_in(moved, f"import antiphon\n{named}").startswith("loaded ")


FOREIGN: dict[str, Any] = {
    "#meta": {"format": "ITF", "source": "counter.qnt"},
    "vars": ["counter::value", "unknown", "mbt::actionTaken"],
    "states": [
        {"counter::value": {"#bigint": str(value)}, "unknown": {"#set": []}, "mbt::actionTaken": action}
        for value, action in enumerate(("init", "increase", "counter::increase"))
    ],
}


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The program of the counter."""
    file = tmp_path_factory.mktemp("foreign") / "itf_foreign_counter.py"
    file.write_text(COUNTER)
    return antiphon.program(f"{file}:Counter")


def test_a_trace_of_another_tool_is_looked_for_in_a_specification(tmp_path: Path, counter: Any) -> None:
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps(FOREIGN))
    with pytest.raises(ForeignTraceError, match=r"of another tool.*antiphon replay .* SPEC") as refused:
        load(file)
    assert refused.value.run.shown()[2] == {"value": "2", "unknown": "{}"}
    trace = load(file, counter)
    assert [str(step) for step in trace.steps] == ["increase()", "increase()"]
    assert trace.states == ((0,), (1,), (2,))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["states", 2, "counter::value"], 3, "states[2]: no step of Counter leads from states[1]"),
        (["states", 0, "counter::value"], 1, "states[0]: Counter has no initial state with value = 1"),
        (["states", 1, "counter::value"], 9, "states[1].value: 9 leaves the domain"),
        (["states", 1, "counter::value"], {"#set": []}, "states[1].value: {'#set': []} where"),
        (["states", 1], 1, "states[1] is no object"),
        (["vars"], ["unknown"], "no variable of Counter stands in this trace: it has unknown"),
        (["vars"], [["value"]], "states[0] has no value of ['value']"),
    ],
)
def test_what_a_specification_cannot_do_is_named_with_its_place(
    tmp_path: Path, counter: Any, path: list[Any], value: Any, says: str
) -> None:
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps(FOREIGN))
    changed(file, path, value)
    with pytest.raises(TraceFileError) as refused:
        load(file, counter)
    assert says in str(refused.value)


TURNS = """
from typing import Annotated
from antiphon.spec.lang import Between, Index, Map, Spec, action, everywhere, require


class Reader(Index, size=2):
    pass


class Turns(Spec):
    value: Annotated[int, Between(0, 2)] = 0
    seen: Map[Reader, bool] = everywhere(False)
    turned: bool = False

    @action
    def turn(self) -> None:
        require(not self.turned)
        self.turned = True

    @action
    def increase(self) -> None:
        require(not self.turned and self.value < 2)
        self.value += 1
"""


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("foreign") / "itf_foreign_turns.py"
    file.write_text(TURNS)
    return antiphon.program(f"{file}:Turns")


def foreign(tmp_path: Path, states: list[dict[str, Any]]) -> Path:
    """A trace of another tool, which shows some variables."""
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps({"vars": list(states[0]), "states": states}))
    return file


def test_a_state_that_comes_twice_may_be_no_step_though_a_hidden_one_is_possible(
    tmp_path: Path, turns: Any
) -> None:
    """After `turn`, which changes nothing that the trace shows, `increase` would be impossible."""
    file = foreign(tmp_path, [{"value": 0}, {"value": 0}, {"value": 1}])
    assert [str(step) for step in load(file, turns).steps] == ["increase()"]


@pytest.mark.parametrize("pair", [1, {"#tup": 5}, {"key": 1}])
def test_a_map_of_another_tool_that_has_no_pairs_is_refused_with_its_place(
    tmp_path: Path, turns: Any, pair: Any
) -> None:
    file = foreign(tmp_path, [{"seen": {"#map": [pair]}}])
    with pytest.raises(TraceFileError, match=r"states\[0\]\.seen: .* where a key and a value must stand"):
        load(file, turns)
