"""A seeded simulation of several workers on one store: deaths, pauses, outages and clocks that are set."""

import asyncio
import contextlib
import math
from pathlib import Path
from random import Random
from typing import Any

from pabal.carriers.base import Carrier
from pabal.domain.base.dates import MINUTE, SECOND
from pabal.service.delivery.outcome.settle import settle
from pabal.store.queue import slots as slot_store
from tests.fixtures.cluster import Cluster, Process, create_task
from tests.fixtures.virtual import NOON, ApiResponse, Caller, VirtualLoop, VirtualWorld, open_store
from tests.sim.planted import PlantedBug
from tests.sim.receiver import UnreliableReceiver, read_results
from tests.sim.simulation import CARRIERS, ClientRequest, Simulation
from tests.sim.workers import Trace, TracedStore, WorkerCarrier, WorkerWorld

WORKERS = ("alpha", "beta", "gamma")
SLOTS = 6
FAULTY_S = 40.0
"""How long clients send and faults happen."""
CALM_S = 25.0
"""How long the workers then have to finish: longer than a lease and an eviction."""
JUMP_PAUSE_S = 15.0
"""Pause after a jump of all clocks: longer than a round of housekeeping."""
TOLD_S = 15.0
"""Pause at the end: longer than it takes to number the last ends and to post them."""
MAX_OFFSET_S = 90
"""How far a worker's clock may be off."""
JUMP_MS = 70 * MINUTE
"""All clocks jump so far at the end, twice: past scheduled times, then past the timeouts of receipts."""
ACTIONS = (
    "step",
    "step",
    "step",
    "pause",
    "pause",
    "outage",
    "outage and death",
    "death",
    "restart",
    "lost result",
)
ERASE_INTERVAL_S = 5.0
READ_INTERVAL_S = 4.0
CALL_TIMEOUT_S = 10.0


class ClusterSimulation(Simulation):
    """Three workers for one seed, which deliver what clients send to any of them."""

    def __init__(self, seed: int, folder: Path, bug: PlantedBug | None = None) -> None:
        super().__init__(seed, folder)
        self.bug = bug or PlantedBug()
        self.trace = Trace()
        self.disturbed: dict[str, list[tuple[float, float]]] = {}
        """From when until when each process was paused, without the store, stopping or dead."""
        self._starts = 0
        self._offsets = dict.fromkeys(WORKERS, 0)
        self._running: dict[str, Process] = {}
        self._receivers: dict[str, UnreliableReceiver] = {}
        self._is_calm = False

    def run(self) -> None:
        loop = VirtualLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._run_cluster())

    async def _run_cluster(self) -> None:
        asyncio.get_running_loop().set_task_factory(create_task)
        asyncio.get_running_loop().set_exception_handler(lambda _, context: None)
        world = VirtualWorld(self.seed, NOON)
        store = open_store(self.folder, world)
        await self._prepare_store(store, world)
        await store.write(slot_store.ensure_slots, SLOTS)
        self.cluster = Cluster(self.folder, store, world, SLOTS, self.settings, None)
        try:
            for name in WORKERS:
                await self._start(name)
            await self._be_faulty()
            await self._calm_down()
        finally:
            await self.cluster.stop_all()
            await store.close()

    async def _be_faulty(self) -> None:
        clients = [asyncio.create_task(self._run_client(Random(self.random.getrandbits(32)))) for _ in range(3)]
        tasks = [asyncio.create_task(self._disturb(name)) for name in WORKERS]
        tasks.append(asyncio.create_task(self._keep_reading()))
        if self.bug.erase:
            tasks.append(asyncio.create_task(self._erase()))
        await asyncio.gather(*clients)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _calm_down(self) -> None:
        """Repair everything, and let all messages end."""
        self._is_calm = True
        for name in WORKERS:
            self._offsets[name] = 0
            process = self._running.get(name)
            if process and process.has_left:  # the faults have ended while it was stopping
                await process.die()
                process = None
            if process is None:
                process = await self._start(name)
            process.store_proxy.thaw()
            process.store_proxy.is_unavailable = False
            self._world_of(process).offset_ms = 0
            for carrier in process.carriers.values():
                assert isinstance(carrier, WorkerCarrier)
                carrier.calm_down()
        for receiver in self._receivers.values():
            receiver.calm_down()
        for request in [each for each in self.client_log.requests if each.answered is None and each.key]:
            await self._send_somewhere(request)
        await asyncio.sleep(CALM_S)
        for _ in range(2):
            for process in self._running.values():
                self._world_of(process).offset_ms += JUMP_MS
            await asyncio.sleep(JUMP_PAUSE_S)
        await asyncio.sleep(TOLD_S)
        await read_results(Caller(self._running[WORKERS[0]].env.service, self.api_key), self.receiver_log)
        self.trace.add("end")

    # The workers.

    async def _start(self, name: str) -> Process:
        self._starts += 1
        label = f"{name}-{self._starts}"
        world = WorkerWorld(self.random.getrandbits(32), NOON, self.trace)
        world.offset_ms = self._offsets[name]
        store = TracedStore(self.cluster.store, label, self.trace, self.bug.transactions)
        store.split_write = self.bug.split_write
        process = await self.cluster.start_process(
            name,
            carriers=lambda: self._carriers(label, world),
            world=world,
            store_proxy=store,
            poster=self._receivers.setdefault(label, self.receiver(self._starts, self._is_calm)),
        )
        if self.bug.in_flight:
            vars(process.env.context)["in_flight"] = self.bug.in_flight(world)
        process.label = label
        self.disturbed[label] = []
        self._running[name] = process
        self.trace.add("start", label)
        return process

    def _carriers(self, label: str, world: WorkerWorld) -> dict[str, Carrier]:
        made: dict[str, Carrier] = {}
        for name in CARRIERS:
            carrier = WorkerCarrier(
                name,
                self.ledger,
                world,
                Random(self.random.getrandbits(32)),
                worker=label,
                trace=self.trace,
                dedups=self.dedups,
                is_calm=self._is_calm,
                holds_in_doubt=self.holds_in_doubt,
            )
            carrier.acknowledges_first = self.bug.acknowledges_first
            carrier.settles_first = self.bug.settles_first
            made[name] = carrier
        return made

    async def _disturb(self, name: str) -> None:
        """Let one worker suffer faults, one after the other."""
        rng = Random(self.random.getrandbits(32))
        while True:
            await asyncio.sleep(rng.uniform(1, 9))
            process, action = self._running[name], rng.choice(ACTIONS)
            self.trace.add(action, process.label)
            if action == "step":
                self._step_clock(name, rng)
                continue
            began_s, intervals = asyncio.get_running_loop().time(), self.disturbed[process.label]
            intervals.append((began_s, math.inf))
            await self._act(process, action, rng)
            if process.has_left:
                del self._running[name]
                await asyncio.sleep(rng.uniform(0.5, 8))
                await self._start(name)
            else:
                intervals[-1] = (began_s, asyncio.get_running_loop().time())

    async def _act(self, process: Process, action: str, rng: Random) -> None:
        proxy = process.store_proxy
        if action == "lost result":
            proxy.lose_result_once(lambda result: True)
        elif action == "pause":
            if rng.random() < 0.7:  # with a verdict that is not stored yet
                proxy.freeze_before(self.bug.transactions.get(settle, settle))
            else:
                proxy.freeze()
            try:
                await asyncio.sleep(rng.uniform(1, 12))
            finally:
                proxy.thaw()
        elif action in ("outage", "outage and death"):
            proxy.is_unavailable = True
            await asyncio.sleep(rng.uniform(0.5, 4))
            proxy.is_unavailable = action != "outage"
        if action in ("death", "outage and death"):
            await process.die()
        elif action == "restart":
            await process.leave()

    def _step_clock(self, name: str, rng: Random) -> None:
        wanted = self._offsets[name] + rng.choice((-60, -10, 10, 45, 60, 90))
        self._offsets[name] = max(-MAX_OFFSET_S, min(wanted, MAX_OFFSET_S)) * SECOND // SECOND
        self._world_of(self._running[name]).offset_ms = self._offsets[name] * SECOND

    @staticmethod
    def _world_of(process: Process) -> WorkerWorld:
        assert isinstance(process.env.world, WorkerWorld)
        return process.env.world

    # The clients.

    async def _run_client(self, rng: Random) -> None:
        ends_s = asyncio.get_running_loop().time() + FAULTY_S
        while asyncio.get_running_loop().time() < ends_s:
            await asyncio.sleep(rng.random() * 4)
            if rng.random() < 0.15 and self.client_log.request_ids and self._running:
                await self._cancel_somewhere(rng)
                continue
            request = self._make_request(self.cluster.world)
            if "sendDate" in request.body and rng.random() < 0.5:
                del request.body["sendDate"]
            self.client_log.requests.append(request)
            await self._send_somewhere(request)

    async def _send_somewhere(self, request: ClientRequest) -> None:
        """Send a request to any worker; one with a key is repeated until it is answered."""
        headers = {"Idempotency-Key": request.key} if request.key else {}
        for _ in range(60):
            response = await self._call_any(request, headers)
            if response and response.result == "SUCCESS":
                request.answered = response.request_id
                key = request.key or f"none-{response.request_id}"
                self.client_log.request_ids.setdefault(key, set()).add(response.request_id)
                return
            assert response is None or response.result in ("SERVICE_UNAVAILABLE", "INVALID_DATE"), response
            if response and response.result == "INVALID_DATE":
                request.body.pop("sendDate")  # the worker's clock is ahead of the client's
                continue
            if not request.key:
                self.client_log.lost_without_key += 1
                return
            await asyncio.sleep(0.5)

    async def _call_any(self, request: ClientRequest, headers: dict[str, str]) -> ApiResponse | None:
        """Call a worker; return nothing if it dies, or does not answer within a few seconds."""
        if not self._running:
            return None
        process = self.random.choice([self._running[name] for name in sorted(self._running)])
        call = Caller(process.env.service, self.api_key)
        task = asyncio.create_task(call(request.operation, request.body, headers=headers))
        await asyncio.wait([task], timeout=10)
        if not task.done() or task.cancelled():
            task.cancel()
            return None
        return task.result()

    async def _cancel_somewhere(self, rng: Random) -> None:
        process = rng.choice([self._running[name] for name in sorted(self._running)])
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            await asyncio.wait_for(self._cancel(Caller(process.env.service, self.api_key)), 10)

    async def _keep_reading(self) -> None:
        """Read results by cursor, from any worker."""
        rng = Random(self.seed)
        while True:
            await asyncio.sleep(rng.uniform(0.5, READ_INTERVAL_S))
            if self._running:
                process = self._running[rng.choice(sorted(self._running))]
                call = Caller(process.env.service, self.api_key)
                reading = asyncio.create_task(read_results(call, self.receiver_log))
                try:
                    await asyncio.wait([reading], timeout=CALL_TIMEOUT_S)
                    if reading.done() and not reading.cancelled():  # it is cancelled if the worker dies
                        reading.result()
                finally:
                    reading.cancel()

    async def _erase(self) -> None:
        assert self.bug.erase is not None
        while True:
            await asyncio.sleep(ERASE_INTERVAL_S)
            await self.cluster.store.write(self.bug.erase)


def summary(simulation: ClusterSimulation) -> dict[str, Any]:
    """Return what happened, to inspect a seed."""
    kinds = [event[1] for event in simulation.trace.events]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)} | {"seed": simulation.seed}
