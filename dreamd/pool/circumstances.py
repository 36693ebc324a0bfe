"""The words by which a person tells of himself, of the work, and of the moment (tables, both languages).

For sentences as `acts.normal` gives them. What passes by itself (broken, waiting, on the way) is no fact to keep.
"""

import re

from dreamd.pool.cues import B, C, Pattern

_I = re.IGNORECASE

_PASSING = (
    r"(?! (?:\w+ly )?(?:down|broken|failing|slow|not working|back|up|stuck|dead|ready|here|there|gone|late|sick|angry|wrong|right|fine|ok|done|been|awesome|great|amazing|super|very|really|my|good|happy|excited|proud|cool|nice|"
    r"missing|empty|full|open|closed|red|green|failed|the same|too|so|\w+ing)\b)"
)
_KIN = "wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|child|children|mother|father|mum|mom|dad|parents|sister|brother|grandma|grandpa|dog|cat"
_OWN = (
    "boss|manager|team|company|employer|birthday|address|phone(?: number)?|e-?mail(?: address)?|time ?zone|budget|car|laptop|computer|mother tongue|"
    "(?:native|first|second|mother) language|city|home ?town|job|role|title|age|height|weight|diet|blood type|doctor|dentist|landlord|bank|username|"
    "handle|name|(?:full|last|first|nick|middle) ?name|surname|shoe size|shirt size|size|major|university|school|phone|editor|shell|os|keyboard"
)
_OURS = (
    "team|company|product|project|customers?|clients?|office|server|servers|database|db|repo|repository|stack|backend|frontend|budget|deadline|release|"
    "domain|website|fiscal year|sprint|sprints|headquarters|standup|code ?base|ci|api|cluster|cloud|main language|users"
)
_THINGS = (
    "budget|deadline|port|domain|address|meeting|standup|stand-up|release|launch|office|limit|price|rent|salary|invoice|contract|flight|appointment|"
    "exam|server|database|api|repo|repository|project|client|customer|venue|wedding|trip|conference|hotel|party|interview|course|version|quota|target|"
    "fee|cost|discount|capacity|width|height|length|time ?out|threshold|retention|sla|backup|cron job|order"
)
_JOBS = (
    "engineer|developer|programmer|designer|teacher|student|doctor|nurse|writer|researcher|scientist|manager|lawyer|founder|analyst|accountant|"
    "consultant|beginner|native speaker|freelancer|architect|chef|musician|photographer|mother|father|parent|journalist|translator|pilot|farmer|"
    "vegetarian|vegan|muslim|christian|buddhist|diabetic|celiac|widow|widower|twin|lefty|phd|postdoc|professor|driver|artist|pharmacist|dentist"
)
FACT = Pattern(
    "am i'm live work study grew was teach commute have suffer moved i've call speak don't can't cannot my our we",
    rf"{B}i(?:'m| am)(?: (?:\w+ly|also|very|severely|not|an?))* (?:allergic|intolerant|vegan|vegetarian|pescatarian|colou?r-?blind|left-handed|right-handed|diabetic|deaf|blind in|dyslexic|pregnant|based|located|married|divorced|retired|lactose|gluten|asthmatic|celiac|from|\d+ years old|born)\b",
    rf"{B}i(?:'m| am) (?:an? |the )(?:[\w-]+ ){{0,4}}(?:{_JOBS})\b",
    rf"{B}i (?:live|work|study|grew up|was born|teach|commute) (?:in|at|for|as|with|near|from|on)\b|i (?:have|suffer from) (?:an? |\w+ )?(?:\w+ )?(?:allergy|allergies|diabetes|asthma|migraines?|kids|children|sons?|daughters?|dogs?|cats?)\b|i(?:'ve| have)? moved to\b",
    rf"{B}(?:you can |please )?call me (?!back|later|when|if|at|crazy|tomorrow|once)\w+|i (?:speak|don't speak|can't eat|cannot eat|don't eat|don't drink)\b",
    rf"{B}my (?:\w+ )?(?:{_KIN})(?:'s \w+)?(?:(?:'s| is| are){_PASSING}| has| have| lives?| works?| hates?| likes?| prefers?| loves?| speaks?| needs?| can't| cannot| was born| turns?) ",
    rf"{B}my (?:\w+ )?(?:{_OWN})(?:'s \w+)?(?: is| are|'s| has| runs| uses){_PASSING} ",
    rf"{B}our (?:\w+ )?(?:{_OURS})(?:'s \w+)?(?: is| are|'s| has| runs| uses?| runs? on| lives?| consists| closes| starts| ends){_PASSING} ",
    rf"{B}we (?:all )?(?:use|run|run on|are based in|host|deploy (?:to|on|with|from)|build (?:on|with)|work (?:in|at|with|from)|support only|are a|have (?:\d+|two|three|four|five|six|ten|only)) (?!it\b|this\b|that\b|these\b)\w",
    rf"{C}我对[^,。;]{{1,15}}过敏|我(?:是(?!说|不是|想|否|觉得|认为|要|在|怕|指|问|来|不|为了|从|用|按|这|那|通过|因为|真的|不太|很|第一次|谁)|叫(?!你|他|她)|姓|住在|家住?在|家有|来自|今年[\d一二三四五六七八九十]|吃素|不能吃|不会吃|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|有(?:[^,。;]{{1,8}}(?:病|过敏|孩子|女儿|儿子|猫|狗|糖尿病|哮喘))|在[^,。;]{{1,12}}(?:工作|上班|上学|读书|任职|当|做))[^,。;]*",
    rf"{C}我(?:们)?(?:的|家)?(?:公司|团队|项目|老婆|妻子|老公|丈夫|孩子|儿子|女儿|爸爸|妈妈|父母|父亲|母亲|老板|经理|生日|邮箱|电话|手机号|地址|名字|时区|母语|职业|专业|服务器|数据库|仓库|域名|客户|产品|狗|猫|身高|体重|血型|鞋码|尺码)(?:的[^,。;]{{1,6}})?(?:都|也|目前|主要|一般)?(?:是(?!不是|什么)|在(?!等|催|问|吗)|有|用|叫|住|为|对|喜欢|讨厌|不吃|属)[^,。;]+",
    rf"{C}我们(?:一直|都|目前|现在|主要|统一)*(?:用的?是?|使用|部署在|托管在|跑在)(?!这|那|它|了|来)[^,。;]+",
)  # fmt: skip
FIGURED_FACT = Pattern(
    _THINGS.replace("|", " ") + " timeout",
    rf"\b(?:the|this) (?:\w+ )?(?:{_THINGS})(?:'s \w+)? (?:is|are|was|runs?|listens|lives?|expires?|starts?|ends?|costs?|takes?|must|should|will be|has)\b|\b(?:{_THINGS})\s*:",
    r"(?:截止(?:日期|时间|日)?|发布(?:日期|时间|日)?|上线(?:日期|时间|日)?|会议|例会|周会|端口|房租|租金|价格|单价|上限|下限|生日|地址|航班|考试|合同|报价|工资|版本|面试|婚礼|目标|额度|阈值|人数|身高|体重|尺寸|费用|成本|容量|编号)[^,。;]{0,6}(?:是|在|为|定在|到|改到|:|不超过|最多|共)",
)  # fmt: skip
BUDGET = Pattern(
    "budget budgets budget's afford spend pay cost costs spending money funds cash",
    r"\bbudgets?\b(?:'s| is| are| was|:)? ?(?:\w+ ){0,3}?(?:limited|tight|small|low|fixed|capped|under|below|max(?:imum)?|at most|only|around|about|constrained|at|of|stays|[$€£¥]?\d)",
    r"\b(?:limited|tight|small|low|fixed|shoestring|modest) budget\b|\bon a budget\b|\b(?:can't|cannot|can not) afford\b|\b(?:spend|pay|cost|costs|spending)\b.{0,20}\b(?:more than|at most|up to|no more than|over)\b.{0,4}\d|\b(?:money|funds|cash) (?:is|are) (?:tight|limited|short)\b|\bshort (?:of|on) (?:money|cash|funds)\b",
    r"预算(?:很|比较|非常|十分|还是|真的|依然|仍然|只|也|都|是|就|实在|一直)*(?:有限|紧张|紧|不多|不高|不够|不足|吃紧|卡得很紧|只有|在|为|最多|不超过|控制|上限|大概|大约|约|:|\d)|(?:有限|不多|紧张)的预算|(?:资金|经费|钱)(?:很|比较|有点)?(?:有限|紧张|不多|不够)|(?:不要|不能|别|不得)超(?:过|出)?预算|(?:控制|压低|节约|节省)(?:一下)?(?:成本|预算|开支|费用)|花费?不(?:要|能)?超过",
)  # fmt: skip

HURRY = Pattern(
    "hurry quick quickly faster asap speed fast rush",
    r"^(?:(?:please|can you|ok|and|just|come on|so|now)[, ]+)*(?:hurry(?: up)?|be quick|quick(?:ly)?|faster|go faster|asap|speed (?:it )?up|make it (?:quick|fast))\b|\bhurry up\b|\bas soon as possible\b|\b(?:i'm|i am|we're|we are) in a (?:hurry|rush)\b|\basap\b",
    r"快[一]?点|快些|快一些|赶紧|赶快|抓紧|尽快|赶时间|着急|越快越好|搞快",
)  # fmt: skip
MANNER = Pattern(
    "short shorter brief simple simpler concise precise just explanation explanations answer reply respond in step usually often normally mostly typically generally "
    "tend always never rarely hardly every",
    r"\b(?:make it (?:short(?:er)?|brief|simple(?:r)?)|keep (?:it|them|answers?|replies|your \w+) (?:short|brief|simple|concise)|be (?:brief|concise|precise)|shorter(?: please)?[.!]*$|more concise|just the (?:code|answer|result)|no explanations?|(?:answer|reply|respond) in \w+|in (?:english|chinese|german|french|japanese|spanish)(?:,? please)?[.!]*$|step by step)\b",
    rf"{B}(?:i|we) (?:usually|often|normally|mostly|typically|generally|tend to|always|never|rarely|hardly ever|every (?:morning|evening|day|week)) (?!wanted|forget|knew|thought|said|had|get\b|got|saw|\w+ed\b)\w+",
    r"简短一?[点些]?|简洁|短一?点|说重点|长话短说|用(?:中文|英文|英语|日语)(?:回答|回复|写|说)|详细一?[点些]|(?:别|不用|不要)解释|一步一步",
    rf"{C}我(?:通常|经常|一般|往往|平时|每天|每周|每晚|每月|总是|常常|老是|从不|从来不)(?![是会]?(?:忘|错))[^,。;]+",
)  # fmt: skip

_NO_MOMENT = r"(?<!小)(?<!及)(?<!暂)(?<!随)(?<!平)(?<!同)(?<!按)(?<!有)(?<!准)(?<!临)(?<!到)(?<!当)(?<!实)(?<!延)(?<!超)(?<!定)(?<!那)(?<!这)(?<!限)(?<!省)(?<!耗)(?<!用)"
SITUATION = re.compile(
    r"(?:^(?P<en>(?:when(?:ever)?|before|after|during|every time|each time|if|unless|while|for (?:all|every|any|each)) [a-z][^,.;:!?()]{2,60})(?=,)"
    r"|\b(?P<en2>(?:(?:when(?:ever)?|before|after|while) (?:\w+ing\b|(?:i|we|you) (?!was\b|were\b|am\b|are\b))|every time |each time |for (?:all|every|any|each) )[^,.;:!?()]{2,50}?)(?=[,.;:!?]|$| i\b| please\b| always\b| never\b)"
    rf"|(?P<zh>[^,。;:!?\s]{{2,14}}?(?:{_NO_MOMENT}时候?|的时候))(?=[,\s我要请不别都总先必也就]|$)"
    r"|(?P<zh2>[^,。;:!?\s]{2,10}?(?<![以之今往日])(?:之前|之后|以前|前|后))(?=[,\s]|[先都必][^,]|要[^,]|请)"
    r"|^(?P<zh3>(?:如果|要是|只要|每当|每次)[^,。;:!?\s]{2,20}?)(?=[,]|就|都))",
    _I,
)  # fmt: skip
