import { isInstance, thrownText } from 'assize/internal/base';
import { Semaphore } from 'assize/internal/runtime/transactions/limits/semaphore.ts';
import { type Cell, partOf, type Table } from '../../tables/index.ts';
import { claimsOf, toolNamed } from '../callers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { openGated } from '../gated-stage.ts';
import { scaled, under } from '../measure.ts';
import { Metrics, SIX_COLUMNS } from '../metrics.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import { runConcurrently } from '../run-concurrently.ts';
import type { TaskResult } from '../run-task.ts';
import { BOTH, PAPER, type Profile, type Schedule, scheduleOf } from '../schedule.ts';
import { RETRIES } from '../stage.ts';
import { gateMatrix } from './gate-matrix.ts';
import { type GatedStep, type Outside, openOutside, stepsOf } from './gate-outside.ts';

const RUNS = 100;
const RATES = [0, 0.1, 0.3];
/** Runs that are at work at the same time: a mail server takes a tenth of a second to greet. */
const AT_ONCE = 150;
/**
 * Files that are written at the same time. More would only wait for each other, within the time of
 * their calls: on a slow disk those calls would time out.
 */
const FILES_AT_ONCE = 4;

/** Whether an approver approves the messages. */
const CONFIRMS = [true, false];

/** The counts of messages. */
const COUNTS = ['leaked', 'gated', 'confirmed', 'sent twice', 'left to a person'] as const;

/** Table 10, of all runs: leaked, gated, confirmed, duplicates. */
const TABLE_10: Partial<Record<ModeName, readonly number[]>> = {
  'Tx-Full': [0, 600, 600, 0],
  'No-Frontier': [0, 519, 517, 0],
  'No-Tx': [1_200, 0, 0, 151],
  CR: [1_351, 0, 0, 151],
};

/** That the paper's CR has sent twice tells that it has lost responses too. */
const PROFILES: readonly Profile[] = [
  BOTH,
  {
    ...PAPER,
    about:
      'Faults as the paper must have them: exceptions, and for No-Tx and CR lost responses instead.',
    kinds: ({ transactional }) => (transactional ? ['exception'] : ['lost']),
  },
];

export const gate: Experiment = {
  name: 'gate',
  about:
    'what can’t be undone, to real servers on this machine: leaked, gated, confirmed, sent twice (table 10)',
  packages: ['smtp-server', 'nodemailer'],
  run: async (running) => [
    ...(await under(PROFILES, tablesUnder)(partOf(running, 0, 2))),
    ...(await gateMatrix(partOf(running, 1, 2))),
  ],
};

/** The runs of one mode. */
interface Measured {
  /** With and without an approval. */
  readonly metrics: ReadonlyMap<boolean, Metrics>;
  /** Runs that failed without a fault. No metric counts them. */
  readonly failures: readonly RunFailure[];
}

interface RunFailure {
  readonly run: string;
  readonly message: string;
}

/** Table 10 under one profile. */
export async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const measured: Measured[] = [];
  for (const [m, mode] of MODES.entries())
    measured.push(await measuredIn(mode, profile, partOf(running, m, MODES.length)));
  const runs = scaled(RUNS, running) * RATES.length;
  const notes = [
    profile.about,
    `${runs} runs a row at fp ${RATES.join(', ')}; each writes a file, sends a mail and calls a webhook. The mail server (SMTP) and the receiver of webhooks (HTTP) are real ones on this machine. They refuse what is not to be reached, and end the connection after what they took, so each call of a tool meets the same faults in every mode; what is only planned meets none. Retry budget ${RETRIES}, of the runtime too; who is told of an error goes on.`,
  ];
  const counted = (title: string, cellsOf: (one: Measured, mode: ModeName) => Cell[]): Table => ({
    source: 'Table 10',
    title: `messages ${title}, ${profile.title}`,
    keys: ['mode'],
    columns: COUNTS,
    rows: MODES.map(({ name }, m) => ({ keys: [name], cells: cellsOf(measured[m]!, name) })),
    notes: [
      ...notes,
      'Leaked: taken before somebody had confirmed it, if anybody did. Gated: held, and never sent, as nobody confirmed it. Confirmed: taken after that. Left to a person: confirmed, and not sent or not known to be, as the runtime says.',
    ],
    plot: { sort: 'bar', x: 'mode', y: 'messages' },
  });
  const summed = (all: readonly Metrics[]): number[] =>
    COUNTS.map((name) => all.reduce((sum, metrics) => sum + metrics.counted(name), 0));
  return [
    ...CONFIRMS.map((confirms) =>
      counted(titleOf(confirms), (one) =>
        summed([one.metrics.get(confirms)!]).map((count) => ({ measured: count })),
      ),
    ),
    counted('in both settings together', (one, mode) => {
      const paper = running.scale === 1 ? TABLE_10[mode] : undefined;
      return summed([...one.metrics.values()]).map((count, i) => ({
        measured: count,
        ...(paper?.[i] === undefined ? {} : { paper: paper[i] }),
      }));
    }),
    {
      source: 'Table 10',
      title: `all six metrics, in per cent but for errors, ${profile.title}`,
      digits: 1,
      keys: ['confirmed by', 'mode'],
      columns: [...SIX_COLUMNS, 'calls hit'],
      rows: CONFIRMS.flatMap((confirms) =>
        MODES.map(({ name }, m) => {
          const metrics = measured[m]!.metrics.get(confirms)!;
          return {
            keys: [confirms ? 'somebody' : 'nobody', name],
            cells: [...metrics.six(), metrics.total('faults')],
          };
        }),
      ),
      notes: [
        ...notes,
        'Where nobody confirms, the file alone is to be there: a held step is done for its caller, but is not there. Contaminated: a message was taken before somebody had confirmed it. Wrong: one that was taken so, or twice. An error is told where the caller gets one, or a person is left something.',
      ],
    },
    ...failuresOf(measured, profile),
  ];
}

/** Nothing else may go wrong here, so each row is a finding. No table if no run failed. */
function failuresOf(measured: readonly Measured[], { title }: Profile): Table[] {
  const rows = MODES.flatMap(({ name }, m) => {
    const { failures } = measured[m]!;
    const [first] = failures;
    if (first === undefined) return [];
    return [
      {
        keys: [name],
        cells: [
          { measured: failures.length, expected: 0 },
          { measured: `${first.run}: ${first.message}` },
        ],
      },
    ];
  });
  if (rows.length === 0) return [];
  return [
    {
      source: 'Table 10',
      title: `runs that failed without a fault, ${title}`,
      keys: ['mode'],
      columns: ['runs', 'the first of them'],
      rows,
      notes: ['The other tables leave these runs out.'],
    },
  ];
}

function titleOf(confirms: boolean): string {
  return confirms ? 'that somebody confirms' : 'that nobody confirms';
}

async function measuredIn(mode: Mode, profile: Profile, running: Running): Promise<Measured> {
  await using outside = await openOutside();
  const runs = scaled(RUNS, running);
  const all = RATES.flatMap((rate) => {
    const schedule = scheduleOf({ seed: running.seed, rate, kinds: profile.kinds(mode) });
    return CONFIRMS.flatMap((confirms) =>
      Array.from({ length: runs }, (_, run) => ({
        name: `${rate}-${Number(confirms)}-${run}`,
        confirms,
        schedule,
      })),
    );
  });
  const disk = new Semaphore(FILES_AT_ONCE);
  const told = await runConcurrently(running, all, AT_ONCE, (one) =>
    doRun(mode, outside, disk, one).catch((error: unknown) => ({
      run: one.name,
      message: messageOf(error),
    })),
  );
  const metrics = new Map(
    CONFIRMS.map((confirms) => [confirms, new Metrics(running.seed)] as const),
  );
  const failures: RunFailure[] = [];
  // When nothing can come any more.
  for (const [i, { name, confirms }] of all.entries()) {
    const one = told[i]!;
    if ('message' in one) failures.push(one);
    else metrics.get(confirms)!.add(resultOf(outside, stepsOf(name), confirms, one));
  }
  return { metrics, failures };
}

function messageOf(error: unknown): string {
  const text = thrownText(error);
  return isInstance(error, Error) && error.cause !== undefined
    ? `${text} ${messageOf(error.cause)}`
    : text;
}

interface Run {
  readonly name: string;
  readonly confirms: boolean;
  readonly schedule: Schedule;
}

/** The caller's result of a step. `left`: an effect of the step is unresolved. */
type Told = 'done' | 'an error' | 'left';

async function doRun(
  mode: Mode,
  outside: Outside,
  disk: Semaphore,
  { name, confirms, schedule }: Run,
): Promise<readonly Told[]> {
  const steps = stepsOf(name);
  for (const [n, { what }] of steps.entries())
    outside.expect(what, (attempt) => schedule(`gate ${name}`, n, attempt));
  const worker = mode.transactional
    ? await gated(mode, outside, confirms)
    : direct(mode, outside, confirms);
  try {
    const told: Told[] = [];
    // A caller continues after an error.
    for (const step of steps)
      told.push(await (step.isSent ? worker.work(step) : disk.run(() => worker.work(step))));
    const left = await worker.left();
    return steps.map((step, n) => {
      if (!left.has(step.tool)) return told[n]!;
      requireHit(outside, step, 'it was left to a person');
      return 'left';
    });
  } finally {
    await worker.close();
  }
}

/** @throws an error of a call that met no fault: nothing else may go wrong here */
function requireHit(outside: Outside, { what }: GatedStep, cause: unknown): void {
  if (outside.callsOf(what).hits === 0)
    throw new TypeError(`${what} failed without a fault.`, { cause });
}

interface Worker {
  work(step: GatedStep): Promise<Told>;
  /** The tools with something that waits for a person. */
  left(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

function direct(mode: Mode, outside: Outside, confirms: boolean): Worker {
  const budget = mode.retry ? RETRIES : 0;
  return {
    work: async (step) => {
      for (let again = 0; ; again++) {
        try {
          await outside.call(step);
          break;
        } catch (error) {
          requireHit(outside, step, error);
          // A checkpoint covers no server and no disk, so it has nothing to restore.
          if (again >= budget) return 'an error';
        }
      }
      // The approver is asked only now, because no effect was buffered.
      if (step.isSent) outside.decide(step.what, confirms);
      return 'done';
    },
    left: async () => new Set(),
    close: async () => {},
  };
}

/** One transaction per step, with or without an approver for the messages that it would send. */
async function gated(mode: Mode, outside: Outside, confirms: boolean): Promise<Worker> {
  const { tools } = outside;
  const retries = mode.retry ? RETRIES : 0;
  const { assize, trajectory, writ, intent, close } = await openGated({
    mode,
    tools,
    tries: retries + 1,
  });
  let steps = 0;
  return {
    work: async ({ tool, input, what, isSent }) => {
      const committing = intent(`step-${steps++}`, isSent);
      const claims = claimsOf(toolNamed(tools, tool), input);
      const { ruling } = await trajectory.transaction({ ...claims, writ, retries }, async (tx) => {
        await tx.call(tool, input);
        tx.propose(committing);
      });
      if (ruling.ruling === 'rejected')
        throw new TypeError(`The step was rejected: ${ruling.reason}.`);
      if (ruling.ruling !== 'escalated') return 'done';
      outside.decide(what, confirms);
      if (confirms)
        await trajectory.approvals.approve(ruling.pending, {
          principal: 'operator',
          method: 'experiment',
        });
      return 'done';
    },
    left: async () => new Set((await assize.recoverEffects()).map(({ tool }) => tool)),
    close,
  };
}

function resultOf(
  outside: Outside,
  steps: readonly GatedStep[],
  confirms: boolean,
  told: readonly Told[],
): TaskResult {
  const files = steps.filter(({ isSent }) => !isSent).map(({ what }) => outside.written(what));
  const messages = steps
    .filter(({ isSent }) => isSent)
    .map(({ what }) => ({ what, ...outside.sent(what) }));
  const calls = steps.map(({ what }) => outside.callsOf(what));
  const count = <One>(of: readonly One[], is: (one: One) => boolean): number =>
    of.filter(is).length;
  const expected = confirms ? messages : [];
  const isRight = ({ times, leaked }: (typeof messages)[number]): boolean =>
    times === (confirms ? 1 : 0) && leaked === 0;
  const leaked = messages.reduce((sum, one) => sum + one.leaked, 0);
  return {
    steps: steps.length,
    success: told.every((one) => one === 'done'),
    faults: calls.reduce((sum, { hits }) => sum + hits, 0),
    retries: calls.reduce((sum, { made }) => sum + Math.max(0, made - 1), 0),
    recovered:
      count(steps, ({ what }) => outside.callsOf(what).hits > 0) -
      count(told, (one) => one !== 'done'),
    propagated: count(told, (one) => one !== 'done'),
    waiting: count(told, (one) => one === 'left'),
    judged: {
      correct: files.every((file) => file === 'right') && messages.every(isRight),
      expected: files.length + expected.length,
      present:
        count(files, (file) => file !== 'absent') + count(expected, ({ times }) => times > 0),
      wrong:
        count(files, (file) => file === 'wrong') +
        count(expected, (one) => one.times > 0 && !isRight(one)),
      contaminated: leaked > 0,
      counts: {
        leaked,
        gated: count(messages, ({ what, times }) => times === 0 && outside.isHeld(what)),
        confirmed: count(
          messages,
          ({ what, times, leaked: early }) => outside.isConfirmed(what) && times > early,
        ),
        'sent twice': messages.reduce((sum, { times }) => sum + Math.max(0, times - 1), 0),
        'left to a person': steps.filter(({ isSent }, n) => isSent && told[n] === 'left').length,
      } satisfies Record<(typeof COUNTS)[number], number>,
    },
  };
}
