import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectedCall } from '../judge.ts';
import type { Told, WantedCall } from '../protocol/messages.ts';
import type { Effect } from '../sink/effect.ts';
import { assertDone, Deviation, type Stage, type StagedDriver, type StepEnd } from '../stage.ts';
import { expected, get, note, RUN, type Scenario, set, untilArrived } from './scenario.ts';

const ITEM = '/pens';
const OTHER = '/ink';

/** How many runs want to change one value. */
const RUNS = 8;

/** The time after which a silent run may lose what it holds, and one that is longer for sure. */
const SILENT_MS = 2_000;
const LONGER_MS = 500;

/** The answer to a call that went well. Undefined for another one. */
function resultOf(end: StepEnd, { id }: WantedCall): string | undefined {
  const told: readonly Told[] = 'told' in end ? (end.told ?? []) : [];
  const own = told.findLast(({ call }) => call === id);
  return own?.isError === false ? own.text : undefined;
}

/** The text of a refusal or an error in place of a result. */
function refusalOf(end: StepEnd, { id }: WantedCall): string {
  const told = 'told' in end ? (end.told ?? []) : [];
  return `${told.find(({ call }) => call === id)?.text ?? ''} ${'error' in end ? end.error : ''}`;
}

/** The calls of a run that writes a value one higher, with whether it did. */
interface Added {
  readonly calls: readonly ExpectedCall[];
  readonly isDone: boolean;
  readonly refusal: string;
}

/** Reads a value, and writes it one higher, as a program does that received the value. */
async function addOne(driver: StagedDriver, run: string): Promise<Added> {
  const read = get(`${run}-get`, ITEM);
  const first = await driver.start(run, [read]);
  const value = resultOf(first, read);
  if (value === undefined)
    return {
      calls: [expected('never', read, run)],
      isDone: false,
      refusal: refusalOf(first, read),
    };
  return writeOne(driver, run, { read, value });
}

/** Writes a value one higher than the run has read it, and ends the run. */
async function writeOne(
  driver: StagedDriver,
  run: string,
  { read, value }: { readonly read: WantedCall; readonly value: string },
): Promise<Added> {
  const write = set(`${run}-set`, ITEM, String(Number(value) + 1));
  const end = await driver.start(run, [write]);
  const isDone = resultOf(end, write) !== undefined;
  await driver.end(run, !isDone);
  const calls = [expected('never', read, run), expected('at-most-once', write, run)];
  return { calls, isDone, refusal: refusalOf(end, write) };
}

/** The value that the last change has left. */
function valueIn(effects: readonly Effect[], item: string): string {
  const last = effects.findLast(({ tool, args }) => tool === 'set' && args['item'] === item);
  return String(last?.args['to'] ?? '0');
}

/** That the value equals the number of runs with a reported success. @throws Deviation */
async function assertCount({ sink }: Stage, added: readonly Added[]): Promise<void> {
  const { effects } = await sink.state();
  const [value, runs] = [valueIn(effects, ITEM), added.filter(({ isDone }) => isDone).length];
  if (Number(value) === runs) return;
  throw new Deviation('lost-change', `${runs} runs have added one, and the value is ${value}`);
}

/** The changes by which a failed run took others back, as calls that are made once each. */
async function takenBack({ sink }: Stage, calls: readonly WantedCall[]): Promise<ExpectedCall[]> {
  const { effects } = await sink.state();
  const own = new Set(calls.map(({ id }) => id));
  return effects
    .filter(({ call }) => !own.has(call))
    .map(({ run, call, tool, args }) => ({ run, id: call, tool, args, made: 'once' }) as never);
}

/** That a failed run took back changes of its calls, in this order, once each. @throws Deviation */
async function assertTakenBack(
  stage: Stage,
  calls: readonly WantedCall[],
  changes: readonly WantedCall[],
): Promise<void> {
  const { effects } = await stage.sink.state();
  const since = effects.findLastIndex(({ call }) => calls.some(({ id }) => id === call));
  const back = effects.slice(since + 1).map(({ args }) => `${args['item']}=${args['to']}`);
  const wanted = changes.map(({ args }) => `${args['item']}=0`);
  if (back.join() === wanted.join()) return;
  throw new Deviation(
    'not-taken-back',
    `the failed run has to set ${wanted.join(', ')}, and it set ${back.join(', ') || 'nothing'}`,
  );
}

/** That exactly these calls of a failed run are named, as they stay. @throws Deviation */
function assertNamed(left: readonly string[], calls: readonly WantedCall[]): void {
  const wanted = calls.map(({ id }) => id).sort();
  const named = [...left].sort();
  if (named.join() === wanted.join()) return;
  throw new Deviation(
    'not-named',
    `${wanted.join(', ')} stays of the failed run, and it names ${named.join(', ') || 'nothing'}`,
  );
}

export const lostChange: Scenario = {
  name: 'lost-change',
  title: 'eight runs in two processes read one value, and write it one higher',
  passes: 'the value is eight higher',
  why: 'A run writes what it has worked out from an older value, and undoes what others did.',
  needs: ['restart', 'turns', 'ends'],
  async run(stage) {
    const drivers = [await stage.open(), await stage.open()];
    const added = await Promise.all(
      Array.from({ length: RUNS }, (_, i) =>
        addOne(drivers[i % 2] as StagedDriver, `run-${i + 1}`),
      ),
    );
    const refused = added.find(({ isDone }) => !isDone);
    if (refused !== undefined)
      throw new Deviation('not-reached', `a run did not add one: ${refused.refusal}`);
    await assertCount(stage, added);
    return added.flatMap(({ calls }) => calls);
  },
};

export const failedRun: Scenario = {
  name: 'failed-run',
  title: 'a run fails after two changes and a note',
  passes: 'the changes are taken back, the last one first, and the note is named',
  why: 'Half of a piece of work is often worse than none. What stays needs a person.',
  needs: ['turns', 'ends', 'undo'],
  async run(stage) {
    const driver = await stage.open();
    const calls = [set('c1', ITEM, '5'), note('n1', 'five pens'), set('c2', OTHER, '7')] as const;
    for (const call of calls) assertDone(await driver.start(RUN, [call]));
    const [first, told, second] = calls;
    const left = await driver.end(RUN, true);
    await assertTakenBack(stage, calls, [second, first]);
    assertNamed(left, [told]);
    return [...calls.map((call) => expected('once', call)), ...(await takenBack(stage, calls))];
  },
};

/** Makes one change, and ends the process while the sink answers to a second one. */
async function crashInRun(stage: Stage): Promise<readonly [WantedCall, WantedCall]> {
  const calls = [set('c1', ITEM, '5'), set('c2', OTHER, '7')] as const;
  const [first, second] = calls;
  await stage.sink.behave(second.id, { does: 'hold-reply' });
  const driver = await stage.open();
  assertDone(await driver.start(RUN, [first]));
  const started = driver.start(RUN, [second]);
  await untilArrived(stage, second);
  await driver.kill();
  await started;
  return calls;
}

export const crashGoesOn: Scenario = {
  name: 'crash-goes-on',
  title: 'the process is killed in the middle of a run, and another one goes on',
  passes: 'each change is made once, and none is taken back',
  why: 'A run that is made again from its beginning makes its first calls again.',
  needs: ['restart', 'retry', 'turns', 'ends'],
  async run(stage) {
    const calls = await crashInRun(stage);
    const driver = await stage.open();
    await driver.retry(RUN);
    await driver.end(RUN);
    return calls.map((call) => expected('once', call));
  },
};

export const crashTakenBack: Scenario = {
  name: 'crash-taken-back',
  title: 'the process is killed in the middle of a run, and two others take it back',
  passes: 'a change with a result is taken back once, and one without is so too, or is named',
  why: 'The process that knew what to take back is gone, and each new one takes it back again.',
  needs: ['restart', 'turns', 'ends', 'undo'],
  async run(stage) {
    const calls = await crashInRun(stage);
    const drivers = [await stage.open(), await stage.open()];
    const lefts = await Promise.all(drivers.map((driver) => driver.end(RUN, true)));
    const [first, second] = calls;
    const { effects } = await stage.sink.state();
    const isBack = valueIn(effects, OTHER) === '0';
    await assertTakenBack(stage, calls, isBack ? [second, first] : [first]);
    if (!isBack) for (const left of lefts) assertNamed(left, [second]);
    return [...calls.map((call) => expected('once', call)), ...(await takenBack(stage, calls))];
  },
};

export const endlessRun: Scenario = {
  name: 'endless-run',
  title: 'a run reads a value and stays silent, while another one changes it',
  passes: 'the other run ends after a while; the silent one gets an error and changes nothing',
  why: 'A run that never ends blocks all others, or overwrites what they did when it goes on.',
  needs: ['turns', 'ends'],
  async run(stage) {
    const driver = await stage.open({ silentMs: SILENT_MS });
    const read = get('run-1-get', ITEM);
    const value = resultOf(await driver.start(RUN, [read]), read);
    if (value === undefined) throw new Deviation('not-reached', 'the first run has read no value');
    const other = await addOne(driver, 'run-2');
    if (!other.isDone)
      throw new Deviation('not-reached', `the other run did not add one: ${other.refusal}`);
    await pause(LONGER_MS);
    const silent = await writeOne(driver, RUN, { read, value });
    await assertCount(stage, [other, silent]);
    if (!silent.isDone && silent.refusal.trim() === '')
      throw new Deviation('not-named', 'the silent run is not told why it changes nothing');
    return [...other.calls, ...silent.calls];
  },
};
