"""What the service prints when it is ready, in the language of the command line."""

import socket
from typing import NamedTuple

from pabal.cli.shared.language import program, store_options
from pabal.domain.base.codes import Text
from pabal.settings.environment import choose_language
from pabal.settings.settings import Settings

FIRST_ACCOUNT = "first"
FIRST_USER = "admin"

_FIRST = Text(
    """
파발이 실행 중입니다: {base}

  account   {account}
  apiKey    {key}
            (한 번만 보여 줍니다. `{program} key create --account {account}{options}`로 더 만들 수 있습니다)
  docs      {base}/docs
  guide     {base}/docs/guide
""",
    """
Pabal is running at {base}

  account   {account}
  apiKey    {key}
            (shown only once; `{program} key create --account {account}{options}` creates more)
  docs      {base}/docs
  guide     {base}/docs/guide
""",
)
_CONSOLE_LOGIN = Text(
    """
  console   {base}/console
  user      {user}
  password  {password}
            (한 번만 보여 줍니다. 잃어버리면 `{program} user password {user}{options}`로 새로 만드세요)
""",
    """
  console   {base}/console
  user      {user}
  password  {password}
            (shown only once; `{program} user password {user}{options}` makes a new one)
""",
)
_COMMANDS = """
  curl -s -w '\\n' {base}/api/message/sendSMS.v1.0 -H 'apiKey: {key}' -H 'Content-Type: application/json' -d '{{"content":"#{{name}}님, 파발입니다.","sender":"02-1234-5678","receivers":[{{"phoneNumber":"010-1234-5678","templateData":{{"name":"홍길동"}}}}]}}'

  curl -s -w '\\n' {base}/api/message/list.v1.0 -H 'apiKey: {key}' -H 'Content-Type: application/json' -d '{{"receivers":"010-1234-5678"}}'

  curl -s -w '\\n' '{base}/api/simulator/phone.v1.0?phoneNumber=010-1234-5678' -H 'apiKey: {key}'
"""
_TRY_IT = Text(
    f"""
써 보세요:
{_COMMANDS}
실제로는 아무것도 보내지 않습니다. 모든 메시지를 시뮬레이터가 받습니다. Ctrl-C로 멈춥니다.
""",
    f"""
Try it:
{_COMMANDS}
Nothing leaves this machine: the simulator receives every message. Stop with Ctrl-C.
""",
)
_REAL_CARRIERS = Text(
    """
다음 발송 경로로 발송합니다: {carriers}. `{program} doctor{options}`로 점검하세요. Ctrl-C로 멈춥니다.
""",
    """
Messages are sent through: {carriers}. Check them with `{program} doctor{options}`. Stop with Ctrl-C.
""",
)
_AGAIN = Text(
    "파발이 실행 중입니다: {base}. 콘솔 {base}/console, 안내서 {base}/docs/guide, API 문서 {base}/docs. Ctrl-C로"
    " 멈춥니다.",
    "Pabal is running at {base}, the console at {base}/console, the guide at {base}/docs/guide, the API documentation"
    " at {base}/docs. Stop with Ctrl-C.",
)
_NO_ACCOUNT = Text(
    """
파발이 실행 중입니다: {base}

아직 계정이 없습니다. 계정과 API 키, 콘솔 사용자를 만드세요:

  {program} key create --account {account} --new-account{options}
  {program} user create {user} --role operator{options}

콘솔 {base}/console, 안내서 {base}/docs/guide, API 문서 {base}/docs. Ctrl-C로 멈춥니다.
""",
    """
Pabal is running at {base}

There is no account yet. Create one with an API key, and a user for the console:

  {program} key create --account {account} --new-account{options}
  {program} user create {user} --role operator{options}

Console {base}/console, guide {base}/docs/guide, API documentation {base}/docs. Stop with Ctrl-C.
""",
)
_WORKER = Text(
    "파발 워커 {name}이(가) 실행 중입니다. Ctrl-C로 멈춥니다.", "Pabal worker {name} is running. Stop with Ctrl-C."
)
_WORKERS = Text(
    "파발 워커 {count}개가 실행 중입니다. Ctrl-C로 멈춥니다.",
    "{count} Pabal workers are running. Stop with Ctrl-C.",
)


class FirstCredentials(NamedTuple):
    """What the first start creates: an API key, and a console password if there is no user yet."""

    key: str | None
    """None: nothing was created, as `first_account` says."""
    password: str | None


def greeting(settings: Settings, listener: socket.socket, first: FirstCredentials | None) -> str:
    """Return what to print when the service is ready."""
    host, port = listener.getsockname()[:2]
    visible_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    base = f"http://{visible_host}:{port}"
    if first is None:
        return _in_language(_AGAIN, base=base)
    if first.key is None:
        return _in_language(_NO_ACCOUNT, base=base, account=FIRST_ACCOUNT, user=FIRST_USER)
    login = _in_language(_CONSOLE_LOGIN, base=base, user=FIRST_USER, password=first.password)
    return (
        _in_language(_FIRST, base=base, account=FIRST_ACCOUNT, key=first.key)
        + (login if first.password else "")
        + _in_language(
            _REAL_CARRIERS if settings.has_real_carriers else _TRY_IT,
            base=base,
            key=first.key,
            carriers=", ".join(settings.carriers),
        )
    )


def greet_worker(name: str) -> str:
    """Return what a worker prints when it is ready."""
    return _in_language(_WORKER, name=name)


def greet_workers(count: int) -> str:
    """Return what the parent of several workers prints when all are ready."""
    return _in_language(_WORKERS, count=count)


def _in_language(text: Text, **values: object) -> str:
    return text.in_language(choose_language()).format(program=program(), options=store_options(), **values)
