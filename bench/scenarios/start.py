"""How long do the service, its commands and the first page of the console take to start?"""

from bench.browser import Browser, create_user
from bench.environment import Environment
from bench.figures import Figure
from bench.scenarios.history import FEW, MANY, make_history

ROUNDS = 3
READY_TARGET_S = 2.0
COMMANDS = {("--version",): 0.25, ("send", "--help"): 0.25, ("key", "list"): 0.5, ("doctor",): None}
"""Commands, and how much CPU time each may take."""
PAGE = "/console/history"
PAGE_TARGET_S = 0.3


def measure(env: Environment) -> list[Figure]:
    """Start the service on a small store and on a large one, ask for pages, and run commands."""
    figures = []
    for messages in (FEW, env.scaled(MANY)):
        with env.run(make_history(env, messages), "start") as server:
            figures.append(
                Figure(f"ready on {messages:,} messages", server.ready_after_s, " s", "less", READY_TARGET_S)
            )
    data = env.copy_store()
    password = create_user(env, data)
    with env.run(data, "start") as server:
        figures.append(Figure("CPU until ready", server.cpu_s(), " s", "less"))
        begun_s = server.cpu_s()
        with Browser(server, password) as browser:
            browser.get(PAGE)
            first_s = server.cpu_s() - begun_s
        with Browser(server, password) as browser:
            browser.get(PAGE)
            second_s = server.cpu_s() - begun_s - first_s
    figures.append(
        Figure(
            "CPU of the first sign-in and page, more than the second",
            first_s - second_s,
            " s",
            "less",
            PAGE_TARGET_S,
        )
    )
    for words, target_s in COMMANDS.items():
        _, cpu_s = env.time_command(data, *words)
        figures.append(Figure(f"CPU of pabal {' '.join(words)}", cpu_s, " s", "less", target_s))
    return figures
