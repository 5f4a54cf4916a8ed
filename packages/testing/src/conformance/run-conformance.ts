import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arg, checkArgument, isAssizeError, isInstance } from 'assize/internal/base';
import { type DriverCommand, DriverProcess, type DriverStart } from './driver/driver-process.ts';
import { ConformanceError } from './errors.ts';
import { type Finding, judge } from './judge.ts';
import { type DriverIdentity, PROTOCOL } from './protocol/messages.ts';
import { CORE_SCENARIOS, SCENARIOS } from './scenarios/all.ts';
import type { Scenario } from './scenarios/scenario.ts';
import type { Effect } from './sink/effect.ts';
import { Sink } from './sink/sink.ts';
import { Deviation, Stage } from './stage.ts';

export interface ConformanceOptions {
  /** The driver's command line, or its program and arguments. */
  readonly driver: DriverCommand;
  /** The folder in which the command is started. Default: the folder of this process. */
  readonly cwd?: string;
  /** The names of the scenarios to run, after the control `approved-once`. Default: all. */
  readonly scenarios?: readonly string[];
  /** The longest time of one step. Default: 20,000. */
  readonly timeoutMs?: number;
  /** Scenarios that run concurrently. Default: 2. */
  readonly concurrency?: number;
  /** Hears of each verdict, in the order of the scenarios. */
  readonly onVerdict?: (verdict: ScenarioVerdict) => void;
  /** Ends the driver's processes, and the suite with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The verdict on one scenario. */
export interface ScenarioVerdict {
  readonly scenario: string;
  /** `error`: the driver could not be judged. This does not count as a pass. */
  readonly verdict: 'pass' | 'fail' | 'n.a.' | 'error';
  /** Why it failed, could not be judged, or is not applicable. */
  readonly reasons: readonly string[];
  /** The guarantees that do not hold. */
  readonly findings: readonly Finding[];
  /** The rows of the sink. */
  readonly effects: readonly Effect[];
}

/** The verdicts on one driver. */
export interface ConformanceReport {
  readonly driver: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly verdicts: readonly ScenarioVerdict[];
  /**
   * Whether every scenario passed or is not applicable, and each of the core passed. The core is
   * `approved-once`, `double-resume`, `other-run`, `concurrent-approvals`, `denied-then-approved`,
   * `no-decision`, `unusable-answer`, `crash-reserved`, `crash-sent`, `crash-reply-lost` and
   * `retry-after-timeout`. With the option `scenarios`, only the chosen ones count.
   */
  readonly isConforming: boolean;
}

/**
 * Puts a driver through the scenarios. Each has its own folder, its own sink in a process of its
 * own, and as many processes of the driver as it needs. All of them are ended in every case. If the
 * first one, `approved-once`, does not pass, the others are not judged.
 *
 * @throws ConformanceError `driver_ended`, `driver_silent`, `bad_answer`, `function_failed`,
 * `not_found`; ArgumentError `bad_argument`
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  checkArgument(OPTIONS, options, 'options');
  const {
    driver,
    cwd,
    timeoutMs = 20_000,
    concurrency = 2,
    onVerdict,
    signal,
    scenarios: names,
  } = options;
  const [control] = SCENARIOS;
  const chosen = new Set(names === undefined ? SCENARIOS : names.map(scenarioNamed));
  const others = [...chosen].filter((each) => each !== control);
  const scratch = mkdtempSync(join(tmpdir(), 'assize-conformance-'));
  const start = { cwd, compileCache: join(scratch, 'compiled') };
  const parts = { driver, start, timeoutMs, scratch, signal };
  const verdicts: ScenarioVerdict[] = [];
  const take = (verdict: ScenarioVerdict): void => {
    verdicts.push(verdict);
    onVerdict?.(verdict);
  };
  try {
    const identity = await identityOf(parts);
    await judgeInOrder([control], identity, parts, { concurrency, take });
    if (verdicts[0]?.verdict === 'pass')
      await judgeInOrder(others, identity, parts, { concurrency, take });
    else for (const each of others) take(notJudged(each, control));
    const { name, versions } = identity;
    return { driver: name, versions, verdicts, isConforming: isConforming(verdicts) };
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface InOrder {
  readonly concurrency: number;
  /** Gets each verdict, in the order of the scenarios. */
  readonly take: (verdict: ScenarioVerdict) => void;
}

/** Judges so many scenarios concurrently. The first error ends them all. */
async function judgeInOrder(
  scenarios: readonly Scenario[],
  identity: DriverIdentity,
  parts: Parts,
  { concurrency, take }: InOrder,
): Promise<void> {
  const failure = new AbortController();
  const signal =
    parts.signal === undefined ? failure.signal : AbortSignal.any([parts.signal, failure.signal]);
  const ends: ScenarioVerdict[] = [];
  const queue = scenarios.entries();
  let taken = 0;
  const work = async (): Promise<void> => {
    for (const [i, scenario] of queue) {
      signal.throwIfAborted();
      ends[i] = await verdictOn(scenario, identity, { ...parts, signal });
      signal.throwIfAborted();
      for (let next = ends[taken]; next !== undefined; next = ends[++taken]) take(next);
    }
  };
  const workers = Array.from({ length: concurrency }, () =>
    work().catch((error: unknown) => {
      failure.abort(error);
      throw error;
    }),
  );
  // Each has ended its processes before the folder is removed.
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

function isConforming(verdicts: readonly ScenarioVerdict[]): boolean {
  const core = new Set(CORE_SCENARIOS.map(({ name }) => name));
  return verdicts.every(
    ({ scenario, verdict }) => verdict === 'pass' || (verdict === 'n.a.' && !core.has(scenario)),
  );
}

/** A runtime that makes no approved call would pass all others. */
function notJudged({ name }: Scenario, control: Scenario): ScenarioVerdict {
  const reasons = [`not judged, as ${control.name} did not pass`];
  return { scenario: name, verdict: 'error', reasons, findings: [], effects: [] };
}

/** @throws ConformanceError `not_found` */
function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = SCENARIOS.map((each) => each.name).join(', ');
  const text = `There is no scenario '${name}'. Take one of: ${known}.`;
  throw new ConformanceError('not_found', text, { evidence: { scenario: name } });
}

interface Parts {
  readonly driver: DriverCommand;
  readonly start: DriverStart;
  readonly timeoutMs: number;
  readonly scratch: string;
  readonly signal: AbortSignal | undefined;
}

async function identityOf({ driver, start, timeoutMs, scratch }: Parts): Promise<DriverIdentity> {
  const process = await DriverProcess.start(driver, start);
  try {
    const hello = { protocol: PROTOCOL, folder: scratch, sink: 'http://127.0.0.1:9', settings: {} };
    return await process.ask('hello', hello, timeoutMs);
  } finally {
    await process.kill();
  }
}

async function verdictOn(
  scenario: Scenario,
  { cannot }: DriverIdentity,
  parts: Parts,
): Promise<ScenarioVerdict> {
  const lacking = scenario.needs.filter((need) => cannot[need] !== undefined);
  const { name } = scenario;
  if (lacking.length > 0)
    return {
      scenario: name,
      verdict: 'n.a.',
      reasons: [...new Set(lacking.map((need) => cannot[need] as string))],
      findings: [],
      effects: [],
    };
  const folder = mkdtempSync(join(parts.scratch, `${name}-`));
  const sink = await Sink.start(join(folder, 'effects.jsonl'), parts.start.compileCache);
  const { driver: command, start, timeoutMs, signal } = parts;
  const stage = new Stage({ command, start, sink, folder, timeoutMs });
  const stop = (): void => void stage.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    return await judged(scenario, stage);
  } finally {
    signal?.removeEventListener('abort', stop);
    await stage.close();
    await sink.stop();
  }
}

async function judged(scenario: Scenario, stage: Stage): Promise<ScenarioVerdict> {
  const { name } = scenario;
  const { told, shown } = stage;
  try {
    const expected = await scenario.run(stage);
    const { effects } = await stage.sink.state();
    return verdictOf(name, judge({ effects, expected, told, shown }), effects);
  } catch (error) {
    const { effects } = await stage.sink.state();
    if (isInstance(error, Deviation)) {
      const { kind, message } = error as Deviation;
      return verdictOf(name, [{ kind, text: message }], effects);
    }
    if (!isAssizeError(error) || !isInstance(error, ConformanceError)) throw error;
    return { scenario: name, verdict: 'error', reasons: [error.message], findings: [], effects };
  }
}

function verdictOf(
  scenario: string,
  findings: readonly Finding[],
  effects: readonly Effect[],
): ScenarioVerdict {
  const verdict = findings.length === 0 ? 'pass' : 'fail';
  return { scenario, verdict, reasons: findings.map(({ text }) => text), findings, effects };
}

const OPTIONS = arg.options<ConformanceOptions>({
  driver: arg.of('a command line, or a list of a program and its arguments', (value) => {
    if (typeof value === 'string') return value.trim() !== '';
    return (
      Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string')
    );
  }),
  cwd: arg.optional(arg.text),
  scenarios: arg.optional(arg.list(arg.text)),
  timeoutMs: arg.optional(arg.wholeFrom(1)),
  concurrency: arg.optional(arg.wholeFrom(1)),
  onVerdict: arg.optional(arg.code),
  signal: arg.optional(arg.of('an AbortSignal', (value) => isInstance(value, AbortSignal))),
});
