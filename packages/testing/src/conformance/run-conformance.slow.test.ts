import { expect, test } from 'vitest';
import type { DriverCommand } from './driver/driver-process.ts';
import { ABILITIES } from './protocol/messages.ts';
import {
  type ConformanceOptions,
  runConformance,
  type ScenarioVerdict,
} from './run-conformance.ts';
import { CORE_SCENARIOS } from './scenarios/all.ts';

const LACKING = { restart: 'it has no state', turns: 'it has one turn', expiry: 'it has no clock' };

/** A driver that keeps its state in memory and has no framework. `step` is its answer to a step. */
function driverWith(step: string, lacking: object = LACKING): DriverCommand {
  const program = `
    const lacks = ${JSON.stringify(lacking)};
    const runs = {};
    let sink;
    const answers = {
      hello: async (given) => { sink = given.sink; return { name: 'Memory', versions: { memory: '1.0.0' }, cannot: lacks } },
      start: async ({ run, calls }) => { runs[run] = calls; return step(run, {}) },
      resume: async ({ run, answers }) => step(run, answers),
    };
    const post = (run, call) => fetch(sink + '/effects', { method: 'POST', body: JSON.stringify({ run, call: call.id, tool: call.tool, args: call.args }) });
    const waits = (call) => ({ call: call.id, tool: call.tool, args: call.args });
    async function step(run, given) { const calls = runs[run]; ${step} }
    require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
      const given = JSON.parse(line);
      console.log(JSON.stringify({ id: given.id, answer: await answers[given.op](given) }));
    });`;
  return [process.execPath, '-e', program];
}

const SOUND = `
  const waiting = calls.filter((call) => given[call.id]?.decision !== 'approve').map(waits);
  if (waiting.length > 0) return { state: 'paused', waiting };
  for (const call of calls) await post(run, call);
  return { state: 'done' };`;

async function verdictsOf(
  step: string,
  options: Partial<ConformanceOptions> = {},
): Promise<readonly ScenarioVerdict[]> {
  const { verdicts } = await runConformance({
    driver: driverWith(step),
    scenarios: ['no-decision'],
    ...options,
  });
  return verdicts;
}

test('a driver is judged by the sink, and has its name and versions', async () => {
  const heard: string[] = [];
  const report = await runConformance({
    driver: driverWith(SOUND),
    scenarios: ['no-decision', 'stale-answer', 'double-resume'],
    onVerdict: ({ scenario, verdict }) => heard.push(`${scenario}: ${verdict}`),
  });
  expect(heard).toEqual([
    'approved-once: pass',
    'no-decision: pass',
    'stale-answer: n.a.',
    'double-resume: n.a.',
  ]);
  expect(report).toMatchObject({ driver: 'Memory', versions: { memory: '1.0.0' } });
  const paid = { run: 'run-1', call: 'p1', tool: 'pay', args: { to: 'bob', cents: 500 } };
  expect(report.verdicts[0]!.effects).toEqual([paid]);
  expect(report.verdicts[2]!.reasons).toEqual(['it has one turn']);
});

const lackingAll = Object.fromEntries(ABILITIES.map((ability) => [ability, 'no']));

test('a driver that lacks an ability of the core does not conform', async () => {
  const scenarios = ['no-decision', 'double-resume'];
  const { verdicts, isConforming } = await runConformance({
    driver: driverWith(SOUND, lackingAll),
    scenarios,
  });
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'n.a.']);
  expect(isConforming).toBe(false);
});

test('a driver that lacks another ability conforms', async () => {
  const scenarios = ['no-decision', 'expired', 'siblings'];
  const { verdicts, isConforming } = await runConformance({
    driver: driverWith(SOUND, lackingAll),
    scenarios,
  });
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'n.a.', 'n.a.']);
  expect(isConforming).toBe(true);
});

test('a runtime may ask about a repeated id as about a new call', async () => {
  const driver = driverWith(SOUND, { restart: 'it has no state' });
  const { verdicts } = await runConformance({ driver, scenarios: ['repeated-id'] });
  expect(verdicts).toMatchObject([
    { verdict: 'pass' },
    { scenario: 'repeated-id', verdict: 'pass', findings: [] },
  ]);
});

test('the core has a scenario of each guarantee', () => {
  expect(CORE_SCENARIOS.map(({ name }) => name)).toEqual([
    ...[
      'approved-once',
      'double-resume',
      'other-run',
      'concurrent-approvals',
      'denied-then-approved',
    ],
    ...[
      'no-decision',
      'unusable-answer',
      'crash-reserved',
      'crash-sent',
      'crash-reply-lost',
      'retry-after-timeout',
    ],
  ]);
});

test('scenarios that run concurrently have the same verdicts and order', async () => {
  const heard: string[] = [];
  const onVerdict = ({ scenario }: ScenarioVerdict) => heard.push(scenario);
  const scenarios = ['no-decision', 'other-run', 'unusable-answer', 'expired'];
  const each = [];
  for (const concurrency of [1, 3])
    each.push(await verdictsOf(SOUND, { scenarios, concurrency, onVerdict }));
  expect(each[1]).toEqual(each[0]);
  expect(heard.slice(5)).toEqual(heard.slice(0, 5));
  expect(heard.slice(0, 5)).toEqual(['approved-once', ...scenarios]);
});

test('the control is judged first, and without it no other scenario', async () => {
  const [control, other] = await verdictsOf(`return { state: 'done' };`);
  expect(control).toMatchObject({
    scenario: 'approved-once',
    verdict: 'fail',
    findings: [{ kind: 'did-not-ask' }],
  });
  expect(other).toMatchObject({ verdict: 'error', effects: [] });
});

test('a lie of the driver counts against it', async () => {
  const lying = `if (!given.p1) return { state: 'paused', waiting: calls.map(waits) };
    return { state: 'done', told: [{ call: 'p1', isError: false, text: 'paid' }] };`;
  const [{ findings } = { findings: [] }] = await verdictsOf(lying);
  expect(findings.map(({ kind }) => kind)).toEqual(['not-made', 'untrue']);
});

test('an answer of no form is an error of the driver', async () => {
  const [control] = await verdictsOf(`return { state: 'asleep' };`);
  expect(control).toMatchObject({
    verdict: 'error',
    reasons: [expect.stringContaining('does not have the form')],
  });
});

test('a step without an end is given up', async () => {
  const [control] = await verdictsOf('await new Promise(() => undefined);', { timeoutMs: 5_000 });
  expect(control).toMatchObject({
    verdict: 'fail',
    reasons: [expect.stringContaining('the run is silent')],
  });
});

test('a driver without an identity is not judged', async () => {
  const judged = runConformance({ driver: [process.execPath, '-e', 'process.exit(2)'] });
  await expect(judged).rejects.toMatchObject({ code: 'driver_ended' });
  await expect(
    runConformance({ driver: driverWith(SOUND), scenarios: ['luck'] }),
  ).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining("There is no scenario '"),
  });
});

test('a signal ends the suite, and the processes of the driver', async () => {
  const stop = new AbortController();
  const step = `${SOUND.replace('return { state: ', 'await new Promise(() => undefined); return { state: ')}`;
  const judged = verdictsOf(step, { signal: stop.signal, timeoutMs: 60_000 });
  setTimeout(() => stop.abort(new Error('enough')), 500);
  const begun = performance.now();
  await expect(judged).rejects.toThrow('enough');
  expect(performance.now() - begun).toBeLessThan(50_000);
});

test.each<readonly [string, object]>([
  ['no driver', {}],
  ['an empty command', { driver: ' ' }],
  ['an empty list', { driver: [] }],
  ['a list of numbers', { driver: [1] }],
  ['a folder of another kind', { driver: 'true', cwd: 1 }],
  ['scenarios as a text', { driver: 'true', scenarios: 'expired' }],
  ['no time', { driver: 'true', timeoutMs: 0 }],
  ['a concurrency of zero', { driver: 'true', concurrency: 0 }],
  ['a listener of another kind', { driver: 'true', onVerdict: 'log' }],
  ['a signal of another kind', { driver: 'true', signal: {} }],
  ['an unknown option', { driver: 'true', scenario: ['expired'] }],
])('options with %s are refused, and nothing is started', async (_, options) => {
  await expect(runConformance(options as never)).rejects.toMatchObject({ code: 'bad_argument' });
});
