"""Does a line claim a deed or an outcome that its sources do not speak of? English, Chinese, Japanese (pure).

Law: what is said to have failed, or to have been deleted, sent, paid, deployed, must be spoken of in a source, in any
of its words and in any language. Wording is free elsewhere: these words change what a reader does next.
"""

import re
import unicodedata
from collections.abc import Sequence

# each row: ways to say one thing
_DEEDS = (
    r"fail(?!over)|error|crash|broke|exception|unsuccessful|timed? ?out|timing out|outage|失败|失敗|错误|報錯|报错|崩溃|异常|超时|出错|故障|エラー|異常|落ち",
    r"delet|remov|eras|purg|wip(?:e|ing)|drop|clean|uninstall|discard|删|清理|清空|清除|移除|去掉|卸载|丢弃|削除|除去|消し",
    r"deploy|releas|publish|ship|production|went live|go live|roll(?:ed)? ?out|部署|发布|上线|生产环境|デプロイ|リリース|公開|本番",
    r"commit|push|merg|pull request|\bpr\b|\bpatch|提交|推送|合并|合入|コミット|プッシュ|マージ",
    r"\bpa(?:y|id|yment)|purchas|\bbought|\bbuy|charge|refund|invoice|transfer|subscri|付款|支付|购买|下单|退款|转账|订阅|支払|購入|返金|振込",
    r"\bsen[dt]|e-?mail|mailed|notif|forward|message|\bpost|发送|发给|寄|邮件|通知|转发|送信|送っ|メール",
    r"cancel|revert|rolled? ?back|undo|undid|abort|取消|撤销|回滚|还原|中止|作废|キャンセル|取り消|戻し",
    r"upload|download|\binstall|上传|下载|安装|アップロード|ダウンロード|インストール",
    r"\bfired\b|dismiss|laid off|resign|\bquit\b|\bsacked\b|解雇|开除|辞退|辞职|裁员|退職|辞任",
    r"\bsue[ds]?\b|lawsuit|accus|arrest|\bst[eo]le|stolen|theft|fraud|embezzl|起诉|指控|逮捕|偷|盗|诈骗|贪污|訴え|逮捕|盗",
    r"\bmarr(?:y|ied)|divorc|pregnan|\bdied\b|\bdeath\b|\bkill|diagnos|cancer|结婚|离婚|怀孕|去世|死亡|杀|确诊|癌|結婚|離婚|死亡",
    r"refus|reject|declin|den(?:y|ied)|forbid|forbade|拒绝|驳回|禁止|不允许|拒否|却下",
)  # fmt: skip
_PATTERNS = tuple(re.compile(deed, re.IGNORECASE) for deed in _DEEDS)
# what sounds like a failure and is none
_HARMLESS = re.compile(
    r"\b(?:no|without|zero|0) (?:further |more |type )?(?:errors?|exceptions?|failures?)\b|error[- ]handling|没有(?:错误|报错|异常)|无(?:错误|报错|异常)",
    re.IGNORECASE,
)


def unspoken(line: str, sources: Sequence[str]) -> bool:
    """The line names a deed or outcome of which no source speaks."""
    said = _HARMLESS.sub("", unicodedata.normalize("NFKC", line))
    known = unicodedata.normalize("NFKC", "\n".join(sources))
    return any(deed.search(said) and not deed.search(known) for deed in _PATTERNS)
