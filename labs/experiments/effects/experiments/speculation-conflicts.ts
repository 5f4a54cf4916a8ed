import type { Delivery } from 'assize/internal/effects';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { Shelf } from '../environments/shelf.ts';
import type { Running } from '../experiment.ts';
import { withFaults } from '../faulty.ts';
import { scaled, under } from '../measure.ts';
import { Metrics, SIX_COLUMNS } from '../metrics.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import type { TaskResult } from '../run-task.ts';
import { PROFILES, type Profile, type Schedule, scheduleOf } from '../schedule.ts';
import { numbersFrom } from '../seeded-random.ts';
import { RETRIES } from '../stage.ts';
import { type Branch, GIVEN, isInPaper, placesOf, speculatorIn, WRITES } from './speculators.ts';

const TRIALS = 300;
const STEPS = 10;
const ELEMENTS = 5;
const RATE = 0.3;
/** Of a step. The elements that they write to do not depend on how many there are. */
const BRANCHES = [1, 3];
const MOST = 3;

/** Table 3: success in per cent with one branch and with three, and conflicts. */
const TABLE_3: Partial<
  Record<ModeName, { readonly success: readonly number[]; readonly conflicts: number }>
> = {
  'Tx-Full': { success: [92, 77.3], conflicts: 148 },
  'No-Frontier': { success: [2, 77.7], conflicts: 296 },
  CR: { success: [4.7, 73.7], conflicts: 305 },
};

/**
 * Tasks in which three branches, or one branch, try every step. The branches share five elements,
 * under faults.
 */
export const conflicts = under(PROFILES, tablesUnder);

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const trials = scaled(TRIALS, running);
  const settings = WRITES.flatMap((writes) => BRANCHES.map((k) => ({ writes, k })));
  const measured: Metrics[][] = [];
  let done = 0;
  for (const { writes, k } of settings) {
    const ofModes: Metrics[] = [];
    for (const mode of MODES) {
      const schedule = scheduleOf({ seed: running.seed, rate: RATE, kinds: profile.kinds(mode) });
      const metrics = new Metrics(running.seed);
      for (let trial = 0; trial < trials; trial++) {
        await yieldToEventLoop(running);
        metrics.add(await trialIn(mode, writes.delivery, k, trial, schedule, running));
        running.progress(++done, settings.length * trials * MODES.length);
      }
      ofModes.push(metrics);
    }
    measured.push(ofModes);
  }
  const shared = {
    source: 'Table 3',
    notes: [
      profile.about,
      `${trials} tasks of ${STEPS} steps for each k, on ${ELEMENTS} shared elements at fp ${RATE}, retry budget ${RETRIES}. A branch writes to one element; the first that did not fail is chosen, and who is told of an error ends. Faults meet the write itself: where it is held that is after the choice, so that other branches do not help against them, and trying again does. No model is asked.`,
      GIVEN,
    ],
  };
  const rowsOf = (cellsOf: (delivery: Delivery, mode: Mode, m: number) => Cell[]): Table['rows'] =>
    WRITES.flatMap(({ name, delivery }) =>
      MODES.map((mode, m) => ({ keys: [name, mode.name], cells: cellsOf(delivery, mode, m) })),
    );
  const metricsOf = (delivery: Delivery, k: number, m: number): Metrics =>
    measured[settings.findIndex((one) => one.writes.delivery === delivery && one.k === k)]![m]!;
  const paperOf = (delivery: Delivery, mode: Mode) =>
    isInPaper(mode, delivery) ? TABLE_3[mode.name] : undefined;
  const counted = (count: number, conflicts: number | undefined): Cell => {
    const paper = running.scale === 1 ? conflicts : undefined;
    return { measured: count, ...(paper === undefined ? {} : { paper }) };
  };
  return [
    {
      ...shared,
      title: `speculative tasks done, ${profile.title}`,
      unit: '%',
      keys: ['writes', 'mode'],
      columns: BRANCHES.map((k) => `k=${k}`),
      rows: rowsOf((delivery, mode, m) =>
        BRANCHES.map((k, i) =>
          metricsOf(delivery, k, m).mean('success', paperOf(delivery, mode)?.success[i]),
        ),
      ),
      plot: { sort: 'bar', x: 'mode', y: 'tasks done' },
    },
    {
      ...shared,
      title: `conflicts of speculative branches, ${profile.title}`,
      keys: ['writes', 'mode'],
      columns: ['k=3'],
      rows: rowsOf((delivery, mode, m) => [
        counted(metricsOf(delivery, 3, m).counted('conflicts'), paperOf(delivery, mode)?.conflicts),
      ]),
      notes: [
        ...shared.notes,
        'A conflict: a branch writes over what another one has written that was not chosen then. The paper does not say how many steps its tasks have, so that its conflicts are of another number of them.',
      ],
      plot: { sort: 'bar', x: 'mode', y: 'conflicts' },
    },
    {
      ...shared,
      title: `speculative tasks: all six metrics, in per cent but for errors, ${profile.title}`,
      digits: 1,
      keys: ['writes', 'k', 'mode'],
      columns: [...SIX_COLUMNS, 'calls hit'],
      rows: settings.flatMap(({ writes, k }, i) =>
        MODES.map(({ name }, m) => ({
          keys: [writes.name, k, name],
          cells: [...measured[i]![m]!.six(), measured[i]![m]!.total('faults')],
        })),
      ),
      notes: [
        ...shared.notes,
        'A step is there when the element that was to be written has it at the end of the step, and wrong where that is the work of a branch that was not chosen. Contaminated: somebody could see what was written by one that was never chosen.',
      ],
    },
  ];
}

async function trialIn(
  mode: Mode,
  delivery: Delivery,
  k: number,
  trial: number,
  schedule: Schedule,
  running: Running,
): Promise<TaskResult> {
  const shelf = new Shelf();
  const attempts = new Map<string, number>();
  let hits = 0;
  const tools = withFaults([shelf.tool(delivery)], ({ input }) => {
    const { by } = input as { by: string };
    const attempt = attempts.get(by) ?? 0;
    attempts.set(by, attempt + 1);
    const { step, branch } = writerOf(by);
    const fault = schedule(`speculation ${trial}`, step * MOST + branch, attempt);
    if (fault !== 'none') hits++;
    return fault;
  });
  const speculator = await speculatorIn(mode, { tools, writes: ['shelf:*'], world: shelf });
  const chance = numbersFrom('elements', running.seed, trial);
  const expected = new Map<string, string>();
  let [done, present, wrong] = [0, 0, 0];
  try {
    for (let step = 0; step < STEPS; step++) {
      const elements = placesOf(MOST).map(() => `element-${Math.floor(chance() * ELEMENTS)}`);
      const branches = placesOf(k).map(
        (branch): Branch =>
          (call) =>
            call('shelf.put', { place: elements[branch], by: nameOf(step, branch) }),
      );
      let chosen: number | undefined;
      const hitsBefore = hits;
      const { isDone } = await speculator.try(branches, (failed) => {
        const first = failed.indexOf(false);
        // The one that is done again by itself stays the one that was chosen.
        if (failed.length === k) chosen = first === -1 ? undefined : first;
        return first === -1 ? undefined : first;
      });
      if (!isDone && hits === hitsBefore) throw new TypeError('A step failed without a fault.');
      const meant = chosen ?? 0;
      const there = shelf.look().get(elements[meant]!);
      if (there !== undefined && writerOf(there).step === step) present++;
      if (there !== undefined && writerOf(there).step === step && there !== nameOf(step, meant))
        wrong++;
      if (!isDone) break;
      done++;
      shelf.settle(nameOf(step, meant));
      expected.set(elements[meant]!, nameOf(step, meant));
    }
  } finally {
    await speculator.close();
  }
  const standing = shelf.look();
  const isRight =
    standing.size === expected.size &&
    [...expected].every(([place, by]) => standing.get(place) === by);
  return {
    steps: STEPS,
    success: done === STEPS,
    faults: hits,
    retries: 0,
    recovered: 0,
    propagated: done === STEPS ? 0 : 1,
    waiting: 0,
    judged: {
      correct: done === STEPS && isRight,
      expected: STEPS,
      present,
      wrong,
      contaminated: shelf.unsettled > 0,
      counts: { conflicts: shelf.conflicts },
    },
  };
}

function nameOf(step: number, branch: number): string {
  return `step ${step} branch ${branch}`;
}

function writerOf(by: string): { readonly step: number; readonly branch: number } {
  const [, step, , branch] = by.split(' ').map(Number);
  return { step: step!, branch: branch! };
}
