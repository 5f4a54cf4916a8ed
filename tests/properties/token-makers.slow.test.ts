import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros } from '#canon';
import type { PrincipalConfig } from '#config';
import { gateway, readRules } from '#domains/gateway';
import { declareTool } from '#effects';
import { call, type Domain, defineDomain, escalate, pass } from '#kernel';
import { observationsOf, tokenMakersIn } from '#ledger';
import { systemClock } from '#oracle';
import { callOperation, succeed } from '../support/server/calling.ts';
import { start, type TestServer } from '../support/server/serving.ts';
import { someOf } from '../support/some-of.ts';

const PEOPLE = ['human:ann', 'human:bob', 'human:cat', 'human:dan'] as const;
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
        onApprove: ({ sent }, { counselor, keys: [letter = ''] }) =>
          void sent[letter]?.push(counselor),
      },
      (signers) => (signers.length === 2 ? pass : escalate('two people sign')),
    ),
  ],
  counselors: { boss: (principal) => principal.startsWith('human:') },
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

async function credentialOf(
  server: TestServer,
  holder: Person,
  makers: readonly Person[],
): Promise<Credential> {
  let token: string | undefined;
  // The last of them has a token of the command line.
  for (const name of [...makers.toReversed(), holder])
    token =
      token === undefined
        ? await server.tokenFor(name)
        : (await succeed(server, 'tokens.create', { token, body: { principal: name, days: 1 } }))
            .token;
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
  const pairs = credentials.flatMap((first) =>
    credentials.map((second) => [first, second] as const),
  );
  const seen = new Set<string>();
  let n = 0;
  const areApart = ([first, second]: readonly [Credential, Credential]): number =>
    new Set([...people(first), ...people(second)]).size - people(first).size;
  for (const [first, second] of someOf(pairs, areApart)) {
    // Every second proposal is by a token of the command line.
    const requesters =
      n++ % 2 === 0 ? credentials.filter(({ makers }) => makers.length === 0) : credentials;
    const requester = requesters[(n * 7) % requesters.length] as Credential;
    const asked = people(requester);
    const ruling = await succeed(server, 'proposals.create', {
      token: requester.token,
      path: { trajectory: 'main' },
      key: `letter ${n}`,
      body: { action: 'send', role: { name: 'writer', params: { letter: `${n}` } }, args: {} },
    });
    let id: string = ruling.approval_id;
    const counted = new Set<Person>(asked);
    for (const credential of [first, second]) {
      const who = people(credential);
      const isAnother = ![...who].some((one) => counted.has(one));
      const what = `${[...asked]} proposed, ${[...counted].slice(asked.size)} approved, ${credential.holder} by ${credential.makers}`;
      const { token } = credential;
      const shown = await succeed(server, 'approvals.get', { token, path: { approval: id } });
      expect(shown.approval.may_decide, what).toBe(isAnother);
      const decided = await callOperation(server, 'approvals.approve', {
        token,
        path: { approval: id },
        body: { digest: shown.approval.digest },
      });
      expect(decided.status, `${what}: ${decided.text}`).toBe(
        isAnother ? 200 : [...who].some((one) => asked.has(one)) ? 403 : 409,
      );
      if (!isAnother) {
        seen.add(decided.body.code);
        continue;
      }
      for (const one of who) counted.add(one);
      seen.add(decided.body.ruling);
      id = decided.body.approval_id ?? id;
      const { payload } = await succeed(server, 'entries.get', {
        token,
        path: { entry: decided.body.entry_id },
      });
      const record = payload.counselor ?? payload.approved_by.at(-1);
      const others = [...who].filter((one) => one !== credential.holder);
      expect(record).toMatchObject({ principal: credential.holder, method: 'token' });
      expect(record.token_by).toEqual(others.length === 0 ? undefined : others);
    }
  }
  expect([...seen].sort()).toEqual([
    'already_approved',
    'committed',
    'escalated',
    'unauthorised_counselor',
  ]);
});

test('an administrator makes tokens of agents, and own ones', async () => {
  const server = await start({ principals, domains: [letters], config: { worlds: {}, tools: [] } });
  const token = await server.tokenFor('human:ann');
  const create = (principal: string, kinds?: readonly string[]) =>
    callOperation(server, 'tokens.create', {
      token,
      body: { principal, days: 1, ...(kinds && { kinds }) },
    });
  expect(await create('human:bob')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect((await create('human:bob')).body.detail).toContain('assize token sign-in human:bob');
  expect((await create('human:bob', ['agent', 'admin'])).status).toBe(403);
  for (const made of [
    await create('human:bob', ['agent']),
    await create('agent:scout'),
    await create('human:ann'),
  ])
    expect(made).toMatchObject({
      status: 201,
      body: { by: { principals: ['human:ann'], method: 'token' } },
    });
  // A token for fewer kinds makes no token for more of them.
  const { token: fewer } = (await create('human:ann', ['admin'])).body;
  const own = { token: fewer, body: { principal: 'human:ann', days: 1 } };
  expect((await callOperation(server, 'tokens.create', own)).status).toBe(403);
});

const RULES = `
id: calls
tools: { bank/pay: { class: irreversible } }
rules: [{ id: pay, ask: bank/pay }]
standing: { uses: 10, hours: 24 }
`;

const post = declareTool({
  name: 'post.send',
  input: z.strictObject({}),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
  writes: ['post:**'],
  execute: () => {
    throw new Error('no answer');
  },
});

test('every recorded act of a person names who made its token', async () => {
  const { rules } = readRules(RULES);
  const sending = defineDomain({
    name: 'sending',
    version: '1',
    unjudgedCalls: 'allow',
    state: z.object({ sent: z.number() }),
    initial: { sent: 0 },
    processes: { writing: { writes: ['/sent'] } },
    roles: { writer: { processes: ['writing'] } },
    actions: {
      send: {
        process: 'writing',
        args: z.object({}),
        apply: (state) => void state.sent++,
        calls: () => [call(post, {})],
      },
    },
    invariants: [],
    counselors: { operator: (name) => name.startsWith('human:') },
  });
  const agent: PrincipalConfig = {
    kinds: ['agent'],
    grants: [{ actions: ['**'], scopes: ['**'] }],
  };
  const server = await start({
    principals: { ...principals, 'agent:scout': agent, 'agent:gone': agent },
    rules,
    domains: [gateway({ rules }) as unknown as Domain, sending as unknown as Domain],
    config: {
      worlds: { calls: { domain: 'gateway' }, main: { domain: 'sending' } },
      tools: [post] as never,
    },
    server: { tokensForPeople: true },
  });
  const { token } = await credentialOf(server, 'human:bob', ['human:ann']);
  const { token: cats } = await credentialOf(server, 'human:cat', []);
  const scout = await server.tokenFor('agent:scout');
  const as = (id: string, calling: object) => succeed(server, id, { token, ...calling });
  const makersIn = async ({ entry_id }: { readonly entry_id: string }) => {
    const { payload } = await as('entries.get', { path: { entry: entry_id } });
    return tokenMakersIn(observationsOf(payload));
  };
  const approve = async ({ approval_id: approval }: { readonly approval_id: string }) => {
    const { digest } = (await as('approvals.get', { path: { approval } })).approval;
    return succeed(server, 'approvals.approve', {
      token: cats,
      path: { approval },
      body: { digest },
    });
  };

  const body = { reason: 'a fault' };
  const change = async (does: string, name: string) =>
    (await as(`agents.${does}`, { path: { agent: name }, body })).ruling;
  const acts: { readonly [what: string]: { readonly entry_id: string } } = {
    pause: await change('pause', 'agent:gone'),
    'end of a pause': await change('resume', 'agent:gone'),
    stop: await change('stop', 'agent:gone'),
    comeback: await change('resume', 'agent:gone'),
  };
  for (const [what, ruling] of Object.entries(acts))
    expect(await makersIn(ruling), what).toEqual(['human:ann']);

  const path = { trajectory: 'calls' };
  const terms = { agent: 'scout', tools: ['bank/*'], uses: 2, amounts: {}, because: 'bills' };
  const expires = addMicros(systemClock.now(), 3_600_000_000);
  const stands = await as('standing.ask', { path, key: 'k1', body: { ...terms, expires } });
  expect(await makersIn(stands)).toEqual(['human:ann']);
  // Ann made the token of the requester, so she is the requester.
  const anns = await callOperation(server, 'approvals.reject', {
    token: await server.tokenFor('human:ann'),
    path: { approval: stands.approval_id },
    body: { reason: 'mine' },
  });
  expect([anns.status, anns.body.code]).toEqual([403, 'unauthorised_counselor']);
  await approve(stands);
  const paid = { id: 'c1', server: 'bank', tool: 'pay', args: {} };
  await succeed(server, 'calls.ask', { token: scout, path, body: paid });
  const settled = await as('calls.settle', {
    path: { ...path, call: 'c1' },
    body: { outcome: 'done', evidence: 'seen' },
  });
  expect(await makersIn(settled.ruling)).toEqual(['human:ann']);
  const [{ id }] = (await as('standing.list', { path })).standing;
  expect(await makersIn(await as('standing.end', { path: { ...path, standing: id } }))).toEqual([
    'human:ann',
  ]);

  const send = { action: 'send', role: { name: 'writer', params: {} }, args: {} };
  await succeed(server, 'proposals.create', {
    token: scout,
    path: { trajectory: 'main' },
    key: 'k2',
    body: send,
  });
  const [{ epoch }] = (await as('effects.list', { query: { needs_human: 'true' } })).transactions;
  await as('effects.resolve', {
    path: { epoch, n: '0' },
    body: { as: 'applied', evidence: 'seen' },
  });
  const { entries } = await as('entries.list', { path: { trajectory: 'main' } });
  const { payload } = await as('entries.get', { path: { entry: entries.at(-1).id } });
  expect(payload.action.args.decided).toMatchObject({
    as: 'applied',
    by: 'human:bob',
    token_by: ['human:ann'],
  });
});
