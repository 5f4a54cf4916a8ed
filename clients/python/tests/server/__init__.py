"""Tests against a real server. The variables name it and its principals:

ASSIZE_URL; TOKEN_OF_AGENT (`agent:ada`), TOKEN_OF_PERSON (`manager:grace`) and TOKEN_OF_AUDITOR, each a
token; and the world `calls`, whose rules let `bank/pay` through up to 100 cents, ask about more, and
deny payments to mallory.
"""
