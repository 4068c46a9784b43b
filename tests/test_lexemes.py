"""Text as search words: the same in notes and questions, and legal in FTS5."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.lexemes import (
    MAX_PHRASES,
    MAX_TERMS,
    QueryTerm,
    index_words,
    language_hint,
    match_expression,
    query_terms,
    words_and_stems,
)
from memorix.seams import without_seams

TOKENIZER = ["remove_diacritics", "2", "tokenchars", "_"]
ODD = st.text(st.characters(codec=None, categories=None), max_size=60)
WORDS = st.text(st.sampled_from("aB9_-./:@#+'’ é中文のถ\x00\ud800\"*()^"), max_size=40)


class Words:
    """A table as the index has it."""

    def __init__(self, *texts: str) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(scope, title, exact, stem, around, content='',"
            " contentless_delete=1, tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\")"
        )
        for text in texts:
            self.db.execute("INSERT INTO words(exact, stem) VALUES (?, ?)", words_and_stems(text))

    def match(self, question: str) -> list[int]:
        """Return the numbers of the texts found, from 0, best first."""
        expression = match_expression(query_terms(question))
        if not expression:
            return []
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid"
        return [row[0] - 1 for row in self.db.execute(sql, (expression,))]


EMPTY = Words("a note")


def tokens_of(word: str) -> list[str]:
    tokenizer = EMPTY.db.fts5_tokenizer("unicode61", TOKENIZER)
    found = tokenizer(word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    return [token for tokens in found for token in tokens if isinstance(token, str)]


def finds(question: str, text: str) -> bool:
    return bool(Words(text).match(question))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, world!", "hello world"),
        ("get_user_by_id", "getuserbyid get user by id"),
        ("getUserById", "getuserbyid get user by id"),
        ("HTTPServer GPUs", "httpserver http server gpus"),
        ("sqlite-vec", "sqlitevec sqlite vec"),
        ("18.2.1 v3.11", "18_2_1 18 2 1 v3_11 3_11 v3 11"),
        ("ERR_QUOTA_0x80", "errquota0x80 err quota 0x80"),
        ("C++ C# F# .NET ASP.NET", "cpp c csharp c fsharp f dotnet net aspnet asp net"),
        ("@scope/pkg", "scopepkg scope pkg"),
        ("node.js", "nodejs node js"),
        ("std::vector", "stdvector std vector"),
        ("--error-on-warnings", "erroronwarnings error on warnings"),
        ("src/user_name.py", "srcusernamepy src usernamepy username user name py"),
        ("Caroline's don't", "caroline dont"),
        ("café ＡＢＣ ﬁne Straße", "cafe abc fine strasse"),
        ("cafe\u0301 soft\u00adware", "cafe software"),
        ("用户登录", "用户 户登 登录 用 户 登 录"),
        ("修", "修"),
        ("重跑gen之后", "重跑 重 跑 gen 之后 之 后"),
        ("서버 설정", "서버 서 버 설정 설 정"),
        ("___ -- '' \x00 \ud800", ""),
    ],
)
def test_a_text_becomes_its_words_their_joined_forms_and_parts(text: str, words: str) -> None:
    assert index_words(text) == words


def test_stems_leave_out_stop_words_and_other_scripts() -> None:
    assert words_and_stems("The tests were running; 修正 of parseFiles")[1] == "test run pars file"


@pytest.mark.parametrize(
    "question",
    [
        *["C++", "C#", "foo-bar", "pre-edit-check", "node.js", "38.101", "GB/s", "100%", "don't"],
        *["user@example.com", "src/app/main.py", "$PATH", "E0425", "--error-on-warnings"],
        *["std::vector", "a AND b", "handleUserLogin", "snake_case_name", '"quoted words"'],
        *["[[link]]", "key=value", "vinegrove", "Main.py", "user login", "HANDLEUSERLOGIN"],
    ],
)
def test_what_people_copy_from_a_terminal_is_found(question: str) -> None:
    text = (
        "C++ and C# and F#; foo-bar and pre-edit-check; node.js 20.11.1 and section 38.101;\n"
        "40 GB/s at 100%; don't; user@example.com; src/app/main.py; ~/notes; $PATH; E0425;\n"
        "--error-on-warnings; std::vector; a AND b OR c NOT d; handleUserLogin; snake_case_name;\n"
        '"quoted words"; [[link]]; `code`; key=value; #hashtag. Word to find: vinegrove.'
    )

    assert finds(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("修正", "サンドボックスの修正を行った。"),
        ("引用", "重跑gen-itgc后五十条引用已清零。"),
        ("零", "重跑gen-itgc后五十条引用已清零。"),
        ("サンドボックス", "サンドボックスの修正を行った。"),
        ("설정", "서버설정을 바꾸었다"),
        ("ตั้งค่า", "การตั้งค่าเซิร์ฟเวอร์"),
        ("naive", "a naïve approach"),
        ("ran tests", "how to run the test"),
        ("привет", "Привет, мир"),
    ],
)
def test_words_of_any_language_are_found(question: str, text: str) -> None:
    assert finds(question, text)


def test_the_note_with_the_exact_name_comes_first() -> None:
    texts = [f"quota error ERR_QUOTA_0x{n:02x} raised by the quota service" for n in range(50)]
    texts[37] = "seen once: ERR_QUOTA_0x80"

    assert Words(*texts).match("ERR_QUOTA_0x80")[0] == 37


def test_a_whole_question_finds_its_note_also_with_an_unknown_word() -> None:
    words = Words("The valve of tank two broke.", "Tank three: new valve fitted.", "Lunch.")

    found = words.match("when was the frobnicated valve of tank three replaced?")

    assert found == [1, 0]


def test_stop_words_are_asked_for_only_when_there_is_nothing_else() -> None:
    assert match_expression(query_terms("who is it")).startswith('{title exact around} : ("who"')
    assert '"the"' not in match_expression(query_terms("the server"))


def test_terms_know_what_they_are() -> None:
    kinds = {term.text: term.kind for term in query_terms("The 登录 of getUserById failed E0277")}

    assert kinds == {
        "The": "stop",
        "登录": "cjk",
        "of": "stop",
        "getUserById": "identifier",
        "failed": "word",
        "E0277": "identifier",
    }


def test_a_word_asked_for_twice_is_one_term() -> None:
    assert [term.text for term in query_terms("Server server SERVER log")] == ["Server", "log"]


def test_words_that_only_ask_are_left_out_of_a_chinese_question() -> None:
    (term,) = query_terms("密码是什么")

    assert term.exact == ("密码",)
    assert query_terms("什么")[0].exact == ("什么",)


def test_the_share_of_a_term_grows_with_what_is_held() -> None:
    (name,) = query_terms("getUserName")
    (run,) = query_terms("用户登录")
    (word,) = query_terms("running")

    assert name.share_of(frozenset({"getusername"})) == 1.0
    assert name.share_of(frozenset({"user"})) == pytest.approx(1 / 3)
    assert run.share_of(frozenset({"用户"})) == pytest.approx(1 / 3)
    assert word.share_of(frozenset({"run"})) == 1.0
    assert word.share_of(frozenset({"walk"})) == 0.0


def test_a_pasted_log_is_a_bounded_question() -> None:
    pasted = " ".join(f"word{n} 登录{chr(0x4E00 + n)}" * 3 for n in range(5000))

    terms = query_terms(pasted)

    assert len(terms) == MAX_TERMS
    assert match_expression(terms).count('"') <= 4 * MAX_PHRASES
    assert EMPTY.match(pasted) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("plain English", "en"),
        ("naïve café, größer", "en"),
        ("如何登录服务器", "zh"),
        ("用 Redis 缓存登录会话", "zh"),
        ("a long English sentence which mentions 登录 once", "en"),
        ("サンドボックスの修正を行った", "ja"),
        ("서버 설정을 바꾸었다", "ko"),
        ("การตั้งค่า", "th"),
        ("настройка сервера", "ru"),
        ("تكوين الخادم", "und"),
        ("", "en"),
        ("。！🎉", "en"),
    ],
)
def test_a_script_gives_the_language_away(text: str, language: str) -> None:
    assert language_hint(text) == language


@given(ODD | WORDS)
def test_every_lexeme_is_one_token_that_fts5_leaves_alone(text: str) -> None:
    for word in " ".join(words_and_stems(text)).split():
        assert tokens_of(word) == [word]


@given(ODD | WORDS)
def test_any_question_is_safe(question: str) -> None:
    EMPTY.match(question)


@given(ODD | WORDS)
def test_what_is_asked_for_is_what_was_indexed(text: str) -> None:
    indexed = set(index_words(text).split())

    for term in query_terms(text):
        assert indexed.issuperset(term.exact + term.parts)


@given(ODD)
def test_any_text_has_a_language(text: str) -> None:
    assert language_hint(text) in {"en", "zh", "ja", "ko", "th", "ru", "und"}


def test_pairs_that_join_a_word_to_one_that_asks_are_not_asked_for() -> None:
    (term,) = query_terms("订单编号为什么不用自增")

    assert term.exact == ("订单", "单编", "编号", "不用", "用自", "自增")


def test_pairs_that_straddle_two_words_of_a_question_weigh_nothing() -> None:
    pairs = [QueryTerm(pair, "cjk", (pair,)) for pair in ("订单", "单编", "编号", "号规", "规则")]
    word = QueryTerm("nacos", "word", ("nacos",))

    kept = without_seams([*pairs, word], {pairs[0]})

    assert [term.text for term in kept] == ["订单", "编号", "规则", "nacos"]
