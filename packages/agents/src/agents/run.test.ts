import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import { canonicalize, generateKeys, hashText } from 'assize/internal/canon';
import { defineDomain, sensitive } from 'assize/internal/kernel';
import type { CommitPayload, EntryRow, Observation } from 'assize/internal/ledger';
import { createOracle, fixedClock, seededRandom } from 'assize/internal/oracle';
import type { Ruling } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { desk, newsroom } from '../../../../tests/support/ledger/newsroom.ts';
import { operator, runtimeOver, START, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { decide } from './decide.ts';
import {
  type Agent,
  type AgentOracle,
  type Arbiter,
  type CompletedTurn,
  type Decision,
  replayRun,
  runAgents,
  turnKey,
} from './index.ts';
import { recordTurn } from './turn.ts';

const payloads = async (store: MemoryStore): Promise<any[]> =>
  (await store.entries('desk', { limit: 100 })).map(({ payload }) => JSON.parse(payload));

/** An agent, as a writer, that follows the test. */
function writer(
  decide: (slice: any, oracle: AgentOracle) => Decision | Promise<Decision>,
  name = 'w',
): Agent {
  return {
    name,
    role: { name: 'writer', params: {} },
    writ: writFor(name === '' ? 'w' : name),
    decide,
  };
}

const write = (title: string, text = 'The town slept'): Decision => ({
  action: 'write',
  args: { title, text, at: '' },
});

describe('a run', () => {
  test.each([{ concurrent: false }, { concurrent: true }])(
    'with model, randomness, time and counselor replays to the same head: %o',
    async (how) => {
      const { run, replay, store, model, trajectory } = await desk();
      const report = await run(how);
      const { calls } = model;
      expect(calls).toBeGreaterThan(5);
      const kinds = new Set((await payloads(store)).map(({ kind }) => kind));
      expect(kinds).toContain('pending_approval');
      expect(kinds).toContain('commit');
      const again = await replay();
      expect(again.firstDifference).toBeUndefined();
      expect(again).toMatchObject({
        same: true,
        headId: trajectory.head,
        turns: report.turns,
        takenAsRecorded: 1,
      });
      expect(model.calls).toBe(calls);
      const options = { domains: [newsroom], oracle: store };
      expect(await deepReplay(store, 'desk', options)).toMatchObject({ differences: [] });
    },
  );

  test('records an agent’s turn and sources as observations of its proposal', async () => {
    const { run, store } = await desk();
    await run({ maxTurns: 1 });
    const [, { observations, key_hash: keyed }] = await payloads(store);
    const key = expect.stringMatching(/^[0-9a-f]{64}$/);
    const value = { $blob: key, bytes: expect.any(Number), salted: true };
    const named = (name: string) => ({ name, oracle_key: key, value });
    const turn = { name: 'turn 0', oracle_key: key, hash: key };
    expect(observations).toEqual([...['model', 'model', 'random', 'clock'].map(named), turn]);
    expect(observations[4].oracle_key).toBe(turnKey('desk', 0));
    expect(keyed).toEqual(key);
    const answers = await Promise.all(
      observations.map(({ oracle_key: of }: Observation) => store.oracleGet(of!)),
    );
    expect(observations[4].hash).toBe(hashText(answers[4]!.answer));
    // A reader of the entry cannot test candidate answers, except with the blob that an erasure
    // deletes.
    const text = JSON.stringify(await store.entries('desk'));
    for (const [n, row] of answers.slice(0, 4).entries()) {
      expect(text).not.toContain(hashText(row!.answer));
      const blob = JSON.parse((await store.blob(observations[n].value.$blob))!);
      expect(blob).toEqual({
        salt: expect.stringMatching(/^[0-9a-f]{32}$/),
        value: hashText(row!.answer),
      });
    }
  });

  const OWN_NAMES = ['ticket#1', 'assize.failure', 'x'.repeat(513)];
  const asking = (name: unknown, asked: () => void = () => undefined, heeds = true) =>
    writer(async (_, oracle) => {
      const call = (): string => {
        asked();
        return 'yes';
      };
      const answer = oracle.ask({ name: name as string, request: 'r', call });
      await (heeds ? answer : answer.catch(() => undefined));
      return write('a');
    });

  test.each([...OWN_NAMES, 7])(
    'asks nothing that can’t be observed by its name (%#)',
    async (name) => {
      for (const heeds of [true, false]) {
        const { run, store, trajectory } = await desk();
        let asked = 0;
        const misnamed = asking(name, () => asked++, heeds);
        await expect(run({ maxTurns: 1 }, [misnamed])).rejects.toMatchObject({
          code: 'bad_intent',
        });
        expect([asked, await store.oracleGet(turnKey('desk', 0)), trajectory.length]).toEqual([
          0,
          undefined,
          1,
        ]);
        // It blocks no other caller: a caller under another name continues.
        await run({ maxTurns: 1 }, [asking('ticket', () => asked++)]);
        expect([asked, trajectory.length]).toEqual([1, 2]);
      }
    },
  );

  test.each(OWN_NAMES)(
    'resumes from a recorded turn with such a name, and replays (%#)',
    async (name) => {
      const { run, replay, oracle, clock, trajectory } = await desk();
      const agent = asking(name);
      const slice = trajectory.slice('writer', {});
      const outside = { oracle, clock, random: seededRandom('turn') };
      const decided = await decide(
        { agent, trajectory: 'desk', number: 0, slice, anyName: true },
        outside,
      );
      const { does, decision, slice: seen } = decided;
      const place = {
        previous: null,
        after: trajectory.head,
        invoked: trajectory.head,
        at: START,
        seed: '0'.repeat(64),
      };
      await recordTurn(oracle, 'desk', 0, {
        agent: 'w',
        does,
        slice: seen,
        decision,
        ...place,
        salted: true,
      });
      expect(await run({ maxTurns: 0 }, [agent])).toMatchObject({ turns: 1 });
      expect(trajectory.length).toBe(2);
      expect(await run({ maxTurns: 0 }, [agent])).toMatchObject({ turns: 1 });
      expect(trajectory.length).toBe(2);
      expect(await replay({}, [agent])).toMatchObject({ same: true });
    },
  );

  test('an arbiter’s questions may have any name, since no answer is observed', async () => {
    const { run } = await desk();
    const arbiter: Arbiter = async ([first], { oracle }) => {
      await oracle.ask({ name: 'ticket#1', request: 'who', call: () => null });
      return first as string;
    };
    expect(await run({ maxTurns: 1, arbiter }, [asking('ticket')])).toMatchObject({ turns: 1 });
  });

  test('the same question twice is two samples, and a slice can’t be written to', async () => {
    const { run, model } = await desk();
    const heard: Json[] = [];
    const agent = writer(async (slice, oracle) => {
      const ask = () => oracle.ask({ request: 'again', call: () => model.answer('again') });
      heard.push(await ask(), await ask());
      expect(() => (slice.drafts.x = 1)).toThrow(TypeError);
      expect(slice).toEqual({ drafts: {} });
      return 'done' as const;
    });
    expect(await run({}, [agent])).toMatchObject({ ended: 'done', turns: 1 });
    expect(canonicalize(heard[0] as Json)).not.toBe(canonicalize(heard[1] as Json));
  });

  test('each decision asks its question again; an answer may fill the log limit', async () => {
    const { run, replay, store, model } = await desk();
    const agent = writer(async ({ drafts }, oracle) => {
      const request = 'how long?';
      const answer = await oracle.ask({
        request,
        call: async () => [await model.answer(request), 'x'.repeat(2_000_000)],
      });
      const { text } = (answer as [{ text: string }])[0];
      return Object.keys(drafts).length < 2 ? write(text) : 'done';
    });
    expect(await run({}, [agent])).toMatchObject({ ended: 'done', turns: 3 });
    expect(model.calls).toBe(3);
    const all = (await payloads(store)).slice(1);
    expect(new Set(all.map(({ action }) => action.args.title)).size).toBe(2);
    expect(await replay({}, [agent])).toMatchObject({ same: true });
  });

  test('ends with a reason when no agent has a proposal', async () => {
    const { run, trajectory } = await desk();
    const idle = writer(() => 'wait');
    expect(await run({}, [idle])).toEqual({ ended: 'waiting', turns: 1, head: trajectory.head });
    // Its slice is unchanged, so it is not invoked again.
    expect(await run({}, [idle])).toMatchObject({ ended: 'waiting', turns: 1 });
    expect(await run({ maxTurns: 3 }, [idle, writer(() => write('x'), 'busy')])).toMatchObject({
      ended: 'turns',
      turns: 4,
    });
    const both = [idle, writer(() => write('x'), 'busy')];
    expect(await run({ signal: AbortSignal.abort() }, both)).toMatchObject({
      ended: 'aborted',
      turns: 4,
    });
  });

  test('an abort during a decision ends the run, which records and asks no more', async () => {
    const { run, model, store } = await desk();
    const aborting = new AbortController();
    const going = Promise.withResolvers<void>();
    let late: unknown;
    const slow = writer(async (_, oracle) => {
      aborting.abort();
      await going.promise;
      late = await oracle
        .ask({ request: 'late', call: () => model.answer('late') })
        .catch((error: unknown) => error);
      return 'done' as const;
    });
    expect(await run({ concurrent: true, signal: aborting.signal }, [slow])).toMatchObject({
      ended: 'aborted',
      turns: 0,
    });
    going.resolve();
    await expect
      .poll(() => late)
      .toMatchObject({
        code: 'misuse',
        message: expect.stringContaining('cannot ask the oracle, because'),
      });
    expect(model.calls).toBe(0);
    expect(await store.oracleGet(turnKey('desk', 0))).toBeUndefined();
  });

  test('freezes other agents while a proposal is pending, then asks them again', async () => {
    const { run, store, trajectory, replay } = await desk();
    const rulings: (Ruling | undefined)[] = [];
    const onTurn = ({ ruling }: CompletedTurn) => void rulings.push(ruling);
    const [author, checker, editor] = [
      writer(({ drafts }) => (drafts['a'] === undefined ? write('a', 'Ms Doe slept') : write('b'))),
      {
        ...writer(
          ({ drafts }) =>
            drafts['a']?.checked === false ? { action: 'check', args: 'a' } : 'wait',
          'c',
        ),
        role: { name: 'checker', params: {} },
      },
      {
        ...writer(
          ({ printed }) => (printed.length === 0 ? { action: 'print', args: 'a' } : 'done'),
          'e',
        ),
        role: { name: 'editor', params: {} },
      },
    ] as [Agent, Agent, Agent];
    const agents = [author, checker, editor];
    const asleep = await run({ counsel: () => ({ do: 'later' }), onTurn, maxTurns: 9 }, agents);
    expect(asleep.ended).toBe('pending');
    const before = await payloads(store);
    expect(before.at(-1).kind).toBe('pending_approval');
    const frozen = rulings.filter((ruling) => ruling?.ruling === 'frozen');
    expect(frozen).toHaveLength(2);
    const awake = await run(
      { counsel: () => ({ do: 'approve', principal: 'chief', method: 'test' }), maxTurns: 4 },
      agents,
    );
    expect(awake.ended).toBe('turns');
    expect((await payloads(store))[before.length]).toMatchObject({
      kind: 'commit',
      counselor: { principal: 'chief' },
    });
    expect(trajectory.approvals.pending()).toEqual([]);
    expect(await replay({}, agents)).toMatchObject({ same: true });
  });

  test('an unauthorised counselor is an outcome of the turn, also in a replay', async () => {
    const { run, replay } = await desk({}, 4);
    let said = 0;
    const turns: CompletedTurn[] = [];
    const counsel = () =>
      ({ do: 'approve', principal: said++ === 0 ? 'stranger' : 'chief', method: 'test' }) as const;
    await run({ counsel, onTurn: (turn) => turns.push(turn) });
    expect(
      turns.some(
        ({ refused }) => (refused as { code?: string })?.code === 'unauthorised_counselor',
      ),
    ).toBe(true);
    expect(await replay()).toMatchObject({ same: true });
  });
});

describe('a run that ended in the middle', () => {
  test('because a model was down asks only unanswered questions', async () => {
    const { run, replay, store } = await desk();
    const calls: string[] = [];
    let isUp = false;
    const agent = writer(async ({ drafts }, oracle) => {
      if (drafts['a'] !== undefined) return 'done';
      const ask = (name: string) =>
        oracle.ask({
          request: name,
          call: () => {
            calls.push(name);
            if (name === 'second' && !isUp) throw new Error('down');
            return `${name} ${calls.length}`;
          },
        });
      await ask('first');
      // An agent that makes do without an answer would not do so again.
      await ask('second').catch(() => 'none');
      return write('a');
    });
    await expect(run({}, [agent])).rejects.toThrow('down');
    expect(await store.oracleGet(turnKey('desk', 0))).toBeUndefined();
    isUp = true;
    expect(await run({}, [agent])).toMatchObject({ ended: 'done', turns: 2 });
    expect(calls).toEqual(['first', 'second', 'second']);
    expect(await replay({}, [agent])).toMatchObject({ same: true });
  });

  test('resumes with its own agents and with no others', async () => {
    const { run } = await desk();
    await run({ maxTurns: 1 }, [writer(() => write('a'))]);
    await expect(run({}, [writer(() => write('b'))])).rejects.toMatchObject({
      code: 'nondeterministic_agent',
      evidence: { turn: 0, agent: 'w' },
    });
    await expect(run({}, [writer(() => write('b'), 'other')])).rejects.toMatchObject({
      code: 'nondeterministic_agent',
    });
  });

  test('a turn taken by a concurrent run belongs to that run', async () => {
    const { run, store, oracle, trajectory } = await desk();
    const other = writer(() => 'wait', 'other');
    const agent = writer(async () => {
      await runAgents(trajectory, [other], { oracle });
      return write('a');
    });
    await expect(run({}, [agent])).rejects.toMatchObject({
      code: 'concurrent_run',
      retryable: true,
      evidence: { turn: 0 },
    });
    expect(await payloads(store)).toHaveLength(1);
  });
});

describe('arbitration', () => {
  test('is round-robin or first come; an arbiter may choose, with its own oracle', async () => {
    const { run, replay } = await desk();
    const agents = ['a', 'b', 'c'].map((name) => writer(() => write(name), name));
    const order: string[] = [];
    const onTurn = ({ turn }: CompletedTurn) =>
      void order.push('agent' in turn ? turn.agent : 'counsel');
    await run({ maxTurns: 4, onTurn }, agents);
    expect(order.splice(0)).toEqual(['a', 'b', 'c', 'a']);
    const drawn: string[] = [];
    await run(
      {
        maxTurns: 5,
        onTurn,
        arbiter: async (candidates, { oracle, last, turn }) => {
          const [byte] = await oracle.random(1);
          drawn.push(`${turn} after ${last}`);
          return candidates[(byte as number) % candidates.length] as string;
        },
      },
      agents,
    );
    expect(drawn[0]).toBe('4 after a');
    expect(order).toHaveLength(5);
    expect(await replay({}, agents)).toMatchObject({ same: true, turns: 9 });
    await expect(run({ arbiter: () => 'nobody' }, agents)).rejects.toMatchObject({
      code: 'function_failed',
      message: expect.stringMatching(
        /Return an action with args,|The arbiter chose|The decision of the counselor/,
      ),
    });
  });

  test('concurrent agents are recorded in the order in which they decide', async () => {
    const { run, replay } = await desk();
    const gates = new Map<string, () => void>();
    const gate = (name: string) =>
      new Promise<Json>((resolve) => gates.set(name, () => resolve(name)));
    const agents = ['a', 'b', 'c'].map((name) =>
      writer(async ({ drafts }, oracle) => {
        if (drafts[name] !== undefined) return 'done';
        await oracle.ask({ request: 'go', call: () => gate(name) });
        return write(name, `after ${Object.keys(drafts)}`);
      }, name),
    );
    const order: string[] = [];
    const running = run(
      {
        concurrent: true,
        onTurn: ({ turn }) => void order.push((turn as { agent: string }).agent),
      },
      agents,
    );
    for (const name of ['c', 'a', 'b']) {
      await expect.poll(() => gates.has(name)).toBe(true);
      gates.get(name)?.();
      await expect.poll(() => order).toContain(name);
    }
    expect(await running).toMatchObject({ ended: 'done' });
    expect(order.filter((name, at) => order.indexOf(name) === at)).toEqual(['c', 'a', 'b']);
    expect(await replay({}, agents)).toMatchObject({ same: true });
  });
});

describe('a replay needs', () => {
  test('the key, where entries are signed', async () => {
    const signer = generateKeys(new Uint8Array(32).fill(3));
    const { run, replay } = await desk({ signer });
    await run();
    expect(await replay({ signer })).toMatchObject({ same: true });
    await expect(replay()).rejects.toMatchObject({
      code: 'signer_needed',
      evidence: { key: signer.publicKey },
    });
    const other = generateKeys(new Uint8Array(32).fill(4));
    await expect(replay({ signer: other })).rejects.toMatchObject({ code: 'signer_needed' });
  });

  test('nothing for salts: they come from the turn’s chance', async () => {
    const store = new MemoryStore();
    const clinic = defineDomain<any, any>({
      name: 'clinic',
      version: '1',
      state: z.object({ notes: z.record(z.string(), sensitive(z.string())) }),
      initial: { notes: {} },
      processes: { note: { writes: ['/notes'] } },
      roles: { nurse: { processes: ['note'] } },
      actions: {
        note: {
          process: 'note',
          args: z.object({ of: z.string(), text: sensitive(z.string()) }),
          apply: (state: any, { of, text }: any) => {
            state.notes[of] = text;
          },
        },
      },
      invariants: [],
      counselors: {},
    });
    const clock = fixedClock(START, 1);
    const trajectory = await runtimeOver(store, [clinic], {
      oracle: store,
      ports: { clock },
    }).create(clinic, {
      trajectoryId: 'c',
    });
    const nurse: Agent = {
      name: 'nurse',
      role: { name: 'nurse', params: {} },
      writ: writFor('nurse'),
      decide: ({ notes }) =>
        Object.keys(notes).length < 3
          ? { action: 'note', args: { of: `p${Object.keys(notes).length}`, text: 'ill' } }
          : 'done',
    };
    const oracle = createOracle({ store, clock, mode: 'record' });
    await runAgents(trajectory, [nurse], { oracle, clock, random: seededRandom(1) });
    const entries = await store.entries('c');
    const salted = entries
      .slice(1)
      .map(({ payload }) => (JSON.parse(payload) as CommitPayload).action.args);
    expect(new Set(salted.map((args) => (args as { $blob: string }).$blob)).size).toBe(3);
    const replay = await replayRun(
      { store, oracleStore: store, trajectoryId: 'c' },
      clinic,
      [nurse],
      {
        anchors: [operator.publicKey],
      },
    );
    expect(replay).toMatchObject({ same: true, headId: (entries.at(-1) as EntryRow).id });
  });

  test('a ledger that verifies, of this trajectory', async () => {
    const { store } = await desk();
    const source = { store, oracleStore: store, trajectoryId: 'nowhere' };
    const options = { anchors: [operator.publicKey] };
    await expect(
      replayRun(source, newsroom, [writer(() => 'done')], options),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
    const entries = async () => [{ ...(await store.head('desk')), payload: '{}' }] as EntryRow[];
    const damaged = Object.assign(Object.create(store), { entries });
    const broken = { store: damaged, oracleStore: store, trajectoryId: 'desk' };
    await expect(
      replayRun(broken, newsroom, [writer(() => 'done')], options),
    ).rejects.toMatchObject({
      code: 'invalid_ledger',
    });
  });
});

describe('a run is refused for', () => {
  const done = () => 'done' as const;
  test.each([
    ['none', []],
    ['no list', null],
    ['nothing', [null]],
    ['no name', [writer(done, '')]],
    ['a long name', [writer(done, 'x'.repeat(129))]],
    ['a reserved name', [writer(done, 'assize.arbiter')]],
    ['two of one name', [writer(done), writer(done)]],
    ['no function', [{ ...writer(done), decide: 'done' }]],
    ['no such role', [{ ...writer(done), role: { name: 'toString', params: {} } }]],
    ['no role', [{ ...writer(done), role: undefined }]],
  ])('agents that are %s', async (_, agents) => {
    const { run, replay } = await desk();
    await expect(run({}, agents as never)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('The agents are not valid'),
    });
    await expect(replay({}, agents as never)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('The agents are not valid'),
    });
  });

  test.each([[undefined], [null], ['later'], [{ args: 1 }]])('a decision %j', async (decision) => {
    const { run, store } = await desk();
    await expect(run({}, [writer(() => decision as never)])).rejects.toMatchObject({
      code: 'function_failed',
      message: expect.stringMatching(
        /Return an action with args,|The arbiter chose|The decision of the counselor/,
      ),
    });
    expect(await store.oracleGet(turnKey('desk', 0))).toBeUndefined();
  });

  test('arguments that are not JSON, and a role that an action is not of', async () => {
    const { run, store } = await desk();
    await expect(
      run({}, [writer(() => ({ action: 'write', args: Number.NaN }))]),
    ).rejects.toMatchObject({
      name: 'CanonError',
    });
    expect(await store.oracleGet(turnKey('desk', 0))).toBeUndefined();
    await run({ maxTurns: 1 }, [writer(() => ({ action: 'print', args: 'x' }))]);
    expect((await payloads(store)).at(-1)).toMatchObject({
      kind: 'rejection',
      reason: 'invalid_authority',
    });
  });

  test('options that can’t be used', async () => {
    const { trajectory, store, clock, oracle } = await desk();
    const agents = [writer(done)];
    const replaying = createOracle({ store, clock, mode: 'replay' });
    for (const options of [
      { oracle: replaying },
      { oracle: undefined },
      { oracle, maxTurns: -1 },
      { oracle, maxTurns: 0.5 },
    ])
      await expect(runAgents(trajectory, agents, options as never)).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringMatching(/oracle|maxTurns/),
      });
  });

  test('a counsel that says nothing', async () => {
    const { run } = await desk({}, 4);
    for (const nothing of [undefined, { do: 'perhaps' }])
      await expect(run({ counsel: () => nothing as never })).rejects.toMatchObject({
        code: 'function_failed',
        message: expect.stringMatching(
          /Return an action with args,|The arbiter chose|The decision of the counselor/,
        ),
      });
  });

  test('an oracle that is asked when the decision is made', async () => {
    const { run, model } = await desk();
    let kept: AgentOracle | undefined;
    await run({}, [
      writer((_, oracle) => {
        kept = oracle;
        return 'done';
      }),
    ]);
    const asking = { request: 'late', call: () => model.answer('late') };
    await expect(kept?.ask(asking)).rejects.toMatchObject({
      code: 'misuse',
      message: expect.stringContaining('cannot ask the oracle, because'),
    });
    await expect(kept?.now()).rejects.toMatchObject({
      code: 'misuse',
      message: expect.stringContaining('cannot ask the oracle, because'),
    });
    await expect(kept?.random(1)).rejects.toMatchObject({
      code: 'misuse',
      message: expect.stringContaining('cannot ask the oracle, because'),
    });
    expect(model.calls).toBe(0);
  });

  test('a log that has something else for a turn', async () => {
    const { run, replay, store, clock } = await desk();
    for (const answer of ['"turn"', 'null', '{"agent":"wren"}']) {
      const changed = Object.assign(Object.create(store), {
        oracleGet: async (key: string) =>
          key === turnKey('desk', 0) ? { key, answer, at: START } : store.oracleGet(key),
      });
      const oracle = createOracle({ store: changed, clock, mode: 'record' });
      await expect(run({ oracle })).rejects.toMatchObject({
        code: 'damaged',
        message: expect.stringContaining('Check that the log belongs to'),
        evidence: { turn: 0 },
      });
    }
    expect(await replay()).toMatchObject({ same: true, turns: 0 });
  });
});

test('a replay calls no listener of the runtime that recorded the run', async () => {
  const heard: string[] = [];
  const approvals = {
    timeoutMs: 'never' as const,
    onPending: ({ id }: { id: string }) => void heard.push(id),
  };
  const { run, replay } = await desk({ approvals });
  await run();
  const recorded = heard.length;
  expect(recorded).toBeGreaterThan(0);
  expect(await replay({ approvals })).toMatchObject({ same: true });
  expect(heard).toHaveLength(recorded);
});
