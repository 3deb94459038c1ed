"""The Korean of what `pabal doctor` finds, by its English in the code: change both together."""

KOREAN_FINDINGS = {
    # The data directory and its files
    "the data directory {folder} is writable": "데이터 디렉터리 {folder}에 쓸 수 있습니다",
    "the data directory {folder} is not writable ({error})": "데이터 디렉터리 {folder}에 쓸 수 없습니다({error})",
    "It belongs to the user {user}. `{chown}`, or choose another directory with --data.": (
        "소유자는 {user}입니다. `{chown}`을 실행하거나, --data로 다른 디렉터리를 고르세요."
    ),
    "Fix its permissions, or choose another directory with --data.": (
        "권한을 고치거나, --data로 다른 디렉터리를 고르세요."
    ),
    "{path} belongs to the user {owner}, but this command runs as {user}": (
        "{path}의 소유자는 {owner}인데, 이 명령은 {user}(으)로 실행했습니다"
    ),
    "Run commands as the service's user: `{command}`. If that is not the service's user: `{chown}`.": (
        "서비스의 사용자로 명령을 실행하세요: `{command}`. 그 사용자가 서비스의 사용자가 아니면: `{chown}`."
    ),
    "{path} cannot be read and written": "{path}을(를) 읽고 쓸 수 없습니다",
    "its disk has only {free} MiB free": "디스크의 남은 공간이 {free} MiB뿐입니다",
    "Free some disk space: without any, nothing is accepted.": (
        "디스크 공간을 비우세요. 공간이 없으면 아무것도 접수하지 못합니다."
    ),
    "a service is running on it": "서비스가 실행 중입니다",
    "no service is running on it": "실행 중인 서비스가 없습니다",
    # The store
    "missing migrations: {names}": "적용하지 않은 마이그레이션이 있습니다: {names}",
    "Start `pabal serve`, or run `pabal migrate`.": "`pabal serve`를 시작하거나 `pabal migrate`를 실행하세요.",
    "Run `pabal migrate`.": "`pabal migrate`를 실행하세요.",
    "the store {path} cannot be read ({error})": "저장소 {path}을(를) 읽을 수 없습니다({error})",
    "the store is intact and its schema is up to date": "저장소에 이상이 없고 스키마가 최신입니다",
    "the store is damaged: {result}": "저장소가 손상되었습니다: {result}",
    "Restore a backup.": "백업을 복원하세요.",
    "It is no SQLite file, or its beginning is damaged. Restore a backup.": (
        "SQLite 파일이 아니거나 앞부분이 손상되었습니다. 백업을 복원하세요."
    ),
    "It is damaged. Restore a backup.": "손상되었습니다. 백업을 복원하세요.",
    "Check that it is a file, and that this user may read and write it and its directory.": (
        "파일인지, 이 사용자가 파일과 디렉터리를 읽고 쓸 수 있는지 확인하세요."
    ),
    "Check that this user may write it and its directory, and that the disk is not read-only.": (
        "이 사용자가 파일과 디렉터리에 쓸 수 있는지, 디스크가 읽기 전용이 아닌지 확인하세요."
    ),
    "Check that this user may read and write it and its directory.": (
        "이 사용자가 파일과 디렉터리를 읽고 쓸 수 있는지 확인하세요."
    ),
    "Free some disk space.": "디스크 공간을 비우세요.",
    "Another program holds it. End that program, such as an open `sqlite3`, and try again.": (
        "다른 프로그램이 잡고 있습니다. 열려 있는 `sqlite3` 같은 프로그램을 끝내고 다시 시도하세요."
    ),
    "Look for errors of the disk in the system's log, and copy the data directory before you try anything else.": (
        "시스템 로그에서 디스크 오류를 찾고, 다른 일을 하기 전에 데이터 디렉터리를 복사해 두세요."
    ),
    # PostgreSQL and its workers
    "the database {address} can be reached and its schema is up to date": (
        "데이터베이스 {address}에 접속할 수 있고 스키마가 최신입니다"
    ),
    "the database {address} cannot be reached ({error})": "데이터베이스 {address}에 접속할 수 없습니다({error})",
    "Check that it is running, and that `store` has the right host, database, user and password.": (
        "실행 중인지, `store`의 호스트, 데이터베이스, 사용자, 비밀번호가 맞는지 확인하세요."
    ),
    "workers: none running": "워커: 없음",
    "workers: {names}": "워커: {names}",
    "PostgreSQL has version {version}": "PostgreSQL 버전이 {version}입니다",
    "Use {version} or later.": "{version} 이상을 쓰세요.",
    "PostgreSQL has {name} = {value}": "PostgreSQL의 설정이 {name} = {value}입니다",
    "Set it to {required}; otherwise stored data may be lost.": (
        "{required}(으)로 바꾸세요. 그러지 않으면 저장한 데이터를 잃을 수 있습니다."
    ),
    "the clock of this machine is {seconds} s ahead of that of the database": (
        "이 컴퓨터의 시계가 데이터베이스보다 {seconds}초 빠릅니다"
    ),
    "the clock of this machine is {seconds} s behind that of the database": (
        "이 컴퓨터의 시계가 데이터베이스보다 {seconds}초 느립니다"
    ),
    "Set up NTP on both: messages come due by the clock of the process that sends.": (
        "양쪽에 NTP를 설정하세요. 메시지를 보낼 때는 발송하는 프로세스의 시계가 정합니다."
    ),
    "the clock of the worker {name} is about {seconds} s ahead of the database's": (
        "워커 {name}의 시계가 데이터베이스보다 약 {seconds}초 빠릅니다"
    ),
    "the clock of the worker {name} is about {seconds} s behind the database's": (
        "워커 {name}의 시계가 데이터베이스보다 약 {seconds}초 느립니다"
    ),
    "Set up NTP on its machine: messages come due by the clock of the process that sends.": (
        "그 컴퓨터에 NTP를 설정하세요. 메시지를 보낼 때는 발송하는 프로세스의 시계가 정합니다."
    ),
    # The nodes of Citus
    "the node {node} can be reached ({held} slots)": "노드 {node}에 접속할 수 있습니다(슬롯 {held}개)",
    "the node {node} cannot be reached ({error})": "노드 {node}에 접속할 수 없습니다({error})",
    "the node {node} cannot be reached: {error}": "노드 {node}에 접속할 수 없습니다: {error}",
    "the node {node} has other settings than it should: {settings}": "노드 {node}의 설정이 다릅니다: {settings}",
    "Run `pabal migrate --citus` again as the owner of the database.": (
        "데이터베이스 소유자로 `pabal migrate --citus`를 다시 실행하세요."
    ),
    "citus.recover_2pc_interval is {interval} ms: after a node was lost, some messages stay locked so long": (
        "citus.recover_2pc_interval이 {interval} ms입니다. 노드를 잃은 뒤 일부 메시지가 그만큼 잠겨 있습니다"
    ),
    "On the coordinator, as an administrator: {statements}": "코디네이터에서 관리자로 실행하세요: {statements}",
    "Its slots wait; all others go on. Check that it is running, and that the coordinator can connect to it with"
    " the role of `store`: a password must be in pg_dist_authinfo, or in .pgpass of the user that runs PostgreSQL.": (
        "그 노드의 슬롯은 기다리고 나머지는 계속됩니다. 노드가 실행 중인지, 코디네이터가 `store`의 역할로 접속할 수"
        " 있는지 확인하세요. 비밀번호는 pg_dist_authinfo나 PostgreSQL을 실행하는 사용자의 .pgpass에 있어야 합니다."
    ),
    "Citus distributes {slots} slots over {shards} shards": "Citus가 슬롯 {slots}개를 샤드 {shards}개에 나눕니다",
    "the database has Citus, but distributes nothing": "데이터베이스에 Citus가 있지만 아무것도 나누지 않았습니다",
    "Run `pabal migrate --citus`.": "`pabal migrate --citus`를 실행하세요.",
    "the queue was not checked": "대기열을 확인하지 못했습니다",
    "Run `pabal doctor` again when the node is back.": "노드가 돌아오면 `pabal doctor`를 다시 실행하세요.",
    # Keys, numbers and messages
    "{count} live key{s}": "쓸 수 있는 키 {count}개",
    "there is no live key": "쓸 수 있는 키가 없습니다",
    "Create one: pabal key create --account NAME": "만드세요: pabal key create --account NAME",
    "no sender number is approved": "승인된 발신번호가 없습니다",
    "Without one every text is refused: `pabal number {command} NUMBER --account NAME`.": (
        "승인된 번호가 없으면 문자를 모두 거절합니다: `pabal number {command} NUMBER --account NAME`."
    ),
    "{unsent} messages wait for the carrier {name}, which is not configured": (
        "설정에 없는 통신사 {name}의 메시지 {unsent}건이 기다립니다"
    ),
    "{unsent} messages wait for the carrier {name}, which is not configured, and {receipts} for receipts from it": (
        "설정에 없는 통신사 {name}의 메시지 {unsent}건이 발송을, {receipts}건이 결과를 기다립니다"
    ),
    "Use the settings that have it: --config FILE. A service moves them to other carriers of their route, but never"
    " from a real carrier to a simulator. Or decide yourself: `pabal carrier move`, `pabal carrier cancel`.": (
        "그 통신사가 있는 설정을 쓰세요: --config FILE. 서비스는 경로의 다른 통신사로 옮기지만, 실제 통신사에서"
        " 시뮬레이터로는 절대 옮기지 않습니다. 직접 정하려면: `pabal carrier move`, `pabal carrier cancel`."
    ),
    "a service will not start with these settings": "이 설정으로는 서비스가 시작되지 않습니다",
    "messages have been due since {time}, and nothing delivers them": (
        "{time}부터 보내야 할 메시지가 있는데, 발송하는 프로세스가 없습니다"
    ),
    "Start `pabal work`, or `pabal serve`.": "`pabal work`나 `pabal serve`를 시작하세요.",
    "Start `pabal serve`.": "`pabal serve`를 시작하세요.",
    # Carriers and routes
    "the carrier {name} has been {state} since {time}{worker}{reason}": (
        "통신사 {name}: {time}부터 {state}{worker}{reason}"
    ),
    "down": "연결되지 않음",
    "failing (circuit open)": "실패가 이어짐(차단기 열림)",
    "working only in part": "일부만 동작함",
    "Its messages wait. Check that it can be reached and that its settings are right.": (
        "메시지가 기다립니다. 접속할 수 있는지, 설정이 맞는지 확인하세요."
    ),
    "Its messages go to the next carrier of their route, or wait. Check that it can be reached, and ask its operator.": (
        "메시지가 경로의 다음 통신사로 가거나 기다립니다. 접속할 수 있는지 확인하고, 통신사에 문의하세요."
    ),
    "It works again when the quota ends, or when the relay raises it; otherwise check that its settings are right.": (
        "한도가 새로 시작되거나 중계사가 한도를 올리면 다시 동작합니다. 한도 때문이 아니면 설정을 확인하세요."
    ),
    "nothing is sent through {names}: no route names it": "경로에 없어서 아무것도 보내지 않는 통신사: {names}",
    "Name it for the products that it shall send, as in `{example}`, or remove its table.": (
        "보낼 종류의 경로에 적거나(예: `{example}`), 통신사 설정을 지우세요."
    ),
    "every product has a route": "모든 종류에 경로가 있습니다",
    "no route for {products}": "경로가 없는 종류: {products}",
    "Callers get PRODUCT_NOT_AVAILABLE; add routes in [routes] if you want to send these.": (
        "호출하면 PRODUCT_NOT_AVAILABLE로 거절합니다. 보내려면 [routes]에 경로를 추가하세요."
    ),
    "is set to listen on {address}": "접속을 받도록 설정한 주소: {address}",
    "is set to listen on {address}, reachable from other machines": (
        "접속을 받도록 설정한 주소: {address}. 다른 컴퓨터에서 접속할 수 있습니다"
    ),
    "Put a TLS proxy in front of it, and name the proxy in trusted_proxies.": (
        "앞에 TLS 프록시를 두고, 그 프록시를 trusted_proxies에 적으세요."
    ),
    "another program, not Pabal, answers at port {port} of {host}": (
        "{host}의 포트 {port}에서 파발이 아닌 다른 프로그램이 응답합니다"
    ),
    "a Pabal with other data answers at port {port} of {host}": (
        "{host}의 포트 {port}에서 데이터가 다른 파발이 응답합니다"
    ),
    "nothing answers at port {port} of {host}, though a service is running": (
        "서비스가 실행 중인데 {host}의 포트 {port}에서는 응답이 없습니다"
    ),
    "It was started with another port. Give doctor the same: --config FILE, or the variable PABAL_PORT.": (
        "다른 포트로 시작한 서비스입니다. 같은 설정을 주세요: --config FILE 또는 환경 변수 PABAL_PORT."
    ),
    "Pabal answers at port {port} of {host}": "{host}의 포트 {port}에서 파발이 응답합니다",
    "Stop it, or choose another port with --port or the setting `port`.": (
        "그것을 멈추거나, --port 또는 설정 `port`로 다른 포트를 고르세요."
    ),
    "Fix this setting.": "이 설정을 고치세요.",
    # Secrets
    "the secrets of {count} webhooks cannot be decrypted, so nothing is posted to them": (
        "웹훅 {count}개의 비밀 값을 복호화할 수 없어, 아무것도 보내지 못합니다"
    ),
    "Add the key that they were encrypted with to secret_key, or rotate these webhooks' secrets.": (
        "암호화한 키를 secret_key에 추가하거나, 그 웹훅의 비밀 값을 새로 만드세요."
    ),
    "the secrets of {count} webhooks are stored without encryption": (
        "웹훅 {count}개의 비밀 값이 암호화되지 않았습니다"
    ),
    "the secrets of {count} webhooks are stored with an old key, or without one": (
        "웹훅 {count}개의 비밀 값이 옛 키로 암호화되었거나 암호화되지 않았습니다"
    ),
    "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`.": (
        "`pabal secrets new-key`의 키를 secret_key로 설정하고 `pabal secrets rotate`를 실행하세요."
    ),
    "Run `pabal secrets rotate`.": "`pabal secrets rotate`를 실행하세요.",
    "the two-factor secrets of {count} users cannot be decrypted: their codes are refused": (
        "사용자 {count}명의 2단계 인증 비밀 값을 복호화할 수 없어, 코드를 거절합니다"
    ),
    "Add the key that they were encrypted with to secret_key, or run `pabal user reset-two-factor`.": (
        "암호화한 키를 secret_key에 추가하거나 `pabal user reset-two-factor`를 실행하세요."
    ),
    "the two-factor secrets of {count} users are stored without encryption": (
        "사용자 {count}명의 2단계 인증 비밀 값이 암호화되지 않았습니다"
    ),
    "the two-factor secrets of {count} users are stored with an old key, or without one": (
        "사용자 {count}명의 2단계 인증 비밀 값이 옛 키로 암호화되었거나 암호화되지 않았습니다"
    ),
    "the key of the opt-outs cannot be decrypted, so the service does not start": (
        "수신거부의 키를 복호화할 수 없어, 서비스가 시작되지 않습니다"
    ),
    "Add the key that it was encrypted with to secret_key; see `pabal secrets rebuild-opt-outs --help`.": (
        "암호화한 키를 secret_key에 추가하세요. `pabal secrets rebuild-opt-outs --help`를 보세요."
    ),
    "the key of the opt-outs is stored with an old key, or without one": (
        "수신거부의 키가 옛 키로 암호화되었거나 암호화되지 않았습니다"
    ),
    "the key of the opt-outs is stored without encryption": "수신거부의 키가 암호화되지 않았습니다",
    # Webhooks
    "the webhook {id} of {account} is paused: {url} keeps failing since {time}{reason}": (
        "{account}의 웹훅 {id}이(가) 멈춰 있습니다: {url}이(가) {time}부터 계속 실패합니다{reason}"
    ),
    "Tell the owner of the account, who sees it in the console as well. Its events are kept for 7 days, and it is"
    " tried every five minutes; `{command}` shows what comes back.": (
        "계정의 소유자에게 알리세요. 콘솔에도 보입니다. 이벤트는 7일 동안 보관하고 5분마다 다시 시도합니다."
        " `{command}`이(가) 무엇이 돌아오는지 보여 줍니다."
    ),
    "more webhooks are paused": "멈춰 있는 웹훅이 더 있습니다",
    "See `pabal webhook list`.": "`pabal webhook list`를 보세요.",
    # Mails
    "mails go to {server}, {count} wait": "메일을 {server}(으)로 보내고, {count}통이 기다립니다",
    "mails cannot be sent since {time}, {count} wait: {server}: {reason}": (
        "{time}부터 메일을 보낼 수 없고, {count}통이 기다립니다: {server}: {reason}"
    ),
    "{count} mails were given up in the last day, the last one to {user}: {reason}": (
        "지난 하루 동안 메일 {count}통을 보내지 못했습니다. 마지막은 {user}에게 가는 메일입니다: {reason}"
    ),
    "Have these users check their address on the page of their notices.": (
        "이 사용자들이 알림 화면에서 자기 주소를 확인하게 하세요."
    ),
    # Sign-in by a provider
    "the OpenID Connect provider {issuer} answers, and its keys can be used": (
        "OpenID Connect 제공자 {issuer}이(가) 응답하고 그 키를 쓸 수 있습니다"
    ),
    "the OpenID Connect provider {issuer} cannot be used: {reason}": (
        "OpenID Connect 제공자 {issuer}을(를) 쓸 수 없습니다: {reason}"
    ),
    "Nobody can sign in with it. {url} must answer; check openid_issuer and the network.": (
        "아무도 이것으로 로그인할 수 없습니다. {url}이(가) 응답해야 합니다. openid_issuer와 네트워크를 확인하세요."
    ),
    "only the operator {name} may sign in with a password": "운영자 {name}만 비밀번호로 로그인할 수 있습니다",
    "break_glass_operator names {name}, who is no operator with a password": (
        "break_glass_operator가 가리키는 {name}은(는) 비밀번호가 있는 운영자가 아닙니다"
    ),
    "If the provider fails, nobody can sign in. Create it: `pabal user create {name} --role operator`.": (
        "제공자에 장애가 나면 아무도 로그인할 수 없습니다. 만드세요: `pabal user create {name} --role operator`."
    ),
}
