"""The words by which a sentence shows what it does: preference, rule, decision, promise... (tables, both languages).

For sentences as `acts.normal` gives them: half-width punctuation, simplified characters in these words, quoted words
blanked. `B` is where a clause begins: its subject must stand there, so that "he thinks I hate red" is nobody's word.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_I = re.IGNORECASE
_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)?")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    words = _WORDS.findall(text.lower())
    return frozenset((*words, "中") if _CHINESE.search(text) else words)


B = r"(?:(?:^|[,;:(—–-]|\b(?:and|but|because|since|so|while|also|please|well|ok|okay|yes|now|btw|honestly|remember)\b,?)\s*)"
C = r"(?:^|[,;:。\s]|时候?|之前|之后|这次|今天|现在|因为|而且|但是?|所以|另外|其实|不过|记住|说实话)"


class Pattern:
    """Alternatives, tried only on a text that is Chinese or has one of the `hints`: most have none, and words are cheap.

    Those that begin with B or C are tried where a clause begins, all together.
    """

    def __init__(self, hints: str, *alternatives: str) -> None:
        self._hints = frozenset(("中", *hints.split()))
        clauses = [_at(start, alternatives) for start in (B, C)]
        anywhere = [one for one in alternatives if not one.startswith((B, C))]
        self._pattern = re.compile("|".join(filter(None, (*clauses, *anywhere))), _I)

    def search(self, text: str) -> re.Match[str] | None:
        return None if self._hints.isdisjoint(_words(text)) else self._pattern.search(text)


def _at(start: str, alternatives: Iterable[str]) -> str:
    rest = "|".join(one.removeprefix(start) for one in alternatives if one.startswith(start))
    return f"{start}(?:{rest})" if rest else ""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _I)


DO = (  # what an agent is told to do, or not to
    "(?:use|run|write|add|check|commit|push|ask|answer|reply|respond|call|include|test|format|put|send|start|end|make (?:sure|it|the|all|a|every)|give (?:me|us|the|a|all|your)|show|read|follow|"
    "avoid|delete|remove|touch|edit|change|modify|deploy|create|install|mention|suggest|book|order|buy|cook|choose|address|sign|print|log|"
    "name|set|store|save|wait|explain|translate|speak|summari[sz]e|quote|cite|verify|confirm|double-check|back|lint|review|merge|schedule|"
    "remind|tell|skip|wrap|sort|round|convert|return|assume|guess|invent|share|publish|pin|build|mock|hard-?code|import|be (?:brief|concise|"
    "polite|honest|formal|specific|explicit)|keep (?:the|your|it|all|answers|replies|functions|commits|a)|rebase|squash|force|overwrite|"
    "restart|drop|truncate|upload|download|email|e-mail|text|ping|notify|charge|pay|sell|trade|reveal|expose|disclose|cut|strip|escape|"
    "validate|measure|benchmark|profile|document|annotate|type|indent|serve|pack|plan|work|talk|speak|greet|start|open|close|exit|prefix|"
    "append|attach|copy|cc|bcc|label|tag|mark|sanitize|encrypt|rename|reuse|repeat|refactor|prefer|do (?:the|a|all|code|math|work))"
)

# --- what makes a sentence no statement of the author's ------------------------------------------------------------

NOT_STATED = _any(
    # 1. supposed, not said
    r"\b(?:suppose|supposing|imagine|imagining|hypothetically|pretend|what if|let's say|say i|assume|assuming|as if|as though|i wish|if only)\b",
    r"\bif (?:i|we|you|it|he|she|they|my|our)\b[^,;.]*\b(?:were|was|had|liked?|loved?|hated?|prefer(?:red)?|wanted|dislike[ds]?|did|could|would|didn't|weren't|wasn't|am|'m|live|lived)\b",
    r"\b(?:would have|could have|had i|were i|for (?:example|instance)|e\.g\.|in theory)\b",
    r"假如|假设|假想|设想|想象|如果我|如果是我|要是我|若是我|若我|我要是|我如果|要不是|万一|比如|例如|譬如|打个比方|倘若",
    # 2. not sure
    r"\b(?:maybe|perhaps|possibly|probably|might|i wonder|not sure|unsure|i guess|i suppose|may be|no idea|i doubt|who knows|apparently|allegedly|supposedly)\b",
    r"也许|或许|大概(?!率)|(?<![尽不])可能|不确定|不一定|似乎|好像|估计|说不定|不知道|不清楚|没想好|还没决定|没决定",
    # 3. said by others
    r"\b(?:he|she|they|people|someone|somebody|everyone|everybody|users?|customers?|[a-z]+) (?:say|says|said|think|thinks|thought|claims?|claimed|believes?|believed|wrote|writes|told|tells|argues?|argued|insists|suggested|mentioned|complained|asked|replied|answered|reported|assumes?)\b(?<!\bi think)(?<!\bi thought)(?<!\bi said)(?<!\bi mentioned)(?<!\bwe said)(?<!\bi believe)(?<!\bi told)(?<!\bas said)(?<!\bi asked)",
    r"\b(?:according to|quote|quoted|quoting|it says|the saying|rumou?r|i (?:heard|read|saw|noticed|found) (?:that|about|in|on|a|an|the|this)|as they say|in the (?:book|movie|film|article|song|story|novel|game))\b",
    r"(?:他|她|它|他们|她们|有人|别人|人家|大家|老板|客户|同事|朋友|老师|经理|妈妈|爸爸|妻子|老婆|老公|文档|文章|书|书上|网上|新闻|用户|对方|网友|作者|电影里|小说里)[^,。;]{0,6}(?:说|认为|觉得|声称|写道|写着|表示|提到|告诉|以为|问)",
    r"我[^,。;]{0,12}(?:看到|读到|听到|见到|看见)|据说|听说|传闻|据称|俗话说|引用|原话",
    # 4. past, or asked to be written
    r"\b(?:used to|once (?:liked|loved|hated)|as a (?:kid|child)|back then|in the past)\b|(?:^|[,。;]|我们?)(?:以前|从前|过去)|曾经|小时候|当年",
    r"\b(?:write (?:a|an|me|him|her|them|it|some|about|back|to|down|up)|draft (?:a|an)|compose|translate|rephrase|paraphrase|proofread|reword|role-?play|act as|you are (?:a|an|now)|the (?:sentence|phrase|word|string|character|hero|heroine)|lyrics?|poem|a story)\b",
    r"(?:^|请|帮我|把[^,。;]{0,20})翻译|翻译(?:成|为|一下|下|这|以下|:)|改写|润色|造句|这句话|扮演|你是一[个名位]|写(?:一|个|封|篇|首|段)|角色",
    # 5. addressed to whoever reads it, against who runs it
    r"\b(?:ignore|disregard|forget) (?:all|any|previous|prior|the above|your|everything)\b|\bsystem prompt\b|忽略(?:以上|之前|前面|所有|一切)|系统提示",
)  # fmt: skip

ONCE = _any(
    r"\b(?:this time|for now|just this once|right now|at the moment|(?:for|in|on) this (?!repo|project|code ?base|house|team|company|account)|for the moment|temporarily|today|tonight|this (?:once|task|morning|afternoon|evening|week|case)|just now|currently|tomorrow|at once|immediately|right away)\b",
    r"这次|这一次|此次|本次|今天|今晚|现在先|先这样|暂时|目前|这个(?:任务|文件|问题|项目)|这回|眼下|这会儿|刚才|今早|明天|马上|立刻",
)  # fmt: skip

# --- said on purpose for later -------------------------------------------------------------------------------------

MEMORY_CALL = re.compile(
    r"^(?:(?:please|pls|and|also|so|ok|okay|can you|could you|would you|will you|i want you to|i need you to|you should|you must|always)[, ]+)*"
    r"(?:remember|memori[sz]e|keep in mind|bear in mind|make a (?:mental )?note|don't (?:ever )?forget|do not forget|save (?:this|that|it) (?:to|in) (?:your )?memory|store (?:this|that))\b"
    r"(?P<what> (?:this|that|the following)\b(?: for (?:later|the future|next time|good))?| for (?:later|the future|next time))?(?P<mark>\s*[:,—–-]+)?\s*(?P<that>that\b\s*)?"
    r"|^(?:请|麻烦|你|你要|帮我|另外|对了|一定要|务必)*(?:记住|记着|记下来?|记一下|牢记|记牢|别忘了?|不要忘了?|请记得|记得(?=我|以后|每次))(?:了|这个|这点|这一点|这件事|一下|一点)*(?P<zhmark>[:,。\s]*)",
    _I,
)
STATED = re.compile(
    r"\b(?:i|my|we|our|i'm|is|are|am|was|has|have|hates?|likes?|prefers?|uses?|lives?|works?|must|should|needs?|can|cannot|never|always|don't|doesn't|not|no|will)\b|\w's\b",
    _I,
)
_RULE_HEAD = r"(?:^(?:(?:please|and|but|so|then|also|ok|okay|you should|you must|you have to|make sure (?:to|you)|i want you to|i need you to|i'd like you to|remember to|we|i expect you to|be sure to)[, ]+)*|[,;:—–-]\s*(?:please |you (?:should |must )?|so |i want you to )?)"
FOR_LATER = Pattern(
    "now today henceforth forward future rule always never don't not stop whenever every each again",
    r"^(?:(?:please|and|so|but|ok|also)[, ]+)*(?:from now on|from today on|from here on|henceforth|going forward|in (?:the )?future)\b(?!.{0,12}\b(?:i'll|i will|i'm|i hope|i want to|i would|i plan)\b)",
    rf"^(?:(?:please|and|so|but|ok|also|you should|you must|do not|don't|only)[, ]+)*{DO}\b.*\b(?:from now on|going forward|in (?:the )?future|henceforth)\b|\bmake it a rule\b",
    rf"{_RULE_HEAD}(?:always|never(?: ever)?|don't ever|do not ever|never again) {DO}\b",
    rf"{_RULE_HEAD}(?:do not|don't) {DO}\b.*\b(?:ever again|any ?more|again)\b|{_RULE_HEAD}stop \w+ing\b.*\b(?:any ?more|for good|altogether)\b",
    rf"^(?:please )?(?:whenever|every time|each time) [^,]+, (?:please |you should |always |first )*{DO}\b",
    r"(?:^|[,:;。\s]|请|你|那|我们?|记住|也|就)(?:以后|今后|往后|日后)(?!再[说看议聊]|吧|还|可以考虑|我(?:也|会|可以|要|想|再|就|们会|们再|一定))|从现在起|从现在开始|从今以后|从今往后|从今天起|从此",
    r"(?:^|[,:;。\s]|请|你|记得|都)(?:永远|再也|总是|始终|一律|每次都?|千万)(?:要(?!求)|不要|不能|不许|别|得(?!到)|用|先|使用|给(?!我)|把)|(?:^|[,:;。\s]|请|你)(?:不要再(?!次)|别再)",
)  # fmt: skip

# --- what is preferred ---------------------------------------------------------------------------------------------

_ADVERB = r"(?:(?:really|strongly|usually|generally|always|personally|also|still|just|much|actually|absolutely|truly|do|definitely|certainly|simply|very much|both|all|particularly|especially|only) )*"
_DEICTIC = r"(?! (?:to (?:say|see|know|hear|bother|think)\b|to$|it\b(?! when)|how\b|all the\b|both of\b|this\b|that\b|these\b|those\b|them\b|him\b|her\b|you\b|where\b|what (?:you|i)|your\b|the (?:idea|look|result|way|first|second|third|last|new|other|above|former|latter|option|sound|change)\b)|[.!,]|$)"
PREFERENCE = Pattern(
    "prefer love hate dislike detest loathe enjoy adore favor favour can't cannot not insist like don't longer never fond fan fans keen partial averse "
    "rather want expect preference favorite favourite favorites favourites peeve",
    rf"{B}(?:i|we)(?:(?:'d| would)? {_ADVERB}prefer| {_ADVERB}(?:hate|dislike|detest|loathe|can't stand|cannot stand|can not stand|can't bear|insist on|favou?r)){_DEICTIC} (?P<what>.+)",
    rf"{B}(?:i|we) {_ADVERB}(?:love|enjoy|adore)(?! the (?!colou?r|taste|smell|sea|beach|outdoors|mountains)){_DEICTIC} (?P<what8>.+)",
    rf"{B}(?:i|we) {_ADVERB}like(?! the (?!colou?r|taste|smell|sea|beach|outdoors|mountains)){_DEICTIC} (?P<what2>.+)",
    rf"{B}(?:i|we) (?:do not|don't|no longer|never) {_ADVERB}(?:like|love|want(?! to\b)|enjoy|eat|drink|use|wear|prefer|need(?! to\b)|care for){_DEICTIC} (?P<what3>.+)",
    rf"{B}(?:i'm|i am|we're|we are) (?:(?:really|not|a|an|big|huge|very|quite|so|not really) )*(?:fond of|fans? of|keen on|partial to|not into|averse to){_DEICTIC} (?P<what4>.+)",
    rf"{B}(?:i|we)(?:'d| would) (?:much )?rather (?:not )?(?P<what5>\w.+)",
    rf"{B}(?:i|we) (?:always )?(?:want|expect|like) (?P<what6>(?:all|every|each|any) .+)",
    rf"{B}my (?:(?:personal|strong|general|all-time) )?(?:preference|favou?rites?|pet peeve)\b.*\b(?:is|are)\b (?P<what7>.+)",
    rf"{C}(?:我们?|咱们?|本人)(?:个人|真的|确实|其实|也|都|还是|一直|一向|向来|平时|通常|比较|更|最|很|非常|特别|尤其|十分|超级?|极其|不太|不怎么|不是很|绝对|从来|就|不|从不|不再|再也不)*(?:喜欢|喜爱|偏好|偏爱|讨厌|厌恶|反感|痛恨|热爱|钟爱|受不了|偏向|爱(?=[吃喝用看听穿玩])|习惯(?!了这)|倾向于?|不吃|不喝|只用|只吃|只喝|不想要|忌口|忌)(?!这|那[个种样些]|它|你|他|她|了这|上了|的)(?P<zh>[^,。;!]+)",
    rf"{C}我(?:个人)?(?:的)?(?:偏好|最爱|喜好|口味)(?:是|为|:)?(?P<zh2>[^,。;!]+)",
    rf"{C}我最(?:喜欢|讨厌|爱)的[^,。;是]{{1,10}}是(?P<zh3>[^,。;!]+)",
)  # fmt: skip
RULE = Pattern(
    "all every each any don't not",
    r"(?:^(?:(?:please|and|so|note|remember)[,: ]+)*|[,;:]\s*)(?:all|every|each|any) (?!of (?:these|those|this|that|them)\b)[\w -]{2,40}? (?:must|should|have to|has to|need to|needs to|shall)\b",
    rf"^(?:please )?(?:do not|don't) {DO} \w+",
    r"(?:所有|每个|每份|每次|任何|凡是)[^,。]{1,15}(?:都|必须|要|应该|应当|不能|不要|不得|得)|(?:^|[,:;。\s]|请|你)(?:不要|别|禁止|不许|不准|必须|一定要)(?!担心|客气|急|忘|着急|误会|管我|停|走|介意|怕|的)[^,。]{2,}",
)  # fmt: skip

# --- what was put right, decided, promised, learned ----------------------------------------------------------------

# what had one value has another: a release moves from one day to the next, a price goes up, a file is renamed
CHANGES = (
    "moves?|moved|shifts?|shifted|slips?|slipped|changes?|changed|switch(?:es|ed)|renamed|postponed|rescheduled|delayed|deferred|extended|shortened|reduced|increased|"
    "raised|lowered|cut|goes|went|grows?|grew|rises?|rose|drops?|dropped|falls?|fell|pushed|put|brought"
)
CHANGES_ZH = (
    "改|换|变|推迟|提前|调整?|延期|延后|延|推|挪|移|涨|升|降|减|增加|减少|提高|降低|延长|缩短|更名|搬"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_CHANGED = (  # its subject is a thing, not who is told or tells what he did
    rf"^(?!(?:i|we|you|he|she|they|please|can|could)\b)(?:[^\s,;]+ ){{1,8}}?(?:{CHANGES})\b[^,;.]{{0,30}}?(?:\bfrom [^,;]{{1,40}}? to\b|\b(?:to|until|till|by) (?:\S+ )?(?:\d|{_WEEKDAY}|{_MONTH}\b))"
    rf"|^(?:i|we)(?:'ve| have)? (?:moved|changed|switched|postponed|rescheduled|delayed|shifted|renamed|raised|lowered) (?!it\b|this\b|that\b|them\b)[^,;]{{2,40}} (?:to|until|till|by) (?:\S+ )?(?:\d|{_WEEKDAY}|{_MONTH}\b)"
    rf"|(?:从|由)[^,。;]{{1,20}}?(?:{CHANGES_ZH})(?:成|为|到|至)|[^,。;]{{2,12}}(?:{CHANGES_ZH})(?:了?到|至)了?(?:\d|[零一二两三四五六七八九十百千万]|周|星期|下)"
)

CORRECTION = Pattern(
    "no nope nah actually meant wrong incorrect right correct mistake true mistaken not instead scratch correction mind back longer anymore more change "
    "switch make rename move set from to until till by",
    _CHANGED,
    r"^(?:no|nope|nah)[,.!—–-]+ ?(?!problem|worries|idea|thanks|need|rush|doubt|matter|way|not (?:really|yet|at|much)|i(?:'ve| have| haven't| didn't| don't| am|'m| can't| was)\b|never|nothing|just|but)\S|^no (?:no|not|it'?s|it is|use|that'?s|the|we)\b",
    r"^(?:well, |but |oh, |wait, |hmm, |sorry, )*actually\b|\bi meant\b|\b(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|not right|not correct|a mistake|not true)\b|\byou(?:'re| are| were) (?:wrong|mistaken)\b",
    r"\bnot (?!only|just|really|much|bad|easy|sure|always|even)(?:[\w.:$-]+ ?){1,4}?,? but (?!i\b|we\b|it\b|also|just|he\b|she\b|they\b|the\b|having|not)[\w$]+|(?:^|it'?s |it is |that'?s |on |at |in |use |is |are |with )not [\w.:$-]+(?: [\w.:$-]+)?[,;—–-] ?(?:it'?s |it is |use )[\w$]+|[\w.%]+(?<!\bawesome), not (?!only|quite|right|now|there|here|today|too|so|far|bad|just|really|that|because|if|when|to\b|sure|yet|at\b)[\w$]+",
    rf"^(?:[\w' ]+[,:] )?(?:please |let's |just )*{DO}\b.*\binstead\b|\binstead[.!]*$|\b(?:let's|we should|you should|i want|we'll|please) .*\binstead\b",
    r"\b(?:scratch that|correction|let me correct|i was wrong|my mistake|changed? my mind|i take (?:it|that) back|no longer|not any ?more|anymore)\b",
    r"^(?:please )?(?:change|switch) (?:it|that|this|them) (?:back )?to \w+",
    r"不对|错了|说错|弄错|搞错|记错|写错|改成|改为|改用|换成|换为|换用|更正|纠正|修正一下|(?:^|[,。\s])应该是|而是|我(?:是)?改主意|改主意了|改变主意|不再(?!那么|感到|觉得)|(?:^|[,。\s])其实(?!我也)|不是[^,。不]{1,12},?\s*(?:而)?是|(?:^|[,。\s])不,|(?:^|[,。\s])不是,|[^,。]{3,},(?:而)?不是[^,。]{1,16}[。!]?$",
)  # fmt: skip
REPLACED = Pattern(  # of a correction: something stands in the place of what was wrong
    "no nope nah instead not change switch rename move should from to until till by",
    _CHANGED,
    rf"^(?:(?:no|nope|nah|actually|sorry|wait)[,.!—–-]* ?)*{DO}\b|\b{DO}\b.*\binstead\b|\binstead[.!]*$|\bnot\b.+\bbut\b|, not |^(?:please )?(?:change|switch)\b.+ to |\bshould be\b",
    r"改成|改为|改用|换成|换为|换用|应该是|而是|不是[^,。不]{1,12},?\s*(?:而)?是|用的?是",
)  # fmt: skip
DECISION = Pattern(
    "let's let decided agreed settled chosen concluded opted committed will go decision i'll we'll going",
    rf"{B}(?:let's|let us) (?:go (?:with|for)|use|keep(?! \w*in[g']|.{{0,6}}\b(?:up|you|ya|each|everyone|on|at|in touch|calm)\b)|stick (?:with|to)|switch to|drop|skip|choose|pick|adopt|stay with|settle on|ship|move to|postpone|cancel) (?!it\b|this\b|that\b|the (?:first|second|third|other|same|last|next|new)\b)",
    rf"{B}(?:i|we)(?:'ve| have|'d| had)? (?:now |finally |just )?(?:decided|agreed (?:on|to|that)|settled on|chosen|concluded|opted for|committed to)\b",
    rf"{B}(?:i|we)(?:'ll| will|'re going to| are going to|'m going to| am going to) (?:go with|use|stick (?:with|to)|switch to|drop|adopt|stay with|move to|skip|migrate to|standardi[sz]e on) (?!it\b|this\b|that\b)",
    r"^(?:(?:ok|okay|right|fine|yes|so|then|good|great|alright)[, ]+)*(?:go with|we go with|we're going with|we are going with|the decision (?:is|stands|remains)|decision:|final decision|decided:|it is decided)\b(?! (?:it|this|that)\b)",
    r"(?:^|[,。;\s])(?:所以|那|最后|最终|今天|刚刚|已经)*(?:我们?|咱们|大家)?(?:最后|最终|已经|都|一致|商量后)*决定(?!不了|权|因素|性|了[。!]?$)|(?<![没不你])决定(?=采?用|选|把|在|不|改|先|将|放弃|于)|(?:^|[,。;\s])(?:那|我们?|咱们|最后|最终|还是)*(?:就用(?!第)|选定|敲定|选用|采用|定为|就选|确定用|确定采用|定下来|说定了|选择)|定在|(?:^|[,。;])[^,。;把给]{1,10}(?:采用|选用|定为)",
)  # fmt: skip
FIGURE = re.compile(
    rf"\d|\b{_WEEKDAY}s?\b|\b{_MONTH}\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|half|twice|noon|midnight)\b"
    r"|(?:[零二两三四五六七八九十百千万半][零一二两三四五六七八九十百千万半]*|一(?=[十百千万亿月号周小]))\s?(?:个|天|点|月|号|日|万|块|元|周|年|次|份|页|台|人|倍|%|折|小时|分钟|亿)|周[一二三四五六日天]|星期[一二三四五六日天]",
    _I,
)
EXACT = re.compile(r"\d|[零一二两三四五六七八九十百千万]{2,}|[一二两三四五六七八九十][月号日点万块元]")
PROMISE = Pattern(
    "will shall going promise promised plan commit guarantee aim have must need i'll we'll release launch ship deliver publish deploy go move leave fly meet present "
    "submit pay open close start finish demo freeze delivery deadline rollout submission deployment milestone version due",
    rf"{B}(?:i|we)(?:'ll| will| shall|'m going to| am going to|'re going to| are going to| promise(?:d)?\b| plan to| commit to| guarantee| aim to| have to| must| need to)\b",
    rf"{B}(?:i|we) (?:release|launch|ship|deliver|publish|deploy|go live|move|leave|fly|meet|present|submit|pay|open|close|start|finish|demo|freeze)\b",
    r"\b(?:release|launch|delivery|deadline|go-live|rollout|demo|code freeze|submission|deploy(?:ment)?|milestone|version [\w.]+)\b.{0,30}\b(?:is|are|on|by|due|planned|set|scheduled|moved|goes|will)\b|\bdue (?:on|by|date)\b|^(?:deadline|due|release|launch)\b.{0,12}:",
    r"(?:我们?|咱们)(?:会|将|要|打算|计划|准备|保证|承诺|答应|得(?!到)|一定|必须)|保证|承诺|发布|上线|交付|截止|提交|到期|搬家|答辩|开幕|验收|封版|交稿|交房"
    r"|我们?[^,。;]{0,10}(?:发给|交给|寄给|付给|还给|做完|搞定|完成|交稿|付款|付清)",
)  # fmt: skip
DONE = re.compile(
    r"(?:发布|上线|交付|提交|完成)了|已经?(?:发布|上线|交付|提交|完成)|昨天|前天|上周|上个?月|\b(?:yesterday|last (?:week|month|night|year)|ago)\b",
    _I,
)
PAST = re.compile(
    r"\b(?:was|were|went|took|had|got|been|yesterday|ago|last (?:week|month|night|year|time)|must (?:have|feel)|glad)\b|昨天|前天|上周|上个?月|刚刚|(?<![不忘定])了[,。!]?$",
    _I,
)
LESSON = Pattern(
    "lesson lessons mistake root cause problem takeaway fix culprit learned learnt next turns turned should shouldn't fail fails failed broke crash crashes crashed timed "
    "wrong work",
    r"\b(?:lessons? learne?[dt]|lesson(?: here)?(?: is|:)|the (?:mistake|lesson|root cause|real (?:cause|problem)|takeaway|fix|culprit) (?:was|is)|root cause (?:is|was|of .+ (?:is|was))|we learne?[dt]|i learne?[dt] that|next time\b.*\b(?:\w+ \w+)|turn(?:s|ed) out (?:that|to be|the|it was)|should(?:n't| not)? have (?:\w+(?:ed|en|ne|wn)|put|set|run|read|kept|made|built|left|sent|told|used))\b",
    r"\b(?:fail(?:s|ed)?|broke|crash(?:es|ed)?|timed out|went wrong|did(?:n't| not) work|does(?:n't| not) work)\b.*\b(?:because|due to|as the|unless|without|when(?:ever)?|if)\b",
    r"教训|吸取|踩坑|踩过|下次(?:要|应该|应当|别|不要|记得|先|一定|得|务必)|(?:失败|报错|出错|崩溃|超时|挂了|出问题)[^。]{0,12}(?:是?因为|由于|原因)|(?:因为|由于)[^。]{2,40}(?:失败|报错|出错|崩溃|超时|挂了)|(?:根本|真正)?原因是|本该|不该|早知道|原来是|罪魁祸首",
)  # fmt: skip
OUTCOME = _any(
    r"\b(?:fail(?:s|ed|ure|ing)?|crash(?:ed|es)?|broke(?:n)?|error|exception|timed? ?out|succeed(?:ed|s)?|success(?:ful|fully)?|works now|fixed|resolved|solved|passed|completed|deployed|merged|released|rolled back|reverted|lost|refused|rejected|root cause)\b",
    r"失败|报错|出错|错误|崩溃|超时|异常|成功|修好|修复|解决|通过了|完成了|上线了|部署了|回滚|撤销|丢失|拒绝|驳回",
)  # fmt: skip
FAILURE = re.compile(
    r"fail|crash|bro|err|exc|tim|los|ref|rej|roll|rev|失败|报错|出错|错误|崩|超时|异常|回滚|撤|丢|拒|驳", _I
)
FOUND_OUT = _any(
    r"\b(?:fail(?:s|ed|ure)?|error|crash(?:ed|es)?|broke|breaks|issue|problem|build|tests?|deploy\w*|command)\b.*\b(?:because|due to|caused by|since|as it)\b",
    r"\b(?:root cause|the (?:cause|culprit|fix|reason|problem|issue) (?:is|was)|turn(?:s|ed) out|fixed by|resolved by|solved by|works? (?:only )?(?:after|once|when|if)|need(?:s|ed) to .* (?:first|before))\b",
    r"(?:因为|由于|原因是|导致|起因)[^。]*|(?:失败|报错|错误|崩溃|超时)[^。]*(?:因为|由于|原因)|(?:解决|修复)(?:方法|办法|方式)?(?:是|:)|原来是|需要先",
)  # fmt: skip
