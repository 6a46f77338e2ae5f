"""Refusal of what cannot be a master, before Java starts."""

import socket
import socketserver
import threading
import time
from pathlib import Path

import pytest

from antiphon.conformance.cli import main
from antiphon.conformance.spark.pipeline import InputError, masters, session
from antiphon.conformance.spark.pipeline.masters import is_private, require_master, same_master

WRONG = {
    "nonsense": "'nonsense' is no master of Spark; a master is one of local, local\\[4\\]",
    "": "'' is no master of Spark",
    "local[x]": r"'local\[x\]' is no master",
    "local[0]": r"'local\[0\]' is no master",
    "spark://": "'' is no HOST:PORT",
    "spark://host": "'host' is no HOST:PORT",
    "spark://host:99999": "'host:99999' is no HOST:PORT",
    "sc://": "'' is no HOST:PORT",
    "yarn": "found by HADOOP_CONF_DIR or YARN_CONF_DIR, and there is no yarn-site.xml",
    "mesos://host:1": "is no master of Spark",
}


@pytest.fixture
def no_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("YARN_CONF_DIR", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("master", WRONG)
def test_what_is_no_master_is_told_with_the_forms_that_there_are(master: str, no_hadoop: None) -> None:
    with pytest.raises(InputError, match=WRONG[master]):
        require_master(master)


@pytest.mark.parametrize("scheme", ["spark://", "sc://", "k8s://https://"])
def test_a_master_at_which_nobody_answers_is_told_by_its_address(scheme: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(InputError, match=f"nobody answers at .*{address} .Connection refused"):
            require_master(scheme + address)


def test_one_of_several_masters_that_answers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        ports = (dead.getsockname()[1], server.getsockname()[1])
        require_master("k8s://https://" + ",".join(f"127.0.0.1:{port}" for port in ports))


def test_who_listens_and_is_no_master_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masters, "WAIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for scheme in ("spark", "sc"):
            with pytest.raises(InputError, match=r"nobody answers at .*timed out"):
                require_master(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")

    class Other(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"HTTP/1.1 400 Bad Request")

    with socketserver.TCPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for scheme in ("spark", "sc"):
            with pytest.raises(InputError, match="takes connections, and does not speak as Spark does"):
                require_master(f"{scheme}://127.0.0.1:{other.server_address[1]}")
        other.shutdown()


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*]", "local[2,3]", "local-cluster[2,1,512]"])
def test_masters_on_this_machine_are_taken_as_they_are(master: str) -> None:
    require_master(master)
    assert is_private(master)


def test_yarn_is_taken_where_hadoop_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_hadoop: None
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    with pytest.raises(InputError, match=f"{tmp_path} has no yarn-site.xml"):
        require_master("yarn")
    (tmp_path / "yarn-site.xml").write_text("<configuration/>")
    require_master("yarn")


def test_ports_are_private_where_the_whole_cluster_is_on_this_machine() -> None:
    assert is_private("spark://localhost:7077,127.0.0.1:7078")
    assert not is_private("spark://localhost:7077,spark.example:7077")
    assert not is_private("yarn")


def test_the_parameters_of_a_connect_server_do_not_tell_it_from_itself() -> None:
    assert same_master("sc://localhost", "sc://localhost:15002/;user_id=me")
    assert not same_master("sc://localhost", "sc://localhost:15003")
    assert not same_master("sc://localhost", "local")


@pytest.mark.parametrize(
    "master", ["spark://127.0.0.1:1", "nonsense", "local[x]", "sc://127.0.0.1:1", "yarn"]
)
def test_the_command_ends_as_wrong_usage_and_soon(
    master: str, tmp_path: Path, no_hadoop: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    began = time.monotonic()
    assert main(["verify", str(tmp_path), "--master", master]) == 64
    assert time.monotonic() - began < 15
    told = capsys.readouterr().err
    assert told.startswith("antiphon: ")
    assert repr(master) in told
    assert "Traceback" not in told


def test_a_port_that_does_not_speak_spark_connect_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "CONNECT_S", 0.2)
    monkeypatch.setattr(session.SparkSession, "getActiveSession", lambda: None)  # another test's may run
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"sc://127.0.0.1:{server.getsockname()[1]}/;use_ssl=true"  # which is not asked before
        with (
            pytest.raises(InputError, match="no Spark Connect server: it says nothing for 0 seconds"),
            session.spark_session(master),
        ):
            pass
