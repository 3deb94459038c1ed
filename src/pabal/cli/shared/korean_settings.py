"""The Korean of errors in settings, and of commands that call a service, by its English in the code."""

KOREAN_SETTINGS = {
    "{place}: no such setting{hint}": "{place}: 없는 설정입니다{hint}",
    "{place}: no such product{hint}": "{place}: 없는 종류입니다{hint}",
    "; did you mean {name}?": ". 혹시 {name}입니까?",
    "; see `pabal settings`": ". `pabal settings`를 보세요",
    "; it is now {name}": ". 이제 {name}입니다",
    "{place}: {value} is not {expected}": "{place}: {value}은(는) {expected}이(가) 아닙니다",
    "the value": "주어진 값",
    "true or false": "true 또는 false",
    "a whole number": "정수",
    "a time zone such as Asia/Seoul": "Asia/Seoul 같은 시간대",
    "a list of networks": "네트워크 목록",
    "a list": "목록",
    "one of {values}": "{values} 가운데 하나",
    "{place}: at least {number}": "{place}: {number} 이상이어야 합니다",
    "{place}: at most {number}": "{place}: {number} 이하여야 합니다",
    "{place}: at most {number} characters": "{place}: {number}자 이하여야 합니다",
    "{place}: at least {number} characters": "{place}: {number}자 이상이어야 합니다",
    "{place}: {name} is given twice": "{place}: {name}을(를) 두 번 적었습니다",
    "{place}: names an environment variable that is not set": "{place}: 설정되지 않은 환경 변수입니다",
    "{place}: must begin with https:// and name a host": "{place}: https://로 시작하는 주소여야 합니다",
    "{place}: is required ({help})": "{place}: 꼭 필요합니다({help})",
    "{variable}: set {name} in the TOML file, not in the environment": (
        "{variable}: {name}은(는) 환경 변수가 아니라 TOML 파일에 적으세요"
    ),
    "{file}: is not TOML: {error}": "{file}: TOML이 아닙니다: {error}",
    # Carriers and routes
    "carriers: write a table [carriers.NAME] for each carrier": "carriers: 통신사마다 [carriers.NAME] 표를 적으세요",
    "carriers.{name}: kind must be one of {kinds}": "carriers.{name}: kind는 다음 가운데 하나여야 합니다: {kinds}",
    "carriers.{name}: give sms_app_key or talk_app_key, or it can send nothing": (
        "carriers.{name}: sms_app_key나 talk_app_key를 적으세요. 없으면 아무것도 보낼 수 없습니다"
    ),
    "carriers.{name}: give both {service}_app_key and {same}_secret_key": (
        "carriers.{name}: {service}_app_key와 {same}_secret_key를 모두 적으세요"
    ),
    "routes: write a table [routes]": "routes: [routes] 표를 적으세요",
    "routes.{product}: write a list of carriers": "routes.{product}: 통신사 목록을 적으세요",
    "routes.{product}: name each carrier once": "routes.{product}: 통신사를 한 번씩만 적으세요",
    "routes.{product}: there is no carrier {name} in [carriers]": (
        "routes.{product}: [carriers]에 통신사 {name}이(가) 없습니다"
    ),
    "routes.{product}: {name} is of kind {kind}, which sends only {products}": (
        "routes.{product}: {name}은(는) {kind} 종류라서 {products}만 보냅니다"
    ),
    "routes.{product}: a simulator delivers nothing, so it cannot share a route with real carriers": (
        "routes.{product}: 시뮬레이터는 실제로 보내지 않으므로, 실제 통신사와 한 경로에 둘 수 없습니다"
    ),
    # The store, and the service
    "store: {scheme}: is not supported; use sqlite:///… or postgresql://…": (
        "store: {scheme}:은(는) 지원하지 않습니다. sqlite:///… 또는 postgresql://…을 쓰세요"
    ),
    "store: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters written as %XX": (
        "store: postgresql://USER:PASSWORD@HOST:PORT/DATABASE 형식으로, 특수 문자는 %XX로 적으세요"
    ),
    "retention_days: at least {days}, or messages would be blanked before they end (max_days_ahead, plus {lifetime} days"
    " of lifetime, plus the receipt time-out in days, plus one)": (
        "retention_days: {days} 이상이어야 합니다. 그러지 않으면 메시지가 끝나기 전에 지워집니다(max_days_ahead + 수명"
        " {lifetime}일 + 결과 대기 일수 + 1)"
    ),
    "expire_minutes: write a table [expire_minutes]": "expire_minutes: [expire_minutes] 표를 적으세요",
    "expire_minutes.{product}: {minutes} is not a whole number from 1 to {most}": (
        "expire_minutes.{product}: {minutes}은(는) 1부터 {most}까지의 정수가 아닙니다"
    ),
    "opt_out_number: {number} is not a number such as 080-123-4567": (
        "opt_out_number: {number}은(는) 080-123-4567 같은 번호가 아닙니다"
    ),
    "webhook_allow: {value} is not ACCOUNT@HOST:PORT, such as shop@hooks.internal:8443": (
        "webhook_allow: {value}은(는) shop@hooks.internal:8443 같은 ACCOUNT@HOST:PORT가 아닙니다"
    ),
    "secret_key: set either secret_key or secret_key_file": (
        "secret_key: secret_key와 secret_key_file 가운데 하나만 설정하세요"
    ),
    "{name}: at most {number} keys": "{name}: 키는 {number}개까지입니다",
    "{name}: a key is {number} random bytes in Base64; `pabal secrets new-key` makes one": (
        "{name}: 키는 Base64로 적은 임의의 {number}바이트입니다. `pabal secrets new-key`로 만드세요"
    ),
    "secret_key_file: {file} is empty": "secret_key_file: {file}이(가) 비어 있습니다",
    "secret_key_file: {file} cannot be read ({error})": "secret_key_file: {file}을(를) 읽을 수 없습니다({error})",
    "secret_key_file: {file} is not text": "secret_key_file: {file}은(는) 텍스트가 아닙니다",
    # Commands that call a service
    "url: {value} is not an address such as http://127.0.0.1:8080": (
        "url: {value}은(는) http://127.0.0.1:8080 같은 주소가 아닙니다"
    ),
    "api_key: the value is not a key; keys look like pb_…": "api_key: 키가 아닙니다. 키는 pb_…로 시작합니다",
    "say what to send: {kinds}": "무엇을 보낼지 적으세요: {kinds}",
    "--to: required, unless --csv names a file": "--to: --csv로 파일을 주지 않으면 꼭 필요합니다",
    "--strict, --again and --in-doubt: only with --csv": "--strict, --again, --in-doubt는 --csv와 함께만 씁니다",
    "--csv: without --to, --var, --reference, --idempotency-key and --wait": (
        "--csv는 --to, --var, --reference, --idempotency-key, --wait와 함께 쓸 수 없습니다"
    ),
    "--content: standard input has more than {number} characters": "--content: 표준 입력이 {number}자를 넘습니다",
    "{file}: more than {number} bytes": "{file}: {number}바이트를 넘습니다",
    "{file}: more than {number} bytes; move it away": "{file}: {number}바이트를 넘습니다. 다른 곳으로 옮기세요",
    "{flags}: required for {kind}": "{flags}: {kind}에 꼭 필요합니다",
    "{flag}: is not for {kind}": "{flag}: {kind}에는 쓰지 않습니다",
    "--resend-content: give --resend-from too": "--resend-content: --resend-from도 주세요",
    "{file}: is not JSON: {error}": "{file}: JSON이 아닙니다: {error}",
    "{file}: cannot be written ({error})": "{file}: 쓸 수 없습니다({error})",
    "{file}: another pabal is sending this file": "{file}: 다른 pabal이 이 파일을 보내고 있습니다",
    "{file}: is not a journal of pabal; move it away": "{file}: pabal의 기록 파일이 아닙니다. 다른 곳으로 옮기세요",
    "{file}: is empty; its first row names the columns": "{file}: 비어 있습니다. 첫 행은 열 이름이어야 합니다",
    "No such file or directory": "없는 파일",
    # Mails
    "{place}: mail servers take ASCII characters only": "{place}: 메일 서버는 ASCII 문자만 받습니다",
    "public_url: mails need the address of the console for their links": (
        "public_url: 메일의 링크에 콘솔의 주소가 필요합니다"
    ),
    "smtp_password: set either smtp_password or smtp_password_file": (
        "smtp_password: smtp_password와 smtp_password_file 중 하나만 설정하세요"
    ),
    "smtp_password_file: {file} cannot be read ({reason})": (
        "smtp_password_file: {file}을(를) 읽을 수 없습니다({reason})"
    ),
    "smtp_sender: mails need an address that they come from": "smtp_sender: 메일을 보내는 주소가 필요합니다",
    'smtp_tls: a password is sent only over TLS; use "starttls" or "tls"': (
        'smtp_tls: 비밀번호는 TLS로만 보냅니다. "starttls" 또는 "tls"를 쓰세요'
    ),
    "smtp_user: set a user and a password, or neither": "smtp_user: 사용자와 비밀번호를 함께 설정하거나 둘 다 비우세요",
    # Sign-in by a provider
    "openid_client_id: set openid_issuer as well": "openid_client_id: openid_issuer도 설정하세요",
    "openid_client_id: set the client id that the provider has given to the console": (
        "openid_client_id: 제공자가 콘솔에 준 클라이언트 ID를 설정하세요"
    ),
    "openid_client_secret: set either openid_client_secret or openid_client_secret_file": (
        "openid_client_secret: openid_client_secret과 openid_client_secret_file 중 하나만 설정하세요"
    ),
    "openid_client_secret_file: {file} cannot be read ({reason})": (
        "openid_client_secret_file: {file}을(를) 읽을 수 없습니다({reason})"
    ),
    "openid_client_secret_file: {file} is empty": "openid_client_secret_file: {file}이(가) 비어 있습니다",
    "openid_name: write the name of the provider as users know it, such as Google": (
        "openid_name: 사용자가 아는 제공자의 이름을 적으세요. 예: Google"
    ),
    "break_glass_operator: without openid_issuer, nobody else could sign in; set it as well": (
        "break_glass_operator: openid_issuer가 없으면 다른 사람은 로그인할 수 없습니다. 함께 설정하세요"
    ),
    # Processes
    "with SQLite at most {most} processes can share the work: choose `--processes {count}`, or set `store` to"
    " postgresql://…": (
        "SQLite에서는 프로세스 {most}개까지만 일을 나눌 수 있습니다. `--processes {count}`를 쓰거나 `store`를"
        " postgresql://…로 설정하세요"
    ),
}
