/** The files of rules without a project: no TypeScript and no package of its own. */
export const RULES_FILES: Readonly<Record<string, string>> = {
  'assize.config.json': `{
  "policy": "./assize.yaml",
  "worlds": { "calls": { "domain": "gateway" } },
  "principals": {
    "agent:ada": {
      "kinds": ["agent"],
      "grants": [{ "trajectories": ["calls"], "actions": ["call", "begin", "report", "session"] }]
    },
    "human:you": { "kinds": ["counselor", "admin"] }
  }
}
`,
  'assize.yaml': `# Each call of a tool is judged by these rules. A rule is about SERVER/TOOL.
# A change counts after a restart of \`assize serve\`.
id: payments
tools:
  bank/pay:
    class: irreversible
    amounts: { cents: /cents }
    present: { title: 'Pay {to} {cents}', fields: { cents: { label: Amount, money: EUR } } }
rules:
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 10000 } }
  - { id: large, ask: bank/pay, amount: { unit: cents, min: 10001, max: 100000 } }
  - { id: huge, deny: bank/pay, amount: { unit: cents, min: 100001 }, because: Ask the board. }
`,
};

/** Commands that lead to a first allowed, asked and refused call. */
export const RULES_STEPS: readonly string[] = [
  'npx assize serve   # leave it running; the next commands are for another terminal',
  '(umask 077; npx assize token create agent:ada > ada.token)',
  ...[5_000, 50_000, 500_000].map(
    (cents, n) =>
      `curl -s -H "Authorization: Bearer $(cat ada.token)" -H 'Content-Type: application/json' http://127.0.0.1:4517/v1/trajectories/calls/calls -d '{"id":"call-${n + 1}","server":"bank","tool":"pay","args":{"to":"bob","cents":${cents}}}'`,
  ),
  'npx assize token sign-in human:you   # a link: decide the second call in the browser',
];
