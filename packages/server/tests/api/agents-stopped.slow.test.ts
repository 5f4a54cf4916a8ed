/** A stopped agent commits nothing until two persons bring it back. */

import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { HandClock } from '../../../../tests/support/ledger/runtime.ts';
import { callOperation, succeed } from '../../../../tests/support/server/calling.ts';
import { PRINCIPALS, start, type TestServer } from '../../../../tests/support/server/serving.ts';
import { till } from '../../../../tests/support/server/till.ts';

const SCOUT = 'agent:scout';
const IDA = 'boss:ida';
const BOSS = 'boss:bob';
const [grant] = PRINCIPALS[SCOUT].grants;
const WIDE = { kinds: ['agent'], grants: [{ ...grant, trajectories: ['*'] }] };

/** A store with the servers over it, and all tokens that act for the agent. */
class Deployment {
  readonly store: MemoryStore = new MemoryStore();
  readonly clock: HandClock = new HandClock();
  readonly tokens: { token: string; place: string | undefined }[] = [];
  readonly pendings: string[] = [];
  server!: TestServer;
  #n = 0;

  async starts(): Promise<void> {
    const { store, clock } = this;
    const principals = {
      ...PRINCIPALS,
      [SCOUT]: WIDE,
      [IDA]: { kinds: ['counselor'] },
      'admin:bea': { kinds: ['admin'] },
    } as never;
    const config = { worlds: { main: { domain: 'till' }, spare: { domain: 'till' } } };
    await this.server?.stop();
    this.server = await start({
      domains: [till] as Domain[],
      principals,
      config,
      store,
      clock,
      server: { writSeconds: 60 },
    });
    this.tokens.push({ token: this.server.tokens[SCOUT], place: undefined });
  }

  name(): string {
    this.#n++;
    return `n${this.#n}`;
  }

  /** Acts with a token, in a trajectory. Returns whether it was committed. */
  async pays(token: string, trajectory: string, amount = 1): Promise<string> {
    const role = { name: 'clerk', params: { desk: this.name() } };
    const body = { action: 'pay', role, args: { amount } };
    const { status, body: answer } = await callOperation(this.server, 'proposals.create', {
      ...{ token, path: { trajectory }, key: this.name(), body },
    });
    if (answer?.approval_id !== undefined) this.pendings.push(answer.approval_id);
    return answer?.ruling ?? `${status} ${answer?.code}`;
  }

  async approves(id: string, as: string): Promise<string> {
    const token = (this.server.tokens as any)[as];
    const { approval } = (
      await callOperation(this.server, 'approvals.get', { token, path: { approval: id } })
    ).body;
    const body = { digest: approval?.digest ?? '0'.repeat(64) };
    const { status, body: answer } = await callOperation(this.server, 'approvals.approve', {
      ...{ token, path: { approval: id }, body },
    });
    return answer?.ruling ?? `${status} ${answer?.code}`;
  }

  async passesOn(seconds: number): Promise<void> {
    const subject = `${SCOUT}/${this.name()}`;
    const body = { subject, actions: ['pay'], scopes: ['role:clerk:**'], seconds };
    const { body: made } = await callOperation(this.server, 'writs.attenuate', {
      ...{ as: SCOUT, path: { trajectory: 'main' }, body },
    });
    if (made?.token !== undefined) this.tokens.push({ token: made.token, place: 'main' });
  }

  async delegates(): Promise<void> {
    const [child, subject] = [this.name(), `${SCOUT}/${this.name()}`];
    const terms = { subject, actions: ['pay'], scopes: ['role:clerk:**'], seconds: 86_400 };
    const { body: made } = await callOperation(this.server, 'delegations.create', {
      ...{ as: SCOUT, path: { trajectory: 'main' }, key: this.name() },
      body: { task: 'help', child_trajectory_id: child, ...terms },
    });
    if (made?.token !== undefined) this.tokens.push({ token: made.token, place: child });
  }

  change(does: 'stop' | 'pause' | 'resume'): Promise<any> {
    return succeed(this.server, `agents.${does}`, {
      path: { agent: SCOUT },
      body: { reason: 'it pays twice' },
    });
  }

  /** Every way in which the agent could commit now. Returns those that did. */
  async committed(): Promise<string[]> {
    const found: string[] = [];
    for (const { token, place } of this.tokens)
      for (const trajectory of place === undefined ? ['main', 'spare'] : [place])
        if ((await this.pays(token, trajectory)) === 'committed')
          found.push(`pay in ${trajectory}`);
    for (const id of this.pendings)
      if ((await this.approves(id, BOSS)) === 'committed') found.push(`approval ${id}`);
    return found;
  }
}

type Step = 'restart' | 'hour' | 'pay' | 'ask' | 'attenuate' | 'delegate' | 'mint' | 'world';

async function take(step: Step, one: Deployment): Promise<void> {
  const scout = one.tokens.at(-1)!.token;
  switch (step) {
    case 'restart':
      return one.starts();
    case 'hour':
      return one.clock.forward(3_660_000);
    case 'pay':
      return void (await one.pays(scout, 'main'));
    case 'ask':
      return void (await one.pays(one.server.tokens[SCOUT], 'spare', 500));
    case 'attenuate':
      return one.passesOn(86_400);
    case 'delegate':
      return one.delegates();
    case 'mint': {
      const body = { principal: SCOUT, days: 7 };
      const made = await callOperation(one.server, 'tokens.create', { as: 'admin:ann', body });
      if (made.status === 201) one.tokens.push({ token: made.body.token, place: undefined });
      else expect(made.body.code).toBe('agent_stopped');
      return;
    }
    case 'world': {
      const id = one.name();
      await succeed(one.server, 'trajectories.create', {
        body: { domain: 'till', trajectory_id: id },
      });
      return void one.tokens.push({ token: one.server.tokens[SCOUT], place: id });
    }
  }
}

const STEPS = fc.array(
  fc.constantFrom<Step>('restart', 'hour', 'pay', 'ask', 'attenuate', 'delegate', 'mint', 'world'),
  { maxLength: 8 },
);

test('after a stop no schedule lets the agent commit', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, STEPS, async (before, after) => {
      const one = new Deployment();
      await one.starts();
      for (const step of before) await take(step, one);
      const { ruling, failed } = await one.change('stop');
      expect(ruling.ruling).toBe('committed');
      expect(failed).toEqual([]);
      for (const step of after) {
        expect(await one.committed()).toEqual([]);
        await take(step, one);
      }
      expect(await one.committed()).toEqual([]);
      await one.starts();
      expect(await one.committed()).toEqual([]);
      await one.server.stop();
    }),
    { numRuns: cases(80) },
  );
});

test('a stopped agent comes back by the act of two persons', async () => {
  const one = new Deployment();
  await one.starts();
  expect(await one.pays(one.server.tokens[SCOUT], 'main')).toBe('committed');
  expect((await one.change('stop')).tokens).toBe(1);
  const { ruling } = await one.change('resume');
  expect(ruling).toMatchObject({ ruling: 'escalated', channel: 'restorer' });
  expect(await one.approves(ruling.approval_id, 'admin:ann')).toMatch(/^403/);
  await one.starts();
  expect(await one.committed()).toEqual([]);
  expect(await one.approves(ruling.approval_id, IDA)).toBe('committed');
  expect(await one.pays(one.server.tokens[SCOUT], 'main')).toBe('committed');
  expect((await one.change('stop')).ruling.ruling).toBe('committed');
  expect(await one.committed()).toEqual([]);
  const { agents } = await succeed(one.server, 'agents.list');
  expect(agents.find(({ name }: any) => name === SCOUT)).toMatchObject({
    is: 'stopped',
    by: 'admin:ann',
  });
});

test.each(['admin:ann', 'admin:bea'])(
  'a second stop, by %s, ends the request for a comeback',
  async (as) => {
    const one = new Deployment();
    await one.starts();
    await one.change('stop');
    const { ruling } = await one.change('resume');
    await succeed(one.server, 'agents.stop', {
      ...{
        token: (one.server.tokens as any)[as],
        path: { agent: SCOUT },
        body: { reason: 'it pays again' },
      },
    });
    expect(await one.approves(ruling.approval_id, IDA)).not.toBe('committed');
    const { agents } = await succeed(one.server, 'agents.list');
    expect(agents.find(({ name }: any) => name === SCOUT)).toMatchObject({ is: 'stopped' });
    const again = await one.change('resume');
    expect(await one.approves(again.ruling.approval_id, IDA)).toBe('committed');
  },
);

test.each([['stop', 'stopped'] as const, ['pause', 'paused'] as const])(
  'after a %s a counselor can only reject the requests of the agent',
  async (does, stop) => {
    const one = new Deployment();
    await one.starts();
    expect(await one.pays(one.server.tokens[SCOUT], 'spare', 500)).toBe('escalated');
    const offered = async () => {
      const found = [];
      for (const mine of ['true', 'false']) {
        const query = { mine, view: 'card' };
        const { cards } = await succeed(one.server, 'approvals.list', { as: BOSS, query });
        found.push(cards.map((card: any) => [card.may_decide, card.stop]));
      }
      return found;
    };
    expect(await offered()).toEqual([[[true, undefined]], [[true, undefined]]]);
    await one.change(does);
    expect(await offered()).toEqual([[[true, stop]], [[true, stop]]]);
    const [id = ''] = one.pendings;
    expect(await one.approves(id, BOSS)).toBe('403 agent_stopped');
    const path = { approval: id };
    const body = { reason: 'its agent is stopped' };
    await succeed(one.server, 'approvals.reject', { as: BOSS, path, body });
    expect(await offered()).toEqual([[], []]);
  },
);

test('the request for a comeback names the agent and what follows', async () => {
  const one = new Deployment();
  await one.starts();
  expect(await one.pays(one.server.tokens[SCOUT], 'spare', 500)).toBe('escalated');
  await one.change('stop');
  const { ruling } = await one.change('resume');
  const path = { approval: ruling.approval_id };
  const { card } = await succeed(one.server, 'approvals.get', {
    ...{ as: BOSS, path, query: { view: 'card' } },
  });
  expect(card).toMatchObject({
    title: 'Let an agent act again',
    effect: 'It may act again, with a new token. Its old proposals can only be rejected.',
    detail: `/agents/${SCOUT}: admin:ann asks to bring it back: it pays twice`,
  });
  expect(await one.approves(ruling.approval_id, IDA)).toBe('committed');
  const { agents } = await succeed(one.server, 'agents.list');
  expect(agents.find(({ name }: any) => name === SCOUT)).toMatchObject({
    ...{ is: 'active', by: 'admin:ann', since: expect.any(String) },
  });
  const [id = ''] = one.pendings;
  const judged = await succeed(one.server, 'approvals.judge', {
    ...{ as: BOSS, path: { approval: id }, body: {} },
  });
  expect(judged).toMatchObject({
    code: 'changed_since',
    detail: expect.stringMatching(
      /^The proposal cannot be approved any more: Writ .* was revoked\./,
    ),
  });
});

test('a stop ends the writs that an administrator issued by hand', async () => {
  const one = new Deployment();
  await one.starts();
  const issue = async () => {
    const terms = {
      subject: SCOUT,
      actions: ['pay'],
      scopes: ['role:clerk:**'],
      seconds: 86_400,
      nonce: one.name(),
    };
    return (await succeed(one.server, 'writs.issue', { as: 'admin:ann', body: terms })).writ;
  };
  const paysUnder = async (writ: object) => {
    const body = {
      action: 'pay',
      role: { name: 'clerk', params: { desk: one.name() } },
      args: { amount: 1 },
    };
    const { status, body: answer } = await callOperation(one.server, 'proposals.create', {
      ...{
        as: SCOUT,
        path: { trajectory: 'main' },
        key: one.name(),
        body: { ...body, writ: { writ, chain: [] } },
      },
    });
    return answer?.ruling ?? `${status} ${answer?.code}`;
  };
  const [used, unused] = [await issue(), await issue()];
  expect(await paysUnder(used)).toBe('committed');
  expect((await one.change('stop')).failed).toEqual([]);
  const { writs } = await succeed(one.server, 'writs.list', {
    as: 'auditor:eve',
    path: { trajectory: 'main' },
  });
  const own = writs.filter(({ writ }: any) => writ.subject === SCOUT);
  expect(own.map(({ revoked }: any) => revoked !== undefined)).toContain(true);
  expect(own.filter(({ revoked }: any) => revoked === undefined)).toEqual([]);
  const { ruling } = await one.change('resume');
  expect(await one.approves(ruling.approval_id, IDA)).toBe('committed');
  await one.starts();
  expect(await paysUnder(used)).not.toBe('committed');
  expect(await paysUnder(unused)).toBe('403 forbidden');
  one.clock.forward(1_000);
  expect(await paysUnder(await issue())).toBe('committed');
});

test('an approver brings back only the agent that another person asked for', async () => {
  const one = new Deployment();
  await one.starts();
  for (const agent of [SCOUT, 'agent:other'])
    await succeed(one.server, 'agents.stop', {
      as: 'admin:ann',
      path: { agent },
      body: { reason: 'it pays twice' },
    });
  const asked = await succeed(one.server, 'agents.resume', {
    ...{ as: 'admin:ann', path: { agent: 'agent:other' }, body: { reason: 'it is mended' } },
  });
  const { approval_id } = asked.ruling;
  const { approval } = await succeed(one.server, 'approvals.get', {
    as: BOSS,
    path: { approval: approval_id },
  });
  const amended = await callOperation(one.server, 'approvals.approve', {
    ...{ as: BOSS, path: { approval: approval_id } },
    body: { digest: approval.digest, role: { name: 'keeper', params: { agent: SCOUT } } },
  });
  expect(amended.status, amended.text).toBeGreaterThanOrEqual(400);
  const { agents } = await succeed(one.server, 'agents.list');
  expect(agents.find(({ name }: any) => name === SCOUT)).toMatchObject({ is: 'stopped' });
  expect(await one.approves(approval_id, BOSS)).toBe('committed');
});

test('a stopped agent gets no writ and no token, and no world its name', async () => {
  const one = new Deployment();
  await one.starts();
  await one.change('stop');
  const writ = { subject: SCOUT, actions: ['pay'], trajectory: 'main', seconds: 60, nonce: 'n' };
  const token = { principal: SCOUT, days: 1 };
  for (const [operation, body] of [
    ['writs.issue', writ] as const,
    ['tokens.create', token] as const,
  ])
    expect(await callOperation(one.server, operation, { as: 'admin:ann', body })).toMatchObject({
      status: 403,
      body: { code: 'agent_stopped' },
    });
  const named = await callOperation(one.server, 'trajectories.create', {
    ...{ as: 'admin:ann', body: { domain: 'till', trajectory_id: 'assize:agents' } },
  });
  const branched = await callOperation(one.server, 'branches.create', {
    ...{
      as: 'admin:ann',
      path: { trajectory: 'main' },
      body: { at: 'main@0', trajectory_id: 'assize:x', note: 'n' },
    },
  });
  for (const { status, body } of [named, branched])
    expect([status, body.code]).toEqual([403, 'forbidden']);
});

test('a pause holds the agent and its parts until one person resumes it', async () => {
  const one = new Deployment();
  await one.starts();
  for (const step of ['pay', 'ask', 'attenuate', 'delegate'] as const) await take(step, one);
  await one.change('pause');
  expect(await one.committed()).toEqual([]);
  await one.starts();
  expect(await one.committed()).toEqual([]);
  const refused = await callOperation(one.server, 'principals.me', { as: SCOUT });
  expect(refused).toMatchObject({ status: 403, body: { code: 'agent_stopped' } });
  expect((await one.change('resume')).ruling.ruling).toBe('committed');
  expect(await one.committed()).toHaveLength(2 + 2 + 1 + 1 + 1);
});

test('no agent takes the trajectory of the stops, and no person is stopped', async () => {
  const one = new Deployment();
  await one.starts();
  const terms = { subject: `${SCOUT}/x`, actions: ['pay'] };
  const taken = await callOperation(one.server, 'delegations.create', {
    ...{ as: SCOUT, path: { trajectory: 'main' }, key: 'k' },
    body: { task: 'help', child_trajectory_id: 'assize:agents', ...terms },
  });
  expect(taken).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  for (const agent of ['boss:bob', 'admin:ann']) {
    const asked = await callOperation(one.server, 'agents.stop', {
      path: { agent },
      body: { reason: 'x' },
    });
    expect(asked).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
});
