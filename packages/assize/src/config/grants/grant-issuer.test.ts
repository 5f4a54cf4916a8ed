import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Attenuation, attenuate, contains, type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import { addMicros, generateKeys, type Instant } from '#canon';
import type { Domain } from '#kernel';
import { systemClock } from '#oracle';
import { Assize, listWrits, type Trajectory, type WritChain } from '#runtime';
import { till } from '../../../../../tests/support/server/till.ts';
import type { Grant } from '../config.ts';
import { type ResolvedGrant, resolveConfig } from '../resolved-config.ts';
import { type GrantedAgent, GrantIssuer } from './grant-issuer.ts';
import { withdrawGrants } from './withdraw-grants.ts';

const ROOT = generateKeys(new Uint8Array(32).fill(3));
const NOW: Instant = '2026-01-01T00:00:00.000000Z';
const LATER = addMicros(NOW, 60_000_000);
const SCOUT = 'agent:scout';
const ACTIONS = ['pay', 'wire', 'undo', '**'];
const SCOPES = ['role:clerk:a', 'role:clerk:**', 'role:**', 'memory:front:**', '**'];

const grant: fc.Arbitrary<Grant> = fc.record({
  trajectories: fc.constantFrom(['*'], ['main'], ['main', 'other'], ['other']),
  actions: fc.uniqueArray(fc.constantFrom(...ACTIONS), { minLength: 1, maxLength: 3 }),
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 3 }),
  budget: fc.dictionary(fc.constantFrom('cents', 'calls'), fc.nat({ max: 1_000 })),
  requireApproval: fc.uniqueArray(fc.constantFrom('pay', '**'), { maxLength: 2 }),
  maxDepth: fc.nat({ max: 5 }),
});

const WHOLE: Grant = {
  trajectories: ['main'],
  actions: ['tip', 'assize.delegate'],
  scopes: ['role:clerk:**'],
  budget: { cents: 100 },
  maxDepth: 1,
};

/** A store with trajectories, and the configuration of today. */
class World {
  readonly store: MemoryStore = new MemoryStore();
  readonly assize: Assize;
  #principals: ReturnType<typeof resolveConfig>['principals'] = new Map();

  constructor() {
    const { store } = this;
    const effects = { recoveryKey: 'k'.repeat(64) };
    this.assize = new Assize({ store, domains: [till], anchors: [ROOT.publicKey], effects });
  }

  static async of(...ids: readonly string[]): Promise<World> {
    const world = new World();
    for (const trajectoryId of ids) await world.assize.create(till as Domain, { trajectoryId });
    return world;
  }

  /** A process that starts with these grants: its issuer, after the start. */
  async starts(
    grants: Readonly<Record<string, readonly Grant[]>>,
    writSeconds = 60,
  ): Promise<GrantIssuer> {
    const principals = Object.entries(grants).map(([name, own]) => [
      name,
      { kinds: ['agent'], grants: own },
    ]);
    const config = { principals: Object.fromEntries(principals) };
    this.#principals = resolveConfig(config, { folder: '.', env: {} }).principals;
    const issuer = new GrantIssuer(ROOT, this.store, {
      principals: this.#principals,
      writSeconds,
      waitMs: 0,
    });
    const { store, assize } = this;
    const onFailure = (error: unknown): void => {
      throw error;
    };
    await withdrawGrants(issuer, { store, assize, now: systemClock.now(), onFailure });
    return issuer;
  }

  agent(name: string): GrantedAgent {
    return { name, grants: this.#principals.get(name)?.grants ?? [] };
  }

  open(id: string): Promise<Trajectory> {
    return this.assize.open(id);
  }

  async tip(issuer: GrantIssuer, name: string, amount: number, id = 'main'): Promise<string> {
    const writ = await issuer.lasting(this.agent(name), id, 'tip');
    return writ === undefined ? 'no writ' : this.tipUnder(writ, name, amount, id);
  }

  async tipUnder(writ: WritChain, principal: string, amount: number, id = 'main'): Promise<string> {
    const role = { name: 'clerk', params: { desk: 'a' } };
    const trajectory = await this.open(id);
    const { ruling } = await trajectory.propose({
      action: 'tip',
      role,
      args: { amount },
      writ,
      principal,
    } as never);
    return ruling;
  }
}

async function codeOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.code;
  }
}

/** Whether a writ grants no more than a grant. */
function isWithin(writ: Writ, given: Pick<ResolvedGrant, 'actions'> & Grant): boolean {
  const { actions = [], scopes = [], budget = {}, require_approval: approved = [] } = writ;
  return (
    actions.every((one) => given.actions.includes(one)) &&
    scopes.every((one) => (given.scopes ?? ['**']).some((pattern) => contains(pattern, one))) &&
    Object.entries(budget).every(([unit, amount]) => amount <= (given.budget?.[unit] ?? 0)) &&
    (given.requireApproval ?? []).every((pattern) => approved.includes(pattern)) &&
    writ.max_depth <= (given.maxDepth ?? 0) + 1
  );
}

function isFor({ trajectories = [] }: Grant, id: string): boolean {
  return (trajectories.includes('*') && id !== 'incidents') || trajectories.includes(id);
}

test('a short writ is within one grant for its trajectory, whatever is asked', async () => {
  const world = await World.of('main', 'other', 'third', 'incidents');
  const ids = fc.constantFrom('main', 'other', 'third', 'incidents');
  await fc.assert(
    fc.asyncProperty(
      fc.array(grant, { maxLength: 3 }),
      ids,
      fc.string(),
      async (grants, id, action) => {
        const issuer = await world.starts({ [SCOUT]: grants });
        const fitting = grants.filter((one) => isFor(one, id));
        const all = await issuer.allFor(world.agent(SCOUT), id, NOW);
        const one = await issuer.forAgent(world.agent(SCOUT), id, action, NOW);
        expect(all).toHaveLength(fitting.length);
        expect(one === undefined).toBe(fitting.length === 0);
        expect(await issuer.mayAct(world.agent(SCOUT), id)).toBe(fitting.length > 0);
        for (const { writ, chain } of one === undefined ? [] : [one, ...all]) {
          expect(fitting.some((given) => isWithin(writ, given))).toBe(true);
          expect(writ).toMatchObject({ subject: SCOUT, trajectory: id, max_depth: 0 });
          expect(writ.not_before <= NOW && NOW < writ.expires).toBe(true);
          expect(writ.parent).toBe(writId(chain[0] as Writ));
          expect(chain[0]?.issuer).toBe(ROOT.publicKey);
        }
      },
    ),
  );
});

test('two processes with one root key and store issue the same writs', async () => {
  const times = fc.nat({ max: 100_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(grant, { minLength: 1, maxLength: 3 }),
      times,
      async (grants, seconds) => {
        const world = await World.of('main');
        const now = addMicros(NOW, seconds * 1_000_000);
        const [one, two] = [
          await world.starts({ [SCOUT]: grants }),
          await world.starts({ [SCOUT]: grants }),
        ];
        const both = await Promise.all(
          [one, two].map((issuer) => issuer.allFor(world.agent(SCOUT), 'main', now)),
        );
        expect(both[0]).toEqual(both[1]);
        const other = new GrantIssuer(generateKeys(), world.store, { principals: new Map() });
        for (const { chain } of await other.allFor(world.agent(SCOUT), 'main', now))
          expect(chain[0]?.issuer).not.toBe(ROOT.publicKey);
      },
    ),
  );
});

test('the writs of all windows are children of one writ of the grant', async () => {
  const times = fc.array(fc.nat({ max: 10_000_000 }), { minLength: 2, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(grant, times, async (given, seconds) => {
      const world = await World.of('main');
      const issuer = await world.starts({ [SCOUT]: [{ ...given, trajectories: ['main'] }] });
      const issued = [];
      for (const each of seconds)
        issued.push(
          ...(await issuer.allFor(world.agent(SCOUT), 'main', addMicros(NOW, each * 1_000_000))),
        );
      const lasting = await issuer.lasting(world.agent(SCOUT), 'main', 'pay');
      const [whole] = await issuer.wholesOf(SCOUT, 'main');
      const parents = [...issued, lasting as WritChain].map(({ writ }) => writ.parent);
      expect(new Set(parents)).toEqual(new Set([writId(whole?.writ as Writ)]));
      expect(new Set(issued.map(({ writ }) => writId(writ))).size).toBe(
        new Set(seconds.map((each) => Math.floor((Date.parse(NOW) / 1_000 + each) / 60))).size,
      );
      const [first] = issued as [WritChain];
      const at = addMicros(NOW, (seconds[0] as number) * 1_000_000);
      expect(await issuer.issuedBefore(SCOUT, 'main', writId(first.writ), at)).toEqual(first);
      expect(
        await issuer.issuedBefore('agent:other', 'main', writId(first.writ), at),
      ).toBeUndefined();
    }),
  );
});

test('the writs for a copy are children of the same writs, and record nothing', async () => {
  const ids = fc.constantFrom('main', 'other', 'incidents');
  await fc.assert(
    fc.asyncProperty(fc.array(grant, { maxLength: 3 }), ids, async (grants, id) => {
      const world = await World.of('main', 'other', 'incidents');
      const issuer = await world.starts({ [SCOUT]: grants, 'agent:idle': [] });
      const rows = () => world.store.sideList('grant', { limit: 100 });
      const before = await rows();
      const copies = await issuer.allForCopy(id);
      expect(await rows()).toEqual(before);
      const issued = await issuer.allFor(world.agent(SCOUT), id, NOW);
      expect(copies.map(({ writ }) => writ.parent)).toEqual(issued.map(({ writ }) => writ.parent));
      for (const { writ } of copies) {
        expect(writ).toMatchObject({ subject: SCOUT, trajectory: id, max_depth: 0 });
        expect(grants.some((given) => isWithin(writ, given))).toBe(true);
      }
      // A grant that was used has the same writ for a copy.
      expect(await issuer.allForCopy(id)).toEqual(copies);
    }),
    { numRuns: 30 },
  );
});

const TERMS = { subject: 'agent:scout/sub', actions: ['tip'], scopes: ['role:clerk:a'] };

test('a part of a grant is within it, and no holder of a part passes it on', async () => {
  const world = await World.of('main', 'other');
  const issuer = await world.starts({
    [SCOUT]: [WHOLE],
    'agent:flat': [{ ...WHOLE, maxDepth: 0 }],
  });
  const scout = world.agent(SCOUT);
  const terms = { ...TERMS, expires: LATER };
  const part = (await issuer.attenuated(scout, 'main', {
    ...terms,
    budget: { cents: 50 },
  })) as WritChain;
  expect(isWithin(part.writ, WHOLE)).toBe(true);
  expect(part.writ).toMatchObject({ subject: TERMS.subject, trajectory: 'main' });
  const wider: Partial<Attenuation>[] = [
    { actions: ['**'] },
    { scopes: ['**'] },
    { budget: { cents: 101 } },
    { budget: { calls: 1 } },
  ];
  for (const one of wider)
    expect(
      await codeOf(() => issuer.attenuated(scout, 'main', { ...terms, ...one } as typeof terms)),
    ).toBe('not_attenuated');
  expect(await issuer.attenuated(world.agent('agent:flat'), 'main', terms)).toBeUndefined();
  expect(await issuer.attenuated(scout, 'other', terms)).toBeUndefined();
  const holder = { ...scout, name: TERMS.subject, writ: part };
  expect(await issuer.attenuated(holder, 'main', terms)).toBeUndefined();
  expect(await issuer.delegated(holder, 'main', 'child', { subject: 'x' })).toBeUndefined();
  // Its subject is not a key, so its holder signs no child either.
  expect(
    await codeOf(() => attenuate(part.writ, { ...terms, nonce: '1' }, generateKeys().privateKey)),
  ).toMatch(/bad_key|not_attenuated|bad_writ/);
  // The token for a part acts in its trajectory alone, also beside a grant.
  expect(await issuer.allFor(holder, 'main', NOW)).toEqual([part]);
  expect(await issuer.forAgent(holder, 'main', 'undo', NOW)).toEqual(part);
  expect(await issuer.allFor(holder, 'other', NOW)).toEqual([]);
  expect(await issuer.mayAct(holder, 'other')).toBe(false);
});

test('in a delegated trajectory only the delegated writ counts', async () => {
  const world = await World.of('main');
  const everywhere = { ...WHOLE, trajectories: ['*'] };
  const named = { ...WHOLE, trajectories: ['child', 'main'], budget: { cents: 90 } };
  const issuer = await world.starts({ [SCOUT]: [everywhere, named], 'agent:helper': [everywhere] });
  const [scout, helper] = [world.agent(SCOUT), world.agent('agent:helper')];
  const terms = {
    subject: 'agent:helper',
    actions: ['tip'],
    scopes: ['role:clerk:a'],
    budget: { cents: 10 },
  };
  const passed = await issuer.delegated(scout, 'main', 'child', terms);
  const main = await world.open('main');
  await main.delegations.delegate({
    task: 'count',
    childTrajectoryId: 'child',
    ...passed,
  } as never);
  const source = await world.open('child');
  await world.assize.branch('child', source.head, { note: 'what if', trajectoryId: 'branch' });
  for (const id of ['child', 'branch']) {
    expect(await issuer.allFor(scout, id, NOW), id).toEqual([]);
    expect(await issuer.forAgent(scout, id, 'tip', NOW), id).toBeUndefined();
    expect(await issuer.lasting(scout, id, 'tip'), id).toBeUndefined();
    expect(await issuer.mayAct(scout, id), id).toBe(false);
    expect(await issuer.attenuated(scout, id, { ...TERMS, expires: LATER }), id).toBeUndefined();
    expect(await issuer.wholesOf(SCOUT, id), id).toEqual([]);
  }
  expect(await issuer.mayAct(helper, 'child')).toBe(true);
  expect(await issuer.mayAct(helper, 'branch')).toBe(false);
  const writ = (await issuer.forAgent(helper, 'child', 'tip', NOW)) as WritChain;
  expect(writ.writ).toMatchObject({
    subject: 'agent:helper',
    trajectory: 'child',
    budget: { cents: 10 },
  });
  expect(await world.tipUnder(writ, 'agent:helper', 10, 'child')).toBe('committed');
  expect(await world.tipUnder(writ, 'agent:helper', 1, 'child')).toBe('rejected');
  expect(await issuer.grantorsOf(writ)).toEqual([SCOUT]);
});

test('the grantors of a writ are known after their grants are edited', async () => {
  const world = await World.of('main');
  const issuer = await world.starts({ [SCOUT]: [WHOLE], 'agent:other': [WHOLE] });
  const scout = world.agent(SCOUT);
  const short = await issuer.forAgent(scout, 'main', 'tip', NOW);
  const part = await issuer.attenuated(scout, 'main', { ...TERMS, expires: LATER });
  const { writ, signed } = (await issuer.delegated(scout, 'main', 'child', TERMS)) ?? {};
  const far = { writ: signed as Writ, chain: [writ?.writ as Writ] };
  const edited = { ...WHOLE, actions: ['pay'] };
  for (const later of [issuer, await world.starts({ [SCOUT]: [edited] }), await world.starts({})]) {
    for (const one of [short as WritChain, part as WritChain, far])
      expect(await later.grantorsOf(one)).toEqual([SCOUT]);
    expect(await later.isPartOfGrant(SCOUT, 'main', part?.writ as Writ)).toBe(true);
    expect(await later.isPartOfGrant('agent:other', 'main', part?.writ as Writ)).toBe(false);
    expect([...(await later.holdersIn('main')).values()]).toContain(SCOUT);
    expect((await later.wholesOf(SCOUT, 'main')).map((whole) => writId(whole.writ))).toContain(
      part?.writ.parent,
    );
  }
});

test('a grant that the configuration lost is revoked, with all below it', async () => {
  const world = await World.of('main');
  const issuer = await world.starts({ [SCOUT]: [WHOLE] });
  const part = (await issuer.attenuated(world.agent(SCOUT), 'main', {
    ...TERMS,
    expires: LATER,
  })) as WritChain;
  expect(await world.tip(issuer, SCOUT, 10)).toBe('committed');
  const chain = { ...part, writ: { ...part.writ } };
  expect(await world.tipUnder(chain, TERMS.subject, 10)).toBe('rejected');
  const lasting = (await issuer.lasting(world.agent(SCOUT), 'main', 'tip')) as WritChain;
  await world.starts({});
  expect(await world.tipUnder(lasting, SCOUT, 10)).toBe('rejected');
  const revoked = (await listWrits(world.store, 'main')).filter((one) => one.revoked !== undefined);
  expect(revoked.map(({ id }) => id)).toEqual(
    expect.arrayContaining([lasting.writ.parent, writId(lasting.writ)]),
  );
  const entries = (await world.store.entries('main', { from: 0, limit: 100 })).length;
  await world.starts({});
  expect(await world.store.entries('main', { from: 0, limit: 100 })).toHaveLength(entries);
});

test('a grant that spent nothing counts again after it was removed', async () => {
  const world = await World.of('main');
  expect(await world.tip(await world.starts({ [SCOUT]: [WHOLE] }), SCOUT, 101)).toBe('rejected');
  await world.starts({});
  expect(await world.tip(await world.starts({ [SCOUT]: [WHOLE] }), SCOUT, 100)).toBe('committed');
});

test('a grant counts again after it was removed, with the rest of its budget', async () => {
  const world = await World.of('main');
  expect(await world.tip(await world.starts({ [SCOUT]: [WHOLE] }), SCOUT, 60)).toBe('committed');
  await world.starts({});
  const again = await world.starts({ [SCOUT]: [WHOLE] });
  expect(await world.tip(again, SCOUT, 41)).toBe('rejected');
  expect(await world.tip(again, SCOUT, 40)).toBe('committed');
});

test('no edit of a grant lets an agent spend more than its highest budget', async () => {
  const budgets = fc.array(
    fc.record({ cents: fc.integer({ min: 1, max: 40 }), second: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  const amounts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 3, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(budgets, amounts, async (edits, tips) => {
      const world = await World.of('main');
      let spent = 0;
      let most = 0;
      for (const { cents, second } of edits) {
        const first = { ...WHOLE, budget: { cents } };
        const grants = second
          ? [{ ...WHOLE, actions: ['wire'], budget: { cents: 5 } }, first]
          : [first];
        const issuer = await world.starts({ [SCOUT]: grants });
        most = Math.max(most, cents);
        for (const amount of tips)
          if ((await world.tip(issuer, SCOUT, amount)) === 'committed') spent += amount;
        // The last edit counts: what it allows can be spent, and no more.
        expect(await world.tip(issuer, SCOUT, Math.max(1, cents - spent + 1))).toBe('rejected');
        if (cents > spent) {
          expect(await world.tip(issuer, SCOUT, cents - spent)).toBe('committed');
          spent = cents;
        }
      }
      expect(spent).toBeLessThanOrEqual(most);
    }),
    { numRuns: 20 },
  );
});

test('a changed or foreign row of a grant is replaced by the row of the grant', async () => {
  const world = await World.of('main');
  const before = await (await world.starts({ [SCOUT]: [WHOLE] })).forAgent(
    world.agent(SCOUT),
    'main',
    'tip',
    NOW,
  );
  const [row] = await world.store.sideList('grant', { limit: 10 });
  if (row === undefined) throw new Error('the grant has no row');
  await world.store.sidePut([
    { ...row, expected: row.version, body: row.body.replace(SCOUT, 'agent:thief') },
  ]);
  const issuer = await world.starts({ [SCOUT]: [WHOLE] });
  expect(await issuer.forAgent(world.agent(SCOUT), 'main', 'tip', NOW)).toEqual(before);
  expect(await issuer.grantorsOf(before as WritChain)).toEqual([SCOUT]);
});
