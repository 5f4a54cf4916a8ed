import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import { type Decision, EffectError, type Sink } from '#effects';
import { seededRandom } from '#oracle';
import type { Assize, EffectResolution, TransactionOptions, UnresolvedEffect } from '#runtime';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

const writ = writFor('alice');
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const ALL: TransactionOptions = { writ, writes: ['test:**'], retries: 0 };
const FOUND = {
  by: 'ops@example.com',
  writ: operatorWrit('ops@example.com'),
  evidence: { ticket: 'T-1', seen: 'in the log of the sink' },
};

/** An external sink, and processes that use it one after the other. */
class Site {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;
  /** The results of calls until an operator has repaired the sink. */
  fault: (of: 'do' | 'undo' | 'ask', what: string) => Fault = () => 'none';
  assize: Assize;
  #processes = 0;

  constructor(sort: Sink) {
    this.sink = new OutsideSink(sort);
    this.assize = this.#process();
  }

  async begin(): Promise<void> {
    await this.assize.create(tally, { trajectoryId: 't' });
  }

  async restart(tools?: []): Promise<void> {
    await this.assize.close();
    this.assize = this.#process(tools);
  }

  /**
   * Executes an effect with the given fault, in a transaction that commits or aborts. Returns the
   * unresolved effect.
   */
  async left(
    tool: string,
    does: 'commits' | 'throws',
    options: Partial<TransactionOptions> = {},
  ): Promise<UnresolvedEffect> {
    await codeOf(this.transact(tool, 'a', 'r', does, options));
    const [left] = await this.assize.recoverEffects();
    return left!;
  }

  async transact(
    tool: string,
    what: string,
    at: string,
    does: 'commits' | 'throws' = 'commits',
    options: Partial<TransactionOptions> = {},
  ) {
    const trajectory = await this.assize.open('t');
    return trajectory.transaction({ ...ALL, writes: [`test:${at}`], ...options }, async (tx) => {
      await tx.call(tool, { what, at });
      if (does === 'throws') throw new Error('no');
      tx.propose(COUNT);
    });
  }

  #process(tools?: []): Assize {
    const outside = {
      sink: this.sink,
      steps: new Steps(),
      fault: (of: 'do' | 'undo' | 'ask', what: string) => this.fault(of, what),
    };
    return runtimeOver(this.store, [tally], {
      tools: tools ?? [
        toolFor(outside, 'reversible', 'externalised'),
        toolFor(outside, 'reversible', 'buffered'),
        toolFor(outside, 'irreversible', 'buffered'),
      ],
      ports: { random: seededRandom(`process ${this.#processes++}`) },
    });
  }
}

async function site(sort: Sink): Promise<Site> {
  const made = new Site(sort);
  await made.begin();
  return made;
}

const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => 'done',
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );

/** The cause of an unresolved effect, and whether the effect exists. */
interface Situation {
  readonly sort: Sink;
  readonly tool: string;
  readonly does: 'commits' | 'throws';
  readonly fault: [of: 'do' | 'undo', goes: Fault];
  readonly phase: 'in_doubt' | 'unresolved';
  readonly stands: 0 | 1;
}

const HELD = { tool: 'irreversible.buffered', does: 'commits' } as const;
const ACTS = { tool: 'reversible.externalised', does: 'throws' } as const;
const SITUATIONS: readonly [string, Situation][] = [
  [
    'of a commit, in doubt, and there',
    { ...HELD, sort: 'blind', fault: ['do', 'lose'], phase: 'in_doubt', stands: 1 },
  ],
  [
    'of a commit, in doubt, and not there',
    { ...HELD, sort: 'blind', fault: ['do', 'lose_before'], phase: 'in_doubt', stands: 0 },
  ],
  [
    'of a commit, at a sink that never answered',
    { ...HELD, sort: 'keyed', fault: ['do', 'lose'], phase: 'in_doubt', stands: 1 },
  ],
  [
    'of a commit, refused too often',
    { ...HELD, sort: 'keyed', fault: ['do', 'fail'], phase: 'unresolved', stands: 0 },
  ],
  [
    'of an abort, its call in doubt, and there',
    { ...ACTS, sort: 'blind', fault: ['do', 'lose'], phase: 'in_doubt', stands: 1 },
  ],
  [
    'of an abort, its call in doubt, and not there',
    { ...ACTS, sort: 'blind', fault: ['do', 'lose_before'], phase: 'in_doubt', stands: 0 },
  ],
  [
    'of an abort, its undoing in doubt, and there',
    { ...ACTS, sort: 'blind', fault: ['undo', 'lose_before'], phase: 'in_doubt', stands: 1 },
  ],
  [
    'of an abort, its undoing in doubt, and not there',
    { ...ACTS, sort: 'blind', fault: ['undo', 'lose'], phase: 'in_doubt', stands: 0 },
  ],
  [
    'of an abort, at a sink that never answered',
    { ...ACTS, sort: 'queryable', fault: ['undo', 'lose_before'], phase: 'in_doubt', stands: 1 },
  ],
  [
    'of an abort, refused too often',
    { ...ACTS, sort: 'keyed', fault: ['undo', 'fail'], phase: 'unresolved', stands: 1 },
  ],
];
const DECISIONS: readonly Decision[] = ['applied', 'undone', 'retry', 'residue'];

/**
 * The calls that a sink must receive after a decision; the situation determines the calls before
 * it.
 */
function toldAfter(
  { does, sort, fault: [of], phase, stands }: Situation,
  as: Decision,
): ('do' | 'undo')[] | 'refused' {
  if (as === 'undone' || as === 'residue') return [];
  if (does === 'throws')
    return as === 'retry' && sort === 'blind' && of === 'do' ? 'refused' : ['undo'];
  if (as === 'applied') return [];
  // A sink that knows the key does not execute the call again.
  return sort === 'keyed' && phase === 'in_doubt' && stands === 1 ? [] : ['do'];
}

const WHEN = [
  ['immediately', false],
  ['after a restart', true],
] as const;

describe.each(SITUATIONS)('an effect %s', (_, situation) => {
  const { sort, tool, does, fault, phase, stands } = situation;
  const isBlind = sort === 'blind';

  test.each(DECISIONS.flatMap((as) => WHEN.map(([when, again]) => [as, when, again] as const)))(
    'resolved as %s, %s',
    async (as, _when, again) => {
      const at = await site(sort);
      at.fault = (of) => (of === fault[0] || of === 'ask' ? fault[1] : 'none');
      const { epoch, n, phase: is } = await at.left(tool, does);
      expect([is, at.sink.standing('a')]).toEqual([phase, stands]);
      at.fault = () => 'none';
      const before = at.sink.log.length;
      const told = toldAfter(situation, as);
      expect(await codeOf(at.transact(tool, 'b', 'r'))).toBe('resource_in_doubt');
      if (again) await at.restart();

      const made = at.assize.resolveEffect({
        ...FOUND,
        epoch,
        n,
        as,
        confirm: isBlind && as === 'retry',
      });
      if (told === 'refused') {
        expect(await codeOf(made)).toBe('bad_resolution');
        expect(at.sink.log).toHaveLength(before);
        return;
      }
      const resolved = await made;
      const ended = does === 'commits' ? 'settled' : 'aborted';
      const final = {
        applied: does === 'commits' ? 'applied' : 'undone',
        undone: 'undone',
        retry: does === 'commits' ? 'applied' : 'undone',
        residue: 'accepted',
      };
      expect(resolved).toMatchObject({
        epoch,
        n,
        tool,
        transaction: ended,
        phase: final[as],
        unresolved: 0,
      });
      const after = at.sink.log.slice(before);
      expect(after.map(({ did }) => did).filter((did) => did !== 'again')).toEqual(told);
      // Nothing is unresolved, the claims are free, and the next process repeats no call.
      await at.restart();
      expect(await at.assize.recoverEffects()).toEqual([]);
      expect(await at.assize.effects()).toEqual([]);
      expect(await at.transact(tool, 'b', 'r')).toMatchObject({ effects: 'settled' });
      expect(at.sink.log.filter(({ what }) => what === 'a')).toHaveLength(before + after.length);
      expect(await codeOf(at.assize.resolveEffect({ ...FOUND, epoch, n, as }))).toBe(
        'already_done',
      );
    },
  );
});

describe.each<Sink>(['keyed', 'queryable'])(
  'an effect with its compensation in doubt, with a %s sink',
  (sort) => {
    test.each(WHEN)(
      'is undone when it is tried again, and never done again, %s',
      async (_when, again) => {
        const at = await site(sort);
        at.fault = (of) => (of === 'do' ? 'none' : 'lose');
        const { epoch, n, phase } = await at.left('reversible.externalised', 'throws');
        expect([phase, at.sink.standing('a')]).toEqual(['in_doubt', 0]);
        if (again) await at.restart();
        const asked: string[] = [];
        at.fault = (of) => {
          asked.push(of);
          return 'none';
        };
        expect(await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'retry' })).toMatchObject({
          phase: 'undone',
        });
        expect(asked).toEqual([sort === 'keyed' ? 'undo' : 'ask']);
      },
    );
  },
);

describe('the resolution of an effect', () => {
  const doubt = async (): Promise<{ at: Site; left: UnresolvedEffect }> => {
    const at = await site('blind');
    at.fault = (_, what) => (what === 'a' ? 'lose_before' : 'none');
    const left = await at.left('irreversible.buffered', 'commits');
    at.fault = () => 'none';
    return { at, left };
  };
  const recordsOf = async ({ store }: Site, epoch: number): Promise<readonly string[]> =>
    (await store.effectsOf(epoch))!.records;

  test('records its author, and its evidence by a salted hash', async () => {
    const { at, left } = await doubt();
    await at.assize.resolveEffect({ ...FOUND, epoch: left.epoch, n: left.n, as: 'residue' });
    const [listed] = await at.assize.effects({ epoch: left.epoch });
    const { resolved } = listed!.effects[left.n]!;
    expect(resolved).toMatchObject({ as: 'residue', by: FOUND.by, evidence: { salted: true } });
    const text = await at.store.blob(resolved!.evidence.$blob);
    expect(JSON.parse(text!)).toMatchObject({
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      value: FOUND.evidence,
    });
    expect((await recordsOf(at, left.epoch)).join('')).not.toContain('T-1');
  });

  test.each<[string, Partial<EffectResolution>, string]>([
    ['no transaction of that epoch', { epoch: 99 }, 'wrong_state'],
    ['an invalid epoch', { epoch: 0 }, 'bad_resolution'],
    ['no effect of that number', { n: 1 }, 'not_found'],
    ['an invalid number', { n: -1 }, 'bad_resolution'],
    ['an invalid decision', { as: 'gone' as never }, 'bad_resolution'],
    ['nobody', { by: ' ' }, 'bad_resolution'],
    ['somebody whose name can’t be written', { by: 'ops \ud800' }, 'bad_resolution'],
    ['no evidence', { evidence: undefined as never }, 'bad_resolution'],
    ['empty evidence', { evidence: '' }, 'bad_resolution'],
    ['evidence of spaces', { evidence: '  ' }, 'bad_resolution'],
    ['evidence without members', { evidence: {} }, 'bad_resolution'],
    ['evidence that is null', { evidence: null }, 'bad_resolution'],
    ['evidence that is not data', { evidence: (() => 1) as never }, 'bad_resolution'],
    ['an invalid confirmation', { confirm: 'yes' as never }, 'bad_resolution'],
    ['no confirmation of what may happen twice', { as: 'retry' }, 'needs_confirmation'],
  ])('is refused with %s, and nothing is changed', async (_, change, reason) => {
    const { at, left } = await doubt();
    const before = await recordsOf(at, left.epoch);
    const given: EffectResolution = {
      ...FOUND,
      epoch: left.epoch,
      n: left.n,
      as: 'applied',
      ...change,
    };
    const error = await at.assize.resolveEffect(given).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EffectError);
    expect(error).toMatchObject({ reason });
    expect(await recordsOf(at, left.epoch)).toEqual(before);
    expect(at.sink.log).toEqual([]);
    expect(await at.assize.recoverEffects()).toHaveLength(1);
  });

  test('is refused if the effect needs no decision', async () => {
    const at = await site('blind');
    await at.transact('irreversible.buffered', 'a', 'r');
    const done = at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'applied' });
    expect(await codeOf(done)).toBe('wrong_state');
  });

  test('is nothing, as long as its transaction is at work', async () => {
    const at = await site('blind');
    at.fault = () => 'lose';
    const trajectory = await at.assize.open('t');
    await trajectory.transaction(ALL, async (tx) => {
      expect(await codeOf(tx.call('reversible.externalised', { what: 'a' }))).toBe(
        'outcome_unknown',
      );
      const early = at.assize.resolveEffect({ ...FOUND, epoch: tx.epoch, n: 0, as: 'applied' });
      expect(await codeOf(early)).toBe('wrong_state');
      tx.propose(COUNT);
    });
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'applied' });
    expect(await at.assize.recoverEffects()).toEqual([]);
  });

  test('is resolved once, also where two do at the same time', async () => {
    const { at, left } = await doubt();
    const decide = (as: Decision) =>
      codeOf(
        at.assize.resolveEffect({ ...FOUND, epoch: left.epoch, n: left.n, as, confirm: true }),
      );
    expect(await Promise.all([decide('retry'), decide('retry'), decide('undone')])).toEqual([
      'done',
      'already_done',
      'already_done',
    ]);
    expect(at.sink.times('do', 'a')).toBe(1);
  });

  test('frees nothing before all of its transaction is resolved', async () => {
    const at = await site('blind');
    at.fault = () => 'lose_before';
    const trajectory = await at.assize.open('t');
    await trajectory.transaction(ALL, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      await tx.call('irreversible.buffered', { what: 'b' });
      tx.propose(COUNT);
    });
    at.fault = () => 'none';
    const decide = (n: number) => at.assize.resolveEffect({ ...FOUND, epoch: 1, n, as: 'undone' });
    expect(await decide(1)).toMatchObject({ transaction: 'committed', unresolved: 1 });
    expect(await codeOf(at.transact('irreversible.buffered', 'c', 'r'))).toBe('resource_in_doubt');
    expect(await decide(0)).toMatchObject({ transaction: 'settled', unresolved: 0 });
    expect(await codeOf(at.transact('irreversible.buffered', 'c', 'r'))).toBe('done');
  });

  test('can come to wait for a person again', async () => {
    const { at, left } = await doubt();
    at.fault = () => 'lose';
    const again = { ...FOUND, epoch: left.epoch, n: left.n };
    expect(await at.assize.resolveEffect({ ...again, as: 'retry', confirm: true })).toMatchObject({
      phase: 'in_doubt',
      unresolved: 1,
    });
    expect(await codeOf(at.transact('irreversible.buffered', 'c', 'r'))).toBe('resource_in_doubt');
    expect(await at.assize.resolveEffect({ ...again, as: 'applied' })).toMatchObject({
      transaction: 'settled',
    });
    expect(at.sink.times('do', 'a')).toBe(1);
  });

  test('waits for its tool if that is missing, and resumes where it exists', async () => {
    const at = await site('blind');
    at.fault = (of) => (of === 'undo' ? 'lose_before' : 'none');
    const { epoch, n } = await at.left('reversible.externalised', 'throws');
    at.fault = () => 'none';
    await at.restart([]);
    const resolved = await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'applied' });
    expect(resolved).toMatchObject({ phase: 'executed', transaction: 'aborting', unresolved: 0 });
    expect(at.sink.standing('a')).toBe(1);
    await at.restart();
    expect(await at.assize.recoverEffects()).toEqual([]);
    expect(at.sink.standing('a')).toBe(0);
  });

  test('is not, where the log could not be written; doing it again does it', async () => {
    const { at, left } = await doubt();
    const { commit } = at.store;
    at.store.commit = () => Promise.reject(new Error('the disk is full'));
    const decide = () =>
      at.assize.resolveEffect({ ...FOUND, epoch: left.epoch, n: left.n, as: 'undone' });
    expect(await codeOf(decide())).toBe('the disk is full');
    at.store.commit = commit;
    expect(await codeOf(at.transact('irreversible.buffered', 'c', 'r'))).toBe('resource_in_doubt');
    expect(await decide()).toMatchObject({ transaction: 'settled' });
    expect(await codeOf(at.transact('irreversible.buffered', 'c', 'r'))).toBe('done');
  });

  test('fails if another process took over; a repeat acquires the lease again', async () => {
    const at = await site('blind');
    const hold = at.store.leaseEffects.bind(at.store);
    const tenures: Awaited<ReturnType<typeof hold>>[] = [];
    at.store.leaseEffects = async (signal) => {
      const tenure = await hold(signal);
      tenures.push(tenure);
      return tenure;
    };
    at.fault = () => 'lose_before';
    const { epoch, n } = await at.left('irreversible.buffered', 'commits');
    await tenures[0]!.release();
    await (await hold()).release();
    const decide = () => codeOf(at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'undone' }));
    expect(await decide()).toBe('lease_lost');
    expect(await decide()).toBe('done');
    expect(tenures).toHaveLength(2);
  });

  test.each<[Decision, string, number]>([
    ['undone', 'done', 1],
    ['residue', 'key_collision', 0],
  ])('as %s: a repetition of the transaction by its name is %s', async (as, code, times) => {
    const at = await site('blind');
    at.fault = (of) => (of === 'do' ? 'lose_before' : 'none');
    const { epoch, n } = await at.left('reversible.externalised', 'throws', { name: 'order-1' });
    at.fault = () => 'none';
    await at.assize.resolveEffect({ ...FOUND, epoch, n, as });
    expect(
      await codeOf(
        at.transact('reversible.externalised', 'a', 'r', 'commits', { name: 'order-1' }),
      ),
    ).toBe(code);
    expect(at.sink.standing('a')).toBe(times);
  });
});

test('a transaction that waited behind an effect in doubt does not act there', async () => {
  const at = await site('blind');
  at.fault = (_, what) => (what === 'first' ? 'lose' : 'none');
  const trajectory = await at.assize.open('t');
  const gate = Promise.withResolvers<void>();
  const first = trajectory.transaction(ALL, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'first' });
    await gate.promise;
    tx.propose(COUNT);
  });
  const others = ['reversible.externalised', 'irreversible.buffered'].map((tool) =>
    codeOf(
      trajectory.transaction(ALL, async (tx) => {
        await tx.call(tool, { what: tool });
        tx.propose(COUNT);
      }),
    ),
  );
  gate.resolve();
  expect(await first).toMatchObject({ effects: 'needs_human' });
  expect(await Promise.all(others)).toEqual(['resource_in_doubt', 'resource_in_doubt']);
  expect(at.sink.log.map(({ what }) => what)).toEqual(['first']);
});

test('a decision is resumed automatically if a log write failed in between', async () => {
  const at = await site('blind');
  at.fault = () => 'lose_before';
  const { epoch, n } = await at.left('irreversible.buffered', 'commits');
  at.fault = () => 'none';
  const { store } = at;
  const logEffects = store.logEffects.bind(store);
  let isBroken = true;
  store.logEffects = async (write, ...rest) => {
    const isFirstCall =
      isBroken && write.records?.some(({ record }) => record.includes('"is":"applying"')) === true;
    if (!isFirstCall) return logEffects(write, ...rest);
    isBroken = false;
    throw new Error('the disk is full');
  };
  await expect(
    at.assize.resolveEffect({ epoch, n, as: 'retry', confirm: true, ...FOUND }),
  ).rejects.toThrow('full');
  await vi.waitFor(() => expect(at.sink.standing('a')).toBe(1), { timeout: 300_000 });
  expect(await at.assize.recoverEffects()).toEqual([]);
  expect(at.sink.log).toHaveLength(1);
});
