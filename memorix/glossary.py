"""Find what a question names in the words that another language has for it.

The model in the package reads English only, and words of Chinese and English have no letter in
common: a note in the one was out of reach for a question in the other.  The terms of the trade are
few and settled, so a glossary of them reaches further than its size; for Chinese, which that model
does not read at all, it also knows which words mean the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from memorix.lexemes import QueryTerm, index_words, is_spaceless, stem, words_and_stems

_LONGEST = 8
# Characters of the longest Chinese term.

_TERMS = """
access token = 访问令牌
account = 账号 账户 帐号
address = 地址
admin, administrator = 管理员 管理后台
alert, alarm = 告警 报警 警报
algorithm = 算法
annotation = 注解
api, endpoint, interface = 接口
app = 应用
approval, approve = 审批 批准
architecture = 架构
archive = 归档
array = 数组
asynchronous, async = 异步
attachment = 附件
audit = 审计
authentication = 认证 鉴权 身份验证
authorization, permission = 授权 权限
average = 平均
backend = 后端 服务端
backup = 备份
bandwidth = 带宽
batch = 批量 批处理
billing = 计费 账单
blacklist, blocklist = 黑名单
branch = 分支
browser = 浏览器
bug, defect = 缺陷 漏洞
build = 构建 编译
button = 按钮
cache, caching = 缓存
callback = 回调
canary = 灰度 金丝雀
capacity = 容量
certificate = 证书
channel = 渠道 通道
chart = 图表
checkout = 结账
cleanup = 清理
client = 客户端
clock = 时钟
cloud = 云端 云服务
cluster = 集群
code review = 代码评审 代码审查
column = 字段 列名
command = 命令
comment = 注释 评论
commit = 提交
commit message = 提交信息 提交说明
compatible, compatibility = 兼容
compile = 编译
component = 组件
compression = 压缩
concurrency, concurrent = 并发
config center, configuration center = 配置中心
configuration, config, setting = 配置 设置
conflict = 冲突
connection = 连接
connection pool = 连接池
constant = 常量
consumer = 消费者
container = 容器
contract = 合同 契约
convention = 约定 规范
copy = 复制
coverage = 覆盖率
crash = 崩溃 闪退
cron, scheduled job = 定时任务
currency = 币种 货币
customer = 客户
customer service, support team = 客服
dashboard = 看板 仪表盘 大盘
data warehouse = 数据仓库 数仓
database = 数据库
dataset = 数据集
date = 日期
deadline = 截止日期 截止时间
deadlock = 死锁
debug = 调试
decimal = 小数
dedup, deduplication = 去重
default = 默认
delay, latency = 延迟 时延
delete, remove = 删除
dependency = 依赖
deploy, deployment = 部署
deprecated = 弃用 废弃
design = 设计
device = 设备
dialog = 弹窗 对话框
directory, folder = 目录 文件夹
discount = 折扣 优惠
disk = 磁盘
distributed lock = 分布式锁
documentation, document, docs = 文档
domain = 域名
download = 下载
driver = 驱动
duplicate = 重复
email, mail = 邮件 邮箱
encoding = 编码
encryption, encrypt = 加密
entity = 实体
enum = 枚举
environment = 环境
environment variable = 环境变量
error = 错误 报错
error code = 错误码
event = 事件
exception = 异常
expire, expiry, expiration = 过期 到期 失效
export = 导出
failover = 故障转移 容灾
feature = 功能 特性
feature flag, feature toggle = 功能开关 特性开关
field = 字段
file = 文件
filter = 筛选 过滤
fingerprint = 指纹
firewall = 防火墙
firmware = 固件
font = 字体
foreign key = 外键
format = 格式
framework = 框架
frequency = 频率
frontend = 前端
function = 函数
gateway = 网关
generated, generate = 生成
hardcode, hard-coded = 硬编码
hash = 哈希
health check = 健康检查 探活
heartbeat = 心跳
hotfix = 热修复 紧急修复
icon = 图标
idempotent, idempotency = 幂等
image = 图片 镜像
import = 导入
incident, outage = 事故 故障
index = 索引
infrastructure = 基础设施
inherit, inheritance = 继承
injection = 注入
install, installation = 安装
integer = 整数
integration test = 集成测试
internationalization, i18n, locale = 国际化 多语言 语言包
inventory, stock = 库存
invoice = 发票
isolation = 隔离
job, task = 任务
key = 密钥 键名
keyboard = 键盘
label = 标签
language = 语言
layout = 布局
library = 类库
licence, license = 许可证
limit = 限制 上限
link = 链接
lint = 代码检查
load balancing, load balancer = 负载均衡
load test, stress test = 压测 压力测试
lock = 加锁
log, logging = 日志
log level = 日志级别
login, sign in = 登录
maintain, maintainer = 维护
memory = 内存
memory leak = 内存泄漏
merge = 合并
message = 消息
message queue = 消息队列
method = 方法
metric = 指标
microservice = 微服务
middleware = 中间件
migration, migrate = 迁移
mirror = 镜像源
mobile = 移动端 手机端
module = 模块
monitoring, monitor = 监控
namespace = 命名空间
naming = 命名
network = 网络
node = 节点
notification, notify = 通知 推送
null = 空值
object storage = 对象存储
offline = 离线
on-call, on call = 值班
online = 在线
order = 订单
order number = 订单号
owner, own = 负责人 负责
package manager = 包管理器
page = 页面
pagination = 分页
parallel = 并行
parameter = 参数
partition = 分区
password = 密码 口令
path = 路径
payment, pay = 支付 付款
performance = 性能
phone number = 手机号 电话号码
pipeline = 流水线
placeholder = 占位
plugin = 插件
popup = 弹窗
port = 端口
price = 价格
primary key = 主键
privacy = 隐私
process = 进程
product = 商品 产品
production = 生产环境 线上 正式环境 生产
profile = 画像
project = 项目
promotion, sale = 促销 大促
proxy = 代理
pull request = 合并请求
push = 推送
query = 查询
queue = 队列
quota = 配额
random = 随机
rate limit, rate limiting, throttling = 限流
read replica, replica = 从库 副本
recommendation = 推荐
reconcile, reconciliation = 对账
recursion = 递归
refactor, refactoring = 重构
reflection = 反射
refund = 退款
regex, regular expression = 正则
release = 发布 上线
repository = 仓库
request = 请求
requirement = 需求
resource = 资源
response = 响应
restart = 重启
retention = 保留
retry = 重试
return = 返回
review = 评审 复核
role = 角色
rollback, roll back = 回滚 回退
root cause = 根因
router, route = 路由
sandbox = 沙箱
schedule = 调度 排期
schema = 表结构
screenshot = 截图
script = 脚本
search = 搜索 检索
secret = 密钥
security = 安全
serialization = 序列化
server = 服务器
service = 服务
session = 会话
shard, sharding = 分片 分库 分表
shipping, delivery = 发货 配送
shortcut = 快捷键
signature, sign = 签名 验签
slow query = 慢查询
snapshot = 快照
source code = 源码 源代码
stack overflow = 栈溢出
staging = 预发 预发环境
statistics = 统计
status = 状态
storage = 存储
string = 字符串
style = 样式 风格
subscription = 订阅
switch = 开关
synchronize, sync = 同步
syntax = 语法
table = 数据表 表名
table name = 表名
template = 模板
tenant = 租户
terminal = 终端
test = 测试
test case = 用例
test environment = 测试环境
thread = 线程
thread pool = 线程池
threshold = 阈值
time series = 时序
time zone, timezone = 时区
timeout, time out = 超时
timer = 定时器
timestamp = 时间戳
token = 令牌
topic = 主题
trace, tracing = 链路追踪
traffic = 流量
training = 训练
transaction = 事务 交易
translation = 翻译
trigger = 触发
type = 类型
unit test = 单元测试 单测
update = 更新
upgrade = 升级
upload = 上传
upstream = 上游
user = 用户
username = 用户名
validation, validate = 校验
variable = 变量
vendor, supplier = 供应商
verification code = 验证码
version = 版本
virtual machine = 虚拟机
virtual environment = 虚拟环境
warehouse = 仓库
warning = 警告
webhook = 回调
whitelist, allowlist = 白名单
workflow = 工作流
"""


def translated(text: str, terms: Sequence[QueryTerm]) -> tuple[QueryTerm, ...]:
    """Return the terms of a text, each with the lexemes that other wordings of it have."""
    also = _also(text)
    if not also:
        return tuple(terms)
    return tuple(
        replace(term, also=tuple(found)) if (found := _of(term, also)) else term for term in terms
    )


def parts(terms: Iterable[QueryTerm]) -> Iterator[str]:
    """Yield the single lexemes that the other wordings of terms are made of."""
    for term in terms:
        for phrase in term.also:
            yield from phrase.split()


def known(
    terms: Sequence[QueryTerm], counts: dict[str, int]
) -> tuple[tuple[QueryTerm, ...], dict[str, int]]:
    """Return terms without the wordings that no note has, and in how many chunks each of the rest
    may be, given in how many each of its parts is."""
    least = {
        phrase: min(counts.get(part, 0) for part in phrase.split())
        for term in terms
        for phrase in term.also
    }
    kept = tuple(
        replace(term, also=tuple(p for p in term.also if least[p])) if term.also else term
        for term in terms
    )
    return kept, {**counts, **{phrase: count for phrase, count in least.items() if count}}


def _of(term: QueryTerm, also: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if term.kind == "cjk":
        return also.get(term.text, ())
    return also.get(term.stems[0], ()) if term.kind == "word" and term.stems else ()


def _also(text: str) -> dict[str, list[str]]:
    """Return the other wordings of each pair of characters, or stem, of a term in the text."""
    found: dict[str, list[str]] = {}
    if not text.isascii():
        for word in _chinese_in(text):
            for pair in index_words(word).split()[: len(word) - 1]:
                found.setdefault(pair, []).extend(_glossary()[word])
    for phrase in _english_in(words_and_stems(text)[1].split()):
        for part in phrase.split():
            found.setdefault(part, []).extend(_glossary()[phrase])
    return {own: list(dict.fromkeys(words)) for own, words in found.items()}


def _chinese_in(text: str) -> Iterator[str]:
    """Yield the terms in a text from left to right, the longest where several begin."""
    place = 0
    while place < len(text) - 1:
        lengths = range(_LONGEST, 1, -1) if is_spaceless(text[place]) else ()
        word = next((w for n in lengths if (w := text[place : place + n]) in _glossary()), "")
        if word:
            yield word
        place += max(len(word), 1)


def _english_in(said: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(said):
        phrases = (" ".join(said[place : place + n]) for n in (2, 1))
        phrase = next((p for p in phrases if p in _glossary()), "")
        if phrase:
            yield phrase
        place += max(len(phrase.split()), 1)


@cache
def _glossary() -> Mapping[str, tuple[str, ...]]:
    """Return for each term, a Chinese word or English stems, the lexemes of its other wordings."""
    found: dict[str, list[str]] = {}
    for line in _TERMS.strip().splitlines():
        english, _, chinese = line.partition(" = ")
        ours = [" ".join(map(stem, phrase.split())) for phrase in english.split(", ")]
        theirs = {word: _pairs(word) for word in chinese.split()}
        for phrase in ours:
            found.setdefault(phrase, []).extend(theirs.values())
        for word, own in theirs.items():
            others = (pairs for pairs in theirs.values() if pairs != own)
            found.setdefault(word, []).extend([*ours, *others])
    return {term: tuple(dict.fromkeys(words)) for term, words in found.items()}


def _pairs(word: str) -> str:
    return " ".join(index_words(word).split()[: len(word) - 1])
