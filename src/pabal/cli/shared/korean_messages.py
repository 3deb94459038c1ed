"""The Korean of what commands print, results and errors, by its English in the code: change both together."""

KOREAN_MESSAGES = {
    # Every command
    "this needs the service, which is not installed here; install it with: {command}": (
        "서비스가 필요한데 여기에 설치되어 있지 않습니다. 설치: {command}"
    ),
    "the store is not available ({error}); run `pabal doctor`": (
        "저장소를 쓸 수 없습니다({error}). `pabal doctor`를 실행하세요"
    ),
    "the store cannot be read ({error}); run `pabal doctor`": (
        "저장소를 읽을 수 없습니다({error}). `pabal doctor`를 실행하세요"
    ),
    "a secret in the store cannot be read: {error}; run `pabal doctor`": (
        "저장소의 비밀 값을 읽을 수 없습니다: {error}. `pabal doctor`를 실행하세요"
    ),
    "there is no account {name}; see `pabal account list`": (
        "{name} 계정이 없습니다. `pabal account list`를 보세요"
    ),
    "there is no account {name}; did you mean {other}? --new-account creates it": (
        "{name} 계정이 없습니다. 혹시 {other}입니까? 새로 만들려면 --new-account를 주세요"
    ),
    "there is no account {name}; --new-account creates it": (
        "{name} 계정이 없습니다. 새로 만들려면 --new-account를 주세요"
    ),
    "--new-account: there is an account {name} already; leave out --new-account to use it": (
        "--new-account: {name} 계정이 이미 있습니다. 그 계정을 쓰려면 --new-account를 빼세요"
    ),
    "these workers are running: {names}; stop them, then try again": (
        "실행 중인 워커가 있습니다: {names}. 멈춘 뒤 다시 시도하세요"
    ),
    "stop the service first: {error}": "먼저 서비스를 멈추세요: {error}",
    "{file}: cannot be read ({error})": "{file}: 읽을 수 없습니다({error})",
    # What the parser of arguments says
    "the following arguments are required: {names}": "다음 인수가 필요합니다: {names}",
    "unrecognized arguments: {names}": "알 수 없는 인수입니다: {names}",
    "argument {name}: expected one argument": "인수 {name}: 값이 하나 필요합니다",
    "argument {name}: expected at least one argument": "인수 {name}: 값이 하나 이상 필요합니다",
    "argument {name}: invalid choice: {value} (choose from {choices})": (
        "인수 {name}: {value}은(는) 쓸 수 없습니다. 다음 가운데 고르세요: {choices}"
    ),
    "argument {name}: invalid {kind} value: {value}": "인수 {name}: {value}은(는) {kind} 값이 아닙니다",
    "argument {name}: must be a number from {least} to {most}": "인수 {name}: {least}부터 {most}까지의 수여야 합니다",
    "argument {name}: must be a number of seconds from {least} to {most}": (
        "인수 {name}: {least}부터 {most}까지의 초여야 합니다"
    ),
    "argument {name}: write NAME=VALUE": "인수 {name}: NAME=VALUE 형식으로 적으세요",
    # serve and work
    "`pabal {command}` needs PostgreSQL, where several processes can share the work: set `store` to postgresql://…;"
    " with SQLite, `pabal serve` does everything in one process": (
        "`pabal {command}`에는 여러 프로세스가 일을 나눌 수 있는 PostgreSQL이 필요합니다. `store`를 postgresql://…로"
        " 설정하세요. SQLite에서는 `pabal serve` 하나가 모든 일을 합니다"
    ),
    "cannot listen on {host} port {port} ({error}); choose another with {option}": (
        "{host}의 포트 {port}에서 접속을 받을 수 없습니다({error}). {option}(으)로 다른 것을 고르세요"
    ),
    "Address already in use": "이미 쓰이는 포트",
    "Permission denied": "권한 없음",
    "{count} processes need as many ports from {port} on; choose a lower {option}": (
        "프로세스 {count}개에는 {port}부터 그만큼의 포트가 필요합니다. {option}을(를) 낮추세요"
    ),
    "another pabal is running on {folder}; stop it, or choose another directory with --data": (
        "{folder}에서 다른 파발이 실행 중입니다. 그것을 멈추거나 --data로 다른 디렉터리를 고르세요"
    ),
    "data: {path} cannot be written ({error}); run as its owner, give {folder} to this one with chown, or choose"
    " another directory with --data": (
        "data: {path}에 쓸 수 없습니다({error}). 소유자로 실행하거나, chown으로 {folder}을(를) 이 사용자에게 주거나,"
        " --data로 다른 디렉터리를 고르세요"
    ),
    "data: {folder} cannot be used ({error}); choose another directory with --data": (
        "data: {folder}을(를) 쓸 수 없습니다({error}). --data로 다른 디렉터리를 고르세요"
    ),
    "missing migrations: {names}; run `pabal migrate` first": (
        "적용하지 않은 마이그레이션이 있습니다: {names}. 먼저 `pabal migrate`를 실행하세요"
    ),
    "a move from SQLite into this database is not finished; run the same `pabal move` again": (
        "SQLite에서 이 데이터베이스로 옮기는 일이 끝나지 않았습니다. 같은 `pabal move`를 다시 실행하세요"
    ),
    "the carrier {name} is {before} in this store, and {now} in these settings: a simulator would only pretend to"
    " deliver its messages. Give the simulator another name, or give the carrier up: `pabal carrier forget {same}`": (
        "통신사 {name}은(는) 이 저장소에서 {before}인데 설정에서는 {now}입니다. 시뮬레이터는 발송하는 척만 합니다."
        " 시뮬레이터의 이름을 바꾸거나 통신사를 포기하세요: `pabal carrier forget {same}`"
    ),
    "the carrier {name} was a simulator, and its messages in the queue would now really be sent. Cancel them first:"
    " `pabal carrier cancel {same}`; or give the {now} carrier another name": (
        "통신사 {name}은(는) 시뮬레이터였고, 대기 중인 메시지가 이제 실제로 발송됩니다. 먼저 취소하거나"
        "(`pabal carrier cancel {same}`), {now} 통신사의 이름을 바꾸세요"
    ),
    "this store has real carriers ({names}), but only a simulator is configured, which would only pretend to"
    " deliver.{queue} Start with the settings of these carriers: --config FILE. To give them up instead:"
    " `pabal carrier list`, `pabal carrier cancel NAME`, `pabal carrier forget NAME`": (
        "이 저장소에는 실제 통신사({names})가 있는데, 발송하는 척만 하는 시뮬레이터만 설정되어 있습니다.{queue} 그"
        " 통신사의 설정으로 시작하세요: --config FILE. 포기하려면: `pabal carrier list`,"
        " `pabal carrier cancel NAME`, `pabal carrier forget NAME`"
    ),
    " Messages in the queue: for {names}.": " 대기 중인 메시지: {names}.",
    # migrate
    "the schema is up to date": "스키마가 최신입니다",
    "--citus needs a PostgreSQL database with Citus; set `store` to its address": (
        "--citus에는 Citus가 있는 PostgreSQL이 필요합니다. `store`를 그 주소로 설정하세요"
    ),
    "the database has no Citus: run `create extension citus` there as an administrator": (
        "데이터베이스에 Citus가 없습니다. 거기서 관리자로 `create extension citus`를 실행하세요"
    ),
    "Citus has no workers yet: run `select citus_add_node('HOST', PORT)` for each": (
        "Citus에 워커 노드가 없습니다. 노드마다 `select citus_add_node('HOST', PORT)`를 실행하세요"
    ),
    "Citus does not know its coordinator: run `select citus_set_coordinator_host('HOST', PORT)`": (
        "Citus가 코디네이터를 모릅니다. `select citus_set_coordinator_host('HOST', PORT)`를 실행하세요"
    ),
    # Keys, accounts and users
    "key {id} is revoked": "키 {id}을(를) 폐기했습니다",
    "--rate: must be 0 or more": "--rate: 0 이상이어야 합니다",
    "--account: must not be empty": "--account: 비울 수 없습니다",
    "--expires: must be in the future": "--expires: 앞으로의 시각이어야 합니다",
    "there is no live key {id}; see `pabal key list`": "쓸 수 있는 키 {id}이(가) 없습니다. `pabal key list`를 보세요",
    "account {name} is {state}": "계정 {name}: {state}",
    "user {name} is {state}": "사용자 {name}: {state}",
    "enabled": "사용",
    "disabled": "사용 중지",
    "user {name} is created": "사용자 {name}을(를) 만들었습니다",
    "user {name} has a new password": "사용자 {name}의 비밀번호를 바꿨습니다",
    "{message}; the password is shown only once:": "{message}. 비밀번호는 한 번만 보여 줍니다:",
    "user {name} is unlocked": "사용자 {name}의 잠금을 풀었습니다",
    "user {name} had no failed sign-ins": "사용자 {name}에게는 실패한 로그인이 없었습니다",
    "user {name} signs in with the password alone": "사용자 {name}은(는) 이제 비밀번호만으로 로그인합니다",
    "user {name} had no two-factor sign-in": "사용자 {name}은(는) 2단계 인증을 쓰지 않았습니다",
    "--account is required; only operators (--role operator) have no account": (
        "--account가 필요합니다. 운영자(--role operator)만 계정이 없습니다"
    ),
    "--account: operators manage all accounts; leave it out": (
        "--account: 운영자는 모든 계정을 관리하므로 주지 마세요"
    ),
    # Profiles, templates, mappings
    "profile {id} is {state}": "발신 프로필 {id}: {state}",
    "in use": "사용",
    "template {id} is {state}": "템플릿 {id}: {state}",
    "approved": "승인",
    "rejected": "반려",
    "{channel} is profile {id} of {account}; its templates appear within a minute": (
        "{channel}은(는) {account}의 발신 프로필 {id}입니다. 템플릿은 1분 안에 보입니다"
    ),
    "there is no profile {id}; see `pabal profile list`": "발신 프로필 {id}이(가) 없습니다. `pabal profile list`를 보세요",
    'no relay is configured: add a carrier with kind = "nhncloud" and a talk_app_key, or kind = "solapi"': (
        '중계사가 설정되어 있지 않습니다. kind = "nhncloud"와 talk_app_key, 또는 kind = "solapi"인 통신사를 추가하세요'
    ),
    "--carrier {name}: is not a relay; these are: {known}": "--carrier {name}: 중계사가 아닙니다. 중계사: {known}",
    "--carrier: there are several relays; name one: {known}": (
        "--carrier: 중계사가 여럿입니다. 하나를 고르세요: {known}"
    ),
    "{what} is mapped to {carrier}{problem}": "{what}을(를) {carrier}에 연결했습니다{problem}",
    ", but cannot be used yet: {problem}": ". 아직 쓸 수 없습니다: {problem}",
    "{what} is no longer mapped to {carrier}": "{what}과(와) {carrier}의 연결을 끊었습니다",
    "--code: give --template too": "--code: --template도 주세요",
    "there is no such mapping; see `pabal mapping list`": "그런 연결이 없습니다. `pabal mapping list`를 보세요",
    # Numbers and opt-outs
    "{number} is registered for {account}": "{account}의 발신번호로 {number}을(를) 등록했습니다",
    "{number} was already registered for {account}": "{number}은(는) 이미 {account}의 발신번호입니다",
    "{number} is approved for {account}": "{account}의 발신번호 {number}을(를) 승인했습니다",
    "{number} is rejected for {account}": "{account}의 발신번호 {number}을(를) 반려했습니다",
    "{number} is no longer registered for {account}": "{account}의 발신번호에서 {number}을(를) 삭제했습니다",
    "{number} is not registered for {account}; see `pabal number list`": (
        "{number}은(는) {account}의 발신번호가 아닙니다. `pabal number list`를 보세요"
    ),
    "{number} is not pending for {account}; see `pabal number list`": (
        "{account}의 {number}은(는) 심사 중이 아닙니다. `pabal number list`를 보세요"
    ),
    "{count} of {total} numbers added": "번호 {total}개 가운데 {count}개를 추가했습니다",
    "{count} of {total} numbers removed": "번호 {total}개 가운데 {count}개를 삭제했습니다",
    "{count} of {total} rows added": "{total}행 가운데 {count}행을 추가했습니다",
    "{file}: nothing was imported\n{problems}": "{file}: 아무것도 가져오지 않았습니다\n{problems}",
    # Carriers
    "{count} messages moved from {carrier} to {other}": "메시지 {count}건을 {carrier}에서 {other}(으)로 옮겼습니다",
    "{count} messages of {carrier} are cancelled": "{carrier}의 메시지 {count}건을 취소했습니다",
    "the carrier {carrier} is forgotten": "통신사 {carrier}을(를) 잊었습니다",
    "the carrier {carrier} is configured; this is for carriers that are not any more": (
        "통신사 {carrier}은(는) 설정에 있습니다. 이 명령은 설정에 더는 없는 통신사를 위한 것입니다"
    ),
    "the carrier {carrier} is not configured; use the --config FILE that has it": (
        "통신사 {carrier}이(가) 설정에 없습니다. 그 통신사가 있는 --config FILE을 쓰세요"
    ),
    "the carrier {carrier} has messages in the queue: `pabal carrier list`, then move or cancel them; those that await"
    " a receipt end by their timeout while a service runs": (
        "통신사 {carrier}의 메시지가 대기열에 있습니다. `pabal carrier list`를 보고 옮기거나 취소하세요. 결과를 기다리는"
        " 메시지는 서비스가 실행되는 동안 기한이 지나면 끝납니다"
    ),
    # Webhooks, secrets and privacy
    "webhook {id} is deleted": "웹훅 {id}을(를) 삭제했습니다",
    "HTTP {status} after {duration} ms": "HTTP {status}, {duration} ms 뒤",
    "{account} has no webhook {id}; see `pabal webhook list`": (
        "{account}에는 웹훅 {id}이(가) 없습니다. `pabal webhook list`를 보세요"
    ),
    "{count} webhooks encrypted with the current key; {others} were already": (
        "웹훅 {count}개를 현재 키로 암호화했습니다. {others}개는 이미 되어 있었습니다"
    ),
    "{count} two-factor secrets encrypted with the current key; {others} were already": (
        "2단계 인증 비밀 값 {count}개를 현재 키로 암호화했습니다. {others}개는 이미 되어 있었습니다"
    ),
    "{count} two-factor secrets cannot be decrypted: add their key to secret_key; until then, these users sign in with"
    " recovery codes": (
        "2단계 인증 비밀 값 {count}개를 복호화할 수 없습니다. 그 키를 secret_key에 추가하세요. 그때까지 이 사용자들은"
        " 복구 코드로 로그인합니다"
    ),
    "{count} cannot be decrypted: add their key to secret_key, or rotate these webhooks' secrets": (
        "{count}개를 복호화할 수 없습니다. 그 키를 secret_key에 추가하거나, 그 웹훅의 비밀 값을 새로 만드세요"
    ),
    "the key of the opt-outs was already": "수신거부의 키는 이미 되어 있었습니다",
    "the key of the opt-outs is encrypted with the current key": "수신거부의 키를 현재 키로 암호화했습니다",
    "the key of the opt-outs cannot be decrypted: add its key to secret_key": (
        "수신거부의 키를 복호화할 수 없습니다. 그 키를 secret_key에 추가하세요"
    ),
    "{count} opt-outs hashed with a new key; {lost} whose number had been erased are gone": (
        "수신거부 {count}건을 새 키로 해시했습니다. 번호가 지워진 {lost}건은 없어졌습니다"
    ),
    "there is no key; make one with `pabal secrets new-key`, and set secret_key": (
        "키가 없습니다. `pabal secrets new-key`로 만들어 secret_key로 설정하세요"
    ),
    "the opt-outs can be read with the keys that are set; nothing was changed": (
        "설정된 키로 수신거부를 읽을 수 있습니다. 아무것도 바꾸지 않았습니다"
    ),
    "{erased} messages erased, {cancelled} of them cancelled; {rows} rows of campaigns erased; {pending} messages are"
    " being sent, and are erased when they have ended. {note}": (
        "메시지 {erased}건을 지웠고, 그 가운데 {cancelled}건을 취소했습니다. 대량 발송 {rows}행을 지웠습니다. 발송 중인"
        " {pending}건은 끝나면 지웁니다. {note}"
    ),
    "Backups are not covered: they keep the number until you delete them.": (
        "백업은 해당하지 않습니다. 삭제할 때까지 번호가 남습니다."
    ),
    # Backups and moves
    "copied {store} to {file} and verified it: schema {schema}, {size} MiB": (
        "{store}을(를) {file}(으)로 복사하고 확인했습니다: 스키마 {schema}, {size} MiB"
    ),
    "copied {percent} %": "{percent} % 복사함",
    "the store is PostgreSQL: use {alternative}; see {guide}": (
        "저장소가 PostgreSQL입니다. {alternative} 을(를) 쓰세요. {guide} 참고"
    ),
    "pg_dump, or a base backup plus WAL archive": "pg_dump 또는 기본 백업과 WAL 보관",
    "pg_restore, or a base backup and its archive": "pg_restore 또는 기본 백업과 WAL 보관",
    "there is no store at {path}; name the service's directory with --data or --config": (
        "{path}에 저장소가 없습니다. --data나 --config로 서비스의 디렉터리를 알려 주세요"
    ),
    "{file} is a directory; name a file in it": "{file}은(는) 디렉터리입니다. 그 안의 파일 이름을 주세요",
    "{file} belongs to the store; choose another name": "{file}은(는) 저장소의 파일입니다. 다른 이름을 고르세요",
    "{file} exists; choose another name, or replace it with --force": (
        "{file}이(가) 있습니다. 다른 이름을 고르거나 --force로 바꾸세요"
    ),
    "{store} was not copied: {error}; run `pabal doctor`": (
        "{store}을(를) 복사하지 않았습니다: {error}. `pabal doctor`를 실행하세요"
    ),
    "{store} was not copied to {file}: {error}; nothing was written there": (
        "{store}을(를) {file}(으)로 복사하지 않았습니다: {error}. 그곳에는 아무것도 쓰지 않았습니다"
    ),
    "restored {store} from {file}{newest}": "{file}에서 {store}을(를) 복원했습니다{newest}",
    " (no requests)": " (요청 없음)",
    " (newest request: {time})": " (가장 최근 요청: {time})",
    "missing migrations: {names}; `pabal migrate` or the next start applies them": (
        "적용하지 않은 마이그레이션이 있습니다: {names}. `pabal migrate`나 다음 시작이 적용합니다"
    ),
    "{count} messages will be sent at the next start": "다음에 시작하면 메시지 {count}건을 발송합니다",
    "cancelled {count} messages that may have been sent since the backup": (
        "백업 이후 발송되었을 수 있는 메시지 {count}건을 취소했습니다"
    ),
    "{count} messages were in flight: each awaits its receipt, and fails as unknown without one": (
        "메시지 {count}건이 발송 중이었습니다. 결과를 기다리고, 오지 않으면 알 수 없음으로 실패합니다"
    ),
    "halted {count} campaigns; /console/requests shows them": (
        "대량 발송 {count}건을 멈췄습니다. /console/requests에 보입니다"
    ),
    "{count} messages may have been sent since the backup{newest}": (
        "백업 이후 발송되었을 수 있는 메시지: {count}건{newest}"
    ),
    "{count} messages are scheduled for later, {receipts} await their receipts": (
        "메시지 {count}건이 예약되어 있고, {receipts}건이 결과를 기다립니다"
    ),
    "the previous store is {path}; delete it when you no longer need it": (
        "이전 저장소는 {path}입니다. 필요 없어지면 지우세요"
    ),
    "changes made since the backup are lost, revoked keys among them: see {guide}": (
        "백업 이후의 변경은 없어졌습니다. 폐기한 키도 되살아납니다: {guide} 참고"
    ),
    "{file} does not exist, or is not a file; name a file that `pabal backup` wrote": (
        "{file}이(가) 없거나 파일이 아닙니다. `pabal backup`이 쓴 파일을 주세요"
    ),
    "{file} is the store itself; name a backup": "{file}은(는) 저장소 자체입니다. 백업을 주세요",
    "{file} was not restored: {error}; use another backup": (
        "{file}을(를) 복원하지 않았습니다: {error}. 다른 백업을 쓰세요"
    ),
    "{file} was not restored: {error}": "{file}을(를) 복원하지 않았습니다: {error}",
    "another process has {store} open; wait until it ends, then try again": (
        "다른 프로세스가 {store}을(를) 열고 있습니다. 끝난 뒤 다시 시도하세요"
    ),
    "`store` must be the PostgreSQL database to move to: postgresql://…; see {guide}": (
        "`store`는 옮겨 갈 PostgreSQL 데이터베이스여야 합니다: postgresql://…; {guide} 참고"
    ),
    "{file} does not exist, or is not a file; name the SQLite store, such as data/pabal.db": (
        "{file}이(가) 없거나 파일이 아닙니다. data/pabal.db 같은 SQLite 저장소를 주세요"
    ),
    "{file} was not moved: {error}; see {guide}": "{file}을(를) 옮기지 않았습니다: {error}; {guide} 참고",
    "{file} was not moved: {error}": "{file}을(를) 옮기지 않았습니다: {error}",
    "{table}: {rows} rows, checksum {checksum}": "{table}: {rows}행, 체크섬 {checksum}",
    "moved {rows} rows of {tables} tables to {address}; every row was compared": (
        "테이블 {tables}개의 {rows}행을 {address}(으)로 옮기고 모든 행을 비교했습니다"
    ),
    "the SQLite store is {path} now; delete it when you no longer need it": (
        "SQLite 저장소는 이제 {path}입니다. 필요 없어지면 지우세요"
    ),
    "{file} could not be renamed ({error}): start no service on it, or messages are sent twice": (
        "{file}의 이름을 바꾸지 못했습니다({error}). 그 파일로 서비스를 시작하면 메시지가 두 번 발송됩니다"
    ),
    "copying {table}: {rows} of {total} rows": "{table} 복사: {total}행 가운데 {rows}행",
    "comparing {table}: {rows} of {total} rows": "{table} 비교: {total}행 가운데 {rows}행",
    "PostgreSQL does not take one of the {count} rows behind the first {first} of {table} ({error}); the SQLite store is"
    " unchanged": (
        "PostgreSQL이 {table}의 처음 {first}행 다음 {count}행 가운데 하나를 받지 않습니다({error}). SQLite 저장소는 그대로"
        "입니다"
    ),
    "{table} differs: {rows} rows with checksum {sum} in SQLite, {others} with {other} in PostgreSQL. If the SQLite"
    " store was used since the move began, move it into a new, empty database": (
        "{table}이(가) 다릅니다: SQLite에는 {rows}행(체크섬 {sum}), PostgreSQL에는 {others}행(체크섬 {other})입니다. 옮기기"
        " 시작한 뒤 SQLite 저장소를 썼다면, 비어 있는 새 데이터베이스로 옮기세요"
    ),
    "the database is not empty: {tables}": "데이터베이스가 비어 있지 않습니다: {tables}",
    "a move of another store into this database is not finished": (
        "다른 저장소를 이 데이터베이스로 옮기는 일이 끝나지 않았습니다"
    ),
    "another `pabal move` is running on this database": "이 데이터베이스에서 다른 `pabal move`가 실행 중입니다",
    "it is not a store of Pabal's": "파발의 저장소가 아닙니다",
    "it is not a SQLite file": "SQLite 파일이 아닙니다",
    "it is damaged: {error}": "손상되었습니다: {error}",
    "it cannot be read ({error})": "읽을 수 없습니다({error})",
    "its schema is not that of this version; run `pabal migrate` on it first": (
        "이 버전의 스키마가 아닙니다. 먼저 `pabal migrate`를 실행하세요"
    ),
}  # fmt: skip
