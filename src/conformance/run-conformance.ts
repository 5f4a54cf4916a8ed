import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arg, checkArgument, isAssizeError, isInstance } from '#base';
import { type DriverCommand, DriverProcess } from './driver/driver-process.ts';
import { ConformanceError } from './errors.ts';
import { type Finding, judge } from './judge.ts';
import { type DriverIdentity, PROTOCOL } from './protocol/messages.ts';
import { SCENARIOS } from './scenarios/all.ts';
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
  /** Hears of each verdict as it comes. */
  readonly onVerdict?: (verdict: ScenarioVerdict) => void;
  readonly signal?: AbortSignal;
}

/** The verdict on one scenario. */
export interface ScenarioVerdict {
  readonly scenario: string;
  /** `error`: the driver could not be judged, which counts as no pass. */
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
  /** Whether no scenario failed, and at least one passed. */
  readonly isConforming: boolean;
}

/**
 * Puts a driver through the scenarios. Each has its own folder, its own sink in a process of its
 * own, and as many processes of the driver as it needs. All of them are ended in every case. If the
 * first one, `approved-once`, does not pass, the others are not judged.
 *
 * @throws ConformanceError `cannot_start`, `driver_ended`, `driver_silent`, `bad_answer`,
 * `driver_failed`, `unknown_scenario`, `no_sink`; ArgumentError `bad_argument`
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  checkArgument(OPTIONS, options, 'options');
  const { driver, cwd, timeoutMs = 20_000, onVerdict, signal, scenarios: names } = options;
  const [control] = SCENARIOS;
  const chosen = names === undefined ? SCENARIOS : [...new Set([control, ...names.map(scenarioNamed)])];
  const scratch = mkdtempSync(join(tmpdir(), 'assize-conformance-'));
  const parts = { driver, cwd, timeoutMs, scratch };
  try {
    const identity = await identityOf(parts);
    const verdicts: ScenarioVerdict[] = [];
    for (const scenario of chosen) {
      signal?.throwIfAborted();
      const isJudged = verdicts[0] === undefined || verdicts[0].verdict === 'pass';
      const verdict = isJudged ? await verdictOn(scenario, identity, parts) : notJudged(scenario, control);
      onVerdict?.(verdict);
      verdicts.push(verdict);
    }
    const { name, versions } = identity;
    return { driver: name, versions, verdicts, isConforming: isConforming(verdicts) };
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

function isConforming(verdicts: readonly ScenarioVerdict[]): boolean {
  const isGood = verdicts.every(({ verdict }) => verdict === 'pass' || verdict === 'n.a.');
  return isGood && verdicts.some(({ verdict }) => verdict === 'pass');
}

/** A runtime that makes no approved call would pass all others. */
function notJudged({ name }: Scenario, control: Scenario): ScenarioVerdict {
  const reasons = [`not judged, as ${control.name} did not pass`];
  return { scenario: name, verdict: 'error', reasons, findings: [], effects: [] };
}

/** @throws ConformanceError `unknown_scenario` */
function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = SCENARIOS.map((each) => each.name).join(', ');
  const text = `There is no scenario '${name}'. Take one of: ${known}.`;
  throw new ConformanceError('unknown_scenario', text, { evidence: { scenario: name } });
}

interface Parts {
  readonly driver: DriverCommand;
  readonly cwd: string | undefined;
  readonly timeoutMs: number;
  readonly scratch: string;
}

async function identityOf({ driver, cwd, timeoutMs, scratch }: Parts): Promise<DriverIdentity> {
  const process = await DriverProcess.start(driver, cwd);
  try {
    const hello = { protocol: PROTOCOL, folder: scratch, sink: 'http://127.0.0.1:9', settings: {} };
    return await process.ask('hello', hello, timeoutMs);
  } finally {
    await process.kill();
  }
}

async function verdictOn(scenario: Scenario, { cannot }: DriverIdentity, parts: Parts): Promise<ScenarioVerdict> {
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
  const sink = await Sink.start(join(folder, 'effects.jsonl'));
  const { driver: command, cwd, timeoutMs } = parts;
  const stage = new Stage({ command, cwd, sink, folder, timeoutMs });
  try {
    return await judged(scenario, stage);
  } finally {
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

function verdictOf(scenario: string, findings: readonly Finding[], effects: readonly Effect[]): ScenarioVerdict {
  const verdict = findings.length === 0 ? 'pass' : 'fail';
  return { scenario, verdict, reasons: findings.map(({ text }) => text), findings, effects };
}

const OPTIONS = arg.options<ConformanceOptions>({
  driver: arg.of('a command line, or a list of a program and its arguments', (value) => {
    if (typeof value === 'string') return value.trim() !== '';
    return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string');
  }),
  cwd: arg.optional(arg.text),
  scenarios: arg.optional(arg.list(arg.text)),
  timeoutMs: arg.optional(arg.wholeFrom(1)),
  onVerdict: arg.optional(arg.code),
  signal: arg.optional(arg.of('an AbortSignal', (value) => isInstance(value, AbortSignal))),
});
