"""The plain statements: what is so, what somebody takes or wants as a rule, what is to be as always (tables, both languages).

The widest net of all, and so the last one asked: a sentence must have something lasting in it (a figure, a name, "my",
"must", "as usual"), and its subject must be named, not pointed at. What is true of one day alone is left to the gates.
"""

from dreamd.pool.cues import DO, B, C, Pattern

_NAMED = r"(?-i:(?<=[a-z,] )[A-Z][\w-]+|\b[A-Z]{2,}\b|\b\w+[-_]\w*\d\w*|\b[A-Z]+-?\d+)"
_LASTING = rf"(?=.*(?:\d|{_NAMED}|\b(?:always|never|only|every|must|should|has to|have to|not allowed|for me|my|our|mine|ours|weekly|daily|monthly|yearly)\b))"
_VERB = (
    r"(?:is|are|isn't|aren't|has|have|must|should|has to|have to|needs?|costs?|carry|carries|allows?|opens?|closes?|starts?|begins?|ends?|leaves?|arrives?|"
    r"takes?|runs?|listens?|lives?|works?|belongs?|goes|contains?|uses?|requires?|supports?|expires?|happens?|come|comes|can|cannot|can't|holds?|"
    r"lasts?|weighs?|measures?|speaks?|sells?|pays?|gets?|meets?|stays?|stands?|sits?|stays|serves?|reads?)"
)
_PASSING = r"(?! (?:\w+ly |still |now |just |all )*(?:down|broken|failing|slow|back|up|stuck|dead|ready|here|there|gone|late|sick|angry|wrong|right|fine|ok|done|been|failed|missing|empty|too|so|great|good(?! for)|nice|cool|awesome|not (?:quite|really|working|right|there|here)|no longer working|\w+ing)\b)"
_TOLD = rf"(?:{DO}|write|rename|summari[sz]e|propose|find|list|move|look|open|compare|draft|give|go|see|take|turn|try|have|let|note|think|get|do|be|come|click|implement|fix|continue|locate|make|search|prepare|clean|help|install|pick|bring|watch|reset|update|extend|simplify)"
STATEMENT = Pattern(
    "is are isn't aren't has have must should need needs cost costs carry carries allow allows open opens close closes start starts begin begins end ends leave leaves "
    "arrive arrives take takes run runs listen listens live lives work works belong belongs goes contain contains use uses require requires support supports expire "
    "expires happen happens come comes can cannot can't hold holds last lasts weigh weighs measure measures speak speaks sell sells pay pays get gets meet meets stay "
    "stays stand stands sit sits serve serves read reads there mind about",
    rf"^(?!(?:please )?{_TOLD}\b){_LASTING}(?!(?:it|this|that|these|those|here|he|she|they|you|i|we|there|what|who|which|one|nothing|everything|something|let's|please|if|when|can|could|do|does|is|are|"
    rf"the (?:first|second|third|last|other|new|old|next|same|previous|following|above|code|error|test|tests|build|file|function|output|answer|result|page|report is|problem|issue|idea|rest)) ?\b)"
    rf"(?:[\w'.$€£%@/&+-]+ ){{1,8}}?{_VERB}\b{_PASSING} \S+",
    r"^there (?:is|are) (?=.*\d)(?!\d+ (?:error|test|failure|warning|file)s?\b).+ (?:in|at|on|for|of) ",
    rf"{B}(?:i|we) (?:always |only |also |usually |never |do |don't |do not |still |often |ever |just )*(?:write|deploy|pay|buy|are \d[\d,.]*|have \d[\d,.]*|have (?:a|an|only|no)\b|sell|host|release|meet|close|open|order|charge|support)\b(?! (?:it|this|that|you|them)\b) .+",
    rf"^(?:please )?(?:mind|note|given) (?:the|that|my|our) .*(?:\d|{_NAMED}|allerg)|\babout my .*allerg",
    r"^(?!把|给|帮|请|查|打开|看|再|找|读|加|改|跑|写|发|把|用|今|明|昨|刚|这个|那个|这|那|它|他|她|你)(?=.*(?:\d|[A-Za-z]{2,}|[一二三四五六七八九十两]+[月号日点万元]|我们?的))"
    r"[^,;]{1,24}?(?:是|有|在|叫|为|需要|要(?!不|求)|允许|开门|关门|开始|结束|到期|起飞|到达|出发|用来|一共|共|每(?=天|周|月|年|个|分)|用的|采用|过生日|最多|至少|不超过|限制|放在|位于|用(?=[A-Za-z\d])|必须|不能|可以)(?!没|不了|吗|些|点问题|一下)[^?]*",
    r"[^,。;]{0,8}我(?:对)?[^,。;]{1,8}过敏|^[^把给帮请查打看再找读加改跑写发这那它他她你,;]{2,10}(?:每|一共|共|总共)[^,;]{0,6}\d+|注意[^,;]{2,12}[,:].*\d",
)  # fmt: skip
HABIT = Pattern(
    "i we me my no",
    rf"{B}(?:[a-z]+ ){{0,3}}(?!(?:i|we) (?:only |also |just |still )*(?:want|need) (?:an?|some|one) )(?:i|we) (?:always |only |also |usually |never |do |don't |do not |still |often |ever |just |sometimes )*(?:eat|drink|take|use|wear|need|want|expect|sleep|sit|order|choose|pick|fly|write in|write our|keep(?! \w+ing)|buy|smoke|cook|get up|indent|format|name)\b"
    r"(?! (?:it|this|that|these|those|them|you|to|the (?:\w+ )?ones?|one|a (?:look|break|second|minute|moment)|care|place|off|a \w+ of the|the (?:first|second|third|other|same|last|next)|more|another)\b)(?! \w+$(?<=\bi want \w{99}))(?:.* (?:for|in|on|with|at|before|after|when|as|than|from|without|best|better|more)\b.*|(?<=eat) \w+.*|(?<=drink) \w+.*|(?<=wear) \w+.*| \w+ \w+.*)",
    r"^(?:on|in|at|for|before|after|when) [^,]{2,40}?,? (?:i|we) (?:always|never|only|don't|do not|usually|want|need|prefer) (?!it\b|this\b|that\b|to\b)\w+",
    rf"{C}我们?[^,。;]{{0,14}}不(?:开会|加班|抽烟|喝酒|吃|喝)[^,。;]*",
    r"^(?:please )?no (?!problem|worries|idea|need|thanks|rush|doubt|way|one|matter|longer|wonder)\w+ (?:before|after|in|on|for|with|at|without) \w",
    r"\b(?:is|are) enough for (?:me|us)\b|\b(?:i|we) like .+ (?:better|best|most|more)\b(?<!like it better)(?<!like that better)(?<!like this better)(?<!one better)(?<!one more)",
    rf"{C}[^,。;把给帮]{{0,8}}?我们?(?:的[^,。;]{{1,8}})?(?:自己|早上|晚上|中午|平时|一般|通常|一直|都|总|只|也|就|还|从来|从|每天|更|最|比较|习惯|已经|现在|上午\S{{0,8}}|下午\S{{0,8}})*(?:吃|喝|抽|坐|住|穿|选|走(?!了|吧)|用|不用|不开会|不吃|不喝|习惯(?!了)|喜欢|要(?!一[个份张杯下点些条]|这|那|不|是|求|走|去|看|你|他|的|回|先|再|个|说|问|想|出)|不要|希望|只要)(?!这|那|它|完|了[,。]|过|一下|来|的是|到)[^,。;]+",
    r"^(?:[^把给帮我,;]{2,8})我(?:都|一般|总是|一直|从不|从来不)[^,;]+",
)  # fmt: skip
USUAL = Pattern(
    "always usual ever every otherwise prefer dislike hate want love like need drink use keep everywhere write run put make dates you your",
    r"\b(?:as (?:always|usual|ever|before)|like (?:always|every time|last time)|as i (?:keep saying|always say|said before)|the usual|otherwise)\b",
    r",? (?:i (?:prefer|dislike|hate|want|love|like|use|need) (?:it|that)\b(?: that way| everywhere| so)?|that(?:'s| is) (?:what|how|where) (?:i|we) \w+|i don't (?:like|eat|drink|want) (?:it|that))",
    r"^(?:please )?(?:use|write|run|format|name|indent|set|make|send|keep) (?!it\b|this\b|that\b|the (?:first|second|third|other|same|last|next)\b)[^,;]{2,40}? (?:before (?:you|every|each|any)|after (?:you|every|each|any)|as [A-Z]|for (?:indentation|all|every|each|any)|in (?:all|every|each|any|reports|this repo\w*)) ?\b.*",
    r"^(?:please )?(?:write|keep|make|put) (?:the |your |my |our |all )?(?:\w+ ){0,2}(?:comments|answers|replies|reports|dates|commits|messages|docs|code|logs|names|tests) (?:in|as|short|brief|with|under) ?.*",
    r"^(?:before|after) (?:every|each|any) [^,]{2,40}|^(?:you|we) (?:must|should|have to|need to) (?:always |never |not )?(?!be\b|know\b|see\b|have\b|check\b|look\b|talk\b)\w+ .+ (?:before|after|with|in|for|each|every) ",
    r"不然|否则|习惯了|一直(?:用|是|走|吃|喝|坐)|老样子|照旧|照常|像往常|跟(?:以前|上次|往常)一样|还是(?:用|要|走|选|坐)|这?是规矩|说过了?,|一向",
    r"(?:^|[,;\s])[^把给帮查打看找,;]{0,12}?(?:请(?:用|写|发|走|选)|应该?(?:用|写|是)|要用|要先|不要|别放|别再|记得|必须|就不要|一律)(?!这|那|急|忘|担心|打)[^,;]{1,}|(?:回答|回复|答案)(?:都|得|请|要|应该|尽量)[^,;]{1,10}|[^,;]{2,8}的(?:回答|回复)就(?:够|行|好)了|缩进用|注释(?:用|写)|用[^,;]{1,8}(?:缩进|注释|回答|格式)",
)  # fmt: skip
