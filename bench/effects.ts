/**
 * Tool transactions: coordination in memory (`coordination.ts`), the cost of a durable transaction,
 * and the overhead over tools that take a millisecond. Durable work is compared with the same
 * proposals without tools and with plain entries, in the same run and with as many callers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Assize, type Domain, generateKeys, openStore, type Trajectory, type Writ } from 'assize';
import { z } from 'zod';
import { Coordinator, type Delivery, declareTool, readClaim, type Sink, type Tool } from '#effects';
import type { Store } from '#stores';
import { append, Chains, Watch } from './appends.ts';
import { coordinationBench } from './coordination.ts';
import {
  type BenchResult,
  type Contender,
  compare,
  formatTable,
  type Rate,
  rateResult,
  ratioOf,
} from './measure.ts';
import type { PeerFigures } from './peer.ts';
import { benchWrit, shop, shopState, visit } from './shop.ts';
import { Sleepers } from './sleepers.ts';

const CALLERS = 16;
const MEMBERS = 1_000;
const AGENTS = 8;
/** The tools of an agent's transaction, and the duration of each. */
const STEPS = 4;
const STEP_MS = 1;
/**
 * The warm-up time of each contender before the measurement. The code of a transaction takes some
 * 50,000 runs to be fully compiled.
 */
const WARM_MS = 10_000;
/** Transactions of agents before that, on each store, while their tools take no time. */
const WARM_AGENTS = 20_000;
/** Transactions of one caller by which syncs are counted. */
const COUNTED = 200;

interface Kind {
  readonly name: string;
  readonly tool: string;
  readonly goal?: NonNullable<BenchResult['goal']>;
  /** With a name of the caller's own: its keys are indexed, so that it may come again. */
  readonly isNamed?: true;
}

export const KINDS: readonly Kind[] = [
  { name: 'buffered, keyed sink', tool: 'keyed.buffered', goal: { min: 9_000, ratioMin: 0.3 } },
  { name: 'buffered, keyed sink, named', tool: 'keyed.buffered', isNamed: true },
  { name: 'buffered, blind sink', tool: 'blind.buffered', goal: { min: 12_000 } },
  { name: 'externalised, reversible', tool: 'keyed.externalised', goal: { min: 12_000 } },
];

/** `peer`: results of the Python reference, for comparison. */
export async function effectsBench(peer?: PeerFigures): Promise<BenchResult[]> {
  return [...(await coordinationBench(peer)), ...(await durable()), ...(await agents())];
}

async function durable(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const opened: Stage[] = [];
  const stage = async (name: string): Promise<Stage> => {
    const each = await openStage(`sqlite:${join(folder, `${name}.db`)}`, kindTools());
    opened.push(each);
    return each;
  };
  try {
    const plain = appends((await stage('appends')).store);
    const proposals = callers(await stage('proposals'), 'plain proposals', propose);
    const kinds: Contender[] = [];
    for (const kind of KINDS)
      kinds.push(callers(await stage(kind.name), kind.name, transact(kind)));
    const [appended, proposed, ...rates] = await compare([plain, proposals, ...kinds], {
      rounds: 9,
      roundMs: 250,
      warmMs: WARM_MS,
    });
    const results = [
      rateResult(
        { ...proposed!, name: `proposals without tools, ${CALLERS} callers, durable` },
        appended,
      ),
    ];
    for (const [i, kind] of KINDS.entries())
      results.push(
        ...(await resultsOf(
          kind,
          rates[i]!,
          appended!,
          proposed!,
          await stage(`${kind.name} counted`),
        )),
      );
    return results;
  } finally {
    for (const each of opened) await each.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tools of all kinds. */
export function kindTools(): Tool[] {
  return [
    sinkTool('keyed', 'buffered'),
    sinkTool('blind', 'buffered'),
    sinkTool('keyed', 'externalised'),
  ];
}

async function resultsOf(
  kind: Kind,
  rate: Rate,
  appended: Rate,
  proposed: Rate,
  counted: Stage,
): Promise<BenchResult[]> {
  const name = `one effect, ${kind.name}, ${CALLERS} callers, durable`;
  return [
    rateResult({ ...rate, name }, appended, kind.goal),
    { name: `${name}: of plain proposals`, value: ratioOf(rate, proposed), unit: '' },
    {
      name: `${name}: groups a caller waits for`,
      value: await groupsWaitedFor(counted, kind),
      unit: '',
    },
  ];
}

/** A world with its tools, on a store. */
interface Stage {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly writ: Writ;
  /** Counts groups that the store has written. */
  readonly groups: { count: number };
  close(): Promise<void>;
}

export async function openStage(url: string, tools: readonly Tool[]): Promise<Stage> {
  const store = await openStore(url);
  const groups = { count: 0 };
  const keys = generateKeys();
  const assize = new Assize({
    store: countingGroups(store, groups),
    domains: [shop as Domain],
    anchors: [keys.publicKey],
    tools,
  });
  const writ = benchWrit(keys, 't', ['**'], ['**']);
  const trajectory = await assize.create(shop as Domain, {
    trajectoryId: 't',
    initial: shopState(MEMBERS),
    writs: [writ],
  });
  const close = async (): Promise<void> => {
    await assize.close();
    await store.close();
  };
  return { store, trajectory, writ, groups, close };
}

/** The store, with all that it answers in one go counted as one: it has synced once for that. */
function countingGroups(store: Store, groups: { count: number }): Store {
  let isOpen = false;
  const count = <T>(answer: T): T => {
    if (!isOpen) {
      isOpen = true;
      groups.count++;
      // All answers of one group settle in one go; a tick runs after the last of them.
      process.nextTick(() => (isOpen = false));
    }
    return answer;
  };
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'commit' && name !== 'logEffects') return member.bind(target);
      return (...args: unknown[]) =>
        (Reflect.apply(member, target, args) as Promise<unknown>).then(count);
    },
  });
}

/** A tool that does almost nothing. */
function sinkTool(
  sink: Sink,
  delivery: Delivery,
  name = `${sink}.${delivery}`,
  execute: () => unknown = () => null,
): Tool {
  return declareTool({
    name,
    input: z.strictObject({ member: z.string(), text: z.string() }),
    class: { reversibility: 'reversible', delivery, sink },
    writes: ['bench:{member}'],
    execute,
    compensate: () => ({ undone: 'all' }),
  });
}

type Act = (stage: Stage, n: number) => Promise<unknown>;

const propose: Act = ({ trajectory, writ }, n) =>
  trajectory.propose({ ...visit(n, MEMBERS), writ }).then(({ ruling }) => checked(ruling));

/** The same proposal, with calls of a tool. @throws Error unless all is committed and settled */
export function transact({ tool, isNamed }: Pick<Kind, 'tool' | 'isNamed'>, calls = 1): Act {
  return async ({ trajectory, writ }, n) => {
    const intent = visit(n, MEMBERS);
    const { member } = intent.role.params;
    const options = { writ, writes: [`bench:${member}`], ...(isNamed && { name: `visit ${n}` }) };
    const { ruling, effects } = await trajectory.transaction(options, async (tx) => {
      for (let i = 0; i < calls; i++) await tx.call(tool, { member, text: `visit ${n}, ${i}` });
      tx.propose(intent);
    });
    checked(ruling.ruling);
    if (effects !== 'settled') throw new Error(`unexpected: ${effects}`);
  };
}

function checked(ruling: string): void {
  if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
}

function callers(stage: Stage, name: string, act: Act, at = CALLERS): Contender {
  let n = 0;
  return {
    name,
    run: async (count) => {
      let left = count;
      await Promise.all(
        Array.from({ length: at }, async () => {
          while (left-- > 0) await act(stage, n++);
        }),
      );
    },
  };
}

/** Entries as `append, 16 in process` has them: each caller's own chain. */
function appends(store: Store): Contender {
  const chains = new Chains(CALLERS);
  const watch = new Watch();
  return {
    name: 'plain appends',
    run: async (count) => {
      const rows = chains.next(Math.ceil(count / CALLERS));
      await Promise.all(
        rows.map(async (chain) => {
          for (const row of chain) await append(row, store, watch);
        }),
      );
    },
  };
}

/** Run by one caller alone, so each awaited group is its own. Later writes join the next group. */
async function groupsWaitedFor(stage: Stage, kind: Kind): Promise<number> {
  const act = transact(kind);
  await act(stage, 0);
  const before = stage.groups.count;
  for (let n = 1; n <= COUNTED; n++) await act(stage, n);
  return (stage.groups.count - before) / COUNTED;
}

/**
 * Agents with disjoint scopes and slow tools, next to a loop that calls the same tools and stores
 * nothing. The agents run with coordination alone, with a full transaction but no disk, and
 * durably. If the tools wait for timers of this process, the agents keep step, because all timers
 * end with the same clock tick. Every agent then waits for the computation of each other agent. If
 * the tools wait for sleeping threads, as they would for other processes, each agent continues when
 * its own call is answered.
 */
async function agents(): Promise<BenchResult[]> {
  const sleepers = new Sleepers(AGENTS);
  try {
    return [
      ...(await agentsWith(`tools of ${STEP_MS} ms in step`, () => wait(STEP_MS))),
      ...(await agentsWith(`tools of ${STEP_MS} ms elsewhere`, () => sleepers.sleep(STEP_MS))),
    ];
  } finally {
    await sleepers.end();
  }
}

async function agentsWith(tools: string, takesTime: () => Promise<void>): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  // At full speed first: with tools that take their time, it would take minutes until all is
  // compiled to the end.
  let isWarm = false;
  const slow = [sinkTool('keyed', 'buffered', 'slow', () => (isWarm ? takesTime() : null))];
  const inMemory = await openStage('memory:', slow);
  const onDisk = await openStage(`sqlite:${join(folder, 'agents.db')}`, slow);
  const coordinator = new Coordinator();
  const bare: Act = async () => {
    for (let i = 0; i < STEPS; i++) await takesTime();
  };
  const coordinated: Act = async (_, n) => {
    const claim = readClaim('write', `bench:m${n % MEMBERS}`);
    const work = coordinator.begin([claim]);
    for (let i = 0; i < STEPS; i++) {
      await coordinator.acquire(work, [claim]);
      await takesTime();
    }
    coordinator.end(work);
  };
  const act = transact({ tool: 'slow' }, STEPS);
  try {
    for (const stage of [inMemory, onDisk])
      await callers(stage, 'at full speed', act, AGENTS).run(WARM_AGENTS);
    isWarm = true;
    const [loop, ...rates] = await compare(
      [
        callers(inMemory, 'the bare loop', bare, AGENTS),
        callers(inMemory, 'who may act where', coordinated, AGENTS),
        callers(inMemory, 'in memory', act, AGENTS),
        callers(onDisk, 'durable', act, AGENTS),
      ],
      { rounds: 9, roundMs: 400, warmMs: WARM_MS },
    );
    const name = `${AGENTS} agents, ${STEPS} ${tools} a transaction`;
    const goal = { ratioMin: 0.85 };
    return rates.map((rate) => rateResult({ ...rate, name: `${name}, ${rate.name}` }, loop!, goal));
  } finally {
    for (const stage of [inMemory, onDisk]) await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(formatTable(await effectsBench()));
