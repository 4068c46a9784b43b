"""The words by which statements are compared, English and Chinese: what binds, what tells apart."""

from collections.abc import Iterable, Mapping


def _members(groups: Mapping[str, str], mark: str = "") -> dict[str, str]:
    """Turn `{name: "words, more words"}` into word -> name, with a mark before it."""
    return {
        word.strip(): f"{mark}{name}" for name, words in groups.items() for word in words.split(",")
    }


def _classes(classes: Mapping[str, Iterable[str]]) -> dict[str, dict[str, str]]:
    """Turn `{class: ["a, alias of a", "b"]}` into word -> {class: member}."""
    found: dict[str, dict[str, str]] = {}
    for name, members in classes.items():
        for member in members:
            first, *aliases = (word.strip() for word in member.split(","))
            for word in (first, *aliases):
                found.setdefault(word, {})[name] = first
    return found


QUALIFIERS = _members(
    {
        "production": "production, prod, 生产环境, 生产, 线上, 正式环境",
        "staging": "staging, 预发环境, 预发布, 预发, 预生产",
        "test": "test environment, test env, test cluster, test server, test database, 测试环境"
        ", 测试服, 测试库, qa, uat",
        "development": "development, dev, 开发环境",
        "local": "local, locally, laptop, 本地环境, 本机",
        "ci": "ci, 持续集成, 流水线",
        "sandbox": "sandbox, 沙箱",
        "canary": "canary, 灰度",
        "preview": "preview, 预览环境",
        "primary": "primary, master node, leader, 主库, 主节点",
        "replica": "replica, replicas, standby, follower, secondary, 从库, 备库, 只读副本, 从节点",
        "read": "read, 读超时, 读请求, 读库",
        "write": "write, 写超时, 写请求, 写库",
        "connect": "connect, 连接超时",
        "idle": "idle, 空闲",
        "lower": "minimum, min, at least, above, more than, greater than, smallest"
        ", 最小, 最少, 至少, 下限, 不少于, 不低于",
        "average": "average, avg, mean, median, 平均",
        "inbound": "inbound, incoming, ingress, 入站",
        "outbound": "outbound, outgoing, egress, 出站",
        "indoors": "indoor, indoors, 室内, 国内, 站内, 校内, 境内",
        "outdoors": "outdoor, outdoors, abroad, 室外, 国外, 海外, 站外, 校外, 境外",
        "internal": "internal, internally, private network, 内网, 内部",
        "external": "external, externally, public network, 外网, 外部",
        "frontend": "frontend, front end, 前端",
        "backend": "backend, back end, 后端",
        "client": "client, 客户端",
        "mobile": "mobile, phone, 移动端, 手机端",
        "web": "web, browser, browsers, 网页端",
        "desktop": "desktop, 桌面端",
        "admin": "admin, administration, 管理后台, 管理端",
        "metrics": "metrics, monitoring, 监控, 指标",
        "health": "health, healthcheck, 健康检查",
        "debug": "debugging, debug build, debug builds, debug mode, 调试",
        "release": "release build, release builds, release mode, 发布版, 正式版",
        "grpc": "grpc port, grpc 端口",
        "https": "https, tls port",
        "http": "http",
        "udp": "udp",
        "tcp": "tcp",
        "ipv4": "ipv4",
        "ipv6": "ipv6",
        "linux": "linux, ubuntu, debian",
        "macos": "macos, mac, os x",
        "windows": "windows",
        "android": "android, 安卓",
        "ios": "ios, iphone, 苹果端",
        "weekday": "weekdays, 工作日",
        "weekend": "weekends, weekend, 周末",
        "free": "free, 免费版, 免费",
        "paid": "paid, premium, 付费版, 付费",
        "full": "full, 全量",
        "incremental": "incremental, 增量",
        "unit": "unit, 单元",
        "integration": "integration, 集成测试",
        "end to end": "e2e, end-to-end, 端到端",
        "upload": "upload, uploads, uploaded, 上传",
        "download": "download, downloads, 下载",
        "soft": "soft",
        "hard": "hard",
        "old": "old, legacy, deprecated, former, previous, 旧版, 老版, 旧",
        "new": "new, next, upcoming, 新版, 新",
        "python": "python",
        "javascript": "javascript, js",
        "typescript": "typescript, ts",
        "java": "java",
        "go": "golang, go code, go style",
        "rust": "rust",
        "makefile": "makefiles, makefile",
    },
    "?",
)
# Words that say which of several things is meant: statements that differ in one never conflict.

EXCLUSIVE = _classes(
    {
        "switch": (
            "on, enabled, enable, active, activated, true, yes, turned on, 启用, 开启, 打开, 开",
            "off, disabled, disable, inactive, deactivated, false, turned off"
            ", 禁用, 停用, 关闭, 关",
        ),
        "need": ("required, mandatory, compulsory, 必填, 必选", "optional, 选填, 可选"),
        "visibility": ("public, 公开", "private, 私有, 不公开"),
        "order": ("before, 之前", "after, 之后"),
        "direction": ("ascending, 升序, oldest first", "descending, 降序, newest first"),
        "synchrony": (
            "synchronously, synchronous, sync, 同步",
            "asynchronously, asynchronous, async, 异步",
        ),
        "automation": (
            "automatic, automatically, 自动", "manual, manually, by hand, 手动, 人工, 手工",
        ),
        "part of the day": (
            "morning, mornings, 早上, 早晨, 上午", "afternoon, afternoons, 下午",
            "evening, evenings, 晚上, 傍晚", "at night, 夜里, 凌晨", "at noon, 中午",
        ),
        "openness": ("open, 开放", "closed, 不开放"),
        "presence": ("online, 在线", "offline, 离线"),
        "parallelism": ("sequential, sequentially, serially, 串行", "parallel, in parallel, 并行"),
        "case": ("case-sensitive, 区分大小写", "case-insensitive, 不区分大小写"),
        "frequency": (
            "hourly, every hour, 每小时",
            "daily, nightly, every day, every night, 每天, 每日, 每晚",
            "weekly, every week, 每周", "monthly, every month, 每月", "yearly, every year, 每年",
        ),
        "spoken language": (
            "english, 英文, 英语", "german, 德文, 德语", "french, 法文, 法语",
            "chinese, 中文, 汉语",
            "japanese, 日文, 日语", "spanish, 西班牙语", "korean, 韩文, 韩语", "italian", "dutch",
            "portuguese, 葡萄牙文, 葡萄牙语", "russian, 俄文, 俄语", "polish", "turkish", "arabic",
        ),
        "Python packages": ("pip", "uv", "poetry", "pipenv", "conda", "pdm", "pip-tools"),
        "JavaScript packages": ("npm", "pnpm", "yarn", "bun"),
        "database": (
            "postgres, postgresql, pg", "mysql", "mariadb", "sqlite", "oracle", "sql server, mssql",
            "mongodb, mongo", "cockroachdb", "dynamodb", "tidb", "clickhouse", "cassandra",
            "duckdb",
        ),
        "key-value store": ("redis", "memcached", "valkey", "etcd"),
        "queue": ("rabbitmq", "kafka", "nats", "sqs", "pulsar", "activemq", "rocketmq"),
        "test runner": (
            "pytest", "unittest", "nose", "jest", "vitest", "mocha", "junit", "testng", "rspec",
        ),
        "formatter": ("black", "ruff", "yapf", "autopep8", "prettier", "biome", "gofmt"),
        "linter": ("eslint", "ruff", "flake8", "pylint", "biome", "oxlint"),
        "user interface": (
            "react", "vue", "svelte", "angular", "solid", "preact", "ember", "htmx", "qt",
            "flutter",
        ),
        "state": ("redux", "zustand", "mobx", "recoil", "jotai", "pinia", "vuex"),
        "styling": ("tailwind", "bootstrap", "sass", "styled-components"),
        "bundler": ("webpack", "vite", "rollup", "esbuild", "parcel", "turbopack"),
        "integration": (
            "github actions", "gitlab ci", "jenkins", "circleci", "travis", "buildkite", "drone",
            "teamcity", "azure pipelines",
        ),
        "protocol": ("rest", "grpc", "graphql", "soap", "thrift", "json-rpc"),
        "format": (
            "json", "yaml", "toml", "xml", "ini", "protobuf", "msgpack", "avro", "csv", "parquet",
            "plain text, 纯文本", "html",
        ),
        "naming": (
            "snake_case, 下划线命名", "camelcase, 驼峰, 驼峰命名, 小驼峰", "kebab-case",
            "pascalcase, 大驼峰",
        ),
        "indentation": ("tabs, tab, 制表符", "spaces, space, 空格"),
        "merging": (
            "squash, squash-merged, squashed", "rebase, rebased", "merge commit, merge commits",
        ),
        "branch": ("main", "master", "trunk", "develop"),
        "level": ("trace", "debug", "info", "warning, warn", "error", "fatal"),
        "zone": ("utc, gmt", "local time, 本地时间", "cst, 北京时间", "cet", "pst"),
        "licence": ("mit", "apache-2.0, apache", "gpl", "agpl", "bsd", "mpl", "proprietary"),
        "language": (
            "python", "go, golang", "rust", "java", "kotlin", "typescript", "javascript", "ruby",
            "php", "c#", "c++", "swift", "scala", "elixir", "perl", "lua",
        ),
        "containers": ("docker", "podman"),
        "orchestration": ("kubernetes, k8s", "nomad", "docker swarm, swarm"),
        "cloud": ("aws", "azure", "gcp, google cloud", "阿里云", "腾讯云"),
        "shell": ("bash", "zsh", "fish"),
        "web framework": (
            "django", "flask", "fastapi", "express", "nestjs", "rails", "laravel", "gin", "spring",
        ),
        "mapper": ("sqlalchemy", "peewee", "prisma", "drizzle", "typeorm", "hibernate"),
        "search": ("elasticsearch", "opensearch", "meilisearch", "typesense", "solr"),
        "object store": ("s3", "gcs", "minio", "azure blob"),
        "documentation": ("sphinx", "mkdocs", "docusaurus"),
        "infrastructure": ("terraform", "pulumi", "cloudformation", "ansible"),
        "forge": ("github", "gitlab", "bitbucket", "gitea"),
        "chat": ("slack", "teams", "discord", "飞书", "钉钉", "企业微信"),
        "tracker": ("jira", "linear", "trello", "asana"),
        "mail": ("sendgrid", "ses", "mailgun", "postmark"),
        "payment": ("stripe", "paypal", "adyen", "支付宝", "微信支付"),
        "sign-in": ("oauth", "saml", "jwt", "session cookies", "ldap"),
    }
)  # fmt: skip
# Members of one class exclude each other where one and the same thing is spoken of.

CLOSED = frozenset({
    "switch", "need", "visibility", "order", "direction", "synchrony", "automation", "openness",
    "presence", "parallelism", "case", "frequency", "part of the day",
})  # fmt: skip
# Of these a statement has one member whatever its verb; a thing may support two of another.

SINGLE = frozenset({
    "Python packages", "JavaScript packages", "indentation", "merging", "branch", "naming", "zone",
    "licence", "formatter", "test runner", "integration",
})  # fmt: skip
# What a project mostly has one of: the class itself is subject enough.

ATTRIBUTES = _members(
    {
        "§port": "port, ports, listen, listens, listening, bound, binds, 端口号, 端口, 监听",
        "§owner": "owner, owned, owns, owner's, maintainer, maintained, maintains, contact"
        ", responsible, 负责人, 维护者, 维护人, 联系人, 接口人, 负责, 维护",
        "§timeout": "timeout, timeouts, time out, times out, timed out, 超时时间, 超时",
        "§version": "version, versions, 版本号, 版本",
        "§limit": "limit, limits, limited, maximum, max, cap, capped, at most, up to, no more than"
        ", not exceed, 上限, 限制, 最多, 最大, 不能超过, 不超过, 不得超过"
        ", 以内, 以下",
        "§path": "path, directory, folder, 路径, 目录",
        "§url": "url, endpoint url, base url, address, 地址, 网址, 链接",
        "§host": "host, hostname, 主机",
        "§branch": "branch, branches, 分支",
        "§retry": "retry, retries, retried, retrying, 重试",
        "§expire": "expire, expires, expiry, expiration, ttl, valid for, lifetime, 到期, 过期"
        ", 有效期, 有效时间, 有效",
        "§level": "log level, level, 日志级别, 级别",
        "§merge": "merge, merged, merges, merging, 合并",
        "§install": "install, installs, installed, installing, 安装",
        "§indent": "indent, indents, indented, indentation, 缩进",
        "§deploy": "deploy, deploys, deployed, deployment, deployments, release, releases"
        ", 发布, 部署, 上线",
        "§backup": "backup, backups, 备份",
        "§default": "default, defaults, by default, 默认",
        "§approve": "approval, approvals, approve, approvals, 审批",
        "§support": "support, supports, supported, 支持",
        "§package": "package manager, packages, package, dependency, dependencies"
        ", 包管理器, 包管理, 依赖",
    }
)
# Several ways to name one property.

FUNCTIONAL = frozenset(
    """
    §port §owner §version §path §url §host §branch §level §default §package name framework database
    queue provider tool language region key format editor timezone license licence strategy mode
    backend engine color colour theme library manager runner convention style primary main goal
    deadline budget lead author channel vendor model algorithm schema topic bucket cluster domain
    account username email currency locale encoding protocol broker registry driver
    """.split()  # noqa: SIM905
)
# Properties of which a thing has one.

GENERIC = frozenset(
    """
    a an the this that these those it its their our we us i you he she they them there here
    which who whom whose and or as of for to in on at by with from into onto over via per
    about under than then now currently still already today also only just so very more most all
    every each any some such be is are was were been being am has have had having do does did done
    will
    would shall should can could may might must get gets got go goes went come comes take takes
    took make makes made keep keeps kept put puts set sets run runs running ran start starts
    started starting begin begins stay stays use uses used using work works want wants need
    needs call called calls say says mean means like prefer prefers preferred recommend
    recommended consider think chose chosen choose decided configured configure configuration
    stored store stores saved hosted located lives live found written served serve exposed
    exposes speaks targets contains happen happens place places planned plan change changed
    changes move moved moves switch switched migrate migrated bump bumped raise raised lower
    lowered reduce reduced increase increased upgrade upgraded since ago lately recently
    everywhere always never not no don't doesn't isn't aren't mustn't shouldn't cannot can't
    without avoid instead rather exactly around roughly approximately please note important
    through within sent shorten shortened lengthen extend extended adjust adjusted replace replaced
    replaces swap swapped trim trimmed transferred
    actually really done daily nightly time times day days minute minutes hour hours second
    seconds per before after directly completely fully only even again often usually normally
    generally necessary allowed permitted forbidden prohibited fine ok okay safe nothing else
    """.split()  # noqa: SIM905 - a list of 200 strings is not easier to read
)
# Words, before stemming, that tell nothing about what is spoken of.

WEAK = frozenset(
    """
    user service server system app application api component module project repo repository team
    value number machine instance process tool setting parameter option site platform code
    file data size count
    """.split()  # noqa: SIM905
)
# Words that go with any name: `the gateway` and `the gateway service` are one thing.

ZH_GENERIC = (
    "只有|只能|"
    "搬到|迁移|迁到|挪到|移到|"
    "我们|团队|项目|目前|现在|如今|当前|已经|统一|一律|全部|所有|时候|时间|进行|运行|执行|设置|配置为|"
    "采用|使用|改用|选用|用的是|改为|改成|换成|换为|调整为|设为|设置为|就是|存放|保存|位于|放在|写在|"
    "写到|写入|存在|需要|应该|必须|可以|不要|不能|不得|禁止|不用|无需|不必|没有|直接|每天|每周|每月|"
    "每次|一直|始终|总是|从不|之前|之后|不再|注意|存储|跑|用|的|了|着|过|在|里|中|上|下|内|和|与|及|或|也|都|就|"
    "才|再|还|又|很|更|会|能|将|把|被|对|从|到|向|给|让|使|以|而|且|但|并|其|该|此|这|那|个|些|每|各|是|"
    "为|已|由|要|请|只|前|后|时|次|人|台|号|做|来|去|先|应|须|必|别|勿|不|无|没|有|时"
)
# Chinese words and particles that tell nothing about what is spoken of, longest first.

ZH_WEAK = "服务|系统|应用|接口|模块|平台|工具|组件|机器|文件|数据"
