"""The clients of NHN Cloud's two APIs, and the problems of the services behind them."""

import contextlib
from collections.abc import Iterator, Mapping

from pabal.carriers.nhncloud.calls import ProductEndpoint
from pabal.carriers.nhncloud.client import (
    ErrorResponse,
    NhnCloudClient,
    NoResponse,
    NotProcessed,
    Throttled,
    expect_documented_shape,
)
from pabal.carriers.nhncloud.quotas import NhnCloudQuotas
from pabal.carriers.relay.quotas import Notices
from pabal.carriers.relay.submission import Submission
from pabal.world import World

MIN_TIMEOUT_S = 0.1


class Connection:
    """Gives each endpoint its client, and knows which services have a problem."""

    def __init__(
        self, sms: NhnCloudClient | None, talk: NhnCloudClient | None, max_timeout_s: float, world: World
    ) -> None:
        self._sms = sms
        self._talk = talk
        self._max_timeout_s = max_timeout_s
        self._problems: dict[str, str] = {}
        self.notices = Notices(world)
        """What is wrong while services are reachable."""
        self.quotas = NhnCloudQuotas(world, self.notices)

    @property
    def problems(self) -> Mapping[str, str]:
        """What is wrong with each service, by its name; empty if all is well."""
        return self._problems

    def set_service_problem(self, service: str, problem: str) -> None:
        """Record what is wrong with a service; empty if all is well."""
        self._problems[service] = problem

    def set_problem(self, endpoint: ProductEndpoint, problem: Exception | str) -> None:
        """Record what is wrong with the service of an endpoint; empty if all is well."""
        is_empty = isinstance(problem, str)
        self.set_service_problem(endpoint.service, str(problem) or ("" if is_empty else type(problem).__name__))

    def note_unanswered(self, endpoint: ProductEndpoint, error: NoResponse) -> None:
        """Show why a call that submits messages was not answered, although the service may be reachable."""
        self.notices.set(f"{endpoint.service} calls", f"calls that submit messages are not answered: {error}")

    def note_answered(self, endpoint: ProductEndpoint) -> None:
        """Record that a call that submits messages was answered."""
        self.set_problem(endpoint, "")
        self.notices.clear(f"{endpoint.service} calls")
        self.quotas.note_answered(endpoint.service)

    def client(self, endpoint: ProductEndpoint) -> NhnCloudClient:
        client = self._sms if endpoint.is_text else self._talk
        assert client is not None
        return client

    def timeout_s(self, submission: Submission) -> float:
        """Return how long the next call of a submission may take."""
        return max(MIN_TIMEOUT_S, min(self._max_timeout_s, submission.remaining_s))

    @contextlib.contextmanager
    def errors_left_in_doubt(self, endpoint: ProductEndpoint) -> Iterator[None]:
        """Ignore that the calls in the block fail: the messages that they are about stay in doubt."""
        try:
            with expect_documented_shape():
                yield
        except (NotProcessed, NoResponse, Throttled, ErrorResponse) as error:
            if isinstance(error, NotProcessed):
                self.set_problem(endpoint, error)

    async def close(self) -> None:
        """Close both clients."""
        for client in filter(None, (self._sms, self._talk)):
            await client.close()
