"""Find keys and tokens that show by their form what they are, whatever stands around them.

Each form is looked for only where a literal that all of its keys share occurs in the text.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memorix.anchors import Anchors
from memorix.strength import is_placeholder, is_random


@dataclass(frozen=True, slots=True)
class Form:
    """The keys of one issuer; the group `secret` of `pattern`, where there is one, is the key.

    With `leads` an anchor is how the key begins, else it is somewhere in it.
    """

    label: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    leads: bool

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        if not self.leads:
            yield from self.pattern.finditer(text)
            return
        for anchor in self.anchors:
            place = text.find(anchor)
            while place >= 0:
                found = self.pattern.match(text, place)
                if found:
                    yield found
                place = text.find(anchor, found.end() if found else place + len(anchor))


_APART, _ENDED = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
# Of Latin letters only: between characters of Chinese a key stands alone too.


def _leading(label: str, beginnings: str, rest: str) -> Form:
    """Make a form of keys that begin with one of these and go on like `rest`."""
    anchors = tuple(beginnings.split())
    begun = "|".join(map(re.escape, anchors))
    return Form(label, anchors, re.compile(f"{_APART}(?:{begun}){rest}{_ENDED}"), True)


def _holding(label: str, part: str, pattern: str, first: str = "") -> Form:
    """Make a form of keys that have a part somewhere, behind a `first` character of a set.

    Such characters are found first, and then looked in front of: it takes a tenth of the time of
    looking in front of every place.
    """
    begun = rf"{first}(?<![A-Za-z0-9_].)" if first else _APART
    return Form(label, (part,), re.compile(f"{begun}{pattern}{_ENDED}"), False)


FORMS = (
    # clouds
    _leading("AWS access key", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}"),
    _leading("Google API key", "AIza", r"[\w-]{35}"),
    _leading("Google OAuth token", "ya29. GOCSPX- 1//0", r"[\w-]{20,}"),
    _leading("Azure storage key", "AccountKey=", r"(?P<secret>[A-Za-z0-9+/]{86}==)"),
    _leading("Azure signature", "sig=", r"(?P<secret>[A-Za-z0-9%+/]{40,}(?:%3[Dd]|=))"),
    _holding("Azure client secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    _leading("Alibaba Cloud access key", "LTAI", r"[A-Za-z0-9]{12,26}"),
    _leading("Tencent Cloud access key", "AKID", r"[A-Za-z0-9]{32}"),
    _leading("Volcengine access key", "AKLT", r"[\w-]{30,}"),
    _leading("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _leading("Cloudflare key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{146}"),
    _leading("Heroku key", "HRKU-", r"[\w-]{30,}"),
    _leading("Fly.io token", "fo1_ fm1_ fm2_ fm1a_ fm1r_", r"[\w+/=-]{43,}"),
    _leading("Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    # code and packages
    _leading("GitHub token", "ghp_ gho_ ghs_ ghu_ ghr_", r"[A-Za-z0-9]{36,255}"),
    _leading("GitHub token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _leading(
        "GitLab token",
        "glpat- gldt- glrt- glft- glptt- glsoat- glcbt- glimt- gloas- glagent- glffct- GR1348941",
        r"[\w.-]{20,}",
    ),
    _leading("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    _leading("PyPI token", "pypi-AgE", r"[\w-]{50,}"),
    _leading("RubyGems key", "rubygems_", r"[0-9a-f]{48}"),
    _leading("crates.io token", "cio", r"[A-Za-z0-9]{32}"),
    _leading("NuGet key", "oy2", r"[a-z0-9]{43}"),
    _leading("Docker Hub token", "dckr_pat_ dckr_oat_", r"[\w-]{27,}"),
    _leading("Atlassian token", "ATATT3 ATCTT3", r"[\w=-]{100,}"),
    _leading("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{40,}"),
    _leading("Notion token", "ntn_ secret_", r"[A-Za-z0-9]{40,60}"),
    _leading("Figma token", "figd_ figu_", r"[\w-]{40,}"),
    _leading("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    # language models
    _leading("Anthropic key", "sk-ant-", r"(?:[a-z]+\d\d-)?[\w-]{24,}"),
    _leading("OpenRouter key", "sk-or-", r"(?:v1-)?[0-9a-f]{32,}"),
    _leading("OpenAI key", "sk-", r"(?:(?:proj|svcacct|admin)-[\w-]{24,}|[A-Za-z0-9]{32,})"),
    _leading("Hugging Face token", "hf_", r"[A-Za-z0-9]{34,}"),
    _leading("Groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _leading("xAI key", "xai-", r"[A-Za-z0-9]{60,}"),
    _leading("Perplexity key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _leading("Replicate token", "r8_", r"[A-Za-z0-9]{37}"),
    # messages
    _leading("Slack token", "xox", r"[abeoprs](?:\.xox[bp])?-[\w-]{10,}"),
    _leading("Slack token", "xapp-", r"\d-[\w-]{20,}"),
    _leading(
        "Slack webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/(?P<secret>[\w/-]{30,})",
    ),
    _holding("Discord token", ".", r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}", "[MNO]"),
    _leading(
        "Discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"(?P<secret>\d+/[\w-]{60,})",
    ),
    _holding("Telegram token", ":AA", r"\d{8,10}:AA[\w-]{32,33}"),
    _leading("Teams webhook", "webhook.office.com/", r"(?P<secret>webhookb2/[^\s)>\"']{60,})"),
    _leading(
        "DingTalk webhook",
        "oapi.dingtalk.com/robot/send?access_token=",
        r"(?P<secret>[0-9a-f]{64})",
    ),
    _leading(
        "Feishu webhook",
        "open.feishu.cn/open-apis/bot/v2/hook/ open.larksuite.com/open-apis/bot/v2/hook/",
        r"(?P<secret>[0-9a-f-]{36})",
    ),
    _leading(
        "WeCom webhook",
        "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=",
        r"(?P<secret>[0-9a-f-]{36})",
    ),
    _leading("Twilio key", "SK", r"[0-9a-f]{32}"),
    _leading("SendGrid key", "SG.", r"[\w-]{16,32}\.[\w-]{16,64}"),
    _leading("Mailgun key", "key-", r"[0-9a-f]{32}"),
    _holding("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    # payments
    _leading("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[0-9A-Za-z]{16,}"),
    _leading("Stripe key", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    _leading("Square token", "sq0atp- sq0csp-", r"[\w-]{22,43}"),
    _leading("Square token", "EAAA", r"[\w-]{60}"),
    _leading("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    # running things
    _leading("Vault token", "hvs. hvb. hvr.", r"[\w-]{24,}"),
    _holding("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _leading("Pulumi token", "pul-", r"[0-9a-f]{40}"),
    _leading(
        "Doppler token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]+\.)?[A-Za-z0-9]{40,44}"
    ),
    _leading("Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    _leading("Grafana token", "glc_eyJ", r"[A-Za-z0-9+/=]{32,}"),
    _leading("New Relic key", "NRAK- NRJS- NRII-", r"[A-Za-z0-9]{19,}"),
    _leading("Sentry token", "sntrys_ sntryu_", r"[\w=+/-]{40,}"),
    _leading("Supabase key", "sbp_", r"[0-9a-f]{40}"),
    _leading("Supabase key", "sb_secret_", r"[\w-]{20,}"),
    _leading("PlanetScale key", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{32,}"),
    _leading("Netlify token", "nfp_", r"[A-Za-z0-9]{36,}"),
    _leading("1Password token", "ops_eyJ", r"[\w=-]{60,}"),
    _leading("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    _leading("PuTTY key", "Private-Lines:", r" \d+\s+(?P<secret>(?:[\w+/=]{16,64}\s)+)"),
)

_FORMS = Anchors((form, form.anchors) for form in FORMS)

_LONG = re.compile(r"[A-Za-z0-9_-]{16}")
# What every key of these forms has in it, and most prose has not.

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<body>.*?)"
    r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\n[ \t]*\n(?=\S+ \S)|\Z)",
    re.DOTALL,
)
_LEAST_KEY = 40
# Characters of base64 in the smallest private key, that of Ed25519, less a few.

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,}\.(?P<claims>[\w-]*)\.[\w-]{8,}(?:\.[\w-]{8,}\.[\w-]{8,})?"
)
_SAMPLE = (b"John Doe", b"1234567890")
# What the well-known sample of a web token claims; half of all documentation shows it.


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Something that carries a secret; `signs` are what it has in it, in lower case."""

    label: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


_CARRIERS = (
    _Carrier(
        "password in a URL",
        ("://",),
        re.compile(r"://[^\s:/@\"'<>`]{0,80}:(?P<secret>[^\s\"'<>`]{3,200}?)@(?=[\w\[])"),
        lambda value: not re.fullmatch(r"[a-z]{1,12}|\d{1,5}", value),
    ),
    _Carrier(
        "authorization header",
        ("bearer ", "authorization"),
        re.compile(
            r"""\b(?:bearer|authorization["']?[ ]?[:=][ ]?["']?(?:basic|token|apikey)?)[ ]["']?
            (?P<secret>[\w.~+/-]{12,}=*)""",
            re.VERBOSE | re.IGNORECASE,
        ),
        is_random,
    ),
    _Carrier(
        "password",
        (" -p", " -a", " -u", " --user"),
        re.compile(
            r"""(?:\b(?:mysql|mysqldump|mariadb|mongosh?|redis-cli)\b[^\n|]{0,80}?[ ](?:-p|-a[ ])
            |\bsshpass[ ]-p[ ]?|\bcurl\b[^\n|]{0,120}?[ ](?:-u|--user)[ ]["']?[^\s:"']{1,60}:)
            ["']?(?P<secret>[^\s"'$]{4,})""",
            re.VERBOSE,
        ),
        lambda value: not value.isalpha(),
    ),
    _Carrier(
        "seed phrase",
        ("seed phrase", "recovery phrase", "mnemonic", "助记词", "恢复短语"),
        re.compile(
            r"""(?:phrase|mnemonic|助记词|恢复短语)[^\n]{0,12}?
            (?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})""",
            re.VERBOSE | re.IGNORECASE,
        ),
        lambda value: len(set(value.split())) > 6 and "the" not in value.split(),
    ),
)

_ANCHORED = Anchors((carrier, carrier.signs) for carrier in _CARRIERS)


def find(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, label) of each key that shows by its form; in no order.

    `lower` is the text in lower case.
    """
    if _LONG.search(text):
        yield from _formed(text)
    yield from _carried(text, lower)
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if "eyJ" in text:
        yield from _web_tokens(text)


def _formed(text: str) -> Iterator[tuple[int, int, str]]:
    for form in _FORMS.within(text):
        group = "secret" if "secret" in form.pattern.groupindex else 0
        for match in form.matches(text):
            if not is_placeholder(match[group]):
                yield *match.span(group), form.label


def _carried(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    for carrier in _ANCHORED.within(lower):
        for match in carrier.pattern.finditer(text):
            if carrier.is_secret(match["secret"]) and not is_placeholder(match["secret"]):
                yield *match.span("secret"), carrier.label


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _PRIVATE_KEY.finditer(text):
        material = re.sub(r"\\[nr]|[^A-Za-z0-9+/=]", "", match["body"])
        if len(material) >= _LEAST_KEY and not is_placeholder(material):
            yield *match.span(), "private key"


def _web_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _TOKEN.finditer(text):
        if not _is_sample(match["claims"]):
            yield *match.span(), "JSON web token"


def _is_sample(claims: str) -> bool:
    try:
        said = base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))
    except (binascii.Error, ValueError):
        return False
    return any(sample in said for sample in _SAMPLE)
