import { readdir } from 'node:fs/promises';
import { EffectError, type Tool } from 'assize/effects';
import type { Transaction, Tried } from 'assize/runtime';
import { breath, type Cell, partOf, type Table } from 'assize/tables';
import { fileTools } from 'assize/tools/files';
import { callingAtOnce } from '../callers.ts';
import { numbersFrom } from '../chance.ts';
import { Shelf } from '../environments/shelf.ts';
import type { Experiment, Running } from '../experiment.ts';
import { LostResponse } from '../faulty.ts';
import { estimateOf } from '../interval.ts';
import { scaled } from '../measure.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import { type Fault, PAPER, scheduleOf } from '../schedule.ts';
import { openScratch } from '../scratch.ts';
import { openStage, RETRIES, type Stage } from '../stage.ts';

export const speculation: Experiment = {
  name: 'speculation',
  about: 'branches of which one is to stay: what others see of them, what they leave, where they meet (RQ2, table 3)',
  run: async (running) => [
    ...(await contamination(partOf(running, 0, 3))),
    await leakedFiles(partOf(running, 1, 3)),
    await conflicts(partOf(running, 2, 3)),
  ],
};

/** What a branch calls a tool with. */
type Call = (tool: string, input: unknown) => Promise<unknown>;
type Branch = (call: Call) => Promise<unknown>;

interface Speculated {
  /** All is done as by the branch that was chosen. */
  readonly isDone: boolean;
}

/** How a mode tries branches and goes on with one. */
interface Speculator {
  /** `choose`: the place of one that did not fail, or nothing. */
  try(branches: readonly Branch[], choose: (failed: readonly boolean[]) => number | undefined): Promise<Speculated>;
  close(): Promise<void>;
}

/** What a mode has of the world outside, where it takes checkpoints. */
interface Checkpointed {
  snapshot(): any;
  restore(snapshot: any): void;
}

/**
 * `writes`: what all branches claim together. Only with the frontier are effects held; all others write at once, as those of the
 * paper do.
 */
async function speculatorIn(
  mode: Mode,
  tools: readonly Tool[],
  writes: readonly string[],
  world: Checkpointed,
): Promise<Speculator> {
  if (mode.transactional) {
    const stage = await openStage({ mode, tools });
    return { try: (branches, choose) => transactional(stage, writes, branches, choose), close: () => stage.close() };
  }
  const direct = callingAtOnce(tools);
  const call: Call = (tool, input) => direct({ tool, input });
  return {
    try: mode.checkpoint
      ? (branches, choose) => rolledBack(world, call, branches, choose)
      : async (branches, choose) => ({ isDone: choose(await all(call, branches)) !== undefined }),
    close: async () => {},
  };
}

async function transactional(
  stage: Stage,
  writes: readonly string[],
  branches: readonly Branch[],
  choose: (failed: readonly boolean[]) => number | undefined,
): Promise<Speculated> {
  const bodies = branches.map((branch) => (tx: Transaction) => branch((tool, input) => tx.call(tool, input)));
  try {
    const { effects } = await stage.transact({ writes }, (tx) =>
      tx.speculate(bodies, (tried) => chosenOf(tried, choose)),
    );
    return { isDone: effects === 'settled' };
  } catch (error) {
    if (error instanceof EffectError && error.code === 'tool_failed') return { isDone: false };
    throw error;
  }
}

function chosenOf(
  tried: readonly Tried<unknown>[],
  choose: (failed: readonly boolean[]) => number | undefined,
): number {
  const chosen = choose(tried.map(({ failed }) => failed));
  if (chosen !== undefined) return chosen;
  // So that a mode that tries again does so.
  throw new EffectError('tool_failed', 'No branch was done.', { retryable: true });
}

/** All branches write at once; then all is put back, and the one that was chosen is done again, as often as may be. */
async function rolledBack(
  world: Checkpointed,
  call: Call,
  branches: readonly Branch[],
  choose: (failed: readonly boolean[]) => number | undefined,
): Promise<Speculated> {
  const before = world.snapshot();
  let next = branches;
  for (let again = 0; again <= RETRIES; again++) {
    const failed = await all(call, next);
    const chosen = choose(failed);
    if (chosen !== undefined && next.length === 1) return { isDone: true };
    world.restore(before);
    if (chosen !== undefined) next = [next[chosen]!];
  }
  return { isDone: false };
}

async function all(call: Call, branches: readonly Branch[]): Promise<boolean[]> {
  const tried = await Promise.allSettled(branches.map((branch) => branch(call)));
  return tried.map(({ status }) => status === 'rejected');
}

function placesOf(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

const RUNS = 200;
const BRANCHES = [2, 4, 8, 16];
const STEPS = 5;
/** Runs in which something was seen of a branch that was not committed, in per cent, in all settings (§6.3). */
const SEEN: Partial<Record<ModeName, number>> = { 'Tx-Full': 0, CR: 100, 'No-Frontier': 100, 'No-Tx': 100 };

/** Whether somebody who looks at every step of every branch sees what is not committed; and what of it stays. */
async function contamination(running: Running): Promise<Table[]> {
  const runs = scaled(RUNS, running);
  const measured: Contaminated[][][] = [];
  let done = 0;
  for (const branches of BRANCHES) {
    const row: Contaminated[][] = [];
    for (const mode of MODES) {
      const seen: Contaminated[] = [];
      for (let run = 0; run < runs; run++) {
        await breath(running);
        seen.push(await contaminatedIn(mode, branches, numbersFrom('winner', running.seed, branches, run)));
        running.progress(++done, runs * BRANCHES.length * MODES.length);
      }
      row.push(seen);
    }
    measured.push(row);
  }
  const tableOf = (
    title: string,
    isSo: (one: Contaminated) => boolean,
    paper: Partial<Record<ModeName, number>>,
  ): Table => ({
    source: 'RQ2',
    title,
    unit: '%',
    keys: ['branches'],
    columns: MODES.map(({ name }) => name),
    rows: BRANCHES.map((branches, i) => ({
      keys: [branches],
      cells: MODES.map(({ name }, m) =>
        shareOf(
          measured[i]![m]!.map((one) => (isSo(one) ? 100 : 0)),
          running,
          paper[name],
        ),
      ),
    })),
    notes: [
      `${runs} runs a cell, ${STEPS} writes a branch. Somebody looks at the whole store after each step of each branch. With the frontier writes are held until the commit; in the other modes they are made at once, and undone, put back or left.`,
    ],
  });
  return [
    tableOf('runs in which a branch that was not committed was seen', ({ seen }) => seen, SEEN),
    tableOf('runs after which something of a losing branch stood', ({ left }) => left, {}),
    tableOf('runs after which the winner stood, and nothing else', ({ right }) => right, {}),
  ];
}

interface Contaminated {
  readonly seen: boolean;
  readonly left: boolean;
  readonly right: boolean;
}

async function contaminatedIn(mode: Mode, count: number, chance: () => number): Promise<Contaminated> {
  const shelf = new Shelf();
  const speculator = await speculatorIn(mode, [shelf.tool(deliveryOf(mode))], ['shelf:*'], shelf);
  const winner = Math.floor(chance() * count);
  let seen = false;
  const branches = placesOf(count).map(
    (branch): Branch =>
      async (call) => {
        for (let step = 0; step < STEPS; step++) {
          await call('shelf.put', { place: `${branch}-${step}`, by: `branch ${branch}` });
          // Nothing is committed before one was chosen.
          if (!isChosen && shelf.look().size > 0) seen = true;
        }
      },
  );
  let isChosen = false;
  try {
    // Checkpoints do the winner again by itself, which is then the only one.
    await speculator.try(branches, (failed) => {
      isChosen = true;
      return failed.length === 1 ? 0 : winner;
    });
  } finally {
    await speculator.close();
  }
  const standing = [...shelf.look().values()];
  const own = standing.filter((by) => by === `branch ${winner}`).length;
  return { seen, left: own < standing.length, right: own === STEPS && standing.length === STEPS };
}

function deliveryOf({ frontier }: Mode): 'buffered' | 'externalised' {
  return frontier ? 'buffered' : 'externalised';
}

const FILE_RUNS = 20;
const FILE_BRANCHES = 3;
/** Files of aborted branches that are there in the end (§6.3). */
const LEAKED: Partial<Record<ModeName, number>> = { 'Tx-Full': 0, CR: 40, 'No-Frontier': 40, 'No-Tx': 40 };

/** Files that losing branches leave in a real folder, and those that are there while nothing is chosen yet. */
async function leakedFiles(running: Running): Promise<Table> {
  const runs = scaled(FILE_RUNS, running);
  let done = 0;
  const rows: Table['rows'][number][] = [];
  for (const mode of MODES) {
    const counts = { leaked: 0, seen: 0, kept: 0 };
    for (let run = 0; run < runs; run++) {
      await breath(running);
      const one = await filesIn(mode, numbersFrom('files', running.seed, run));
      for (const name of ['leaked', 'seen', 'kept'] as const) counts[name] += one[name];
      running.progress(++done, runs * MODES.length);
    }
    const paper = LEAKED[mode.name];
    const leaked = { measured: counts.leaked, ...(paper === undefined ? {} : { paper }) };
    rows.push({ keys: [mode.name], cells: [leaked, { measured: counts.seen }, { measured: counts.kept }] });
  }
  return {
    source: 'RQ2',
    title: `files of ${FILE_BRANCHES} branches, of which one is chosen`,
    keys: ['mode'],
    columns: ['leaked by losers', 'of any, before the choice', 'of winners'],
    rows,
    notes: [
      `${runs} runs; a branch writes one file, through the tools of assize/tools/files, into a folder, which is then listed by other means. A checkpoint is of the state and not of the disk, as the paper’s of a browser is not of its server. Ours without a frontier undoes what it wrote at once; the paper’s has left it.`,
    ],
  };
}

async function filesIn(
  mode: Mode,
  chance: () => number,
): Promise<{ readonly leaked: number; readonly seen: number; readonly kept: number }> {
  await using scratch = await openScratch();
  const root = scratch.path;
  const tools = fileTools({ root, delivery: deliveryOf(mode) });
  const none = { snapshot: () => undefined, restore: () => {} };
  const speculator = await speculatorIn(mode, tools, ['fs:**'], none);
  const winner = Math.floor(chance() * FILE_BRANCHES);
  const written = async (): Promise<string[]> => (await readdir(root)).filter((name) => name.startsWith('plan-'));
  let seen = 0;
  const branches = placesOf(FILE_BRANCHES).map(
    (branch): Branch =>
      async (call) => {
        await call('files.write', { path: `plan-${branch}.txt`, content: `as branch ${branch} has it` });
        seen = Math.max(seen, (await written()).length);
      },
  );
  try {
    await speculator.try(branches, (failed) => (failed.length === 1 ? 0 : winner));
  } finally {
    await speculator.close();
  }
  const left = await written();
  const kept = left.filter((name) => name === `plan-${winner}.txt`).length;
  return { leaked: left.length - kept, seen, kept };
}

const TRIALS = 300;
const TASK_STEPS = 10;
const ELEMENTS = 5;
const RATE = 0.3;
/** Table 3: success in per cent with one branch and with three, and conflicts. */
const TABLE_3: Partial<Record<ModeName, readonly [number, number, number]>> = {
  'Tx-Full': [92, 77.3, 148],
  'No-Frontier': [2, 77.7, 296],
  CR: [4.7, 73.7, 305],
};

/** Tasks whose every step is tried by three branches, on five elements that they share, under faults. */
async function conflicts(running: Running): Promise<Table> {
  const trials = scaled(TRIALS, running);
  let done = 0;
  const rows: Table['rows'][number][] = [];
  for (const mode of MODES) {
    const of: Record<number, Trial[]> = { 1: [], 3: [] };
    for (const k of [1, 3])
      for (let trial = 0; trial < trials; trial++) {
        await breath(running);
        of[k]!.push(await trialIn(mode, k, trial, running));
        running.progress(++done, 2 * trials * MODES.length);
      }
    const [one, three] = [of[1]!, of[3]!];
    const paper = TABLE_3[mode.name] ?? [];
    const success = (all: readonly Trial[]): number[] => all.map(({ success: is }) => (is ? 100 : 0));
    const met = three.reduce((sum, { conflicts: count }) => sum + count, 0);
    rows.push({
      keys: [mode.name],
      cells: [
        shareOf(success(one), running, paper[0]),
        shareOf(success(three), running, paper[1]),
        shareOf(
          three.map(({ right }) => (right ? 100 : 0)),
          running,
        ),
        { measured: met, ...(paper[2] === undefined ? {} : { paper: paper[2] }) },
      ],
    });
  }
  return {
    source: 'Table 3',
    title: `speculative steps on ${ELEMENTS} shared elements at fp ${RATE}`,
    keys: ['mode'],
    columns: ['success, k=1 (%)', 'success, k=3 (%)', 'right state, k=3 (%)', 'conflicts, k=3'],
    rows,
    notes: [
      PAPER.about,
      `${trials} tasks of ${TASK_STEPS} steps for each k, retry budget ${RETRIES}. A branch writes to one element; the first that did not fail is chosen. A conflict: a branch writes over what another one has written that was not chosen then. No model is asked. The paper does not say how many steps its tasks have, so that its conflicts are of another number of them.`,
    ],
  };
}

interface Trial {
  readonly success: boolean;
  readonly right: boolean;
  readonly conflicts: number;
}

async function trialIn(mode: Mode, k: number, trial: number, running: Running): Promise<Trial> {
  const shelf = new Shelf();
  const speculator = await speculatorIn(mode, [shelf.tool(deliveryOf(mode))], ['shelf:*'], shelf);
  const chance = numbersFrom('elements', running.seed, trial);
  const schedule = scheduleOf({ seed: running.seed, rate: RATE, kinds: PAPER.kinds(mode) });
  const expected = new Map<string, string>();
  let success = true;
  try {
    for (let step = 0; step < TASK_STEPS; step++) {
      const attempts = placesOf(k).map(() => 0);
      const elements = placesOf(3).map(() => `element-${Math.floor(chance() * ELEMENTS)}`);
      const nameOf = (branch: number): string => `step ${step} branch ${branch}`;
      const branches = placesOf(k).map(
        (branch): Branch =>
          (call) => {
            const fault = schedule(`speculation ${trial}`, step * 3 + branch, attempts[branch]!++);
            return hit(fault, () => call('shelf.put', { place: elements[branch], by: nameOf(branch) }));
          },
      );
      let chosen: number | undefined;
      const { isDone } = await speculator.try(branches, (failed) => {
        const first = failed.indexOf(false);
        // The one that is done again by itself stays the one that was chosen.
        if (failed.length === k) chosen = first === -1 ? undefined : first;
        return first === -1 ? undefined : first;
      });
      success &&= isDone;
      if (!isDone) break;
      shelf.settle(nameOf(chosen!));
      expected.set(elements[chosen!]!, nameOf(chosen!));
    }
  } finally {
    await speculator.close();
  }
  const standing = shelf.look();
  const right =
    success && standing.size === expected.size && [...expected].every(([place, by]) => standing.get(place) === by);
  return { success, right, conflicts: shelf.conflicts };
}

/** A fault at the boundary of the tool (A.2): before the call, or after it. */
async function hit(fault: Fault, call: () => Promise<unknown>): Promise<void> {
  if (fault === 'exception') throw new EffectError('tool_failed', 'The tool was not reached.', { retryable: true });
  await call();
  if (fault === 'lost') throw new LostResponse('the answer was lost');
}

function shareOf(values: readonly number[], running: Running, paper?: Cell['paper']): Cell {
  const { mean, within } = estimateOf(values, running.seed);
  return { measured: mean, within, ...(paper === undefined ? {} : { paper }) };
}
