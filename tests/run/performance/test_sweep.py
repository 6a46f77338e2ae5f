"""Sweeps, sentences and the page: what is written follows from the runs, and a sentence can be refuted."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from antiphon.conformance.run.performance import PROTOCOLS, Setting, simulate
from antiphon.conformance.run.performance import page as page_module
from antiphon.conformance.run.performance.estimates import Estimate, estimate
from antiphon.conformance.run.performance.page import all_points, page, pictures
from antiphon.conformance.run.performance.questions import CM, DTP, Scale
from antiphon.conformance.run.performance.sentences import SENTENCES
from antiphon.conformance.run.performance.sweep import jobs_of, sweep
from antiphon.spec.claims import Measurement, claims_of

DOCS = Path(__file__).parents[3] / "docs"
SMALL = Scale(sizes=(2, 6), means_ms=(50.0, 100.0), messages=12, seeds=(1, 2))


@pytest.mark.parametrize(("values", "quantile"), [(2, 12.706), (3, 4.303), (5, 2.776), (30, 2.045)])
def test_an_interval_is_that_of_the_printed_table_of_student(values: int, quantile: float) -> None:
    """0.975 quantiles of the t distribution with one degree of freedom less than there are values."""
    found = estimate([float(number % 2) for number in range(values - 1)] + [3.0])
    told = [float(number % 2) for number in range(values - 1)] + [3.0]
    spread = (sum((value - mean(told)) ** 2 for value in told) / (values - 1) / values) ** 0.5
    assert found.mean == pytest.approx(mean(told))
    assert found.half_width == pytest.approx(quantile * spread, rel=1e-3)


def test_one_run_has_no_interval() -> None:
    with pytest.raises(ValueError, match="take two seeds at least"):
        estimate([1.0])


def test_every_run_is_taken_once_and_stands_at_its_point_and_seed() -> None:
    points = [Setting(protocol=DTP, members=members, messages=5) for members in (2, 3, 2)]
    told: list[str] = []
    runs = sweep(points, (4, 2), tell=told.append)
    assert runs == {point: (simulate(point, 4), simulate(point, 2)) for point in points}
    assert told == [f"{done} of 4 runs" for done in range(4)]
    assert [setting.members for setting, _ in jobs_of(points, (4, 2))] == [3, 3, 2, 2]


def test_a_sentence_about_dtp_is_refuted_by_runs_of_another_protocol() -> None:
    scale = Scale(sizes=(2, 6), means_ms=(50.0, 100.0), messages=120, seeds=(1,))
    names = ("DTP is stable sooner", "size of buffers")
    runs = sweep([point for name in names for point in SENTENCES[name].points(scale)], scale.seeds)
    assert all(SENTENCES[name].judge(runs, scale)[0] for name in names)
    exchange = {DTP: CM, CM: DTP}
    for point in list(runs):
        if point.protocol == DTP:
            other = scale.point(exchange[point.protocol], point.members, point.interarrival_ms)
            runs[point], runs[other] = runs[other], runs[point]
    assert not any(SENTENCES[name].judge(runs, scale)[0] for name in names)


def test_every_sentence_is_a_measurement_of_its_claim() -> None:
    recorded = {
        check.name: claim.id
        for claim in claims_of("dtp")
        for check in claim.checks
        if isinstance(check, Measurement) and check.name in SENTENCES
    }
    assert recorded == {name: sentence.claim for name, sentence in SENTENCES.items()}


def test_the_page_shows_every_sentence_and_figure_and_its_drawings_are_whole() -> None:
    runs = sweep((point for point in all_points(SMALL) if point.members < 40), SMALL.seeds)
    some = next(iter(runs.values()))
    runs |= {point: some for point in all_points(SMALL) if point.members == 40}
    text = page(runs, SMALL, "the command")
    assert all(sentence.quotation in text for sentence in SENTENCES.values())
    cells = [str(estimate([run.delivery_ms for run in runs[SMALL.point(CM, 2, 100.0)]]))]
    assert f"| 100 | 2 | {cells[0]} |" in text
    drawn = pictures(runs, SMALL)
    assert list(drawn) == [f"dtp-figure-{number}.svg" for number in (2, 3, 4, 5)]
    for name, picture in drawn.items():
        assert f"(pictures/{name})" in text
        marks = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()]
        curves = len(SMALL.means_ms) if name == "dtp-figure-2.svg" else 1
        assert marks.count("circle") == len(SMALL.sizes) * curves + 1, "one a point, and the key"


@pytest.mark.deep
def test_the_committed_page_has_what_is_found_today() -> None:
    """Update the page with `python benchmarks/dtp_figures.py --write docs`."""
    whole = Scale()
    runs = sweep([whole.point(CM, 2, 50.0)], whole.seeds)[whole.point(CM, 2, 50.0)]
    written = (DOCS / "dtp-figures.md").read_text(encoding="utf-8")
    assert f"| 50 | 2 | {estimate([run.stability_ms for run in runs])} |" in written
    assert all(f"]({link})" in written for link in (f"pictures/dtp-figure-{n}.svg" for n in (2, 3, 4, 5)))


def test_the_drawings_show_the_tables_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawings are made again from the tables, which `python benchmarks/dtp_figures.py --write docs`
    writes.
    """
    written = (DOCS / "dtp-figures.md").read_text(encoding="utf-8")
    figures = re.split(r"^## Figure (?=\d)", written, flags=re.MULTILINE)[1:]
    tables = {
        text[0]: [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")][2:]
        for text in figures
    }

    def estimates(figure: Any, _: Any, settings: Iterable[Setting]) -> list[Estimate]:
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in tables[str(figure.number)]]
        cells = {
            (row[0], row[1], protocol): row[2 + k] for row in rows for k, protocol in enumerate(PROTOCOLS)
        }
        found = [cells[f"{each.interarrival_ms:g}", str(each.members), each.protocol] for each in settings]
        return [Estimate(*(float(part.replace(",", "")) for part in cell.split(" ± "))) for cell in found]

    monkeypatch.setattr(page_module, "_estimates", estimates)
    for name, drawn in pictures({}, Scale()).items():
        assert drawn == (DOCS / "pictures" / name).read_text(encoding="utf-8"), name
