"""Make fresh secrets of all kinds, and the notes they might be in.

Every secret is put together when it is asked for, from a seed: no file holds one.
"""

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"
URLSAFE = ALNUM + "-_"
BASE32 = UPPER + "234567"
SIGNS = "!@#$%^&*-_=+?~"


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a secret in it; `kind` names the secret, `form` the kind of text."""

    kind: str
    form: str
    text: str
    secret: str


Make = Callable[[random.Random], str]


def _of(alphabet: str, length: int, prefix: str = "", suffix: str = "") -> Make:
    return lambda chance: prefix + "".join(chance.choices(alphabet, k=length)) + suffix


def _joined(*parts: Make | str) -> Make:
    return lambda chance: "".join(p if isinstance(p, str) else p(chance) for p in parts)


def _base64(size: int) -> Make:
    return lambda chance: base64.b64encode(chance.randbytes(size)).decode()


def _web_token(chance: random.Random) -> str:
    def part(data: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    claims = {"sub": _of(HEX, 12)(chance), "exp": chance.randrange(10**9, 2 * 10**9)}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{_of(URLSAFE, 43)(chance)}"


def _private_key(chance: random.Random) -> str:
    name = chance.choice(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
    body = base64.b64encode(chance.randbytes(chance.choice([121, 400, 1190]))).decode()
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    dashes, kind = "-" * 5, f"{name}PRIVATE " + "KEY"
    return "\n".join([f"{dashes}BEGIN {kind}{dashes}", *lines, f"{dashes}END {kind}{dashes}"])


def _word_password(chance: random.Random) -> str:
    words = ["harbor", "Falcon", "sunset", "Maple", "winter", "Dragon", "coffee", "Tiger", "zhang"]
    made = chance.choice(words) + chance.choice(["", chance.choice(words)])
    made += str(chance.randrange(10, 9999)) + chance.choice(["", "!", "#", "@x", "_", "$9"])
    return made if len(made) >= 7 else made + "77"


def _drawn_password(chance: random.Random) -> str:
    length = chance.randrange(10, 24)
    while True:
        made = "".join(chance.choices(ALNUM + SIGNS, k=length))
        if made[0].isalnum() and made[-1].isalnum() and any(map(str.isdigit, made)):
            return made


SHOWN_BY_FORM: dict[str, Make] = {
    "AWS access key": _of(BASE32, 16, "AK" + "IA"),
    "AWS session key": _of(BASE32, 16, "AS" + "IA"),
    "GitHub token": _of(ALNUM, 36, "gh" + "p_"),
    "GitHub server token": _of(ALNUM, 36, "gh" + "s_"),
    "GitHub fine-grained token": _joined(
        "github" + "_pat_", _of(ALNUM, 22), "_", _of(ALNUM, 59)
    ),
    "GitLab token": _of(URLSAFE, 20, "gl" + "pat-"),
    "Slack bot token": _joined(
        "xo" + "xb-", _of(DIGITS, 12), "-", _of(DIGITS, 13), "-", _of(ALNUM, 24)
    ),
    "Slack webhook": _joined(
        "https://hooks.slack" + ".com/services/T", _of(UPPER + DIGITS, 10), "/B",
        _of(UPPER + DIGITS, 10), "/", _of(ALNUM, 24),
    ),
    "Stripe key": _of(ALNUM, 24, "sk" + "_live_"),
    "Stripe webhook secret": _of(ALNUM, 32, "wh" + "sec_"),
    "OpenAI key": _joined("sk" + "-proj-", _of(URLSAFE, 74), "T3Blbk" + "FJ", _of(URLSAFE, 74)),
    "Anthropic key": _joined("sk" + "-ant-api03-", _of(URLSAFE, 93), "AA"),
    "DashScope or DeepSeek key": _of(HEX, 32, "s" + "k-"),
    "Moonshot key": _of(ALNUM, 48, "s" + "k-"),
    "Google key": _of(URLSAFE, 35, "AI" + "za"),
    "Google client secret": _of(URLSAFE, 28, "GOC" + "SPX-"),
    "npm token": _of(ALNUM, 36, "np" + "m_"),
    "PyPI token": _joined("py" + "pi-AgEIcHlwaS5vcmc", _of(URLSAFE, 140)),
    "Hugging Face token": _of(LOWER + UPPER, 34, "h" + "f_"),
    "Groq key": _of(ALNUM, 52, "gs" + "k_"),
    "SendGrid key": _joined("S" + "G.", _of(URLSAFE, 22), ".", _of(URLSAFE, 43)),
    "Telegram token": _joined(_of(DIGITS[1:], 10), ":A" + "A", _of(URLSAFE, 33)),
    "Discord token": _joined("M", _of(ALNUM, 25), ".", _of(ALNUM, 6), ".", _of(URLSAFE, 38)),
    "Databricks token": _of(HEX, 32, "da" + "pi"),
    "DigitalOcean token": _of(HEX, 64, "do" + "p_v1_"),
    "Vault token": _of(ALNUM, 90, "hv" + "s."),
    "Alibaba Cloud key": _of(ALNUM, 20, "LT" + "AI5t"),
    "Azure storage": _joined(
        "DefaultEndpointsProtocol=https;AccountName=files;Account" + "Key=", _base64(64)
    ),
    "DingTalk webhook": _of(
        HEX, 64, "https://oapi.dingtalk" + ".com/robot/send?access_token="
    ),
    "JSON web token": _web_token,
    "private key": _private_key,
}  # fmt: skip

_URL = ["postgresql://app:{}@db.internal:5432/ledger", "mysql://root:{}@10.0.3.7/shop",
        "mongodb+srv://svc:{}@cluster0.ab1cd.mongodb.net/x", "redis://:{}@cache:6379/0",
        "amqp://worker:{}@mq.internal//", "https://ci:{}@git.example-corp.net/app.git"]  # fmt: skip

NAMED: dict[str, tuple[tuple[str, ...], tuple[str, ...], Make]] = {
    "chosen password": (
        ("password", "DB_PASSWORD", "db_password", "adminPassword", "passwd", "PGPASSWORD"),
        ("密码", "数据库密码", "登录口令", "管理员密码"),
        _word_password,
    ),
    "drawn password": (
        ("password", "MYSQL_ROOT_PASSWORD", "rootPassword", "smtp_password", "pwd", "passphrase"),
        ("密码", "口令", "root 密码", "邮箱密码"),
        _drawn_password,
    ),
    "AWS secret key": (
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secretAccessKey", "secret access key"),
        ("AWS 密钥", "密钥"),
        _base64(30),
    ),
    "hexadecimal key": (
        ("api_key", "API_KEY", "apiKey", "api key", "secret_key", "SECRET_KEY", "signing_key"),
        ("密钥", "API 密钥", "接口密钥"),
        _of(HEX, 32),
    ),
    "long hexadecimal key": (
        ("encryption_key", "SESSION_SECRET", "sessionSecret", "client_secret", "jwt_secret"),
        ("加密密钥", "密钥"),
        _of(HEX, 64),
    ),
    "drawn token": (
        ("token", "ACCESS_TOKEN", "accessToken", "auth_token", "refresh_token", "deploy token"),
        ("令牌", "访问令牌", "token"),
        _of(ALNUM, 40),
    ),
    "key in base64": (
        ("client_secret", "CLIENT_SECRET", "clientSecret", "app_secret", "secret", "master_key"),
        ("应用密钥", "秘钥"),
        _base64(32),
    ),
    "key as UUID": (
        ("api_key", "HEROKU_API_KEY", "apiKey", "api key"),
        ("API 密钥",),
        lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    ),
}  # fmt: skip

_CODE = [
    '{n} = "{v}"',
    "{n} = '{v}'",
    'const {n} = "{v}";',
    'client = Client(host="db", {n}="{v}")',
    '{n}: str = "{v}"',
    'os.environ["{n}"] = "{v}"',
    '    private static final String {n} = "{v}";',
    '{n} := "{v}"',
    '"{n}" => "{v}",',
    'if request.{n} == "{v}":',
]
_SHELL = ["{N}={v}", "export {N}={v}", 'export {N}="{v}"', "ENV {N} {v}", "{N}='{v}'  # staging"]
_DATA = [
    "{n}: {v}", '{n}: "{v}"', '  {n}: {v}  # rotate in May', '{{"host": "db", "{n}": "{v}"}}',
    '{n} = "{v}"', "{n} = {v}", "<{n}>{v}</{n}>", "- name: app\n  env:\n    {n}: {v}",
]  # fmt: skip
_PROSE = [
    "The {w} is {v}, ask before you change it.",
    "The {w} for the staging database is `{v}`.",
    "Log in as admin; {w}: {v}",
    "We rotated it: the {w} was changed to {v} on Monday.",
    "- **{w}**: `{v}`",
    "| {w} | {v} | staging |",
    'Use the {w} "{v}" when the proxy asks.',
]
_CHINESE = [
    "{z}是 {v}，别外传。",
    "{z}：{v}",
    "测试环境的{z}为{v}。",
    "昨天把{z}改成了 `{v}`，大家更新一下。",
    "登录后台用 admin，{z}: {v}",
    "{z}设置为「{v}」",
]
_PLAIN = [
    "Use {v} for the deploy.",
    "CI broke until we put `{v}` into the settings.",
    "{v}",
    "部署时用 {v} 就行了。",
    "令牌{v}，周五过期。",
    'headers = {{"X-Key": "{v}"}}',
    "KEY={v}",
    "- key: {v}",
]


def planted(seed: int, rounds: int) -> Iterator[Planted]:
    """Yield texts with a fresh secret each: `rounds` of every kind in every form of text."""
    chance = random.Random(seed)
    for _ in range(rounds):
        for kind, make in SHOWN_BY_FORM.items():
            for text in _PLAIN:
                secret = make(chance)
                yield Planted(kind, "by its form", text.format(v=secret), secret)
        for kind, (names, chinese, make) in NAMED.items():
            yield from _named(chance, kind, names, chinese, make)
        for url in _URL:
            secret = chance.choice([_of(ALNUM, 16), _word_password])(chance).replace("@", "%40")
            secret = secret.replace("#", "%23")
            yield Planted("password in a URL", "address", url.format(secret), secret)
        yield from _headers(chance)


def _named(
    chance: random.Random, kind: str, names: tuple[str, ...], chinese: tuple[str, ...], make: Make
) -> Iterator[Planted]:
    symbols = [name for name in names if " " not in name]
    for form, texts in (
        ("code", _CODE), ("shell", _SHELL), ("data", _DATA), ("prose", _PROSE), ("中文", _CHINESE)
    ):  # fmt: skip
        for text in texts:
            name, secret = chance.choice(symbols), make(chance)
            words = chance.choice(names).replace("_", " ").lower()
            filled = text.format(
                n=name, N=name.upper(), w=words, z=chance.choice(chinese), v=secret
            )
            yield Planted(kind, form, filled, secret)


def _headers(chance: random.Random) -> Iterator[Planted]:
    token, pair = _of(URLSAFE, 40)(chance), _base64(24)(chance)
    command = "curl -H 'Authorization: {}' https://api.internal/v1"
    yield Planted("header", "shell", command.format(f"Bearer {token}"), token)
    yield Planted("header", "shell", command.format(f"Basic {pair}"), pair)
    password = _word_password(chance)
    yield Planted("option", "shell", f"curl -u ci:{password} https://api.internal/v1", password)
    yield Planted("option", "shell", f"mysql -u root -p{password} shop < dump.sql", password)
    yield Planted("option", "shell", f"deploy --user ci --password {password}", password)


def is_left(planted: Planted, masked: str, run: int = 8) -> bool:
    """Say whether a masked text still holds the secret, or `run` characters of it in a row."""
    *_, secret = re.split(r"AccountKey=|access_token=|/services/", planted.secret)
    steps = range(max(1, len(secret) - run + 1))
    return any(secret[start : start + run] in masked for start in steps)
