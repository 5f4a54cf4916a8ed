import { expect, test } from 'vitest';
import { z } from 'zod';
import type { PrincipalConfig } from '#config';
import { type Domain, defineDomain, escalate, pass } from '#kernel';
import { callOperation, succeed } from '../support/server/calling.ts';
import { start, type TestServer } from '../support/server/serving.ts';
import { someOf } from '../support/some-of.ts';

const PEOPLE = ['boss:ann', 'boss:bob', 'boss:cat', 'boss:dan'] as const;
type Person = (typeof PEOPLE)[number];

const everything: PrincipalConfig = {
  kinds: ['agent', 'counselor', 'admin'],
  grants: [{ trajectories: ['main'], actions: ['**'], scopes: ['**'] }],
};
const principals = {
  ...Object.fromEntries(PEOPLE.map((name) => [name, everything])),
  'agent:scout': { kinds: ['agent'] } satisfies PrincipalConfig,
};

/** Two people sign each letter. */
const letters = defineDomain({
  name: 'letters',
  version: '1',
  state: z.object({ sent: z.record(z.string(), z.array(z.string())) }),
  initial: { sent: {} },
  processes: { writing: { writes: ['/sent/{letter}'] } },
  roles: { writer: { params: ['letter'], processes: ['writing'] } },
  actions: {
    send: {
      process: 'writing',
      args: z.object({}),
      apply: ({ sent }, _args, { role }) => {
        sent[role.letter] = [];
      },
    },
  },
  invariants: ({ each }) => [
    each(
      'SIGNED_TWICE',
      '/sent/*',
      {
        channel: 'boss',
        approvals: 2,
        onApprove: ({ sent }, { counselor, keys: [letter = ''] }) => void sent[letter]?.push(counselor),
      },
      (signers) => (signers.length === 2 ? pass : escalate('two people sign')),
    ),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
  freeze: 'footprint',
}) as unknown as Domain;

/** A token of a holder. `makers`: who made it, each by a token that the next one made. */
interface Credential {
  readonly holder: Person;
  readonly makers: readonly Person[];
  readonly token: string;
}

const chains: readonly (readonly Person[])[] = [
  [],
  ...PEOPLE.map((one) => [one]),
  ...PEOPLE.flatMap((one) => PEOPLE.filter((other) => other !== one).map((other) => [one, other])),
];

async function credentialOf(server: TestServer, holder: Person, makers: readonly Person[]): Promise<Credential> {
  let token: string | undefined;
  // The last of them has a token of the command line.
  for (const name of [...makers.toReversed(), holder])
    token =
      token === undefined
        ? await server.tokenFor(name)
        : (await succeed(server, 'tokens.create', { token, body: { principal: name, days: 1 } })).token;
  return { holder, makers, token: token as string };
}

/** Everybody who can decide by a credential. */
function people({ holder, makers }: Credential): Set<Person> {
  return new Set([holder, ...makers]);
}

test('a decision counts for its holder and all makers of its token', async () => {
  const server = await start({
    principals,
    domains: [letters],
    config: { worlds: { main: { domain: 'letters' } }, tools: [] },
    server: { tokensForPeople: true },
  });
  const credentials: Credential[] = [];
  for (const holder of PEOPLE)
    for (const makers of chains) credentials.push(await credentialOf(server, holder, makers));
  const pairs = credentials.flatMap((first) => credentials.map((second) => [first, second] as const));
  const seen = new Set<string>();
  let n = 0;
  for (const [first, second] of someOf(pairs)) {
    const proposer = PEOPLE[n++ % PEOPLE.length] as Person;
    const ruling = await succeed(server, 'proposals.create', {
      token: await server.tokenFor(proposer),
      path: { trajectory: 'main' },
      key: `letter ${n}`,
      body: { action: 'send', role: { name: 'writer', params: { letter: `${n}` } }, args: {} },
    });
    let id: string = ruling.approval_id;
    const counted = new Set<Person>([proposer]);
    for (const credential of [first, second]) {
      const who = people(credential);
      const isAnother = ![...who].some((one) => counted.has(one));
      const what = `${proposer} proposed, ${[...counted].slice(1)} approved, ${credential.holder} by ${credential.makers}`;
      const { token } = credential;
      const shown = await succeed(server, 'approvals.get', { token, path: { approval: id } });
      expect(shown.approval.may_decide, what).toBe(isAnother);
      const decided = await callOperation(server, 'approvals.approve', {
        token,
        path: { approval: id },
        body: { digest: shown.approval.digest },
      });
      expect(decided.status, `${what}: ${decided.text}`).toBe(isAnother ? 200 : who.has(proposer) ? 403 : 409);
      if (!isAnother) {
        seen.add(decided.body.code);
        continue;
      }
      for (const one of who) counted.add(one);
      seen.add(decided.body.ruling);
      id = decided.body.approval_id ?? id;
      const { payload } = await succeed(server, 'entries.get', { token, path: { entry: decided.body.entry_id } });
      const record = payload.counselor ?? payload.approved_by.at(-1);
      const others = [...who].filter((one) => one !== credential.holder);
      expect(record).toMatchObject({ principal: credential.holder, method: 'token' });
      expect(record.token_by).toEqual(others.length === 0 ? undefined : others);
    }
  }
  expect([...seen].sort()).toEqual(['already_approved', 'committed', 'escalated', 'unauthorised_counselor']);
});

test('an administrator makes tokens of agents, and own ones', async () => {
  const server = await start({ principals, domains: [letters], config: { worlds: {}, tools: [] } });
  const token = await server.tokenFor('boss:ann');
  const create = (principal: string, kinds?: readonly string[]) =>
    callOperation(server, 'tokens.create', { token, body: { principal, days: 1, ...(kinds && { kinds }) } });
  expect(await create('boss:bob')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect((await create('boss:bob')).body.detail).toContain('assize token sign-in boss:bob');
  expect((await create('boss:bob', ['agent', 'admin'])).status).toBe(403);
  for (const made of [await create('boss:bob', ['agent']), await create('agent:scout'), await create('boss:ann')])
    expect(made).toMatchObject({ status: 201, body: { by: { principals: ['boss:ann'], method: 'token' } } });
  // A token for fewer kinds makes no token for more of them.
  const { token: fewer } = (await create('boss:ann', ['admin'])).body;
  const own = { token: fewer, body: { principal: 'boss:ann', days: 1 } };
  expect((await callOperation(server, 'tokens.create', own)).status).toBe(403);
});
