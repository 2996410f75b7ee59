"""The output of a container as its engine streams it: something to `select` on, read from and close."""

from http import HTTPStatus
from typing import TYPE_CHECKING

from orchestrator.engines.docker.calls import calling
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from docker import APIClient

_PIECE = 256 << 10


class Output:
    """Attached on creation; to a container that is not started yet, so that nothing of its output is missed."""

    def __init__(self, client: "APIClient", container: str) -> None:
        # Not through docker-py's `attach_socket`: that call has no deadline, and takes any answer for a stream.
        with calling("attaching to the container"):
            self._answer = client.post(
                f"{client.base_url}/v{client.api_version}/containers/{container}/attach",
                params={"stdout": "1", "stderr": "1", "stream": "1"},
                headers={"Connection": "Upgrade", "Upgrade": "tcp"},
                stream=True,
                timeout=client.timeout,
            )
        if self._answer.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._answer.close()
            raise InfrastructureError(
                "the engine did not attach to the container", cause=f"HTTP {self._answer.status_code}"
            )
        # What lies under the answer is a stream from here on; docker-py knows where that is for each transport.
        self._socket = client._get_raw_response_socket(self._answer)  # type: ignore[attr-defined] # noqa: SLF001

    def fileno(self) -> int:
        """Readable when there is output, and at its end."""
        return int(self._socket.fileno())

    def read(self) -> bytes:
        """The next piece in the engine's frames; nothing at the end."""
        with calling("reading the output"):
            # A SocketIO; with TLS, where docker-py gives the socket itself, a socket.
            return (self._socket.recv if hasattr(self._socket, "recv") else self._socket.read)(_PIECE) or b""

    def close(self) -> None:
        """Leave the stream."""
        self._answer.close()
