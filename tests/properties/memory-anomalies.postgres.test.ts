import { expect, test } from 'vitest';
import { z } from 'zod';
import { isAssizeError } from '#base';
import { addMicros, type Instant } from '#canon';
import { defineDomain } from '#kernel';
import {
  type Batch,
  type CommitPayload,
  type CommitResult,
  type FactWrite,
  type Hash,
  readRow,
} from '#ledger';
import { claimId, type FactRow, OPEN_END, type Question, readWitness, type Witness } from '#memory';
import { createOracle, type Oracle, type OracleStore, seededRandom } from '#oracle';
import { checkMemory, type Memory, type Trajectory, verifyStore } from '#runtime';
import type { Store } from '#stores';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';

// The three anomalies of the paper that no isolation level of a store excludes alone. N1: a
// question has two answers. N2: a fact holds beside greater evidence. N3: a losing assertion cannot
// be recovered. The writers, each with its own runtime, handle and trajectory, assert
// contradictions in the same partitions. All of them have planned before the first commits. The
// test then compares the store with the assertions. Faults that are planted at the ports show that
// the test finds each anomaly.

const KEY = new Uint8Array(32).fill(5);
const SPACE = 'space';
const CELLS = 6;
const border = (n: number): Instant => `2026-01-0${n + 1}T00:00:00.000000Z`;
const writ = writFor('writer');

const believer = defineDomain({
  name: 'believer',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  memory: {
    predicates: {
      judged: { cardinality: 'single-valued', strategy: 'rule' },
      surest: { cardinality: 'single-valued', strategy: 'evi' },
      last: { cardinality: 'single-valued', strategy: 'lww' },
    },
  },
});
type Predicate = 'judged' | 'surest' | 'last';

/** A writer's assertion in one part of a trial. */
interface Saying {
  readonly object: string;
  readonly confidence: number;
  /** Cells, closed-open. */
  readonly from: number;
  readonly to: number;
  readonly source: string;
}

/** The concurrent assertions of all writers about one subject, after the earlier ones. */
interface Part {
  readonly subject: string;
  readonly predicate: Predicate;
  readonly before: readonly Saying[];
  readonly by: (writer: number) => Saying;
}

/** An assertion, and the result of its commit. */
interface Said extends Saying {
  readonly part: Part;
  readonly claim: string;
  readonly entryId: Hash;
  /** Of the partition, where the commit changed it. */
  readonly version: number | undefined;
}

interface Anomalies {
  readonly N1: readonly string[];
  readonly N2: readonly string[];
  readonly N3: readonly string[];
}

const NONE: Anomalies = { N1: [], N2: [], N3: [] };

function parts(): Part[] {
  const whole = { from: 0, to: CELLS };
  const third = (n: number) => ({ from: n % 3, to: (n % 3) + 3 });
  // All confidences differ, and the last writer is not the surest.
  const confidence = (n: number): number => 0.5 + ((n * 5 + 3) % 17) / 40;
  const before = (object: string, sure: number): Saying => ({
    object,
    confidence: sure,
    ...whole,
    source: object,
  });
  return [
    {
      subject: 'one question to all',
      predicate: 'judged',
      before: [before('old', 1)],
      by: () => ({ object: 'new', confidence: 1, ...whole, source: 'the same letter' }),
    },
    {
      subject: 'a question to each',
      predicate: 'judged',
      before: [before('old', 1)],
      by: (n) => ({ object: `own ${n}`, confidence: 1, ...third(n), source: `letter ${n}` }),
    },
    {
      subject: 'confidences',
      predicate: 'surest',
      before: [before('old', 0.1)],
      by: (n) => ({
        object: `own ${n}`,
        confidence: confidence(n),
        ...third(n),
        source: `letter ${n}`,
      }),
    },
    {
      // Two rows, each revised by half of the writers.
      subject: 'revisions',
      predicate: 'surest',
      before: [before('x', 0.1), before('y', 0.2)],
      by: (n) => ({
        object: n % 2 === 0 ? 'x' : 'y',
        confidence: confidence(n),
        ...whole,
        source: `letter ${n}`,
      }),
    },
    {
      subject: 'last',
      predicate: 'last',
      before: [],
      by: (n) => ({
        object: `own ${n}`,
        confidence: confidence(n),
        ...third(n),
        source: `letter ${n}`,
      }),
    },
  ];
}

/** No writer continues until all have arrived. */
function meeting(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let there = 0;
  return () => {
    there += 1;
    if (there >= size) resolve();
    return promise;
  };
}

/** A fault at a port, between the runtime and a store that is sound. */
interface Fault {
  /** In place of the log of votes. */
  readonly log?: (store: Store) => OracleStore;
  /** In place of a commit that changes facts. */
  readonly commit?: (store: Store, batch: Batch) => Promise<CommitResult>;
}

/** The writers assert everything concurrently, part by part. Returns the anomalies. */
async function anomaliesAmong(place: Place, size: number, fault: Fault = {}): Promise<Anomalies> {
  const handles = await Promise.all(
    Array.from({ length: size }, () => place.open({ readers: 1, durability: 'off' })),
  );
  const [first] = handles as [Store];
  await first.claimKey(KEY);
  const votes = new Map<string, Set<string>>();
  const stage: Stage = { votes, planned: () => Promise.resolve(), asked: () => Promise.resolve() };
  const writers: Memory[] = [];
  for (const [n, store] of handles.entries())
    writers.push(await writerOver(store, n, stage, fault));
  const said: Said[] = [];
  for (const part of parts()) {
    for (const saying of part.before) said.push(await say(writers[0]!, part, saying));
    stage.planned = meeting(size);
    stage.asked = part.subject === 'one question to all' ? meeting(size) : () => Promise.resolve();
    said.push(...(await Promise.all(writers.map((memory, n) => say(memory, part, part.by(n))))));
  }
  const anomalies = await found(first, writers[0]!, said, votes);
  if (fault.commit === undefined) {
    expect(await checkMemory(first)).toMatchObject({ valid: true, changedMeanwhile: 0 });
    for (const report of await verifyStore(first)) expect(report).toMatchObject({ valid: true });
  }
  for (const store of handles) await store.close();
  return anomalies;
}

/** Where writers wait for each other. */
interface Stage {
  /** The votes that the log returned to judges, by question. */
  readonly votes: Map<string, Set<string>>;
  planned: () => Promise<void>;
  asked: () => Promise<void>;
}

async function writerOver(store: Store, n: number, stage: Stage, fault: Fault): Promise<Memory> {
  const clock = new HandClock();
  const log = fault.log?.(store) ?? store;
  const runtime = runtimeOver(staged(store, stage, fault), [believer], {
    ports: { clock, random: seededRandom(`writer ${n}`) },
    memory: {
      judge: {
        oracle: told(createOracle({ store: log, clock, mode: 'record' }), stage.votes),
        // Judges that never agree.
        choose: async ({ members }: Question) => {
          await stage.asked();
          return members[n % members.length]!.claim;
        },
      },
    },
  });
  const trajectory = (await runtime.create(believer, {
    trajectoryId: `t${n}`,
    writs: [writ],
  })) as Trajectory;
  return trajectory.memory({ space: SPACE, writ });
}

/** The first commit of facts waits until all have planned. */
function staged(store: Store, stage: Stage, fault: Fault): Store {
  let waited: Stage['planned'] | undefined;
  const commit = async (batch: Batch): Promise<CommitResult> => {
    if ((batch.facts ?? []).length === 0) return store.commit(batch);
    const { planned } = stage;
    if (waited !== planned) {
      waited = planned;
      await planned();
    }
    return (fault.commit ?? ((below, given) => below.commit(given)))(store, batch);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'commit') return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Notes the returned answer, for any voter. */
function told(oracle: Oracle, votes: Map<string, Set<string>>): Oracle {
  return {
    ...oracle,
    consult: async (asking) => {
      const answer = await oracle.consult(asking);
      const { judge } = asking.request as { judge: string };
      votes.set(judge, (votes.get(judge) ?? new Set()).add(answer.value as string));
      return answer;
    },
  };
}

/** Repeats until the commit: a writer that loses too many conflicts asserts again. */
async function say(memory: Memory, part: Part, saying: Saying): Promise<Said> {
  const { subject, predicate } = part;
  const { object, confidence, from, to, source } = saying;
  const valid = { from: border(from), to: border(to) };
  for (;;) {
    try {
      const ruling = await memory.assert({ subject, predicate, object, confidence, valid, source });
      if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(ruling)}`);
      const [change] = (readRow(ruling.entry).payload as CommitPayload).delta.beliefs;
      const claim = claimId(KEY, {
        space: SPACE,
        subject,
        predicate,
        object,
        valid,
        sourceEventId: source,
      });
      return { ...saying, part, claim, entryId: ruling.entry.id, version: change?.version };
    } catch (error) {
      if (!isAssizeError(error, 'conflict')) throw error;
    }
  }
}

/** Compares the current store with the assertions. */
async function found(
  log: OracleStore,
  memory: Memory,
  said: readonly Said[],
  votes: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Anomalies> {
  const [N1, N2, N3]: [string[], string[], string[]] = [[], [], []];
  for (const [request, answers] of votes)
    if (answers.size > 1) N1.push(`${answers.size} answers to the question ${request}`);
  for (const part of new Set(said.map((one) => one.part)))
    for (let cell = 0; cell < CELLS; cell++) {
      const { subject, predicate } = part;
      const where = `${subject}, cell ${cell}`;
      const there = said.filter((one) => one.part === part && one.from <= cell && cell < one.to);
      const at = { subject, predicate, valid: border(cell) };
      const believed = (await memory.recall(at)).facts;
      const lost = (await memory.recall({ ...at, kind: 'audit' })).facts;
      const losses = lost.map((row) => readWitness(row));
      for (const witness of losses)
        if (!(await isAsVoted(log, witness))) N1.push(`${where}: not as the log has it`);
      if (believed.length !== (there.length > 0 ? 1 : 0))
        N2.push(`${where}: ${believed.length} are believed`);
      const due = dueOf(part, there);
      if (due !== undefined && believed.some(({ object }) => object !== due.object))
        N2.push(`${where}: ${believed[0]?.object} is believed, and ${due.object} has more`);
      for (const one of there)
        if (!isRecoverable(one, believed, losses))
          N3.push(`${where}: ${one.object} from ${one.source} is lost`);
    }
  return { N1, N2, N3 };
}

async function isAsVoted(log: OracleStore, { judge, winner }: Witness): Promise<boolean> {
  return judge === undefined || (await log.oracleGet(judge))?.answer === JSON.stringify(winner);
}

/** The assertion that must hold. Undefined for judges, because their votes are unknown. */
function dueOf({ predicate }: Part, there: readonly Said[]): Said | undefined {
  if (predicate === 'judged') return undefined;
  const rank = ({ confidence, version = 0 }: Said): number =>
    predicate === 'surest' ? confidence : version;
  return [...there].sort((a, b) => rank(b) - rank(a))[0];
}

/** The assertion holds, or its winner is known, with its whole content and its position. */
function isRecoverable(
  one: Said,
  believed: readonly FactRow[],
  losses: readonly Witness[],
): boolean {
  const isIts = ({ object, provenance_id }: FactRow): boolean =>
    object === one.object &&
    (one.version === undefined || provenance_id.includes(`w:${one.entryId}#0`));
  if (believed.some((row) => row.object === one.object)) return true;
  const lost = losses.filter(({ members, loser }) =>
    members.some(
      ({ claim, object, rows }) => claim === loser && object === one.object && rows.some(isIts),
    ),
  );
  // A revised assertion loses once per revision.
  return one.part.subject === 'revisions' ? lost.length > 0 : lost.length === 1;
}

onEveryDatabase(
  (stores) => {
    test.each([2, 4, 8, 16])(
      '%i concurrent writers: no double answer, no weaker fact, no lost loser',
      async (size) => {
        expect(await anomaliesAmong(stores.newPlace(), size)).toEqual(NONE);
      },
    );

    test('a log of votes that does not keep the first one is found (N1)', async () => {
      const rows = new Map<string, Awaited<ReturnType<OracleStore['oraclePut']>>>();
      const log = (): OracleStore => ({
        oracleGet: async () => undefined,
        oraclePut: async (row) => {
          rows.set(row.key, row);
          return row;
        },
      });
      const { N1 } = await anomaliesAmong(stores.newPlace(), 4, { log });
      expect(N1).toContainEqual(expect.stringMatching(/^[2-4] answers to the question/));
    });

    test('a store that compares no versions is found (N2)', async () => {
      const { N2 } = await anomaliesAmong(stores.newPlace(), 4, { commit: careless });
      expect(N2).toContainEqual(
        expect.stringMatching(/^confidences, cell \d: [2-5] are believed$/),
      );
      expect(N2).toContainEqual(expect.stringMatching(/^revisions, cell \d: [2-5] are believed$/));
    });

    test('a store that keeps no losers is found (N3)', async () => {
      const commit: Fault['commit'] = (store, batch) =>
        store.commit({
          ...batch,
          facts: batch.facts!.map((write) => ({
            ...write,
            insert: write.insert.filter(({ row_kind }) => row_kind === 'current'),
          })),
        });
      const { N1, N2, N3 } = await anomaliesAmong(stores.newPlace(), 4, { commit });
      expect([N1, N2]).toEqual([[], []]);
      for (const { subject } of parts())
        expect(N3).toContainEqual(
          expect.stringMatching(new RegExp(`^${subject}, cell \\d: .* is lost$`)),
        );
    });
  },
  { settings: { max_connections: '200' } },
);

/** Commits a plan on any version, and lets overlapping rows overlap. */
async function careless(store: Store, batch: Batch): Promise<CommitResult> {
  for (;;) {
    const facts: FactWrite[] = [];
    for (const write of batch.facts!) {
      const state = await store.partition(write.partition);
      const { version = 0, latest = '', open = [], names = write.names } = state ?? {};
      const isOpen = ({ fact_id, system_time_start }: FactWrite['close'][number]): boolean =>
        open.some((row) => row.fact_id === fact_id && row.system_time_start === system_time_start);
      const late = latest >= write.system_time;
      facts.push({
        ...write,
        names,
        version: version + 1,
        close: write.close.filter(isOpen),
        ...(late && { system_time: addMicros(latest, 1) }),
        insert: write.insert.map((row) => ({
          ...row,
          cardinality: 'multi-valued',
          seq: version + 1,
          ...(late && { system_time_start: addMicros(latest, 1) }),
          system_time_end: OPEN_END,
        })),
      });
    }
    const result = await store.commit({ ...batch, facts });
    if (result.status !== 'outdated') return result;
  }
}
